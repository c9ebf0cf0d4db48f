/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU: what one arc reads of the slices of its retarded time. */
#ifndef AW_KERNELS_GPU_BLOCKS_READING_H
#define AW_KERNELS_GPU_BLOCKS_READING_H
#include "kernels/gpu/blocks/block.h"
#include "kernels/math/integrand.h"

/** Slices of one spacing, and their weights in time. */
typedef struct aw_gpu_reading {
    int slices; /* 0 .. 3 */
    const void *cells[3];
    double w[3], wd[3];
} aw_gpu_reading;

/** How often an arc is gone through: slices of different spacings are read one spacing after the
 *  other. */
AW_GPU_FN int aw_gpu_rounds(const aw_retarded *f) { return f->same ? 1 : f->nt; }

/** Slices that have the spacing of slice `which`, unless one before it has that already. */
AW_GPU_FN void aw_gpu_read(const aw_retarded *f, int which, aw_gpu_reading *out)
{
    out->slices = 0;
    for (int t = 0; t < f->nt; ++t) {
        const aw_slice *mine = f->slice[t];
        int like = 0;
        while (f->slice[like]->hs != mine->hs || f->slice[like]->hx != mine->hx) like++;
        if (like != which) continue;
        out->cells[out->slices] = mine->cells;
        out->w[out->slices] = f->w[t];
        out->wd[out->slices++] = f->wd[t];
    }
}

/* Cells and sums in double; cells in single precision and sums in double; both in single. */
#define AW_CELL double
#define AW_REAL double
#define AW_LETTER d
#include "kernels/gpu/blocks/gather.h"
#undef AW_CELL
#undef AW_LETTER
#define AW_CELL float
#define AW_LETTER m
#include "kernels/gpu/blocks/gather.h"
#undef AW_REAL
#undef AW_LETTER
#define AW_REAL float
#define AW_LETTER f
#include "kernels/gpu/blocks/gather.h"
#undef AW_CELL
#undef AW_REAL
#undef AW_LETTER

#endif
