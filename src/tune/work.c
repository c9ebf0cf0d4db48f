/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/tune/work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/form_factor/form_factor.h"
#include "src/input/lcls.h"
#include "src/simulation/simulation.h"

enum {
    GRID = 64,
    PARTICLES = 100000,
    /* Steps before the first solve: then the history holds all that the circle of causality
     * crosses. */
    STEPS = 160,
    /* `two-phase` sweeps bands of the grid, as many rows as strategies sweep at a time. */
    BANDS = 2,
    BAND_ROWS = 8,
    /* Few waves: with more of them the blocks are one at a time anyway. */
    WAVES = 2000,
    WAVE_PARTICLES = 1000000,
    ROUNDS_MIN = 4
};
/* Time for the candidates of one parameter [s], unless ROUNDS_MIN rounds take longer. */
#define SECONDS 20.0
/* Wave numbers go up to this, of a bunch of unit length. */
#define WAVE_REACH 4.0

struct aw_tune_case {
    aw_config *config;
    aw_simulation *sim;
    aw_field_point *band; /* owned, points of the bands */
    double *result;       /* owned, [nodes][AW_RESULTS] */
    double (*F)[2];       /* owned, [WAVES] */
    char text[256];
};

/* Each candidate has its own device and solver, so that candidates can be run in turn. */
typedef struct candidate {
    aw_device device;
    aw_solver *solver; /* NULL for form factors */
} candidate;

/* ------------------------------------------------------------------------------- potentials */

/* Strategies, and solves before the first timed one: to allocate memory and learn forecasts. */
typedef struct potentials {
    const char *strategy;
    int warm_ups;
} potentials;

static const potentials solves[] = {
    [AW_TUNE_TWO_PHASE] = {"two-phase", 1}, [AW_TUNE_PREDICTIVE] = {"predictive", 3}};

const char *aw_tune_work_name(aw_tune_work work)
{
    return work == AW_TUNE_FORM_FACTOR ? "form factor" : solves[work].strategy;
}

static aw_problem problem_of(const aw_tune_case *c, aw_tune_work work)
{
    const aw_self_field *field = &c->sim->field;
    const int bands = work == AW_TUNE_TWO_PHASE;
    aw_problem problem = aw_self_field_problem(
        field, bands ? c->band : field->point,
        bands ? (size_t)BANDS * BAND_ROWS * GRID : field->nodes, c->config->tolerance);
    problem.columns = GRID;
    return problem;
}

static aw_status solve(const aw_tune_case *c, aw_tune_work work, const candidate *by,
                       double *seconds)
{
    const aw_problem problem = problem_of(c, work);
    aw_report report = {.total = 0.0};
    const aw_status status = aw_solver_solve(by->solver, &problem, c->result, NULL, &report);
    *seconds = report.total;
    return status;
}

/* ------------------------------------------------------------------------------ form factors */

/* Equal steps through a bunch of a unit length: where particles are does not change the time. */
static aw_status read_particles(void *context, size_t first, size_t n, double *const at[3],
                                double *charge)
{
    (void)context;
    for (size_t j = 0; j < n; ++j) {
        at[0][j] = at[1][j] = at[2][j] = (double)(first + j) / WAVE_PARTICLES;
        charge[j] = 1.0;
    }
    return AW_OK;
}

static aw_status sum_waves(const aw_tune_case *c, const candidate *by, double *seconds)
{
    const aw_form_source source = {.n = WAVE_PARTICLES, .read = read_particles};
    const aw_waves waves = {.n = {1, 1, WAVES}, .step = {[2] = {WAVE_REACH / WAVES}}};
    const aw_form_options options = {.single = 1};
    const aw_form_sink sink = aw_form_sink_of(c->F);
    const double begin = aw_now();
    aw_form_bunch bunch;
    const aw_status status = aw_form_factor(&by->device, &source, &waves, &options, &sink, &bunch);
    *seconds = aw_now() - begin;
    return status;
}

/* ------------------------------------------------------------------------------------- timing */

static aw_status do_work(const aw_tune_case *c, aw_tune_work work, const candidate *by,
                         double *seconds)
{
    return work == AW_TUNE_FORM_FACTOR ? sum_waves(c, by, seconds) : solve(c, work, by, seconds);
}

static aw_status candidate_open(const aw_tune_case *c, aw_tune_work work, const aw_tuning *tuning,
                                candidate *by)
{
    aw_status status = AW_OK;
    double seconds;
    const int warm_ups = work == AW_TUNE_FORM_FACTOR ? 1 : solves[work].warm_ups;
    const aw_device_params params = {.threads = c->config->threads,
                                     .inner_density = c->config->inner_density,
                                     .tuning = *tuning};
    AW_TRY(aw_device_open("cpu", &params, &by->device));
    if (work != AW_TUNE_FORM_FACTOR)
        AW_TRY(aw_solver_new(solves[work].strategy, &by->device, &by->solver));
    for (int i = 0; i < warm_ups; ++i) AW_TRY(do_work(c, work, by, &seconds));
done:
    return status;
}

aw_status aw_tune_time(const aw_tune_case *c, aw_tune_work work, const aw_tuning *tuning, int n,
                       aw_timings *timings)
{
    candidate by[AW_CANDIDATES_MAX] = {{.solver = NULL}};
    aw_status status = AW_OK;
    for (int i = 0; i < n; ++i) AW_TRY(candidate_open(c, work, &tuning[i], &by[i]));
    const double begin = aw_now();
    timings->n = n;
    for (timings->rounds = 0; timings->rounds < AW_ROUNDS_MAX; ++timings->rounds) {
        const double spent = aw_now() - begin, round = spent / fmax(timings->rounds, 1.0);
        if (timings->rounds >= ROUNDS_MIN && spent + round > SECONDS) break;
        for (int i = 0; i < n; ++i) {
            const int k = (i + timings->rounds) % n;
            AW_TRY(do_work(c, work, &by[k], &timings->seconds[timings->rounds][k]));
        }
    }
done:
    for (int i = 0; i < n; ++i) {
        aw_solver_free(by[i].solver);
        aw_device_close(&by[i].device);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------- case */

/* Points of the bands, which are spread evenly from the edge of the grid to its middle. */
static aw_status make_bands(aw_tune_case *c)
{
    const size_t n = (size_t)BAND_ROWS * GRID;
    c->band = aw_alloc(BANDS * n, sizeof *c->band);
    c->result = aw_alloc(c->sim->field.nodes * AW_RESULTS, sizeof *c->result);
    c->F = aw_alloc(WAVES, sizeof *c->F);
    if (!c->band || !c->result || !c->F) return aw_error(AW_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < BANDS; ++i) {
        const size_t row = BAND_ROWS + i * (GRID / 2 - BAND_ROWS) / (BANDS - 1);
        memcpy(&c->band[i * n], &c->sim->field.point[row * GRID], n * sizeof *c->band);
    }
    return AW_OK;
}

/* The bend of `arcwake bench`, at the step of its first solve. */
static aw_status move_bunch(aw_tune_case *c)
{
    aw_status status = AW_OK;
    for (;;) {
        AW_TRY(aw_simulation_deposit(c->sim));
        if (c->sim->step == STEPS) break;
        AW_TRY(aw_simulation_advance(c->sim));
    }
    aw_frame_points(&c->sim->field.frame.grid, &c->config->lattice->orbit, c->config->beam.gamma,
                    c->sim->field.point);
done:
    return status;
}

aw_status aw_tune_case_new(int threads, aw_tune_case **out)
{
    aw_status status = AW_OK;
    aw_tune_case *c = aw_alloc(1, sizeof *c);
    *out = NULL;
    if (!c) return aw_error(AW_ERR_NOMEM, "out of memory");
    AW_TRY(aw_lcls_config(GRID, PARTICLES, AW_UPSTREAM_STEADY, &c->config));
    snprintf(c->config->device, sizeof c->config->device, "cpu");
    c->config->threads = threads;
    c->config->steps = STEPS;
    AW_TRY(aw_simulation_new(c->config, NULL, 0, &c->sim));
    AW_TRY(move_bunch(c));
    AW_TRY(make_bands(c));
    const aw_problem problem = problem_of(c, AW_TUNE_PREDICTIVE);
    AW_TRY(aw_solver_scales(c->sim->field.solver, &problem, &c->sim->field.scales));
    snprintf(c->text, sizeof c->text, "LCLS bend in steady state, %d x %d, on %s", GRID, GRID,
             c->sim->device.ops->describe(c->sim->device.state));
    *out = c;
done:
    if (status != AW_OK) aw_tune_case_free(c);
    return status;
}

const char *aw_tune_case_text(const aw_tune_case *c) { return c->text; }

void aw_tune_case_free(aw_tune_case *c)
{
    if (!c) return;
    aw_free(c->band);
    aw_free(c->result);
    aw_free(c->F);
    aw_simulation_free(c->sim);
    aw_config_free(c->config);
    aw_free(c);
}
