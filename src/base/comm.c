/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/comm.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"

#ifdef AW_MPI
#include <limits.h>
#include <mpi.h>

/* State of the process, as MPI's own state is. */
static int rank, ranks = 1, local, neighbours = 1;
static MPI_Comm node;

aw_status aw_comm_begin(void)
{
    /* Set by the mpirun of OpenMPI and others, and by SLURM's srun. A single process does not need
     * MPI, whose initialization takes time. */
    static const char *const variable[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    int support = 0, launched = 0;
    for (size_t i = 0; i < sizeof variable / sizeof variable[0]; ++i)
        launched |= getenv(variable[i]) != NULL;
    if (!launched) return AW_OK;
    /* Threads of a device never call MPI: only the thread that called aw_comm_begin does. */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &support) != MPI_SUCCESS ||
        support < MPI_THREAD_FUNNELED)
        return aw_error(AW_ERR_BACKEND, "this MPI library does not support programs with threads");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local);
    MPI_Comm_size(node, &neighbours);
    return AW_OK;
}

void aw_comm_abort(aw_status status) { MPI_Abort(MPI_COMM_WORLD, aw_status_exit(status)); }

void aw_comm_end(void)
{
    int begun = 0;
    MPI_Initialized(&begun);
    if (begun) MPI_Finalize();
}

void aw_comm_alone(void) { ranks = 1; }

int aw_comm_rank(void) { return rank; }

int aw_comm_size(void) { return ranks; }

int aw_comm_local(void) { return local; }

/* In chunks, as MPI's counts are ints. */
static void sum(char *x, size_t n, size_t size, MPI_Datatype type)
{
    for (size_t at = 0; at < n; at += INT_MAX) {
        const int count = n - at < INT_MAX ? (int)(n - at) : INT_MAX;
        MPI_Allreduce(MPI_IN_PLACE, x + at * size, count, type, MPI_SUM, MPI_COMM_WORLD);
    }
}

void aw_comm_sum(double *x, size_t n)
{
    if (aw_comm_size() > 1) sum((char *)x, n, sizeof *x, MPI_DOUBLE);
}

void aw_comm_sum_single(float *x, size_t n)
{
    if (aw_comm_size() > 1) sum((char *)x, n, sizeof *x, MPI_FLOAT);
}

void aw_comm_sum_whole(int64_t *x, size_t n)
{
    if (aw_comm_size() > 1) sum((char *)x, n, sizeof *x, MPI_INT64_T);
}

void aw_comm_max(double *x, size_t n)
{
    if (aw_comm_size() > 1)
        MPI_Allreduce(MPI_IN_PLACE, x, (int)n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* Send bytes from one rank to another, in chunks, as MPI's counts are ints. */
static void transfer(char *bytes, size_t n, int to, int from)
{
    for (size_t at = 0; at < n; at += INT_MAX) {
        const int count = n - at < INT_MAX ? (int)(n - at) : INT_MAX;
        if (rank == from)
            MPI_Send(bytes + at, count, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(bytes + at, count, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

void aw_comm_gather(const void *mine, size_t n, void *all)
{
    char *to = all;
    if (rank > 0) {
        transfer((char *)&n, sizeof n, 0, rank);
        transfer((char *)mine, n, 0, rank); /* sends: does not write to it */
        return;
    }
    memcpy(to, mine, n);
    for (int r = 1; r < ranks; ++r) {
        to += n;
        transfer((char *)&n, sizeof n, 0, r);
        transfer(to, n, 0, r);
    }
}

void aw_comm_broadcast(void *bytes, size_t n)
{
    char *from = bytes;
    for (size_t at = 0; aw_comm_size() > 1 && at < n; at += INT_MAX) {
        const int count = n - at < INT_MAX ? (int)(n - at) : INT_MAX;
        MPI_Bcast(from + at, count, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
}

void aw_comm_allgather(const double *mine, size_t n, double *all)
{
    if (aw_comm_size() > 1)
        MPI_Allgather(mine, (int)n, MPI_DOUBLE, all, (int)n, MPI_DOUBLE, MPI_COMM_WORLD);
    else
        memcpy(all, mine, n * sizeof *all);
}

int aw_comm_node_size(void) { return ranks > 1 ? neighbours : 1; }

void aw_comm_node_wait(void)
{
    if (aw_comm_node_size() > 1) MPI_Barrier(node);
}

void aw_comm_node_broadcast(void *bytes, size_t n)
{
    if (aw_comm_node_size() > 1) MPI_Bcast(bytes, (int)n, MPI_BYTE, 0, node);
}

aw_status aw_comm_node_agree(aw_status mine)
{
    int worst = (int)mine;
    if (aw_comm_node_size() > 1) MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, node);
    return (aw_status)worst;
}

aw_status aw_comm_agree(aw_status mine)
{
    int worst = (int)mine;
    if (aw_comm_size() > 1)
        MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return (aw_status)worst;
}

#else

aw_status aw_comm_begin(void) { return AW_OK; }
void aw_comm_end(void) {}
void aw_comm_alone(void) {}
void aw_comm_abort(aw_status status) { (void)status; }
int aw_comm_rank(void) { return 0; }
int aw_comm_size(void) { return 1; }
int aw_comm_local(void) { return 0; }

void aw_comm_sum(double *x, size_t n)
{
    (void)x;
    (void)n;
}

void aw_comm_sum_single(float *x, size_t n)
{
    (void)x;
    (void)n;
}

void aw_comm_sum_whole(int64_t *x, size_t n)
{
    (void)x;
    (void)n;
}

void aw_comm_max(double *x, size_t n)
{
    (void)x;
    (void)n;
}

void aw_comm_gather(const void *mine, size_t n, void *all) { memcpy(all, mine, n); }

void aw_comm_broadcast(void *bytes, size_t n)
{
    (void)bytes;
    (void)n;
}

void aw_comm_allgather(const double *mine, size_t n, double *all)
{
    memcpy(all, mine, n * sizeof *all);
}

int aw_comm_node_size(void) { return 1; }
void aw_comm_node_wait(void) {}

void aw_comm_node_broadcast(void *bytes, size_t n)
{
    (void)bytes;
    (void)n;
}

aw_status aw_comm_node_agree(aw_status mine) { return mine; }
aw_status aw_comm_agree(aw_status mine) { return mine; }
#endif
