/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One measurement of `arcwake bench`: a strategy in the LCLS bend in steady state. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "src/base/memory.h"
#include "src/bench/bench.h"
#include "src/bench/case.h"
#include "src/plan/plan_memory.h"
#include "src/simulation/verify.h"

/* Points at which the work of the adaptive strategy is counted. */
enum { SAMPLE_POINTS = 400 };

aw_status aw_bench_case_new(const aw_bench *b, const char *solver, long grid, long particles,
                            aw_config **config, aw_simulation **sim)
{
    aw_status status = AW_OK;
    AW_TRY(aw_lcls_config((int)grid, (size_t)particles, AW_UPSTREAM_STEADY, config));
    snprintf((*config)->solver, sizeof(*config)->solver, "%s", solver);
    snprintf((*config)->device, sizeof(*config)->device, "%s", b->device);
    if (b->across) (*config)->grid[1] = b->across;
    (*config)->beam.quiet = !b->random;
    aw_bench_beam_size(b->beam, &(*config)->beam);
    (*config)->tolerance = b->tolerance;
    (*config)->threads = b->threads;
    (*config)->tuning = b->tuning;
    /* What a self-consistent step needs is allocated for it. */
    if (b->step) (*config)->motion = AW_MOTION_SELF_CONSISTENT;
    (*config)->steps = AW_BENCH_STEPS + b->skip + b->repeat;
    AW_TRY(aw_simulation_new(*config, NULL, 0, sim));
    AW_TRY(aw_bench_beam_shape(b->beam, *sim));
    aw_solver_forecast((*sim)->field.solver, &b->forecast);
done:
    return status;
}

aw_status aw_bench_case_record(aw_simulation *sim, aw_patterns *record, aw_report *report)
{
    aw_status status = AW_OK;
    aw_problem problem;
    AW_TRY(aw_self_field_grid_problem(&sim->field, &problem));
    problem.record = record;
    AW_TRY(
        aw_solver_solve(sim->field.solver, &problem, sim->field.result, sim->field.error, report));
done:
    return status;
}

void aw_bench_case_label(const aw_simulation *sim, long particles, const char *solver,
                         const char *device, aw_bench_row *row)
{
    const aw_config *config = sim->config;
    snprintf(row->solver, sizeof row->solver, "%s", solver);
    snprintf(row->device, sizeof row->device, "%s", device);
    row->interpolates = sim->device.ops->interpolates;
    row->grid = config->grid[0];
    row->across = config->grid[1];
    row->particles = (size_t)particles;
    row->nodes = sim->field.nodes;
    row->tolerance = config->tolerance;
    row->threads = aw_plan_threads(config);
}

/* Evaluations per point of the adaptive strategy at the same tolerance, from a sample of the
 * points. All nodes of a region are also nodes of its halves, so that the strategy evaluates its
 * final partition and nothing else: this is the work of the converged partition alone. */
static aw_status count_adaptive(aw_simulation *sim, double *per_point)
{
    aw_status status = AW_OK;
    aw_solver *solver = NULL;
    aw_report report;
    const size_t n = sim->field.nodes < SAMPLE_POINTS ? sim->field.nodes : SAMPLE_POINTS;
    aw_field_point *point = aw_alloc(n, sizeof *point);
    double *result = aw_alloc(n * AW_RESULTS, sizeof *result);
    AW_TRY(point && result ? AW_OK : aw_error(AW_ERR_NOMEM, "out of memory for the sample"));
    /* Spread evenly, without the regularity of a stride: Knuth's multiplicative hash. */
    for (size_t i = 0; i < n; ++i)
        point[i] = sim->field.point[(uint32_t)((uint32_t)(i + 1) * 2654435761U) % sim->field.nodes];
    AW_TRY(aw_solver_new("adaptive", &sim->device, &solver));
    aw_problem problem = aw_self_field_problem(&sim->field, point, n, sim->config->tolerance);
    AW_TRY(aw_solver_solve(solver, &problem, result, NULL, &report));
    *per_point = (double)report.work.evaluations / (double)n;
done:
    aw_solver_free(solver);
    aw_free(point);
    aw_free(result);
    return status;
}

/* Figures of the tables other than times, from a step that is not timed. */
static aw_status add_figures(aw_simulation *sim, aw_bench_row *row)
{
    aw_status status = AW_OK;
    aw_patterns record = {.rows = 0};
    aw_report report;
    AW_TRY(aw_bench_case_record(sim, &record, &report));
    if (report.forecast_cells > 0.0) {
        row->forecast_cells = report.forecast_cells;
        row->forecast_slices = report.forecast_slices;
    }
    AW_TRY(count_adaptive(sim, &row->adaptive));
done:
    aw_patterns_free(&record);
    return status;
}

aw_status aw_bench_measure(const aw_bench *b, const char *solver, long grid, long particles,
                           aw_bench_row *row)
{
    const long first = AW_BENCH_STEPS + b->skip, last = first + b->repeat - 1;
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_bench_row_clear(row);
    AW_TRY(aw_bench_case_new(b, solver, grid, particles, &config, &sim));
    for (;;) {
        AW_TRY(aw_simulation_deposit(sim));
        if (sim->step > last) break;
        if (sim->step >= AW_BENCH_STEPS) AW_TRY(aw_simulation_solve(sim));
        if (sim->step >= first)
            aw_bench_row_add(row, &sim->field.report, sim->seconds[AW_PART_POTENTIALS]);
        if (sim->step == last && b->verify)
            AW_TRY(aw_verify_solution(sim, AW_BENCH_VERIFIED, &row->error_phi, &row->error_psi));
        if (sim->step == last && !b->tables) break;
        AW_TRY(aw_simulation_advance(sim));
    }
    aw_bench_row_close(row);
    aw_bench_case_label(sim, particles, config->solver,
                        sim->device.ops->describe(sim->device.state), row);
    if (b->tables) AW_TRY(add_figures(sim, row));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}
