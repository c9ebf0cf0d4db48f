/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every tuned constant of the strategy `projection`, but for those of the lines of images
 * (images.c). The rules themselves (nodes, spacings, sweeps) are the tables of rules.c. Each entry
 * says what the number is a multiple or a part of, and why it has its value;
 * docs/projection-measurements.md has the measurements. "Not measured": chosen by reasoning, no
 * other value was tried on record. All constants change the cost; those of the first two sections,
 * AW_FLOOR_* and AW_TURN_CELLS also change the accuracy. */
#ifndef AW_SOLVERS_PROJECTION_CONSTANTS_H
#define AW_SOLVERS_PROJECTION_CONSTANTS_H

/* ---- what is accepted (projection.c, passes.c) */

/* Largest accepted estimate of the error of the potentials and of the rates, over the tolerance.
 * The estimate was 0.85 to 1.8 times the worst of 200 other points of the grid (of felt points:
 * AW_PEAK_CORE): at the lower end the error is
 * 0.94 of the tolerance. (0.6 times with 20 random particles a node, where 0.6 in place of 0.8
 * would be due; that takes a tenth longer in the Zeuthen chicane.) */
#define AW_ESTIMATE_SHARE 0.8
/* The same where the near zone's error is at its floor: as near to the tolerance as estimates are
 * too low at their lower end. With 1, phi was 1.13 tolerances off at a point of the entrance of the
 * LCLS bend (64 x 64, random start, 1e-6), estimated 0.996. */
#define AW_FLOOR_SHARE 0.85
/* The same where no pass lowers the estimate, and the errors at the points of the sample are within
 * the tolerance. An estimate of 1.6 tolerances, from the rms of a sample whose largest error was
 * 0.9, had a point with an error of 4.3 (`arcwake validate solvers`, random start). */
#define AW_DOUBTED 1.25

/* Errors of the rates may be this many times larger than those of the potentials, each over its
 * scale. The inner rule, which the sample has too, leaves rates 4 tolerances off in every strategy
 * (`arcwake validate strategies`). */
#define AW_RATE_TOLERANCES 3.0

/* A pass that leaves more than this part of the estimate was in vain, and so many of them in a row
 * are enough. At S = 9.0 m of the Zeuthen chicane (48 x 48, 1e-4) seven finer rules in a row left
 * 8.2e-5 of 8.2e-5, and took ten seconds. */
#define AW_PROGRESS 0.95
enum { AW_PASSES_IN_VAIN = 3 };

/* Density of a rule that has a node in angle per cell on every arc. Passes of the near zone with
 * fewer do not count as in vain: three of them left 0.0034 at S = 5.2 m of the Zeuthen chicane
 * (48 x 48, 3e-3), where slices of other spacings could not be convolved. */
#define AW_PER_CELL 0.25

/* ---- the sample (estimate.c, sample.c) */

/* Spread points drawn from the core and from the rim of the grid each, at a step with a new rule.
 * Four points and their worst underestimated the error by half at 128 x 128; 16 not measured
 * against other numbers. */
enum { AW_SAMPLE_NEW_RULE = 16 };
/* The same of images, which vary slowly over the grid. */
enum { AW_SAMPLE_IMAGES = 8 };

/* The same for a first look at a coarser rule: where that fails, which the worst of a few points
 * often shows, the rule before it needs no full sample. Not measured against other numbers. */
enum { AW_SAMPLE_TRIAL = 4 };

/* The same at every other step, in core and rim by turns: each point takes as long as an adaptive
 * integration. Each zone adds one doubtful point. With one in each at every step, 12 steps
 * of the LCLS bend (1e-5) took 1.3 to 1.6 times as long (64 x 64), or up to 1.1 times (128 x 128).
 */
enum { AW_SAMPLE_SAME_RULE = 1 };

/* Part of the grid's nodes at either end of each axis that belongs to the rim. Errors in the rim
 * are ten times those of the core with a quiet start; the width was not measured. */
#define AW_RIM_WIDTH 0.125

/* Largest error among the points of a stratum, over their rms. In the core 3.5: of a normal
 * distribution one point in 2000 lies further out. More in the rim of a whole grid, where
 * most points have no particle near and a few have one. Of felt points the medians are 3.8 and 3.2,
 * and the estimate is 1.0 to 2.1 times the largest error (quartiles); one factor for both strata,
 * 4.0, saved no time, and the estimate was less sure. */
#define AW_PEAK_CORE 3.5
#define AW_PEAK_RIM 5.0
/* The same of images in either stratum, whose errors vary slowly over the grid, too. */
#define AW_PEAK_IMAGES 2.0

/* Number of points of earlier steps that count in the rms as much as the points of this one. Not
 * measured. */
#define AW_POOL_POINTS 12.0

/* Tolerance of the sample's own integrals, over the tolerance. Not measured. */
#define AW_SAMPLE_SHARE 0.1

/* Nodes in angle of the sample's inner rule, over those of other integrals: the sample must not
 * share the error of the rule that it judges, which exceeds the tolerance where cells are long and
 * thin or hold few particles. The factor was not measured. */
#define AW_SAMPLE_DENSITY 2.0

/* Tolerance from which on the sample's inner rule is that of other integrals: what density level 1
 * leaves, which has it too, is below 2e-4 (by density level 2, S = 8 to 12 m of the Zeuthen
 * chicane). Errors of images with plates 10 mm apart, which cross a thin beam along its long side,
 * are the same within 3e-5 with half as many nodes (S = 6.5 to 11 m; with nodes at equal angles the
 * sample itself was 1.3e-3 off there). */
#define AW_SPARSE_SAMPLE 1e-3

/* The sample's first regions are cut at one common node in this many. With every fourth the sample
 * evaluates as many radii as the rule has, and other ones, before it trusts its error estimate.
 * Without the cuts a point was 1.1e-4 off at S = 8.0 m of the Zeuthen chicane. */
enum { AW_SAMPLE_EDGE_STRIDE = 4 };

/* ---- choice of the rule (rules.c) */

/* A coarser rule is tried if its expected error is below this part of the tolerance. Not measured.
 */
#define AW_COARSER_SHARE 0.5

/* The expected error starts from the largest recent error, which decays by this factor a step. Not
 * measured. */
#define AW_RECENT_DECAY 0.7

/* Gain: error of a rule over that of the next finer one. Value before any was seen, and largest
 * value recorded. Not measured. */
#define AW_GAIN_INITIAL 4.0
#define AW_GAIN_MAX 100.0

/* Part of a zone's cost that a lower density level, or a convolution instead of tiles, is thought
 * to save (a coarser rule: the nodes that it would not have), and cost of the sample's evaluations,
 * which are in double precision and not in tiles, over that of others. Before attempts had to pay
 * for their full sample, every other step at S = 6.7 m of the Zeuthen chicane (48 x 48) took 0.2 s
 * more than the 0.12 s of the rest. The weight is 8 to 12 in the LCLS bend (64 x 64 to 256 x 256),
 * but with 10 the potentials of the chicane took 8 % longer, and with 6 and 10 40 % more
 * evaluations, than with 4. The first was not measured. */
#define AW_COARSER_GAIN 0.3
#define AW_SAMPLE_WEIGHT 4.0

/* A gain counts this many times after a coarser rule has been tried and failed, and is raised to
 * this power at every step, so that the failure is forgotten (halved in the logarithm after 23
 * steps). Not measured. */
#define AW_GAIN_DOUBT 4.0
#define AW_GAIN_DECAY 0.97

/* Tiles that were worse than the convolution are not tried while their gain is below this: an error
 * that was twice as large is forgotten after 60 steps. In a bend of 1.5 m (128 x 128, 1e-6) the
 * convolution left 9e-7, tiles 2e-6. */
#define AW_TILES_WORSE 0.9

/* Floor of the rates' error: a rule with 1.5 times the nodes that leaves more than 0.7 of the error
 * has not found its cause, and up to twice the floor is let pass; the floor decays by 0.98 a step.
 * In the second bend of the Zeuthen chicane any two rules differ by 1e-4 to 5e-4 of the rates'
 * scale. The four numbers were not measured. */
#define AW_FLOOR_NODES 1.5
#define AW_FLOOR_RATIO 0.7
#define AW_FLOOR_MARGIN 2.0
#define AW_FLOOR_DECAY 0.98

/* Errors of the two zones are alike if the smaller is more than this part of the larger: else only
 * the larger is worth refining. Not measured. */
#define AW_SIMILAR 0.3

/* An error up to here of a near zone that is all convolution [scales] is what no rule lowers. (Bend
 * of 1.5 m, 128 x 128, the first three solves: 5.7e-7 to 7.3e-7, within a tenth of it with twice
 * the nodes in r' or in angle, and 2.1e-7 to 7.7e-7 with half the turn.) The far zone is not
 * refined below this part of it. With 0.5, it was refined to 480 nodes, 5e-8, instead of 330 in the
 * steps of that bend. */
#define AW_CONVOLUTION_FLOOR 1e-6
#define AW_FAR_OF_FLOOR 0.7

/* Largest density level of a rule (aw_rules.density_level): 0 the rule's own nodes in angle, 1
 * AW_DENSER times as many, 2 as many as the sample, both where they matter (density.h), and finer
 * tables. Twice as many brought the error from 1.1e-4 (2,200 nodes in r') to 2.1e-5 (613) at
 * S = 9.5 m of the Zeuthen chicane. */
enum { AW_DENSITY_LEVEL_MAX = 2 };

/* Steps after which a lower density level is tried, their growth after each attempt that failed,
 * and the most of them. In the third drift of the Zeuthen chicane a level that one step needed was
 * kept for fifty, which took five times as long. */
enum { AW_DENSE_STEPS = 3, AW_DENSE_GROWTH = 2, AW_DENSE_STEPS_MAX = 24 };

/* Density of nodes in angle at level 1, over the rule's. Twice as many were not enough behind the
 * third bend of the Zeuthen chicane; eight times as many were, for five times the cost. */
#define AW_DENSER 4.0

/* Share of the tolerance that those nodes in r' may leave together, the root of the sum of their
 * squares, which get no more nodes in angle at density levels 1 and 2, and of images; the points at
 * which that is measured, so many squared; and how many nodes on either side of one that needs them
 * get them, too. At S = 13.8 m of the Zeuthen chicane (48 x 48, 3e-3, plates 30 mm apart) 4 of 1223
 * nodes of the images held an error of the rates of 0.7 of the largest force. With a share of 0.1
 * the mean force at S = 13.3 to 13.4 m was up to 3 % off, with 0.05 up to 2.5 %, with 0.03 0.5 %,
 * for a tenth more time; reaches of 0 and 1 left 1 and 0.5 %. As many nodes as density level 1
 * has were not enough: 4 %, whatever the share. */
#define AW_DENSITY_SHARE 0.03
enum { AW_PROBE_SIDE = 3, AW_PROBE_REACH = 2 };
/* A point is probed at one in so many nodes in r', the next one at others: marks reach further. */
enum { AW_PROBE_STRIDE = 2 };
/* Most nodes in angle with which those of the rule are compared for that: of twice as many, errors
 * are mere parts. */
#define AW_PROBE_DENSITY 1.0

/* Table errors of a rule at density level 1 (aw_rule.tables), at most, in tolerances; half of it at
 * level 2. Errors of the tables of circles at rest add up: tables of 4 tolerances at level 1 left
 * 3e-3 to 4e-3 of phi at S = 10.6 m of the Zeuthen chicane (48 x 48, 3e-3). */
#define AW_FINE_TABLES 1.0
/* The same of all nodes of a rule together where they belong to passages, at every level: there are
 * few of them, so that their errors do not cancel. Not measured against other numbers. */
#define AW_PASSAGE_TABLES 1.0
/* The same of images, of which many read a table, at every level: with 8 the error stayed at 1e-3
 * at S = 8.2 to 8.5 m of the Zeuthen chicane, plates 10 mm apart, with 1 it was 3e-4 to 6e-4, for
 * up to a third more time. */
#define AW_IMAGES_TABLES 1.0
/* What one table of images may be off in any case, in tolerances, and what it may be off where
 * circles sweep from node to node and errors of tables have nothing in common: 1000 of those add up
 * to a third of the tolerance. Of the evaluations with 1e-3 for both, it takes 0.3 at S = 10.5 m
 * and 0.2 at 14 m (10 mm, 800 to 1100 nodes), and leaves the same error at the sample; the mean
 * force at S = 10.8 to 11 m is within 2 % of that at a tenth of the tolerance (4 %). While nodes
 * were at equal angles, 2e-3 was too much. Where circles are at rest errors add up: 3e-3 left 1.3
 * tolerances of psi 0.1 m behind the entrance of the LCLS bend (20 mm), 1e-3 0.2. */
#define AW_IMAGES_TABLE 1e-3
#define AW_IMAGES_APART 1e-2

/* What kinks may leave in the sums where a node that has them is next to a table from which they
 * are filtered, in tolerances (aw_common_rule.kink_error). In `tests/app/mpi.sh` (26 x 21
 * points, 5 to 10 km away, 1.5 cells swept in all) the energies of three ranks and of two differ by
 * 2.7e-4 of the largest with 0, 0.1 and 0.3, as they do when nothing is filtered below half a cell,
 * and by 4e-3 with 1: there tables were 5e-6 to 7e-6 off where 1.3e-6 was allowed. */
#define AW_KINK_SHARE 0.3

/* ---- spikes and caps (passes.c, examine.c, projection.c) */

/* Single panels are examined if the far zone's error is this many times too large, or from this
 * level of its rule on: only then does it cost less than a finer rule. At S = 9.3 m of the Zeuthen
 * chicane two rounds brought 5.2e-2 (102 nodes) down to 8e-5 (373). Examined at once, the chicane
 * at accuracy 0.01 had 12 % fewer evaluations and took as long, and at 1e-4 it had as many. Panels
 * that are passages are examined at once: with a finer rule, which has none, steps take four times
 * as long (docs/projection.md, "Passages"). */
#define AW_SPIKE_ERROR 10.0
enum { AW_SPIKE_LEVEL = 3 };

/* Points of the sample that are examined: those with an error above this part of the largest
 * allowed one, this many at most. Not measured. */
#define AW_SPIKE_SHARE 0.25
enum { AW_SPIKE_POINTS = 8 };

/* Rounds of examination in a step before a finer rule is taken. Not measured; two were enough
 * above. */
enum { AW_SPIKE_ROUNDS = 6 };

/* The panels explain the error of the worst point if together they are off by this part of it. If
 * not, the point is resampled; if it stays, nodes in angle or tables are to blame. Not measured. */
#define AW_EXPLAINED 0.4

/* Those panels get a cap whose errors at a point are the largest, so many that those of the others
 * add up to this part of the tolerance at most; and they are to become so short that theirs add up
 * to as much. With 0.4 psi was 1.5 tolerances off at one node behind the exit of the LCLS bend
 * (1e-6), between the points of the sample, with 0.2 and 0.1 0.9; with errors that add up as
 * squares, 4.4. Every panel with more than 0.02 got a cap before, and half its length at least:
 * 256 x 256 points in the LCLS bend (1e-5) began with 387 nodes, now with 313. */
#define AW_PANEL_SUM 0.2
/* The same of images, but as the root of the sum of the squares. With all above 0.02, steps
 * at S = 12.4 m of the Zeuthen chicane (plates 30 mm apart) had 2970 nodes, with a budget of 0.3
 * 2400; 0.15 was not measured by itself. */
#define AW_PANEL_BUDGET 0.15

/* Factor by which halving a panel lowers its error where the beam only just shows in it, and most
 * and least halvings at once. Not measured. */
#define AW_HALVING_GAIN 20.0
#define AW_HALVINGS_MAX 5.0
#define AW_HALVINGS_MIN 0.5

/* A cap also holds on either side of its panel, over this part of the panel's length: other
 * points see the same spike on other circles. Not measured. */
#define AW_CAP_MARGIN 0.25

/* Factors by which caps grow at a step, until they are longer than their ranges: at least and at
 * most; in between, so that the estimate should reach this part of its limit. A step that fails
 * takes as long as four (256 x 256 points in the LCLS bend, 1e-5): with 1.005 at least none of 35
 * steps did, with 1.01 two, and with 0.7 of the limit seven. */
#define AW_CAP_GROWTH 1.005
#define AW_CAP_GROWTH_MAX 1.2
#define AW_CAP_AIM 0.5

/* ---- zones, blocks and panels (zone.c, blocks.c) */

/* The border is the reach of the convolution if that is at least this part of the smallest possible
 * border: the rest of the near zone then needs no tiles. Not measured. */
#define AW_BORDER_PART 0.7

/* Largest turn of the slices against the middle of a block of the convolution: displacement of the
 * outermost node in cells. The turn is expanded to its square and the part of its cube that is
 * linear in it (AW_THIRD_TURN); the rest of the cube, over the width in cells of the structure in
 * the moments, is left out. Measured with all of the cube left out: Zeuthen chicane, 48 x 48,
 * S = 4.06 m: the mean force is the same within 0.2 % from 0.1 to
 * 0.6 cells, while the estimated error of the forces grows from 1.2 to 2.1 keV/m, and to 5.4 with
 * 1.0. At a tolerance of 1e-4; otherwise less or more, as the cube root of the tolerance: in a bend
 * of 1.5 m (128 x 128, 1e-6) 0.4 left 3.6e-6 of phi, 0.1 and less 9e-7, which comes from the
 * splines. */
#define AW_TURN_CELLS 0.4

/* Blocks that together turn by this part of what one may share their lattices: with short steps
 * blocks end where slices do, after a fifth of it (S = 7 to 8 m of the Zeuthen chicane). Of that
 * chicane at `accuracy: 0.01`, whose rms energy change is 1498.5 keV at a tolerance of 1e-4, each
 * block on its own left 1498.4, and this part 1498.2 keV; all that one may turn left 1497.9. */
#define AW_SHARED_TURN 0.5

/* Least extent across the motion, over that along it, of a bunch whose slices are convolved where
 * they turn. A bunch of 1 mm by 50 um, 4096 x 32, in the LCLS bend took 35 s with blocks and 0.5 s
 * with tiles; behind the third bend of the Zeuthen chicane the extents are as 100 to 1. */
#define AW_ACROSS_LEAST 0.9

/* Most lattices of blocks beyond the smallest border, where the far zone could take over: so many
 * at once, and per factor e of r'. One costs some 500 evaluations a point (48 x 48), and so do as
 * many nodes as the far zone has in 5 % of r' where it cannot tabulate. With as many blocks, which
 * have up to three lattices after the grid has changed, steps of the first drift of the Zeuthen
 * chicane took twice as long. */
#define AW_LATTICES_AT_ONCE 2.0
#define AW_LATTICES_PER_E 5.0

/* Most blocks of a convolution; largest part of the grid's nodes by which a lattice is larger at
 * either end of an axis, and the same for the few steps after a change of the spacings; and least
 * length of a block, over its end and in the finer cells (far above the noise of a bunch's mean).
 * Between the middle bends of the Zeuthen chicane (48 x 48) lattices twice as large made a step
 * take five times as long as tiles do. */
enum { AW_BLOCKS_MAX = 64 };
#define AW_BLOCK_PAD 0.5
#define AW_BLOCK_PAD_MIXED 1.0
#define AW_BLOCK_LEAST 1e-6
#define AW_BLOCK_LEAST_CELLS 0.01

/* Tolerance from which on the nodes of a convolution are further apart, as its cube root, and by
 * these factors at most in r' and in angle; and the same for the turn of a block (which is also
 * smaller at lower tolerances). At 1e-3 three
 * times the spacing changed no error at S = 4, 9 and 14 m of the Zeuthen chicane, nor did half as
 * many nodes in angle at S = 9 and 11 m (a third moved the mean force at 6.1 m by a tenth); at
 * 1e-4 twice the spacing left 1.1e-4 instead of 6e-5 of 4096 x 32 points. */
#define AW_CONVOLUTION_TOLERANCE 1e-4
#define AW_CONVOLUTION_WIDER 3.0
#define AW_CONVOLUTION_SPARSER 2.0
#define AW_TURN_WIDER 1.5

/* A finer convolution (aw_rules.density_level of the near zone) has lattices with half the
 * spacing, at level 2 the sample's nodes in angle, and panels that sweep AW_FIRST_SWEEP times as
 * much as otherwise, at AW_CONVOLUTION_TOLERANCE and above, less below it; those of blocks that
 * begin beyond AW_FINE_FROM times the smallest border sweep these parts of that, at levels 1 and
 * 2. Most nodes are nearer. Zeuthen chicane, 48 x 48, 1e-4, at single points: at S = 7.57 m nodes
 * in angle took 2.2e-4 to 9e-6, at 9.68 m the spacing 8.9e-5 to 1.1e-5, at 11.82 m the sweep (a
 * third of otherwise) 2.7e-4 to 3e-5, and at 11.76 m (a 27th) 1e-4 to 8e-6; the first block's
 * changed neither of them, and took half the time. */
#define AW_FINE_FROM 2.0
#define AW_FINE_SWEEP (1.0 / 9.0)
#define AW_FINEST_SWEEP (1.0 / 81.0)
#define AW_FIRST_SWEEP 3.0

/* Parts of the sweep of images that count, and where they cross the long side of a thin, tilted
 * beam all at once. An image at Y meets a beam at the angle t to the line across its motion, at
 * any point of its plane, at r' = Y/t, where its circle and that of the beam itself sweep in
 * opposite directions. With 0.6 there, every other step of the second bend of the Zeuthen chicane
 * (plates 10 mm apart, 3e-3) had a panel with errors up to 1600 times too large, which the sample
 * found; runs of 14 s from S = 5.4 m on had 17, 16, 10 and 0 such panels with 0.6, 1.5, 3
 * and 6, which took half as many nodes again. */
#define AW_IMAGES_COUNTED 0.6
#define AW_IMAGES_TANGENT 3.0

/* Largest reach of the convolution, over the smallest border: the further out the far zone begins,
 * the fewer directions its tables need. A bunch of length L and thickness d needs about L^2/(r' d)
 * of them, so that the factor is also this multiple of L/d. Neither was measured by itself. */
#define AW_REACH_FACTOR 16.0
#define AW_REACH_ASPECT 0.25

/* Smallest reach of the convolution, over the smallest border, that is worth its cost. Not
 * measured. */
#define AW_REACH_LEAST 0.25

/* Largest ratio of a panel's end to its beginning: an octave, or two in the far zone where the
 * circle sweeps through less than a hundredth of the beam's box. Two octaves everywhere put psi off
 * by 1e-5 where the circle enters the bunch. */
#define AW_PANEL_RATIO 2.0
#define AW_PANEL_RATIO_STILL 4.0

/* Length of the first panel, over the shorter half side of the beam's box. Not measured. */
#define AW_FIRST_PANEL 0.1

/* Radius below which a rule's spacing limits the nodes, over the half side of the beam's box, along
 * either axis with its own cells: the size of the bunch, 2 sigma of a box of 5. Not measured. */
#define AW_BUNCH_SIZE 0.4

/* ---- cost (zone.c, passes.c, projection.c) */

/* Cost of looking up one node's table at a point, in evaluations. Not on record how measured. */
#define AW_LOOKUP_COST 10.0

/* Cost of a lattice of the convolution, in evaluations a point: 17 ms of one core at 128 x 128, 4
 * to 5 at 48 x 48. */
#define AW_CONVOLUTION_COST 300.0
/* The same of a finer convolution (aw_rules.density_level), over that. Not measured. */
#define AW_FINE_COST 4.0

/* A zone is over cost if a point takes more evaluations than `predictive` did when it was last
 * used; before that, more than this part of those of a point of the sample. Not on record how
 * measured: in the Zeuthen chicane (48 x 48, 1e-4) `predictive` took a tenth. */
#define AW_OVER_COST 0.6
/* A step that has taken this many times what `predictive` takes is left to that. No other value was
 * tried. */
#define AW_GIVE_UP_COST 2.0

/* Number of steps in a row over cost after which steps are left to `predictive`, and the most steps
 * that are left to it before the strategy is tried again (1, 3, 7 .. 31). Not measured. */
enum { AW_OVER_COST_STEPS = 2, AW_PAUSE_MAX = 31 };

/* Levels by which both rules are coarsened after a step that did not converge or was over cost. Not
 * measured. */
enum { AW_COARSEN_LEVELS = 3 };

#endif
