/* SPDX-License-Identifier: GPL-3.0-or-later */
/* COMPUTE-POTENTIALS-HT (dissertation 5.1): `predictive` on several devices at once.
 * - Lines 1 to 5, the forecast of every point and its partition: predictive.c, for tiles.
 * - Lines 6 to 8, tasks by data block, and bins with weights: kernels/multi/tasks.c.
 * - Lines 9 to 22, bins to units, and sums back: kernels/multi/clusters.c,
 *   kernels/multi/scheduler.c.
 * - RP-COMPUTATION-PU: clusters are made once for all devices, before tasks are cut, not by each
 *   unit for its bin; what is left over goes out again as bins of its own.
 * - Line 23, learning: predictive.c.
 * Differs: whatever several devices is asked to do, it shares out. So every strategy runs on
 * several units, this one is `predictive` by the name that it has there, and on one device they are
 * one. */
#include "src/solvers/internal.h"

static aw_status solve(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report)
{
    return aw_strategy_predictive.solve(solver, problem, result, error, report);
}

static void forget(void *memory) { aw_strategy_predictive.forget(memory); }

const aw_strategy aw_strategy_heterogeneous = {
    .name = "heterogeneous", .solve = solve, .forget = forget};
