/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategy `two-phase`, COMPUTE-POTENTIALS (dissertation 3.3.1): phase one works breadth first
 * on one list of the subregions of all points until few are left or the list exceeds L_max; phase
 * two runs RP-QUADRATURE on the rest. Differences:
 * - The list starts from the partition of quadrature/partition.h, and points are taken in blocks.
 * - A subregion is accepted if the accepted errors of its point stay within the point's tolerance,
 *   not by its own error alone, which would allow n tolerances for n subregions.
 * - Phase two refines all that is left of a point together. A share of the tolerance for each
 *   subregion cost up to ten times more at 1e-9, and AW_REFINE_MAX regions for each subregion of a
 *   tolerance out of reach. */
#include <string.h>

#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/solvers/internal.h"

/* L_max for each point of a full block; a point starts with about 60 regions. */
enum { AW_L_MAX = 512 };
/* Largest number of generations in phase one: what then remains are a few stubborn regions. */
enum { AW_GENERATIONS = 5 };

/* Accept the regions that each point's tolerance allows, and list the halves of the others in
 * solver->next.
 * @param[in,out] begin  [points + 1]: where the regions of each point begin in the list
 * @param[out] count     regions in solver->next */
static aw_status next_generation(aw_solver *solver, const aw_problem *problem, size_t points,
                                 size_t *begin, size_t *count)
{
    aw_status status = AW_OK;
    size_t n = 0;
    for (size_t i = 0; i < points; ++i) {
        size_t from = begin[i], listed = begin[i + 1] - from;
        AW_TRY(aw_grow((void **)&solver->order, &solver->order_capacity, listed,
                       sizeof *solver->order));
        size_t kept = aw_share_accept(&solver->region[from], listed, solver->order,
                                      problem->tolerance, &solver->estimate[i]);
        aw_solver_record(problem, &solver->region[from], kept, -1.0F);
        AW_TRY(aw_grow((void **)&solver->next, &solver->next_capacity, n + 2 * kept,
                       sizeof *solver->next));
        begin[i] = n;
        for (size_t j = 0; j < 2 * kept; ++j)
            aw_region_half(&solver->region[from + j / 2], (int)(j % 2), &solver->next[n++]);
    }
    begin[points] = n;
    *count = n;
done:
    return status;
}

/* Phase two: one job for all regions left of a point, with the rest of its tolerance. */
static aw_status phase_two(aw_solver *solver, const aw_problem *problem, size_t points,
                           const size_t *begin, aw_report *report)
{
    aw_status status = AW_OK;
    size_t jobs = 0, point_of[AW_POINT_BLOCK];
    AW_TRY(aw_grow((void **)&solver->job, &solver->job_capacity, points, sizeof *solver->job));
    for (size_t i = 0; i < points; ++i) {
        if (begin[i + 1] == begin[i]) continue;
        point_of[jobs] = i;
        aw_job *job = &solver->job[jobs++];
        *job = (aw_job){.first = begin[i],
                        .count = begin[i + 1] - begin[i],
                        .tolerance = problem->tolerance - solver->estimate[i].error};
        aw_solver_record_job(problem, solver->region[begin[i]].point, job);
    }
    const aw_rest rest = {solver->region, jobs, point_of};
    AW_TRY(aw_solver_refine_rest(solver, problem, &rest, report));
done:
    return status;
}

static aw_status solve_block(aw_solver *solver, const aw_problem *problem, size_t first,
                             size_t last, aw_report *report)
{
    aw_status status = AW_OK;
    const aw_device_ops *ops = solver->device->ops;
    size_t begin[AW_POINT_BLOCK + 1], points = last - first, n;
    const aw_work before = report->work;
    double start = aw_now();
    memset(solver->estimate, 0, points * sizeof *solver->estimate);
    AW_TRY(aw_solver_start(solver, problem, first, last, begin));
    n = begin[points];
    for (int generation = 0; n > 0 && generation < AW_GENERATIONS; ++generation) {
        if (generation > 0 && n >= AW_L_MAX * aw_solver_block_size(solver)) break;
        AW_TRY(
            ops->sweep(solver->device->state, solver->region, n, &problem->scales, &report->work));
        AW_TRY(ops->wait(solver->device->state));
        aw_solver_record(problem, solver->region, n, 1.0F);
        AW_TRY(next_generation(solver, problem, points, begin, &n));
        if (generation == 0) report->leftovers += n / 2;
        aw_region *list = solver->next;
        size_t capacity = solver->next_capacity;
        solver->next = solver->region;
        solver->next_capacity = solver->region_capacity;
        solver->region = list;
        solver->region_capacity = capacity;
    }
    aw_work_add(&report->evaluated, &report->work, &before);
    report->evaluate += aw_now() - start;
    start = aw_now();
    if (n > 0) AW_TRY(phase_two(solver, problem, points, begin, report));
    report->refine += aw_now() - start;
done:
    return status;
}

static aw_status solve(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report)
{
    return aw_solver_blocks(solver, problem, solve_block, result, error, report);
}

const aw_strategy aw_strategy_two_phase = {.solve = solve};
