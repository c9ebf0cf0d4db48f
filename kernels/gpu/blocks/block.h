/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the work of a block of GPU threads is written, so that a CPU can do it too: as loops over the
 * block's threads with barriers between them. On a GPU each thread goes through its own turn of
 * each loop, on a CPU one thread through all of them (emulated.c). What a thread finds in
 * one loop and needs in another is in shared memory, or in an array with AW_GPU_OWN items. */
#ifndef AW_KERNELS_GPU_BLOCKS_BLOCK_H
#define AW_KERNELS_GPU_BLOCKS_BLOCK_H
#include "quadrature/rules/simpson.h"

/* Threads of a block, and of a group of them, of which each has work of its own: a warp. */
#define AW_GPU_THREADS 128
#define AW_GPU_WARP 32
#define AW_GPU_WARPS (AW_GPU_THREADS / AW_GPU_WARP)

/* AW_GPU_CALL: one thread's work of some length, which is to cost the others no registers. */
#if defined(__CUDACC__)
#define AW_GPU_FN static __device__ inline
#define AW_GPU_CALL static __device__ __noinline__
#define AW_GPU_EACH(t) for (int t = (int)threadIdx.x, t##_turns = 1; t##_turns > 0; t##_turns = 0)
#define AW_GPU_BARRIER() __syncthreads()
#define AW_GPU_OWN 1
#define AW_GPU_MINE(t) 0
#elif defined(AW_GPU_PTHREADS) /* a thread of the host for each: a test for races */
#define AW_GPU_FN static inline __attribute__((unused))
#define AW_GPU_CALL AW_GPU_FN
#define AW_GPU_EACH(t) for (int t = aw_gpu_thread, t##_turns = 1; t##_turns > 0; t##_turns = 0)
#define AW_GPU_BARRIER() aw_gpu_barrier()
#define AW_GPU_OWN 1
#define AW_GPU_MINE(t) 0
#else
#define AW_GPU_FN static inline __attribute__((unused))
#define AW_GPU_CALL AW_GPU_FN
#if defined(AW_GPU_BACKWARDS) /* threads take turns in any order: a test takes this one */
#define AW_GPU_EACH(t) for (int t = AW_GPU_THREADS; t-- > 0;)
#else
#define AW_GPU_EACH(t) for (int t = 0; t < AW_GPU_THREADS; ++t)
#endif
#define AW_GPU_BARRIER() ((void)0)
#define AW_GPU_OWN AW_GPU_THREADS
#define AW_GPU_MINE(t) (t)
#endif

/* What the warps of a block have done: nothing yet. Called by all threads, before a barrier. */
AW_GPU_FN void aw_gpu_work_begin(aw_work work[AW_GPU_WARPS])
{
    AW_GPU_EACH(t)
    {
        if (t < AW_GPU_WARPS)
            work[t].evaluations = work[t].rated = work[t].nodes = work[t].regions = 0;
    }
}

/* The sum of that, on so many regions. One thread's work. */
AW_GPU_FN void aw_gpu_work_end(const aw_work work[AW_GPU_WARPS], uint64_t regions, aw_work *sum)
{
    const aw_work none = {0, 0, 0, 0};
    *sum = none;
    for (int g = 0; g < AW_GPU_WARPS; ++g) aw_work_add(sum, &work[g], &none);
    sum->regions = regions;
}

#endif
