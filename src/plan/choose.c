/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/choose.h"

#include <math.h>
#include <stdio.h>

#include "pic/line/line.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/input/place.h"
#include "src/plan/optics.h"

/* The accuracy at which the rules below were measured (docs/accuracy.md). */
#define REFERENCE 0.01
/* Cells per sigma at the start, and nodes of a side beside those cells. */
#define CELLS 4.4
#define RIM 4.0
/* Cells per sigma at a place, at least: along an axis on which the length of the bunch depends, and
 * across a thin tilted bunch, whose potentials depend on its thickness by a logarithm. */
#define FEWEST_CELLS 2.5
#define FEWEST_ACROSS 0.6
/* Nodes a side over those of the base, at most. */
#define MOST_NODES 3.0
/* A given grid with fewer cells over those needed is said to be too coarse: the error is then three
 * times as large, which is what the choice leaves. */
#define COARSE 0.8
/* Particles a cell. */
#define QUIET_PER_CELL 87.0
#define QUIET_LEAST 20.0
#define RANDOM_PER_CELL 250.0
#define RANDOM_LEAST 50.0
/* A given number below that needed over this is said to be too small. */
#define FEWER 4.0
/* Factors of the ladder of steps that are trusted; the same below which one is not. */
#define SHORTEST 0.1
#define LONGEST 2.25
#define TOLERANCES (10.0 / 3.0) /* in the accuracy */
#define LARGEST_TOLERANCE 3e-3
/* Line: nodes per sigma_s, and particles a node (src/plan/plan.c, warn_noise). */
#define LINE_NODES 6.0
#define LINE_QUIET 100.0
#define LINE_RANDOM 400.0
#define LINE_RANDOM_ERROR 0.06
/* Places of each element at which the bunch is looked at. */
enum { PLACES = 16 };
/* Limits of the keys (src/input/fields.c). */
enum { GRID_LEAST = 8, GRID_MOST = 4096 };
#define PARTICLES_MOST 1e10

static int is_given(const aw_config *config, int key) { return (config->given & key) != 0; }

/* Cells over those of the reference: the error is of sixth order with small cells, and falls with
 * the fifth power at those that are chosen. */
static double finer(const aw_config *config) { return pow(REFERENCE / config->accuracy, 0.2); }

/* The next multiple of 4, so that a side has nodes on both sides of its axis. */
static int rounded_nodes(double nodes)
{
    return (int)fmin(fmax(4.0 * ceil(0.25 * nodes - 1e-9), GRID_LEAST), GRID_MOST);
}

/* Two digits. */
static size_t rounded_particles(double n)
{
    const double unit = pow(10.0, floor(log10(n)) - 1.0);
    return (size_t)fmin(unit * rint(n / unit), PARTICLES_MOST);
}

/* ------------------------------------------------------------------------------------ the bunch */

/* What the grid needs at a place: the bunch along its two axes, the longer one first. */
static void needs_of(const aw_config *config, const aw_optics_shape *b, double turn,
                     aw_choice_narrow need[2])
{
    const double c = cos(turn), s = sin(turn), cutoff = config->beam.cutoff_sigma;
    const double uu = c * c * b->ss + 2.0 * c * s * b->sx + s * s * b->xx;
    const double det = fmax(b->ss * b->xx - b->sx * b->sx, 0.0);
    const double bend[2] = {c * b->bend_s + s * b->bend_x, c * b->bend_x - s * b->bend_s};
    const double sigma[2] = {sqrt(uu), uu > 0.0 ? sqrt(det / uu) : 0.0};
    const double length = sqrt(b->ss + 2.0 * b->bend_s * b->bend_s);
    for (int k = 0; k < 2; ++k) {
        aw_choice_narrow *n = &need[k];
        n->across = k;
        n->sigma = sigma[k];
        /* the grid is centred on the mean: a parabola reaches from -1 to cutoff^2 - 1 */
        n->half = cutoff * sigma[k] + fabs(bend[k]) * fmax(cutoff * cutoff - 1.0, 0.0);
        n->per_one =
            finer(config) * fmax(FEWEST_ACROSS, FEWEST_CELLS * fmin(sigma[k] / length, 1.0));
        n->nodes = RIM + 2.0 * n->per_one * n->half / fmax(sigma[k], 1e-12 * n->half);
    }
}

/* Direction of the longer axis against s [rad]; *round: 1 where there is none to speak of
 * (pic/frame.h). */
static double turn_of(const aw_optics_shape *b, int *round)
{
    const double ss = b->ss + 2.0 * b->bend_s * b->bend_s;
    const double xx = b->xx + 2.0 * b->bend_x * b->bend_x;
    const double sx = b->sx + 2.0 * b->bend_s * b->bend_x;
    const aw_optics_axes axes = aw_optics_axes_of(ss, sx, xx);
    *round = axes.longer < AW_ROUND_AXES * axes.shorter;
    return axes.tilt;
}

/* Which axis of the grid, 0: s, 1: x, lies along the longer one of the bunch; the grid turns on the
 * nearest branch. *tilt: of the grid [rad] */
static int follow(double turn, int round, double *tilt)
{
    const double quarters = rint((*tilt - turn) / (0.5 * AW_PI));
    if (!round) *tilt = turn + 0.5 * AW_PI * quarters;
    return (int)fabs(fmod(quarters, 2.0));
}

/* Look at the bunch along the lattice. Where the optics are not known the run says why. */
static aw_status find_narrow(const aw_config *config, aw_choice_narrow narrow[2])
{
    const aw_lattice *lattice = config->lattice;
    const size_t n = lattice->n * PLACES + 1;
    aw_status status = AW_OK;
    aw_optics_point *point = aw_alloc(n, sizeof *point);
    double *S = aw_alloc(n, sizeof *S), begin = 0.0, tilt = 0.0;
    AW_TRY(point && S ? AW_OK : AW_ERR_NOMEM);
    S[0] = lattice->begin;
    for (size_t i = 0, k = 1; i < lattice->n; begin += lattice->element[i++].length)
        for (int j = 1; j <= PLACES; ++j)
            S[k++] = fmax(begin + lattice->element[i].length * j / PLACES, lattice->begin);
    status = aw_optics_at(lattice, &config->beam, 0, S, n, point);
    for (size_t i = 0; i < n && status == AW_OK; ++i) {
        const aw_optics_shape b = aw_optics_shape_of(&config->beam, &point[i]);
        aw_choice_narrow need[2];
        int round = 0;
        const double turn = turn_of(&b, &round);
        const int axis = follow(turn, round, &tilt);
        needs_of(config, &b, turn, need);
        for (int k = 0; k < 2; ++k) {
            aw_choice_narrow *to = &narrow[axis ^ k];
            need[k].S = S[i];
            if (need[k].nodes > to->nodes) *to = need[k];
        }
    }
    if (status == AW_ERR_RANGE) status = AW_OK;
done:
    aw_free(point);
    aw_free(S);
    return status;
}

/* ---------------------------------------------------------------------------------- the numbers */

static void explain_grid(const aw_config *config, aw_choice *c, double base)
{
    char *why = c->why[AW_CHOICE_GRID];
    const aw_choice_narrow *n = &c->narrow[c->narrow[1].nodes > c->narrow[0].nodes];
    const int side = (int)(n - c->narrow);
    const int at = snprintf(why, AW_WHY_SIZE, "%.3g cells per sigma at the start",
                            0.5 * (base - RIM) / config->beam.cutoff_sigma);
    if (!(n->sigma > 0.0) || at < 0 || at >= AW_WHY_SIZE) return;
    snprintf(why + at, (size_t)(AW_WHY_SIZE - at),
             "; fewest at S = %.4g m, where the bunch has %.3g um %s: %.2g (%.2g needed)", n->S,
             1e6 * n->sigma, n->across ? "across its tilt" : "along its tilt",
             0.5 * (c->grid[side] - RIM) * n->sigma / n->half, n->per_one);
}

static aw_status choose_grid(const aw_config *config, aw_choice *c)
{
    const double cutoff = config->beam.cutoff_sigma;
    const int base = rounded_nodes(RIM + 2.0 * cutoff * CELLS * finer(config));
    aw_status status = AW_OK;
    c->most = (int)fmin(RIM + MOST_NODES * (base - RIM), GRID_MOST);
    if (config->motion != AW_MOTION_RIGID) status = find_narrow(config, c->narrow);
    for (int k = 0; k < 2; ++k) {
        c->needed[k] = rounded_nodes(fmin(fmax(base, c->narrow[k].nodes), c->most));
        c->grid[k] = is_given(config, AW_GIVEN_GRID) ? config->grid[k] : c->needed[k];
    }
    explain_grid(config, c, c->grid[0]);
    return status;
}

/* The nodes of a line, from the first particle to the last; the rest of the grid is for meshes. */
static void choose_line_grid(const aw_config *config, aw_choice *c)
{
    const double extent = 2.0 * config->beam.cutoff_sigma;
    /* the line's force is of fourth order */
    const double wanted = LINE_NODES * pow(REFERENCE / config->accuracy, 0.25);
    int nodes = GRID_LEAST;
    while (nodes + 4 <= GRID_MOST && aw_line_resolution(nodes, extent) < wanted) nodes += 4;
    c->most = GRID_MOST;
    c->needed[0] = nodes;
    c->needed[1] = rounded_nodes(RIM + extent * CELLS);
    for (int k = 0; k < 2; ++k)
        c->grid[k] = is_given(config, AW_GIVEN_GRID) ? config->grid[k] : c->needed[k];
    snprintf(c->why[AW_CHOICE_GRID], AW_WHY_SIZE, "%.2g nodes of the line per sigma_s at the start",
             aw_line_resolution(c->grid[0], extent));
}

static void choose_step(const aw_config *config, aw_choice *c)
{
    const double scale = sqrt(config->accuracy / REFERENCE);
    const int is_auto = !is_given(config, AW_GIVEN_STEP) || config->step_m == AW_STEP_AUTO;
    c->step_m = is_auto ? AW_STEP_AUTO : config->step_m;
    c->step_scale = config->step_scale;
    if (is_auto && !is_given(config, AW_GIVEN_SCALE))
        c->step_scale = 0.01 * rint(100.0 * fmin(fmax(scale, SHORTEST), LONGEST));
    if (is_auto && c->step_scale == 1.0)
        snprintf(c->why[AW_CHOICE_STEP], AW_WHY_SIZE, "steps follow lattice and bunch");
    else if (is_auto)
        snprintf(c->why[AW_CHOICE_STEP], AW_WHY_SIZE,
                 "steps follow lattice and bunch, %.3g times those for accuracy %g (second order)",
                 c->step_scale, REFERENCE);
    else
        snprintf(c->why[AW_CHOICE_STEP], AW_WHY_SIZE, "equal steps");
}

static void choose_particles(const aw_config *config, aw_choice *c)
{
    const double finer_by = REFERENCE / config->accuracy;
    const int quiet = config->beam.quiet;
    double each = quiet ? fmax(QUIET_PER_CELL * finer_by, QUIET_LEAST)
                        : fmax(RANDOM_PER_CELL * finer_by * finer_by, RANDOM_LEAST);
    double cells = (double)c->grid[0] * c->grid[1];
    if (config->line) {
        const double random = LINE_RANDOM_ERROR / config->accuracy;
        each = quiet ? LINE_QUIET : LINE_RANDOM * random * random;
        cells = c->grid[0];
    }
    c->needed_particles = rounded_particles(each * cells);
    c->particles =
        is_given(config, AW_GIVEN_PARTICLES) ? config->beam.particles : c->needed_particles;
    snprintf(c->why[AW_CHOICE_PARTICLES], AW_WHY_SIZE, "%.3g a %s with a %s start",
             (double)c->particles / cells, config->line ? "node" : "cell",
             quiet ? "quiet" : "random");
    if (quiet && c->particles > AW_QUIET_MAX) c->particles = AW_QUIET_MAX;
}

static void choose_tolerance(const aw_config *config, aw_choice *c)
{
    c->tolerance = fmin(config->accuracy / TOLERANCES, LARGEST_TOLERANCE);
    if (is_given(config, AW_GIVEN_TOLERANCE)) c->tolerance = config->tolerance;
    snprintf(c->why[AW_CHOICE_TOLERANCE], AW_WHY_SIZE, "%.2g of the accuracy",
             c->tolerance / config->accuracy);
}

aw_status aw_choose(const aw_config *config, aw_choice *out)
{
    aw_status status = AW_OK;
    *out = (aw_choice){.most = 0};
    if (config->line)
        choose_line_grid(config, out);
    else
        status = choose_grid(config, out);
    choose_step(config, out);
    choose_particles(config, out);
    choose_tolerance(config, out);
    return status == AW_OK ? AW_OK : aw_error(status, "out of memory for the choice of the grid");
}

aw_status aw_choose_apply(aw_config *config)
{
    aw_choice c;
    if (!(config->accuracy > 0.0)) return AW_OK;
    const aw_status status = aw_choose(config, &c);
    if (status != AW_OK) return status;
    config->grid[0] = c.grid[0];
    config->grid[1] = c.grid[1];
    config->step_m = c.step_m;
    config->step_scale = c.step_scale;
    config->beam.particles = c.particles;
    config->tolerance = c.tolerance;
    return AW_OK;
}

/* --------------------------------------------------------------------------------- the warnings */

/* What a place wants in place of the nodes of the grid. */
static void expected_nodes(const aw_choice_narrow *n, char *text, size_t size)
{
    if (n->nodes > GRID_MOST)
        snprintf(text, size, "a weaker compression: no grid of %d nodes is fine enough", GRID_MOST);
    else
        snprintf(text, size, "%.0f", ceil(n->nodes));
}

/* Places where even the finest grid that is chosen is too coarse. */
static int warn_narrow(const aw_config *config, const aw_choice *c)
{
    int warnings = 0;
    for (int k = 0; k < 2; ++k) {
        const aw_choice_narrow *n = &c->narrow[k];
        char expected[80];
        if (!(n->nodes > c->most)) continue;
        expected_nodes(n, expected, sizeof expected);
        aw_config_warn(config, "accuracy",
                       "%g is not expected at S = %.4g m: there the bunch is compressed to "
                       "%.3g um %s on a grid of %.3g um, and its density is limited by the grid, "
                       "%d nodes (expected %s)",
                       config->accuracy, n->S, 1e6 * n->sigma,
                       n->across ? "across its longer axis" : "along its longer axis",
                       2e6 * n->half, c->grid[k], expected);
        warnings++;
    }
    return warnings;
}

/* A given grid without an accuracy: places where the bunch is compressed until its grid, which is
 * as large as its tails, resolves it less than those of accuracy 0.01 would, and less than at the
 * start. */
static int warn_compressed(const aw_config *config)
{
    aw_config other = *config; /* owns nothing */
    aw_choice_narrow narrow[2] = {{.nodes = 0.0}, {.nodes = 0.0}};
    int warnings = 0;
    other.accuracy = REFERENCE;
    if (config->line || config->motion == AW_MOTION_RIGID) return 0;
    if (find_narrow(&other, narrow) != AW_OK) return 0; /* the run says why */
    for (int k = 0; k < 2; ++k) {
        const aw_choice_narrow *n = &narrow[k];
        const double each = 0.5 * (config->grid[k] - RIM), cells = each * n->sigma / n->half;
        const double start = each / config->beam.cutoff_sigma;
        char expected[80];
        if (!(n->half > 0.0 && cells < COARSE * fmin(n->per_one, start))) continue;
        expected_nodes(n, expected, sizeof expected);
        aw_config_warn(config, "numerics.grid",
                       "at S = %.4g m the bunch is compressed to %.3g um %s on a grid of %.3g um: "
                       "with %.2g cells per sigma its density is limited by the grid, %d nodes "
                       "(expected %s)",
                       n->S, 1e6 * n->sigma,
                       n->across ? "across its longer axis" : "along its longer axis",
                       2e6 * n->half, cells, config->grid[k], expected);
        warnings++;
    }
    return warnings;
}

static int warn_grid(const aw_config *config, const aw_choice *c)
{
    const int coarse = c->grid[0] - RIM < COARSE * (c->needed[0] - RIM) ||
                       c->grid[1] - RIM < COARSE * (c->needed[1] - RIM);
    if (!is_given(config, AW_GIVEN_GRID) || !coarse) return 0;
    aw_config_warn(config, "numerics.grid",
                   "[%d, %d] is too coarse for accuracy: %g (expected [%d, %d], or no grid)",
                   c->grid[0], c->grid[1], config->accuracy, c->needed[0], c->needed[1]);
    return 1;
}

static int warn_particles(const aw_config *config, const aw_choice *c)
{
    char nodes[32];
    if (!((double)c->particles < (double)c->needed_particles / FEWER)) return 0;
    if (config->line)
        snprintf(nodes, sizeof nodes, "%d", c->grid[0]);
    else
        snprintf(nodes, sizeof nodes, "%d x %d", c->grid[0], c->grid[1]);
    aw_config_warn(config, "beam.particles",
                   "%zu are too few for accuracy: %g on %s nodes (expected %zu%s)", c->particles,
                   config->accuracy, nodes, c->needed_particles, aw_config_quieter(config));
    return 1;
}

int aw_choose_warn(const aw_config *config)
{
    aw_choice c;
    int warnings = 0;
    if (!(config->accuracy > 0.0)) return warn_compressed(config);
    if (aw_choose(config, &c) != AW_OK) return 0;
    warnings = warn_narrow(config, &c) + warn_grid(config, &c) + warn_particles(config, &c);
    if (is_given(config, AW_GIVEN_TOLERANCE) && !(c.tolerance <= config->accuracy)) {
        aw_config_warn(config, "numerics.tolerance", "%g is above accuracy: %g (expected %g)",
                       c.tolerance, config->accuracy, config->accuracy / TOLERANCES);
        warnings++;
    }
    const double scale = sqrt(config->accuracy / REFERENCE);
    if (c.step_m == AW_STEP_AUTO && c.step_scale > 2.0 * fmax(scale, SHORTEST)) {
        aw_config_warn(config, "numerics.step_scale",
                       "%g makes steps too long for accuracy: %g (expected %.3g)", c.step_scale,
                       config->accuracy, scale);
        warnings++;
    }
    return warnings;
}
