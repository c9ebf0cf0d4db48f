/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/solver.h"

#include <math.h>
#include <string.h>

#include "kernels/math/retarded.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/solvers/at_points.h"
#include "src/solvers/internal.h"

/* Allowed error of a force over the largest force, in tolerances: 3e-4 at 1e-6, far less than 8
 * cells per sigma smooth away. The rates, of which forces are made, are noisy, above all those of a
 * long thin bunch: 1e-6 cost ten times the work (docs/theory.md, "Tolerance"). */
#define AW_RATE_SCALE 300.0
/* The same, at most. A tolerance of 3e-3 alone would allow 0.9 of the largest force, and three
 * times as much in `projection`: peaks of F_s behind the second bend of the Zeuthen chicane
 * (48 x 48, S = 6 to 7 m) were off by 30 % rms then. They are by 2 % with 0.05, as with 0.1 and
 * 0.03. */
#define AW_RATE_LARGEST 0.05
/* Number of cells over which psi varies by as much as itself: about a sigma. */
#define AW_SIGMA_CELLS 8.0

#define AW_STRATEGY_ROW(identifier, text) {text, &aw_strategy_##identifier},
static const struct {
    const char *name;
    const aw_strategy *strategy;
} strategies[] = {AW_STRATEGY_LIST(AW_STRATEGY_ROW, AW_STRATEGY_ROW, AW_STRATEGY_ROW)};
#undef AW_STRATEGY_ROW

enum { AW_STRATEGIES = sizeof strategies / sizeof strategies[0] };

/* Points that the coarse pass for the scales evaluates. With 144, it took 1.5 to 2.1 times as
 * long as the rest of the first solve of the LCLS bend (64 x 64 to 256 x 256, 1e-5). */
enum { AW_SCALE_POINTS = 64 };
/* Side of the square patches of a grid in which points are worked on. */
enum { AW_PATCH = 8 };

const char *aw_solver_list(int i)
{
    return i >= 0 && i < (int)AW_STRATEGIES ? strategies[i].name : NULL;
}

aw_status aw_solver_new(const char *strategy, aw_device *device, aw_solver **out)
{
    *out = NULL;
    for (int i = 0; i < (int)AW_STRATEGIES; ++i) {
        if (strcmp(strategies[i].name, strategy) != 0) continue;
        aw_solver *solver = aw_alloc(1, sizeof *solver);
        if (!solver) return AW_ERR_NOMEM;
        solver->strategy = strategies[i].strategy;
        solver->name = strategies[i].name;
        solver->device = device;
        solver->forecast = aw_forecast_default();
        if (aw_partition_new(&solver->partition) != AW_OK) {
            aw_solver_free(solver);
            return AW_ERR_NOMEM;
        }
        *out = solver;
        return AW_OK;
    }
    return aw_error(AW_ERR_ARG, "solver '%s' is not known (expected " AW_STRATEGY_TEXT ")",
                    strategy);
}

aw_forecast aw_forecast_default(void)
{
    return (aw_forecast){.source = AW_FORECAST_LEARNED,
                         .neighbours = 1,
                         .classes = 0,
                         .conversion = AW_CONVERT_EVEN,
                         .merge = AW_MERGE_MOST,
                         .least = 0.5,
                         .budget = 0.9};
}

void aw_solver_forecast(aw_solver *solver, const aw_forecast *forecast)
{
    solver->forecast = *forecast;
}

void aw_solver_record_job(const aw_problem *problem, size_t point, aw_job *job)
{
    const aw_patterns *record = problem->record;
    job->edge = record ? record->edge : NULL;
    job->cells = record ? record->cells : 0;
    job->leaves = record ? &record->need[point * record->cells] : NULL;
}

void aw_solver_record(const aw_problem *problem, const aw_region *region, size_t n, float weight)
{
    aw_patterns *record = problem->record;
    for (size_t i = 0; record && i < n; ++i)
        aw_pattern_add(record->edge, record->cells, region[i].a, region[i].b, weight,
                       &record->need[region[i].point * record->cells]);
}

void aw_solver_free(aw_solver *solver)
{
    if (!solver) return;
    if (solver->strategy->free_memory) solver->strategy->free_memory(solver->memory);
    aw_partition_free(solver->partition);
    aw_free(solver->region);
    aw_free(solver->next);
    aw_free(solver->job);
    aw_free(solver->order);
    aw_free(solver->visit);
    aw_free(solver);
}

void aw_strategy_archive(const aw_strategy *strategy, void **memory, aw_archive *archive)
{
    int has = *memory != NULL;
    AW_ARCHIVE_ITEM(archive, has);
    if (!has || archive->status != AW_OK) return;
    if (!*memory && !(*memory = strategy->new_memory()))
        archive->status = AW_ERR_NOMEM;
    else
        strategy->archive(*memory, archive);
}

void aw_solver_archive(aw_solver *solver, aw_archive *archive)
{
    AW_ARCHIVE_ITEM(archive, solver->scales);
    AW_ARCHIVE_ITEM(archive, solver->scales_at);
    aw_strategy_archive(solver->strategy, &solver->memory, archive);
}

aw_status aw_solver_order(aw_solver *solver, const aw_problem *problem)
{
    aw_status status = AW_OK;
    size_t n = 0, columns = problem->columns > 0 ? problem->columns : problem->points;
    size_t rows = columns > 0 ? problem->points / columns : 0;
    size_t high = problem->columns > 0 ? AW_PATCH : 1;
    AW_TRY(aw_grow((void **)&solver->visit, &solver->visit_capacity, problem->points,
                   sizeof *solver->visit));
    for (size_t j = 0; j < rows; j += high)
        for (size_t i = 0; i < columns; i += AW_PATCH)
            for (size_t y = j; y < j + high && y < rows; ++y)
                for (size_t x = i; x < i + AW_PATCH && x < columns; ++x)
                    solver->visit[n++] = (uint32_t)(y * columns + x);
done:
    return status;
}

aw_status aw_solver_start(aw_solver *solver, const aw_problem *problem, size_t first, size_t last,
                          size_t *begin)
{
    aw_status status = AW_OK;
    const size_t regions_max = solver->partition->n;
    size_t n = 0;
    for (size_t i = first; i < last; ++i) {
        AW_TRY(aw_grow((void **)&solver->region, &solver->region_capacity, n + regions_max,
                       sizeof *solver->region));
        begin[i - first] = n;
        uint32_t point = solver->visit[i];
        n += aw_partition_regions(solver->partition, problem->history, &problem->point[point],
                                  point, &solver->region[n]);
    }
    begin[last - first] = n;
done:
    return status;
}

aw_status aw_solver_refine_rest(aw_solver *solver, const aw_problem *problem, const aw_rest *rest,
                                aw_report *report)
{
    const aw_device_ops *ops = solver->device->ops;
    aw_status status = AW_OK;
    if (rest->jobs == 0) return AW_OK;
    AW_TRY(ops->refine(solver->device->state, rest->region, solver->job, rest->jobs,
                       &problem->scales, &report->work));
    AW_TRY(ops->wait(solver->device->state));
    for (size_t j = 0; j < rest->jobs; ++j) {
        const aw_job *job = &solver->job[j];
        aw_estimate *e = &solver->estimate[rest->point_of[j]];
        for (unsigned k = 0; k < AW_RESULTS; ++k) e->I[k] += job->I[k];
        e->error += job->error;
        e->regions += (uint32_t)job->regions;
        e->status = job->status;
    }
done:
    return status;
}

aw_status aw_solver_finish(const aw_solver *solver, const aw_problem *problem, size_t first,
                           size_t last, const aw_solution *out, aw_status worst)
{
    aw_report *report = out->report;
    for (size_t j = first; j < last; ++j) {
        const aw_estimate *e = &solver->estimate[j - first];
        size_t i = solver->visit[j];
        aw_status status = e->status;
        for (unsigned k = 0; k < AW_RESULTS; ++k) {
            out->result[i * AW_RESULTS + k] = e->I[k];
            if (!isfinite(e->I[k])) status = AW_ERR_NONFINITE;
        }
        if (status == AW_OK && !(e->error <= problem->tolerance)) status = AW_ERR_MAXEVAL;
        if (out->error) out->error[i] = e->error;
        double shown = status == AW_ERR_NONFINITE ? (double)NAN : e->error;
        if (!(shown <= report->error) && !isnan(report->error)) { /* the first NaN stays */
            report->error = shown;
            report->worst = i;
        }
        if (e->regions > report->max_regions) report->max_regions = e->regions;
        if (status != AW_OK && worst != AW_ERR_NONFINITE) worst = status;
    }
    return worst;
}

size_t aw_solver_block_size(const aw_solver *solver)
{
    const size_t wanted = aw_device_list_points(solver->device);
    return wanted < AW_POINT_BLOCK ? wanted : AW_POINT_BLOCK;
}

aw_status aw_solver_blocks(aw_solver *solver, const aw_problem *problem, aw_block_fn block,
                           double *result, double *error, aw_report *report)
{
    aw_status status = AW_OK, worst = AW_OK;
    const aw_solution out = {result, error, report};
    const size_t size = aw_solver_block_size(solver);
    for (size_t first = 0; first < problem->points; first += size) {
        size_t last = first + size;
        if (last > problem->points) last = problem->points;
        AW_TRY(block(solver, problem, first, last, report));
        worst = aw_solver_finish(solver, problem, first, last, &out, worst);
    }
    status = worst;
done:
    return status;
}

/* Refuse points that are not finite: their arcs are empty, and their results would be zeros. */
static aw_status check_points(const aw_problem *problem)
{
    for (size_t i = 0; i < problem->points; ++i) {
        const aw_field_point *p = &problem->point[i];
        if (isfinite(p->z) && isfinite(p->x)) continue;
        return aw_error(AW_ERR_NONFINITE, "field point %zu is not finite: z = %g m, x = %g m", i,
                        p->z, p->x);
    }
    return AW_OK;
}

/* Update the maximum of |I| of each result; a NaN stays. */
static void update_max(const double I[AW_RESULTS], double max[AW_RESULTS])
{
    for (unsigned k = 0; k < AW_RESULTS; ++k)
        if (!(fabs(I[k]) <= max[k]) && !isnan(max[k])) max[k] = fabs(I[k]);
}

/* The scale of the rates over the largest force. */
static double rate_scale(double tolerance)
{
    return fmin(AW_RATE_SCALE, AW_RATE_LARGEST / tolerance);
}

static aw_scales scales_of(const double max[AW_RESULTS], const aw_problem *problem)
{
    const aw_slice *now = &problem->history->slice[0];
    const double rate = fmax(max[AW_DPHI], fmax(max[AW_DAZ], max[AW_DAX]));
    const double force = fmax(rate, max[AW_PSI] / (AW_SIGMA_CELLS * fmax(now->hs, now->hx)));
    return (aw_scales){max[AW_PHI], max[AW_PSI], rate_scale(problem->tolerance) * force};
}

int aw_solver_is_next(const aw_problem *problem, double S)
{
    return fabs(problem->history->slice[0].S - S) <= 1.5 * aw_slice_age(problem->history, 1);
}

void aw_solver_store_scales(aw_solver *solver, const aw_problem *problem, const double *result)
{
    double max[AW_RESULTS] = {0.0};
    if (problem->history->gap > 0.0) return;
    for (size_t i = 0; i < problem->points; ++i)
        if (!problem->felt || problem->felt[i]) update_max(&result[i * AW_RESULTS], max);
    solver->scales = scales_of(max, problem);
    solver->scales_at = problem->history->slice[0].S;
}

/* Point k of those of the coarse pass: all, or spread over the grid. */
static size_t scale_point(const aw_problem *problem, size_t k)
{
    const size_t columns = problem->columns > 0 ? problem->columns : problem->points;
    const size_t rows = problem->points / columns;
    double u, w;
    if (problem->points <= AW_SCALE_POINTS) return k;
    aw_spread_pair(k, &u, &w);
    return (size_t)(u * (double)rows) * columns + (size_t)(w * (double)columns);
}

/* Update the maxima by the rule on the starting partition, at some points of the grid. */
static aw_status coarse_pass(aw_solver *solver, const aw_problem *problem, double max[AW_RESULTS])
{
    const aw_scales one = {1.0, 1.0, 1.0};
    aw_status status = AW_OK;
    aw_work work = {0};
    const size_t points = problem->points < AW_SCALE_POINTS ? problem->points : AW_SCALE_POINTS;
    size_t n = 0;
    double I[AW_RESULTS] = {0.0};
    AW_TRY(aw_partition_make(solver->partition, problem->history, &problem->centre, problem->half));
    for (size_t k = 0; k < points; ++k) {
        const size_t i = scale_point(problem, k);
        AW_TRY(aw_grow((void **)&solver->region, &solver->region_capacity, n + solver->partition->n,
                       sizeof *solver->region));
        n += aw_partition_regions(solver->partition, problem->history, &problem->point[i],
                                  (uint32_t)i, &solver->region[n]);
    }
    const aw_device_ops *ops = solver->device->ops;
    AW_TRY(ops->upload(solver->device->state, problem->history, problem->point, problem->points));
    AW_TRY(ops->sweep(solver->device->state, solver->region, n, &one, &work));
    AW_TRY(ops->wait(solver->device->state));
    for (size_t i = 0; i < n; ++i) {
        const aw_region *q = &solver->region[i];
        for (unsigned k = 0; k < AW_RESULTS; ++k) I[k] += q->I[k];
        if (i + 1 < n && q[1].point == q->point) continue;
        update_max(I, max);
        memset(I, 0, sizeof I);
    }
done:
    return status;
}

aw_status aw_solver_scales(aw_solver *solver, const aw_problem *problem, aw_scales *scales)
{
    aw_status status = AW_OK;
    const aw_history_view alone = aw_view_of_bunch(problem->history);
    aw_problem own = *problem;
    double max[AW_RESULTS] = {0.0};
    AW_TRY(check_points(problem));
    /* Stored scales serve the next step only; older ones may be a thousand times off. */
    if (solver->scales.phi > 0.0 && aw_solver_is_next(problem, solver->scales_at)) {
        *scales = solver->scales;
        return AW_OK;
    }
    own.history = &alone;
    AW_TRY(coarse_pass(solver, &own, max));
    *scales = scales_of(max, problem);
    if (!(scales->phi > 0.0 && scales->psi > 0.0 && isfinite(scales->phi + scales->psi)) ||
        !isfinite(scales->rate))
        AW_TRY(aw_error(AW_ERR_NONFINITE,
                        "the scales of phi, psi and the rates are %g, %g and %g: the moments "
                        "hold no charge or a NaN",
                        scales->phi, scales->psi, scales->rate));
done:
    return status;
}

aw_status aw_solver_prepare(aw_solver *solver, const aw_problem *problem, aw_report *report)
{
    aw_status status = AW_OK;
    AW_TRY(aw_partition_make(solver->partition, problem->history, &problem->centre, problem->half));
    const double start = aw_now();
    AW_TRY(solver->device->ops->upload(solver->device->state, problem->history, problem->point,
                                       problem->points));
    report->upload += aw_now() - start;
done:
    return status;
}

aw_status aw_solver_solve(aw_solver *solver, const aw_problem *problem, double *result,
                          double *error, aw_report *report)
{
    aw_status status = AW_OK;
    double begin = aw_now();
    memset(report, 0, sizeof *report);
    AW_TRY(check_points(problem));
    AW_TRY(aw_solver_prepare(solver, problem, report));
    AW_TRY(aw_solver_order(solver, problem));
    if (problem->record) {
        AW_TRY(aw_patterns_shape(problem->record, solver->partition, problem->points));
        aw_patterns_clear(problem->record);
    }
    status = solver->strategy->solve(solver, problem, result, error, report);
    if (status == AW_ERR_MAXEVAL || status == AW_ERR_NONFINITE) {
        const aw_field_point *p = &problem->point[report->worst];
        aw_error(status,
                 "solver %s: %s at the point S = %.6g m, x = %.4g m: error %.3g of the "
                 "scales, tolerance %.3g (%s)",
                 solver->name, aw_status_text(status), p->S, p->offset, report->error,
                 problem->tolerance,
                 status == AW_ERR_MAXEVAL ? "raise numerics.tolerance"
                                          : "check the beam and the step before this one");
    }
done:
    report->total = aw_now() - begin;
    return status;
}
