/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For the strategies only: the solver's workspaces, and steps that strategies have in common. */
#ifndef AW_SOLVERS_INTERNAL_H
#define AW_SOLVERS_INTERNAL_H
#include "quadrature/partition.h"
#include "quadrature/share.h"
#include "src/base/strategies.h"
#include "src/solvers/solver.h"

/** A solver and its workspaces, which grow geometrically and are kept from call to call. */
struct aw_solver {
    const aw_strategy *strategy;
    const char *name;  /* of the strategy */
    aw_device *device; /* borrowed */
    aw_partition *partition;
    aw_region *region, *next; /* regions of this generation and of the next */
    size_t region_capacity, next_capacity;
    aw_job *job; /* lists of one call, the next one's are made from new: each sets all of a job */
    size_t job_capacity;
    uint32_t *order; /* workspace of aw_share_accept */
    size_t order_capacity;
    uint32_t *visit; /* [points]: the points in the order of the work */
    size_t visit_capacity;
    aw_estimate estimate[AW_POINT_BLOCK];
    aw_forecast forecast;
    aw_scales scales; /* of the last result, if the strategy stores them; phi 0: none */
    double scales_at; /* S of the newest slice then [m] */
    void *memory;     /* owned by the strategy, which keeps it from call to call */
};

/* extern const aw_strategy aw_strategy_adaptive, ...; one for each strategy of the list. */
#define AW_STRATEGY_DECLARE(identifier, name) extern const aw_strategy aw_strategy_##identifier;
AW_STRATEGY_LIST(AW_STRATEGY_DECLARE, AW_STRATEGY_DECLARE, AW_STRATEGY_DECLARE)
#undef AW_STRATEGY_DECLARE

/** Save or load the memory of a strategy; loading makes it where there was one.
 *  @param[in,out] memory  NULL: none yet */
void aw_strategy_archive(const aw_strategy *strategy, void **memory, aw_archive *archive);

/** Make the partition, and load the history and the points onto the device.
 *  @return what aw_partition_make or the upload returns */
aw_status aw_solver_prepare(aw_solver *solver, const aw_problem *problem, aw_report *report);

/** Store the scales of this result for the next step, which then needs no coarse pass. A
 *  result between plates has none (aw_solver_scales), and is left out.
 *  @param[in] result  of all points of a grid */
void aw_solver_store_scales(aw_solver *solver, const aw_problem *problem, const double *result);

/** Whether the problem's step is the one after S [m], or the same: what was learned at S holds. */
int aw_solver_is_next(const aw_problem *problem, double S);

/** Fill solver->visit: square patches of neighbouring points of a grid, one after the other, since
 *  neighbours read the same cells. */
aw_status aw_solver_order(aw_solver *solver, const aw_problem *problem);

/** List the starting regions of points visit[first .. last), point by point, in solver->region.
 *  @param[out] begin  [last - first + 1]: where the regions of each point begin */
aw_status aw_solver_start(aw_solver *solver, const aw_problem *problem, size_t first, size_t last,
                          size_t *begin);

/** Number of points in a block, at most AW_POINT_BLOCK. */
size_t aw_solver_block_size(const aw_solver *solver);

/** Fill solver->estimate for points visit[first .. last). */
typedef aw_status (*aw_block_fn)(aw_solver *solver, const aw_problem *problem, size_t first,
                                 size_t last, aw_report *report);

/** Solve all points block by block; all of `solve` for a strategy that treats blocks independently.
 *  @return as aw_solver_solve */
aw_status aw_solver_blocks(aw_solver *solver, const aw_problem *problem, aw_block_fn block,
                           double *result, double *error, aw_report *report);

/** Add `weight` to the problem's record for each of n regions, if the problem has one. */
void aw_solver_record(const aw_problem *problem, const aw_region *region, size_t n, float weight);

/** Let the refinement of a job count its final regions in the record of a point. */
void aw_solver_record_job(const aw_problem *problem, size_t point, aw_job *job);

/** Regions that are left at some points of a block; borrowed. */
typedef struct aw_rest {
    aw_region *region;      /* of solver->job[0 .. jobs - 1] */
    size_t jobs;            /* one a point */
    const size_t *point_of; /* [jobs]: the point's index in the block */
} aw_rest;

/** Refine the jobs, and add what they find to the block's estimates.
 *  @return AW_OK, or what the device's refinement returns */
aw_status aw_solver_refine_rest(aw_solver *solver, const aw_problem *problem, const aw_rest *rest,
                                aw_report *report);

/** What a call of aw_solver_solve fills; borrowed from the caller. */
typedef struct aw_solution {
    double *result; /* [points][AW_RESULTS] */
    double *error;  /* [points] or NULL */
    aw_report *report;
} aw_solution;

/** Copy the estimates of points visit[first .. last) to the caller's arrays, and update the largest
 *  error in the report.
 *  @return the worse of `worst` and the statuses of the points */
aw_status aw_solver_finish(const aw_solver *solver, const aw_problem *problem, size_t first,
                           size_t last, const aw_solution *out, aw_status worst);

#endif
