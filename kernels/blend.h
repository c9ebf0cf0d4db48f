/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three slices of one retarded time, combined once for all points that ask for that time: an
 * evaluation then reads 9 cells instead of 27. Worth its cost from a few points on. */
#ifndef AW_KERNELS_BLEND_H
#define AW_KERNELS_BLEND_H
#include "kernels/integrand.h"

/* Numbers per cell of a blend: the moments (as in a slice), then their rates at a fixed cell. */
#define AW_BLEND_COMPONENTS 8

/** Numbers in a blend of slices of this history. */
AW_FN size_t aw_blend_size(const aw_history_view *h)
{
    return (size_t)(h->ns + 2 * AW_PAD) * (size_t)(h->nx + 2 * AW_PAD) * AW_BLEND_COMPONENTS;
}

/** Slices can be combined cell by cell if they share their spacings. */
AW_FN int aw_blend_possible(const aw_retarded *f) { return f->nt == 3 && f->same; }

#define AW_BLEND_FILL(type, f, n, out)                                                       \
    do {                                                                                     \
        const type *a = (const type *)(f)->slice[0]->cells;                                  \
        const type *b = (const type *)(f)->slice[1]->cells;                                  \
        const type *c = (const type *)(f)->slice[2]->cells;                                  \
        for (size_t i = 0; i < (n); ++i)                                                     \
            for (size_t k = 0; k < AW_COMPONENTS; ++k) {                                     \
                const size_t from = i * AW_COMPONENTS + k, to = i * AW_BLEND_COMPONENTS + k; \
                const double u = (double)a[from], v = (double)b[from], w = (double)c[from];  \
                (out)[to] = w0 * u + w1 * v + w2 * w;                                        \
                (out)[to + AW_COMPONENTS] = d0 * u + d1 * v + d2 * w;                        \
            }                                                                                \
    } while (0)

/** Combine the slices of f; `out` has room for aw_blend_size numbers. */
AW_FN void aw_blend_fill(const aw_history_view *h, const aw_retarded *f, double *AW_RESTRICT out)
{
    const size_t n = aw_blend_size(h) / AW_BLEND_COMPONENTS;
    const double w0 = f->w[0], w1 = f->w[1], w2 = f->w[2];
    const double d0 = f->wd[0], d1 = f->wd[1], d2 = f->wd[2];
    if (h->single)
        AW_BLEND_FILL(float, f, n, out);
    else
        AW_BLEND_FILL(double, f, n, out);
}

#undef AW_BLEND_FILL

/** Scalar sum over the nodes of an arc: sum[0..2] the moments, sum[4..6] their rates along the
 *  path, all slices in one; overwritten. `s` gives the geometry, its cells are not read. */
AW_FN void aw_blend_sum_scalar(const aw_arc *arc, const aw_arc_slice *s, const double *blend,
                               double sum[8])
{
    ptrdiff_t row = s->ns + 2 * AW_PAD;
    for (int k = 0; k < 8; ++k) sum[k] = 0.0;
    for (int m = 0; m < arc->n; ++m) {
        double angle = arc->first + m * arc->step;
        aw_node node =
            aw_node_at(s, arc, arc->u + arc->r * cos(angle), arc->w + arc->r * sin(angle));
        for (int q = 0; q < 3; ++q)
            for (int p = 0; p < 3; ++p) {
                const double *cell = &blend[(node.first + q * row + p) * AW_BLEND_COMPONENTS];
                double value = node.wv[q] * node.wu[p];
                double rate = node.wv[q] * node.du[p] + node.dv[q] * node.wu[p];
                for (int k = 0; k < 3; ++k) {
                    sum[k] += value * cell[k];
                    sum[4 + k] += value * cell[AW_COMPONENTS + k] + rate * cell[k];
                }
            }
    }
}

#endif
