/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/at_points.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/solvers/internal.h"

void aw_spread_pair(uint64_t k, double *u, double *w)
{
    const double x = (double)(k % 1000000);
    *u = 0.5 + 0.7548776662466927 * x;
    *w = 0.5 + 0.5698402909980532 * x;
    *u -= floor(*u);
    *w -= floor(*w);
}

/* The starting regions of a point behind the first `n` of solver->region, each halved: a
 * strategy that begins with the same regions would miss the same narrow structures as these
 * integrals (at a first step with a random start F_x was 54 eV/m off in both).
 * @return the number of all regions */
static size_t list_halves(aw_solver *solver, const aw_problem *problem, size_t point, size_t n)
{
    const size_t whole = aw_partition_regions(
        solver->partition, problem->history, &problem->point[point], (uint32_t)point, solver->next);
    for (size_t i = 0; i < whole; ++i) {
        const double middle = 0.5 * (solver->next[i].a + solver->next[i].b);
        solver->region[n] = solver->next[i];
        solver->region[n++].b = middle;
        solver->region[n] = solver->next[i];
        solver->region[n++].a = middle;
    }
    return n;
}

/* Regions that are listed at once: they bound the memory, and are work for many threads. */
enum { REGIONS_AT_ONCE = 16384 };

/* Integrate at points first .. *next - 1 of those wanted, as many as are listed at once, and add to
 * their results. */
static aw_status integrate_some(aw_solver *solver, const aw_problem *problem,
                                const aw_at_points *wanted, size_t first, size_t *next)
{
    const aw_device_ops *ops = solver->device->ops;
    const size_t most = 2 * solver->partition->n; /* regions of a point */
    aw_status status = AW_OK;
    aw_work work = {0};
    size_t regions = 0, n = 0;
    for (; first + n < wanted->n && (n == 0 || regions + most <= REGIONS_AT_ONCE); ++n) {
        AW_TRY(aw_grow((void **)&solver->region, &solver->region_capacity, regions + most,
                       sizeof(aw_region)));
        const size_t begin = regions;
        regions = list_halves(solver, problem, wanted->point[first + n], begin);
        solver->job[n] = (aw_job){.first = begin,
                                  .count = regions - begin,
                                  .tolerance = wanted->tolerance,
                                  .density = wanted->density};
    }
    AW_TRY(ops->refine(solver->device->state, solver->region, solver->job, n, &problem->scales,
                       &work));
    AW_TRY(ops->wait(solver->device->state));
    for (size_t i = 0; i < n; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            wanted->I[first + i][k] +=
                solver->job[i].status == AW_OK ? solver->job[i].I[k] : (double)NAN;
    *next = first + n;
done:
    return status;
}

/* Add the integrals of the view that the solver is prepared for. */
static aw_status integrate(aw_solver *solver, const aw_problem *problem, const aw_at_points *wanted)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&solver->next, &solver->next_capacity, solver->partition->n,
                   sizeof(aw_region)));
    AW_TRY(aw_grow((void **)&solver->job, &solver->job_capacity, wanted->n, sizeof(aw_job)));
    for (size_t i = 0; i < wanted->n;) AW_TRY(integrate_some(solver, problem, wanted, i, &i));
done:
    return status;
}

/* The same of a part of the view: the bunch without its images, or these alone. */
static aw_status integrate_part(aw_solver *solver, const aw_problem *problem,
                                const aw_history_view *part, const aw_at_points *wanted)
{
    aw_problem one = *problem;
    aw_report report = {.upload = 0.0};
    aw_status status = AW_OK;
    one.history = part;
    AW_TRY(aw_solver_prepare(solver, &one, &report));
    AW_TRY(integrate(solver, &one, wanted));
done:
    return status;
}

aw_status aw_solver_at_points(aw_solver *solver, const aw_problem *problem,
                              const aw_at_points *wanted)
{
    const aw_history_view own = aw_view_of_bunch(problem->history);
    const aw_history_view images = aw_view_of_images(problem->history);
    aw_at_points of_images = *wanted;
    aw_status status = AW_OK;
    memset(wanted->I, 0, wanted->n * sizeof *wanted->I);
    if (!(problem->history->gap > 0.0)) return integrate(solver, problem, wanted);
    of_images.density =
        fmin(wanted->density, 1.0); /* images are as smooth as distances are large */
    AW_TRY(integrate_part(solver, problem, &own, wanted));
    AW_TRY(integrate_part(solver, problem, &images, &of_images));
done:
    return status;
}
