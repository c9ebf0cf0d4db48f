/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU: the slices that an arc reads at its retarded time. */
#ifndef AW_KERNELS_GPU_BLOCKS_READING_H
#define AW_KERNELS_GPU_BLOCKS_READING_H
#include "kernels/gpu/blocks/block.h"
#include "kernels/math/integrand.h"

/** Slices of equal spacing, with their weights of the interpolation in time. */
typedef struct aw_gpu_reading {
    int slices; /* 0 .. 3 */
    const void *cells[3];
    double w[3], wd[3]; /* of the moments, of their rates */
} aw_gpu_reading;

/** Number of passes over an arc: one for each spacing of the slices, at most. */
AW_GPU_FN int aw_gpu_rounds(const aw_retarded *f) { return f->same ? 1 : f->nt; }

/** Find the slices that have the spacing of slice `which`; none if a slice before it has the same
 *  spacing. */
AW_GPU_FN void aw_gpu_read(const aw_retarded *f, int which, aw_gpu_reading *out)
{
    out->slices = 0;
    for (int t = 0; t < f->nt; ++t) {
        const aw_slice *slice = f->slice[t];
        int same = 0;
        while (f->slice[same]->hs != slice->hs || f->slice[same]->hx != slice->hx) same++;
        if (same != which) continue;
        out->cells[out->slices] = slice->cells;
        out->w[out->slices] = f->w[t];
        out->wd[out->slices++] = f->wd[t];
    }
}

/* d: cells and sums in double precision; m: cells in single, sums in double; f: both in single. */
#define AW_CELL double
#define AW_REAL double
#define AW_SUFFIX d
#include "kernels/gpu/blocks/gather.h"
#undef AW_CELL
#undef AW_SUFFIX
#define AW_CELL float
#define AW_SUFFIX m
#include "kernels/gpu/blocks/gather.h"
#undef AW_REAL
#undef AW_SUFFIX
#define AW_REAL float
#define AW_SUFFIX f
#include "kernels/gpu/blocks/gather.h"
#undef AW_CELL
#undef AW_REAL
#undef AW_SUFFIX

#endif
