/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU kernels that only multiply and add, or only read, for rooflines (peak.h). */
#ifndef AW_KERNELS_GPU_BLOCKS_PEAK_H
#define AW_KERNELS_GPU_BLOCKS_PEAK_H
#include <stddef.h>

#include "kernels/gpu/blocks/block.h"

/* Independent chains of multiply-adds of a thread: with a few warps they hide the latency. */
#define AW_GPU_CHAINS 8

/** Arguments of `multiply`. */
typedef struct aw_gpu_multiply {
    size_t turns;
    int single;
    double *out; /* [1]: written if a sum is negative, which it never is: keeps the compiler from
                  * removing the loop */
} aw_gpu_multiply;

/* x <- 0.999 x + 0.001 tends to one; each chain has its own initial value. */
#define AW_GPU_MULTIPLY(name, real)                                                          \
    AW_GPU_FN double name(size_t turns, int thread)                                          \
    {                                                                                        \
        real x[AW_GPU_CHAINS], sum = 0;                                                      \
        for (int k = 0; k < AW_GPU_CHAINS; ++k) x[k] = (real)(k + thread + 2);               \
        for (size_t i = 0; i < turns; ++i)                                                   \
            for (int k = 0; k < AW_GPU_CHAINS; ++k) x[k] = x[k] * (real)0.999 + (real)0.001; \
        for (int k = 0; k < AW_GPU_CHAINS; ++k) sum += x[k];                                 \
        return (double)sum;                                                                  \
    }
AW_GPU_MULTIPLY(aw_gpu_multiply_d, double)
AW_GPU_MULTIPLY(aw_gpu_multiply_f, float)
#undef AW_GPU_MULTIPLY

AW_GPU_FN void aw_gpu_multiply_block(const aw_gpu_multiply *c, int block)
{
    AW_GPU_EACH(t)
    {
        const double sum =
            c->single ? aw_gpu_multiply_f(c->turns, t) : aw_gpu_multiply_d(c->turns, t);
        if (sum < 0.0) *c->out = sum + block;
    }
}

/** Arguments of `read_all`. */
typedef struct aw_gpu_read_all {
    const double *from; /* [n] */
    size_t n, passes, blocks;
    int each;    /* 1: every block reads all of it, 0: each block reads a part */
    double *out; /* as in aw_gpu_multiply */
} aw_gpu_read_all;

AW_GPU_FN void aw_gpu_read_all_block(const aw_gpu_read_all *c, int block)
{
    const size_t first = c->each ? 0 : (size_t)block * AW_GPU_THREADS;
    const size_t stride = c->each ? AW_GPU_THREADS : c->blocks * AW_GPU_THREADS;
    AW_GPU_EACH(t)
    {
        double sum = 0.0;
        for (size_t pass = 0; pass < c->passes; ++pass)
            for (size_t i = first + (size_t)t; i < c->n; i += stride) sum += c->from[i];
        if (sum < 0.0) *c->out = sum;
    }
}

#endif
