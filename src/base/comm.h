/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks of a run under mpirun. Without MPI in the build, or without mpirun, there is one. */
#ifndef AW_BASE_COMM_H
#define AW_BASE_COMM_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Once per process, before the others; and at its end. Without mpirun (or srun) there is nothing
 *  to join. @return AW_OK, AW_ERR_BACKEND (message) */
aw_status aw_comm_begin(void);
void aw_comm_end(void);

/** Rank 0 goes on as if there were no others. */
void aw_comm_alone(void);

/** End all ranks at once, where one is in trouble and the others wait for it. */
void aw_comm_abort(aw_status status);

int aw_comm_rank(void); /* 0 .. size - 1 */
int aw_comm_size(void);
int aw_comm_local(void); /* among the ranks of the same node, 0 .. */

/* What follows every rank must call alike; with one rank it does nothing. All ranks get the same
 * bits. An error of MPI itself ends all of them, as MPI does by default. */

/** Sums over the ranks, in place. */
void aw_comm_sum(double *x, size_t n);
void aw_comm_sum_single(float *x, size_t n);

/** The largest of each number over the ranks, in place. */
void aw_comm_max(double *x, size_t n);

/** Bytes of all ranks, one rank's after the other's, to rank 0.
 *  @param[out] all  of rank 0: room for all of them; elsewhere it is not looked at */
void aw_comm_gather(const void *mine, size_t n, void *all);

/** What rank 0 has. */
void aw_comm_broadcast(void *bytes, size_t n);

/** mine[] of every rank into all [size][n]. */
void aw_comm_allgather(const double *mine, size_t n, double *all);

/** Of the ranks of this node: how many there are, wait for all, what the first has, the worst
 *  status of all. All ranks of a node call these alike. */
int aw_comm_node_size(void);
void aw_comm_node_wait(void);
void aw_comm_node_broadcast(void *bytes, size_t n);
aw_status aw_comm_node_agree(aw_status mine);

/** The worst status of all ranks: AW_OK only if all have it. */
aw_status aw_comm_agree(aw_status mine);

AW_END_DECLS
#endif
