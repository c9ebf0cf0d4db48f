/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every tuned constant of the strategy `projection` in one table: its value, what it is a part of,
 * and what it was measured to do or why it has that value. The rules themselves, from coarse to
 * fine, are a table in rules.c. After a change: docs/projection.md, "Where to change a rule".
 *
 * Where no measurement is given there was none: the value was chosen once, for the reason that
 * stands there if any does, and has not been varied by itself. */
#ifndef AW_SOLVERS_PROJECTION_CONSTANTS_H
#define AW_SOLVERS_PROJECTION_CONSTANTS_H

/* ---- the estimate of the error (projection.c, sample.c) */

/* Of the tolerance: the largest estimate with which a step is accepted. The rest is for what
 * the sample does not see. */
#define AW_ESTIMATE_SHARE 0.8
/* The rates may be off by this many tolerances more: the inner rule, which the sample has too,
 * leaves them 4 tolerances off (seen with all strategies, `arcwake validate strategies`). */
#define AW_RATE_TOLERANCES 3.0
/* Spread points of core and rim each, at the first step or with a new rule, and at every other. */
enum { AW_SAMPLE_FIRST = 16, AW_SAMPLE_NEXT = 1 };
/* Largest error over the rms. Core: of a normal distribution one point in 2000 is further out. Rim:
 * most points have no particle near and few have one. */
#define AW_PEAK_CORE 3.5
#define AW_PEAK_RIM 5.0
/* Points of earlier steps that count as much as those of this one. */
#define AW_POOL_POINTS 12.0
/* Of the grid's nodes along an axis: the rim at either end. */
#define AW_RIM_WIDTH 0.125
/* Of the tolerance: the error of the sample's own integrals. A tenth, so that the judge is better
 * than the judged. */
#define AW_SAMPLE_SHARE 0.1
/* Nodes in angle of the sample's inner rule over those of other integrals: judge and judged must
 * not share its error, which exceeds the tolerance where cells are long and thin or hold few
 * particles. */
#define AW_SAMPLE_DENSITY 2.0
/* Common nodes in r' for each region with which a point of the sample begins: with every fourth it
 * looks at as many places as the rule does, and at others. */
enum { AW_SAMPLE_EVERY = 4 };

/* ---- what is too expensive (projection.c, zone.c) */

/* Evaluations a point of a zone over those of the sample's points, beyond which `predictive` is
 * taken to cost no more. */
#define AW_COST_LIMIT 0.6
/* Most steps in a row that are left to `predictive` without a try: 2^5 - 1. */
enum { AW_PAUSE_MAX = 31 };
/* Rules by which a zone is coarsened after a step over cost or out of reach. */
enum { AW_COARSEN_BY = 3 };
/* Looking up a table at a point, and a convolution, in evaluations a point that take as long. */
#define AW_COST_LOOK_UP 10.0
#define AW_COST_CONVOLUTION 200.0

/* ---- the border of near and far zone (projection.c, zone.c) */

/* Of the near zone: a convolution that reaches so far moves the border inwards to where it ends. */
#define AW_REACH_ENOUGH 0.7
/* A convolution may reach this many times as far as the near zone must: the further out the far
 * zone begins, the fewer directions its tables need. */
#define AW_REACH_MAX 16.0
/* Of the near zone: below this a convolution is not worth it. */
#define AW_REACH_LEAST 0.25
/* Cells by which slices may be turned against the points' grid where they are convolved: its
 * square, over the width of the moments in cells, is left out. */
#define AW_TURN_MAX 0.1

/* ---- panels (zone.c) */

/* First panel near r' = 0, and the bunch's size, over the shorter half side of its box (five
 * sigma). */
#define AW_FIRST_PANEL 0.1
#define AW_BUNCH_SIZE 0.4
/* Errors of all tables in tolerances, at most, where nodes in r' are not to blame for an error. */
#define AW_TABLES_DENSE 1.0
/* Most steps of aw_rules.dense: twice the nodes in angle, then those of the sample. */
enum { AW_DENSE_MAX = 2 };

/* ---- single panels that are too long (projection.c, zone.c) */

/* Of the largest error allowed: points of the sample above it are looked at panel by panel; and how
 * often in a step that is done before a finer rule is taken. */
#define AW_SHARPEN_ABOVE 0.25
enum { AW_SHARPEN_TIMES = 6 };
/* It is worth it for errors this many times too large, which a few panels make, and from this rule
 * on. Else a finer rule takes fewer nodes. Behind the third bend of the Zeuthen chicane (S = 9.3 m)
 * 102 nodes with an error of 5.2e-2 became 373 with 8e-5; fine rules took 3,700. */
#define AW_SPIKES 10.0
enum { AW_SPIKES_FROM_RULE = 3 };
/* Of a point's error: what all panels together must explain, or the sample is resampled. */
#define AW_EXPLAINED 0.4
/* Of the tolerance: what one panel may be off by. */
#define AW_PANEL_SHARE 0.02
/* What halving a panel gains where the beam is hardly resolved yet, and most halvings at once. */
#define AW_HALVING_GAIN 20.0
#define AW_HALVINGS_MAX 5.0
/* Of a panel's length, on either side: other points see the same spike on other circles. */
#define AW_CAP_MARGIN 0.25
/* Growth of the caps of panels in a step, until they are forgotten. */
#define AW_CAP_GROWTH 1.02

/* ---- which rule comes next (rules.c) */

/* Of the tolerance: a coarser rule is tried when its error is expected to be below. */
#define AW_COARSER_BELOW 0.5
/* Decay of the largest recent error in a step. */
#define AW_RECENT_DECAY 0.7
/* What a finer rule gains: to begin with, at most, its factor of doubt after a try that failed, and
 * the power by which it is forgotten in a step. */
#define AW_GAIN_INITIAL 4.0
#define AW_GAIN_MAX 100.0
#define AW_GAIN_DOUBT 4.0
#define AW_GAIN_DECAY 0.97
/* A finer rule that leaves this part of the rates' error has not found its cause (floor); and the
 * decay of that floor in a step. */
#define AW_FLOOR 0.7
#define AW_FLOOR_DECAY 0.98
/* Errors of two zones are similar within this factor: refining the smaller one changes little. */
#define AW_SIMILAR 0.3

#endif
