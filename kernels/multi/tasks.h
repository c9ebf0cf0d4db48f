/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clusters cut into tasks by data blocks, and the tasks of each block put into bins, for several
 * devices. */
#ifndef AW_KERNELS_MULTI_TASKS_H
#define AW_KERNELS_MULTI_TASKS_H
#include "kernels/device/device.h"

AW_BEGIN_DECLS

/** Fewest slices of a data block: the number that interpolation in time reads. */
enum { AW_BLOCK_SLICES = 3 };

/** <p, P, j, M> for all points p of a cluster: P are its regions from .. to - 1, which begin in one
 *  data block j. */
typedef struct aw_task {
    size_t cluster, from, to;
} aw_task;

/** The tasks of all bins. Initialize with zeros; free with aw_tasks_free. */
typedef struct aw_tasks {
    aw_task *task;  /* sorted by bin, in each bin by cluster */
    size_t *begin;  /* [bins + 1]: first task of each bin */
    double *weight; /* [bins]: points times regions; in the dissertation, the sum of M */
    size_t *block;  /* [bins]: block of the bin's tasks, 0 .. blocks - 1 */
    size_t bins, blocks;
    aw_task *listed; /* scratch, like all that follows */
    size_t *bin_of, *first, *last;
    double *load, *full;
    size_t capacity[10];
} aw_tasks;

void aw_tasks_free(aw_tasks *tasks);

/** Cut clusters into about `blocks` blocks and `bins` bins of similar weight. Blocks are runs of at
 *  least AW_BLOCK_SLICES slices; regions beyond the oldest slice belong to the last block. A region
 *  is in the block in which it begins. The bins of a block have different clusters. The cut depends
 *  on the arguments only.
 *  @return AW_OK, AW_ERR_NOMEM.
 *  Source: dissertation 5.1.1 to 5.1.4 (CREATE-TASKS, TASK-BINNING). Differs: there all blocks have
 *  the same number of slices, and a block is one bin. Here the nearest slice alone has a third of
 *  the work, so that the number of slices of a block depends on their weight. A cut in r' costs
 *  every point a node, a cut between clusters nothing: a block has several bins, which several
 *  devices may do. */
aw_status aw_tasks_cut(aw_tasks *tasks, const aw_cluster *cluster, size_t clusters,
                       const aw_history_view *history, size_t blocks, size_t bins);

AW_END_DECLS
#endif
