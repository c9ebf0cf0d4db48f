/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranks of a run under mpirun. In a build without MPI, or without mpirun, there is one rank. */
#ifndef AW_BASE_COMM_H
#define AW_BASE_COMM_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Initialize MPI, once per process and before the other functions; aw_comm_end: finalize it.
 *  Without mpirun (or srun) both do nothing.
 *  @return AW_OK, AW_ERR_BACKEND (MPI has no support for threads: message) */
aw_status aw_comm_begin(void);
void aw_comm_end(void);

/** From now on this rank acts as the only one: aw_comm_size and aw_comm_node_size are 1. */
void aw_comm_alone(void);

/** End all ranks at once, with the exit status of `status`: for an error of one rank for which the
 *  others would wait. */
void aw_comm_abort(aw_status status);

int aw_comm_rank(void);  /* 0 .. size - 1 */
int aw_comm_size(void);  /* number of ranks */
int aw_comm_local(void); /* rank within the node, 0 .. aw_comm_node_size - 1 */

/* The functions below are collective: every rank must call them, with the same n (but for
 * aw_comm_gather). With one rank they copy, or do nothing. Results are bit-identical on all ranks.
 * An error of MPI ends all ranks, which is MPI's default. */

/** Sum of each of the n numbers over the ranks, in place. */
void aw_comm_sum(double *x, size_t n);
void aw_comm_sum_single(float *x, size_t n);
void aw_comm_sum_whole(int64_t *x, size_t n);

/** Maximum of each of the n numbers over the ranks, in place; n is at most INT_MAX. */
void aw_comm_max(double *x, size_t n);

/** Gather n bytes of each rank on rank 0, in the order of the ranks. n may differ between the
 *  ranks.
 *  @param[out] all  on rank 0, where the sum of all n must fit; not used on the other ranks */
void aw_comm_gather(const void *mine, size_t n, void *all);

/** Broadcast n bytes from rank 0. */
void aw_comm_broadcast(void *bytes, size_t n);

/** Gather mine[n] of every rank into all[size][n] on all ranks; n is at most INT_MAX. */
void aw_comm_allgather(const double *mine, size_t n, double *all);

/** For the ranks of this node: their number; a barrier; a broadcast of n <= INT_MAX bytes from the
 *  node's first rank; the worst status. Every rank of a node must call the last three. */
int aw_comm_node_size(void);
void aw_comm_node_wait(void);
void aw_comm_node_broadcast(void *bytes, size_t n);
aw_status aw_comm_node_agree(aw_status mine);

/** The worst (largest) status of all ranks: AW_OK only if every rank has AW_OK. */
aw_status aw_comm_agree(aw_status mine);

AW_END_DECLS
#endif
