/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the work of a block of GPU threads is written, so that a CPU can do it too: as loops over the
 * block's threads with barriers between them. On a GPU each thread goes through its own turn of
 * each loop, on a CPU one thread through all of them (emulated_runtime.c). What a thread finds in
 * one loop and needs in another is in shared memory, or in an array with AW_GPU_OWN items. */
#ifndef AW_KERNELS_GPU_BLOCK_H
#define AW_KERNELS_GPU_BLOCK_H
#include "kernels/port.h"
#include "kernels/region.h"

/* Threads of a block, and of a group of them, of which each has work of its own: a warp. */
#define AW_GPU_THREADS 128
#define AW_GPU_WARP 32
#define AW_GPU_GROUPS (AW_GPU_THREADS / AW_GPU_WARP)

#if defined(__CUDACC__)
#define AW_GPU_FN static __device__ inline
#define AW_GPU_EACH(t) for (int t = (int)threadIdx.x, t##_turns = 1; t##_turns > 0; t##_turns = 0)
#define AW_GPU_BARRIER() __syncthreads()
#define AW_GPU_OWN 1
#define AW_GPU_MINE(t) 0
#else
#define AW_GPU_FN static inline __attribute__((unused))
#define AW_GPU_EACH(t) for (int t = 0; t < AW_GPU_THREADS; ++t)
#define AW_GPU_BARRIER() ((void)0)
#define AW_GPU_OWN AW_GPU_THREADS
#define AW_GPU_MINE(t) (t)
#endif

/* What is at `cell` of a slice: its three moments, in double. */
AW_FN void aw_gpu_cell(const void *cells, int single, ptrdiff_t cell, double g[3])
{
#if defined(__CUDA_ARCH__)
    if (single) { /* one load of 16 bytes */
        const float4 all = __ldg((const float4 *)cells + cell);
        g[0] = all.x;
        g[1] = all.y;
        g[2] = all.z;
    } else {
        const double2 *from = (const double2 *)cells + 2 * cell;
        const double2 first = __ldg(from);
        g[0] = first.x;
        g[1] = first.y;
        g[2] = __ldg((const double *)(from + 1));
    }
#else
    for (int k = 0; k < 3; ++k) {
        const ptrdiff_t at = cell * AW_COMPONENTS + k;
        g[k] = single ? (double)((const float *)cells)[at] : ((const double *)cells)[at];
    }
#endif
}

/** Add nine cells of a slice of which `row` apart are rows, with the weights of a node: values, and
 *  if `rates` rates, which are along du and across dv. */
AW_FN void aw_gpu_gather(const void *cells, int single, int rates, ptrdiff_t first, ptrdiff_t row,
                         const double wu[3], const double wv[3], const double du[3],
                         const double dv[3], double value[3], double rate[3])
{
    for (int q = 0; q < 3; ++q)
        for (int p = 0; p < 3; ++p) {
            double g[3];
            aw_gpu_cell(cells, single, first + q * row + p, g);
            const double w = wv[q] * wu[p];
            for (int k = 0; k < 3; ++k) value[k] += w * g[k];
            if (!rates) continue;
            const double d = wv[q] * du[p] + dv[q] * wu[p];
            for (int k = 0; k < 3; ++k) rate[k] += d * g[k];
        }
}

#endif
