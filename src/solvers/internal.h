/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the strategies share: the solver's workspaces, and the end of a call. */
#ifndef AW_SOLVERS_INTERNAL_H
#define AW_SOLVERS_INTERNAL_H
#include "quadrature/partition.h"
#include "quadrature/share.h"
#include "src/base/strategies.h"
#include "src/solvers/solver.h"

/** Work lists grow geometrically and are kept from call to call. */
struct aw_solver {
    const aw_strategy *strategy;
    aw_device *device; /* borrowed */
    aw_partition *partition;
    aw_region *region, *next; /* two generations of work */
    size_t region_capacity, next_capacity;
    aw_job *job;
    size_t job_capacity;
    uint32_t *order; /* scratch of aw_share_accept */
    size_t order_capacity;
    uint32_t *visit; /* [points]: in which order points are worked on */
    size_t visit_capacity;
    aw_estimate estimate[AW_POINT_BLOCK];
    aw_forecast forecast;
    aw_scales scales; /* of the last result, where a strategy keeps them; phi 0: none */
    double scales_at; /* S of the newest slice then [m] */
    void *memory;     /* what the strategy keeps from call to call; its own */
};

#define AW_STRATEGY_DECLARE_(identifier, name) extern const aw_strategy aw_strategy_##identifier;
AW_STRATEGIES(AW_STRATEGY_DECLARE_, AW_STRATEGY_DECLARE_)
#undef AW_STRATEGY_DECLARE_

/** Let the scales of this result be those of the next call, without a coarse pass. `result` is of
 *  all points of a grid. */
void aw_solver_keep_scales(aw_solver *solver, const aw_problem *problem, const double *result);

/** Whether the problem's step is the one after S [m], or the same: what was learned there holds. */
int aw_solver_is_next(const aw_problem *problem, double S);

/** Fill solver->visit: tiles of neighbouring points of a grid, one after the other. */
aw_status aw_solver_order(aw_solver *solver, const aw_problem *problem);

/** Starting regions of points visit[first .. last), point after point, into solver->region.
 *  @param[out] begin  [last - first + 1]: where each point's regions begin */
aw_status aw_solver_start(aw_solver *solver, const aw_problem *problem, size_t first, size_t last,
                          size_t *begin);

/** How many points are worked on together, at most AW_POINT_BLOCK. */
size_t aw_solver_block(const aw_solver *solver);

/** Estimates of points visit[first .. last), into solver->estimate. */
typedef aw_status (*aw_block_fn)(aw_solver *solver, const aw_problem *problem, size_t first,
                                 size_t last, aw_report *report);

/** All points, block by block; a strategy's `solve` that needs no more than its block.
 *  @return as aw_solver_solve */
aw_status aw_solver_blocks(aw_solver *solver, const aw_problem *problem, aw_block_fn block,
                           double *result, double *error, aw_report *report);

/** Add n regions, each at its own point, `times` to what the problem records, if it does. */
void aw_solver_record(const aw_problem *problem, const aw_region *region, size_t n, float times);

/** Let a refinement of a point count its final regions there; sets the job's fields for that. */
void aw_solver_record_job(const aw_problem *problem, size_t point, aw_job *job);

/** Hand the estimates of points visit[first .. last) to the caller and to the report.
 *  @return the worse of `worst` and their statuses */
aw_status aw_solver_finish(const aw_solver *solver, const aw_problem *problem, size_t first,
                           size_t last, const aw_solution *out, aw_status worst);

#endif
