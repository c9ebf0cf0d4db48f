/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU kernel for uploaded slices. */
#ifndef AW_KERNELS_GPU_BLOCKS_UPLOAD_H
#define AW_KERNELS_GPU_BLOCKS_UPLOAD_H
#include <stddef.h>

#include "kernels/gpu/blocks/block.h"

/** Arguments of `narrow`, which rounds cells to single precision. */
typedef struct aw_gpu_narrow {
    const double *from; /* [n] */
    float *to;          /* [n] */
    size_t n;
} aw_gpu_narrow;

/* Numbers that a block rounds. */
#define AW_GPU_NARROW (AW_GPU_THREADS * 32)

AW_GPU_FN void aw_gpu_narrow_block(const aw_gpu_narrow *c, int block)
{
    AW_GPU_EACH(t)
    {
        const size_t end =
            (size_t)(block + 1) * AW_GPU_NARROW < c->n ? (size_t)(block + 1) * AW_GPU_NARROW : c->n;
        for (size_t i = (size_t)block * AW_GPU_NARROW + (size_t)t; i < end; i += AW_GPU_THREADS)
            c->to[i] = (float)c->from[i];
    }
}

#endif
