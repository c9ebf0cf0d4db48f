/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategy `heterogeneous`, COMPUTE-POTENTIALS-HT (dissertation 5.1): `predictive` on several
 * devices at once. Where the lines of the algorithm are:
 * - Lines 1 to 5, the forecast and the partition of every point: predictive.c, by tiles.
 * - Lines 6 to 8, tasks by data block, and bins with weights: kernels/multi/tasks.c.
 * - Lines 9 to 22, distribution of the bins to devices, and collection of the sums:
 *   kernels/multi/clusters.c and kernels/multi/scheduler.c.
 * - Line 23, learning: predictive.c.
 * Differences: clusters are made once for all devices before tasks are cut, not by each device for
 * its bin, and leftovers are distributed again as bins of their own. Several devices distribute
 * every operation, so every strategy runs on them: this one is `predictive` under its published
 * name. */
#include "src/solvers/internal.h"

static aw_status solve(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report)
{
    return aw_strategy_predictive.solve(solver, problem, result, error, report);
}

static void *new_memory(void) { return aw_strategy_predictive.new_memory(); }

static void free_memory(void *memory) { aw_strategy_predictive.free_memory(memory); }

static void archive_memory(void *memory, aw_archive *archive)
{
    aw_strategy_predictive.archive(memory, archive);
}

const aw_strategy aw_strategy_heterogeneous = {.solve = solve,
                                               .new_memory = new_memory,
                                               .free_memory = free_memory,
                                               .archive = archive_memory};
