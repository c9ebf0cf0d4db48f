/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Case of the error bars: do they hold the truth, where it is known, and are they not too large? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/units.h"
#include "src/certify/estimate.h"
#include "src/certify/neighbours.h"
#include "src/input/lcls.h"
#include "src/plan/optics.h"
#include "src/simulation/current.h"
#include "src/validate/cases.h"
#include "validation/analytic.h"

enum { TRUTHS_MAX = 256, RUNS = AW_NEIGHBOURS_MAX, BEAMS = 25 };

/* The runs of a certificate, in the order of aw_neighbours. */
enum {
    CASE_ITSELF,
    GRID,
    STEP = GRID + 2,
    NOISE = STEP + 2,
    QUADRATURE = NOISE + AW_SEEDS,
    FINER_GRID,
    FINER_STEP
};

/* A quantity whose value is known. */
typedef struct truth {
    char name[64];
    double known, value[RUNS];
    double shrink;   /* of aw_samples */
    double scale;    /* largest value of its curve */
    int noise_alone; /* 1: nothing else changes it */
} truth;

typedef struct truths {
    int n;
    truth of[TRUTHS_MAX];
    double grid[AW_LEVELS], step[AW_LEVELS]; /* spacings over that of the case */
    double finer_grid, finer_step;           /* of the finer levels */
} truths;

/* Note the value of a quantity in a run. The first run of a part begins the list at `*next`. */
static void note(truths *t, int *next, int run, const truth *entry, double value)
{
    truth *to = &t->of[(*next)++];
    if (run == CASE_ITSELF) {
        *to = *entry;
        for (int i = 0; i < RUNS; ++i) to->value[i] = NAN;
        t->n = *next;
    }
    to->value[run] = value;
}

/* Make a config that of a run of the certificate. */
static void vary(aw_config *c, int run, truths *t)
{
    const int fine[2] = {c->grid[0], c->grid[1]};
    t->grid[0] = t->step[0] = 1.0;
    if (run >= GRID && run < STEP) {
        const int level = run - GRID + 1;
        for (int i = 0; i < 2; ++i) c->grid[i] = aw_level_nodes(fine[i], level);
        t->grid[level] = aw_grid_ratio(fine, c->grid);
    } else if (run >= STEP && run < NOISE) {
        const int level = run - STEP + 1;
        t->step[level] = pow(AW_COARSER, level);
        c->step_m *= t->step[level];
    } else if (run >= NOISE && run < QUADRATURE) {
        c->beam.particles /= AW_FEWER_PARTICLES;
        c->beam.seed += (uint64_t)(run - NOISE + 1);
    } else if (run == QUADRATURE)
        c->tolerance *= AW_LARGER_TOLERANCE;
    else if (run == FINER_GRID) {
        for (int i = 0; i < 2; ++i) c->grid[i] = aw_level_nodes(fine[i], AW_LEVEL_FINER);
        t->finer_grid = aw_grid_ratio(fine, c->grid);
    } else if (run == FINER_STEP)
        c->step_m *= t->finer_step = AW_FINER;
}

/* ---------------------------------------------------------------------- forces of a rigid bunch */

static const aw_line_bunch line = {.charge = 1e-9, .sigma = AW_LCLS_SIGMA};
#define BEND_END (AW_LCLS_RADIUS * AW_LCLS_ANGLE)
#define NARROW 10e-6 /* sigma_x [m]: near a line; 50 um change F_s by 0.2 % behind an edge */
/* The longitudinal space charge, which the closed forms leave out, falls with 1/gamma^2: at 1e4 it
 * is 0.04 % of the peak, as large as the errors here. */
#define FAST 1e5

/* The known forces at a place of the bend, and behind it. */
static void forces_at(truths *t, int *next, int run, const aw_simulation *sim)
{
    const double S = sim->S_ref, peak = aw_steady_force(&line, AW_LCLS_RADIUS, -0.38 * line.sigma);
    const int steady = S > 2.5 && S < BEND_END;
    truth e = {.shrink = AW_SHRINK_QUIET, .scale = fabs(peak)};
    for (int k = -2; k <= 2; ++k) {
        const double s = k * line.sigma;
        snprintf(e.name, sizeof e.name, "F_s, S = %.2f m, s = %d sigma", S, k);
        e.known = steady ? aw_steady_force(&line, AW_LCLS_RADIUS, s)
                  : S < BEND_END
                      ? aw_entrance_force(&line, AW_LCLS_RADIUS, S + s, s)
                      : aw_exit_force(&line, AW_LCLS_RADIUS, AW_LCLS_ANGLE, S - BEND_END + s, s);
        note(t, next, run, &e, aw_simulation_at(sim, sim->field.forces.Fs, s, 0.0));
        if (!steady) continue;
        snprintf(e.name, sizeof e.name, "F_x_eff, S = %.2f m, s = %d sigma", S, k);
        e.known = aw_steady_transverse(&line, 1.0 / AW_LCLS_RADIUS, s);
        note(t, next, run, &e, aw_simulation_at(sim, sim->field.forces.Fx_eff, s, 0.0));
    }
    if (steady) {
        snprintf(e.name, sizeof e.name, "peak current, S = %.2f m", S);
        e.known = e.scale = line.charge * AW_C / (sqrt(2.0 * AW_PI) * line.sigma);
        note(t, next, run, &e,
             aw_current_peak(sim->field.view, &sim->field.frame.grid, sim->field.point, sim->bin)
                 .peak);
        e.scale = fabs(peak);
    }
    if (S > BEND_END) return;
    snprintf(e.name, sizeof e.name, "mean F_s, S = %.2f m", S);
    e.known =
        steady ? aw_steady_mean(&line, AW_LCLS_RADIUS) : aw_entrance_mean(&line, AW_LCLS_RADIUS, S);
    note(t, next, run, &e, sim->force_stats.mean_s);
}

/* One run: at places that are whole numbers of all four steps (0.18 m = 9, 6, 4 and 12 of them). */
static aw_status rigid_run(aw_validation *v, truths *t, int first, int run)
{
    static const double place[] = {0.18, 0.54, 0.9, 1.26, 3.06, 5.4};
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    config->beam.sigma_x = NARROW;
    config->beam.gamma = FAST;
    config->beam.particles = 100000;
    config->grid[0] = config->grid[1] = 48;
    config->tolerance = 1e-4;
    vary(config, run, t);
    config->steps = lround(5.4 / config->step_m);
    AW_TRY(aw_case_begin(config, &sim));
    for (size_t i = 0; i < sizeof place / sizeof place[0]; ++i) {
        AW_TRY(aw_case_to(sim, place[i]));
        AW_TRY(aw_simulation_solve(sim));
        forces_at(t, &first, run, sim);
    }
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

/* --------------------------------------------------------------- sizes without self-force */

#define GAMMA 1e4

typedef struct beam_start {
    int quiet;
    uint64_t seed;
} beam_start;

/* A chicane that compresses 100 um to 40 um: R56 = -2 a^2 (5 + 2/3 0.5) = -30 mm. */
static aw_status chicane(aw_validation *v, const beam_start *start, aw_config **out)
{
    const double a = 0.053;
    const aw_element element[] = {{.kind = AW_BEND, .name = "b1", .length = 0.5, .angle = a},
                                  {.kind = AW_DRIFT, .name = "d1", .length = 5.0},
                                  {.kind = AW_BEND, .name = "b2", .length = 0.5, .angle = -a},
                                  {.kind = AW_DRIFT, .name = "d2", .length = 1.0},
                                  {.kind = AW_BEND, .name = "b3", .length = 0.5, .angle = -a},
                                  {.kind = AW_DRIFT, .name = "d3", .length = 5.0},
                                  {.kind = AW_BEND, .name = "b4", .length = 0.5, .angle = a},
                                  {.kind = AW_DRIFT, .name = "d4", .length = 1.0}};
    aw_status status = aw_case_config(v, element, 8, GAMMA, AW_UPSTREAM_DRIFT, out);
    if (status != AW_OK) return status;
    aw_beam_params *beam = &(*out)->beam;
    beam->sigma_s = 100e-6;
    beam->emittance = 1e-10;
    beam->beta_x = 20.0;
    beam->alpha_x = 1.0;
    beam->sigma_x = sqrt(beam->emittance * beam->beta_x);
    beam->energy_spread = 1e-5;
    beam->chirp = -20.0;
    beam->particles = 4000;
    beam->quiet = start->quiet;
    beam->seed = start->seed;
    (*out)->motion = AW_MOTION_EXTERNAL;
    (*out)->step_m = 0.05;
    return AW_OK;
}

/* The point of the optics at the end of an element; S = 0 for -1. */
static const aw_optics_point *end_of(const aw_optics *optics, int element)
{
    for (size_t i = 0; element >= 0 && i < optics->n; ++i)
        if (optics->point[i].end && optics->point[i].element == (size_t)element)
            return &optics->point[i];
    return &optics->point[0];
}

/* Width and emittance at the start, where they are independent of the length; both sizes behind the
 * chicane. */
static aw_status sizes_at(truths *t, int *next, int run, const aw_simulation *sim,
                          const aw_optics_point *p)
{
    const aw_config *c = sim->config;
    const char *sampling = c->beam.quiet ? "quiet" : "random";
    aw_beam_stats now;
    aw_status status = AW_OK;
    truth e = {.shrink = c->beam.quiet ? AW_SHRINK_QUIET : AW_SHRINK_RANDOM, .noise_alone = 1};
    AW_TRY(aw_simulation_stats(sim, &now));
    e.known = e.scale = p->sigma_x;
    snprintf(e.name, sizeof e.name, "sigma_x, S = %.2f m, %s", p->S, sampling);
    note(t, next, run, &e, now.sigma_x);
    e.known = e.scale = sim->step > 0 ? p->sigma_s : c->beam.emittance;
    snprintf(e.name, sizeof e.name, "%s, S = %.2f m, %s", sim->step > 0 ? "sigma_s" : "emittance_x",
             p->S, sampling);
    note(t, next, run, &e, sim->step > 0 ? now.sigma_s : now.emittance);
done:
    return status;
}

/* One run. Transport is exact for any step, and there is no field: only the noise matters. */
static aw_status external_run(aw_validation *v, truths *t, int first, int run,
                              const beam_start *start)
{
    static const int element[] = {-1, 7}; /* the start, and the end of d4: both at whole steps */
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_optics *optics = NULL;
    AW_TRY(chicane(v, start, &config));
    AW_TRY(aw_optics_new(config->lattice, &config->beam, 0, &optics));
    vary(config, run, t);
    AW_TRY(aw_simulation_new(config, NULL, 0, &sim));
    for (size_t i = 0; i < sizeof element / sizeof element[0]; ++i) {
        const aw_optics_point *p = end_of(optics, element[i]);
        while (sim->step < lround(p->S / config->step_m)) AW_TRY(aw_simulation_advance(sim));
        AW_TRY(sizes_at(t, &first, run, sim, p));
    }
done:
    aw_optics_free(optics);
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

/* -------------------------------------------------------------------------------------- verdict */

/* The bar of a quantity. @param[in] finer  1: with the finer levels of grid and step */
static double bar_of(const truths *t, const truth *q, int finer)
{
    const double *f = q->value;
    const aw_samples samples = {.main = f,
                                .f = {&f[NOISE], &f[NOISE + 1], &f[NOISE + 2]},
                                .rows = 1,
                                .shrink = q->shrink,
                                .scale = q->scale};
    const double noise = aw_estimate_noise(&samples).U;
    if (q->noise_alone) return noise;
    aw_levels grid = {
        .f = {f, &f[GRID], &f[GRID + 1]}, .rows = 1, .order = AW_ORDER_GRID, .scale = q->scale};
    aw_levels step = {
        .f = {f, &f[STEP], &f[STEP + 1]}, .rows = 1, .order = AW_ORDER_STEP, .scale = q->scale};
    memcpy(grid.h, t->grid, sizeof grid.h);
    memcpy(step.h, t->step, sizeof step.h);
    if (finer) {
        grid.finer = &f[FINER_GRID];
        grid.h_finer = t->finer_grid;
        step.finer = &f[FINER_STEP];
        step.h_finer = t->finer_step;
    }
    const double U[] = {noise, aw_estimate_levels(&grid).U, aw_estimate_levels(&step).U,
                        aw_estimate_tolerance(f, &f[QUADRATURE], 1, q->scale).U};
    return aw_estimate_sum(U, sizeof U / sizeof U[0]);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantities from `first` to `end`, and whether finer levels are used. */
typedef struct part {
    const char *of;
    int first, end, finer;
} part;

/* U over the true error, median of a part. */
static double median_size(const truths *t, const part *p)
{
    const int n = p->end - p->first;
    double ratio[TRUTHS_MAX];
    for (int i = 0; i < n; ++i) {
        const truth *q = &t->of[p->first + i];
        ratio[i] = bar_of(t, q, p->finer) / fabs(q->value[0] - q->known);
    }
    qsort(ratio, (size_t)n, sizeof ratio[0], ascending);
    return ratio[n / 2];
}

static aw_status judge_size(aw_validation *v, const truths *t, const part *p)
{
    char name[96];
    snprintf(name, sizeof name, "U over the true error of %s, median of %d", p->of,
             p->end - p->first);
    return aw_check_add(v, name, median_size(t, p), 0.0, 1.0, 5.0);
}

/* @return how many of a part lie within their bars */
static int count_covered(const truths *t, const part *p)
{
    int covered = 0;
    for (int i = p->first; i < p->end; ++i) {
        const truth *q = &t->of[i];
        const double error = fabs(q->value[0] - q->known), U = bar_of(t, q, p->finer);
        const int inside = error <= U;
        aw_info("  %-36s %12.5g, known %12.5g, off by %8.2g, U = %8.2g%s", q->name, q->value[0],
                q->known, error, U, inside ? "" : "  OUTSIDE");
        covered += inside;
    }
    return covered;
}

static aw_status judge(aw_validation *v, const truths *t, int forces)
{
    const part of_forces = {"forces", 0, forces, 0}, of_sizes = {"sizes", forces, t->n, 0};
    const part of_all = {"all", 0, t->n, 0};
    const part finer = {"forces, with finer levels", 0, forces, 1};
    const int sizes = count_covered(t, &of_sizes), covered = count_covered(t, &of_forces) + sizes;
    aw_status status = AW_OK;
    AW_TRY(aw_check_note(v, "quantities with a known value", t->n, t->n));
    AW_TRY(aw_check_add(v, "share of them within their bars, of at least 0.95", covered, t->n, t->n,
                        0.05));
    AW_TRY(judge_size(v, t, &of_all));
    AW_TRY(judge_size(v, t, &of_sizes));
    AW_TRY(aw_check_note(v, "the same of the forces alone", median_size(t, &of_forces), 5.0));
    aw_info("with the finer levels of grid and step:");
    AW_TRY(aw_check_add(v, "share of all within their bars, with finer levels",
                        count_covered(t, &finer) + sizes, t->n, t->n, 0.05));
    AW_TRY(judge_size(v, t, &finer));
done:
    return status;
}

static aw_status certificates(aw_validation *v)
{
    aw_status status = AW_OK;
    truths *t = calloc(1, sizeof *t);
    if (!t) return aw_error(AW_ERR_NOMEM, "out of memory");
    for (int run = 0; run < RUNS; ++run) AW_TRY(rigid_run(v, t, 0, run));
    const int forces = t->n;
    for (int i = 0; i < 2 * BEAMS; ++i) {
        const beam_start start = {.quiet = i < BEAMS, .seed = 1 + 10 * (uint64_t)(i % BEAMS)};
        const int first = t->n;
        AW_TRY(external_run(v, t, first, CASE_ITSELF, &start));
        for (int run = NOISE; run < QUADRATURE; ++run)
            AW_TRY(external_run(v, t, first, run, &start));
    }
    AW_TRY(judge(v, t, forces));
done:
    free(t);
    return status;
}

const aw_case aw_case_certificates = {
    .name = "certificates",
    .claim = "error bars hold the truth in 95 of 100 cases, and are at most 5 errors in the median",
    .seconds = 18,
    .run = certificates,
};
