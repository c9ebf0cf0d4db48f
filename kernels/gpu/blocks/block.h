/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Macros to write the work of a thread block so that a CPU can run it, too: as loops over the
 * threads of the block (AW_GPU_EACH) with barriers between them. On a GPU each thread runs its own
 * iteration of each loop, on a CPU one thread runs all iterations (emulated.c). Values that a
 * thread carries from one loop to another are in shared memory, or in an array of AW_GPU_PRIVATE
 * items, in which a thread t has item AW_GPU_INDEX(t). */
#ifndef AW_KERNELS_GPU_BLOCKS_BLOCK_H
#define AW_KERNELS_GPU_BLOCKS_BLOCK_H
#include "quadrature/rules/simpson.h"

/* Threads of a block and of a warp. Each warp has work of its own. */
#define AW_GPU_THREADS 128
#define AW_GPU_WARP 32
#define AW_GPU_WARPS (AW_GPU_THREADS / AW_GPU_WARP)

/* AW_GPU_CALL: a function that is not inlined: long work of a single thread, which must not cost
 * all threads registers. */
#if defined(__CUDACC__)
#define AW_GPU_FN static __device__ inline
#define AW_GPU_CALL static __device__ __noinline__
#define AW_GPU_EACH(t) for (int t = (int)threadIdx.x, t##_turns = 1; t##_turns > 0; t##_turns = 0)
#define AW_GPU_BARRIER() __syncthreads()
#define AW_GPU_PRIVATE 1
#define AW_GPU_INDEX(t) 0
#elif defined(AW_GPU_PTHREADS) /* one thread of the host for each: a test for races */
#define AW_GPU_FN static inline __attribute__((unused))
#define AW_GPU_CALL AW_GPU_FN
#define AW_GPU_EACH(t) for (int t = aw_gpu_thread, t##_turns = 1; t##_turns > 0; t##_turns = 0)
#define AW_GPU_BARRIER() aw_gpu_barrier()
#define AW_GPU_PRIVATE 1
#define AW_GPU_INDEX(t) 0
#else
#define AW_GPU_FN static inline __attribute__((unused))
#define AW_GPU_CALL AW_GPU_FN
#if defined(AW_GPU_BACKWARDS) /* the order of threads must not matter: a test reverses it */
#define AW_GPU_EACH(t) for (int t = AW_GPU_THREADS; t-- > 0;)
#else
#define AW_GPU_EACH(t) for (int t = 0; t < AW_GPU_THREADS; ++t)
#endif
#define AW_GPU_BARRIER() ((void)0)
#define AW_GPU_PRIVATE AW_GPU_THREADS
#define AW_GPU_INDEX(t) (t)
#endif

/* Set the work counts of all warps to zero. Called by all threads, before a barrier. */
AW_GPU_FN void aw_gpu_work_begin(aw_work work[AW_GPU_WARPS])
{
    AW_GPU_EACH(t)
    {
        if (t < AW_GPU_WARPS)
            work[t].evaluations = work[t].rated = work[t].nodes = work[t].regions = 0;
    }
}

/* Sum the work counts of all warps; `regions` regions were evaluated. Called by one thread. */
AW_GPU_FN void aw_gpu_work_end(const aw_work work[AW_GPU_WARPS], uint64_t regions, aw_work *sum)
{
    const aw_work none = {0, 0, 0, 0};
    *sum = none;
    for (int warp = 0; warp < AW_GPU_WARPS; ++warp) aw_work_add(sum, &work[warp], &none);
    sum->regions = regions;
}

#endif
