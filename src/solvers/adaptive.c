/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategy `adaptive`, RP-QUADRATURE (dissertation 3.1.2): globally adaptive Simpson quadrature
 * with a priority queue per point; the reference for the others. Differences: it starts from the
 * partition of quadrature/partition.h, and the tolerance is that of the sum at a point. */
#include <string.h>

#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/solvers/internal.h"

static aw_status solve_block(aw_solver *solver, const aw_problem *problem, size_t first,
                             size_t last, aw_report *report)
{
    aw_status status = AW_OK;
    const aw_device_ops *ops = solver->device->ops;
    size_t begin[AW_POINT_BLOCK + 1], points = last - first;
    AW_TRY(aw_solver_start(solver, problem, first, last, begin));
    AW_TRY(aw_grow((void **)&solver->job, &solver->job_capacity, points, sizeof *solver->job));
    for (size_t i = 0; i < points; ++i) {
        solver->job[i] = (aw_job){
            .first = begin[i], .count = begin[i + 1] - begin[i], .tolerance = problem->tolerance};
        aw_solver_record_job(problem, solver->visit[first + i], &solver->job[i]);
    }
    AW_TRY(ops->refine(solver->device->state, solver->region, solver->job, points, &problem->scales,
                       &report->work));
    AW_TRY(ops->wait(solver->device->state));
    for (size_t i = 0; i < points; ++i) {
        aw_estimate *e = &solver->estimate[i];
        memcpy(e->I, solver->job[i].I, sizeof e->I);
        e->error = solver->job[i].error;
        e->regions = (uint32_t)solver->job[i].regions;
        e->status = solver->job[i].status;
    }
done:
    return status;
}

static aw_status solve(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report)
{
    double begin = aw_now();
    aw_status status = aw_solver_blocks(solver, problem, solve_block, result, error, report);
    report->refine = aw_now() - begin;
    return status;
}

const aw_strategy aw_strategy_adaptive = {.solve = solve};
