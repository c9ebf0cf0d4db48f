/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three slices of one retarded time, interpolated in time once for all points that need that
 * time: an evaluation then reads 9 cells instead of 27. Pays from a few points on. */
#ifndef AW_KERNELS_MATH_INTERPOLATED_CELLS_H
#define AW_KERNELS_MATH_INTERPOLATED_CELLS_H
#include "kernels/math/integrand.h"

/* Numbers per interpolated cell: the moments (as in a slice), then their rates at a fixed cell. */
#define AW_INTERPOLATED_COMPONENTS 8

/** Slices interpolated in time cell by cell. Slices of equal spacings form one part, so there is
 *  one part unless the grid has just grown or shrunk. */
typedef struct aw_interpolated_cells {
    int n;                    /* parts, 1 .. 3 */
    const double *cells[3];   /* [n], borrowed; first padding cell of each part */
    const aw_slice *shape[3]; /* [n]: a slice with the spacings of the part */
} aw_interpolated_cells;

/** Capacity in numbers that the interpolated cells of this history need at most. */
AW_FN size_t aw_interpolated_cells_size(const aw_history_view *h)
{
    size_t cells = (size_t)(h->ns + 2 * AW_PAD) * (size_t)(h->nx + 2 * AW_PAD);
    return 3 * cells * AW_INTERPOLATED_COMPONENTS;
}

#define AW_INTERPOLATE_CELLS_OF(type)                                        \
    do {                                                                     \
        const type *a = (const type *)cells[0], *b = (const type *)cells[1]; \
        const type *c = (const type *)cells[2];                              \
        for (size_t i = 0; i < n; ++i)                                       \
            for (size_t k = 0; k < AW_COMPONENTS; ++k) {                     \
                const size_t from = i * AW_COMPONENTS + k;                   \
                const size_t to = i * AW_INTERPOLATED_COMPONENTS + k;        \
                const double u = (double)a[from], v = (double)b[from];       \
                const double x = (double)c[from];                            \
                out[to] = w[0] * u + w[1] * v + w[2] * x;                    \
                out[to + AW_COMPONENTS] = d[0] * u + d[1] * v + d[2] * x;    \
            }                                                                \
    } while (0)

/* Weighted sum of n cells of three slices: with w for the moments, with d for their rates. */
AW_FN void aw_interpolated_cells_fill(const void *const cells[3], int single, size_t n,
                                      const double w[3], const double d[3], double *AW_RESTRICT out)
{
    if (single)
        AW_INTERPOLATE_CELLS_OF(float);
    else
        AW_INTERPOLATE_CELLS_OF(double);
}

#undef AW_INTERPOLATE_CELLS_OF

/** Interpolate the three slices of f in time; f->nt must be 3.
 *  @param[out] buffer  [aw_interpolated_cells_size(h)], the caller's; `out` borrows it */
AW_FN void aw_interpolated_cells_make(const aw_history_view *h, const aw_retarded *f,
                                      double *buffer, aw_interpolated_cells *out)
{
    const size_t n = aw_interpolated_cells_size(h) / (3 * AW_INTERPOLATED_COMPONENTS);
    out->n = 0;
    for (int first = 0; first < 3; ++first) {
        const aw_slice *shape = f->slice[first];
        const void *cells[3];
        double w[3], d[3];
        int done = 0;
        for (int p = 0; p < out->n; ++p)
            done = done || (out->shape[p]->hs == shape->hs && out->shape[p]->hx == shape->hx);
        if (done) continue;
        for (int t = 0; t < 3; ++t) {
            const aw_slice *s = f->slice[t];
            const int like = s->hs == shape->hs && s->hx == shape->hx;
            cells[t] = like ? s->cells : shape->cells;
            w[t] = like ? f->w[t] : 0.0;
            d[t] = like ? f->wd[t] : 0.0;
        }
        double *part = buffer + (size_t)out->n * n * AW_INTERPOLATED_COMPONENTS;
        aw_interpolated_cells_fill(cells, h->single, n, w, d, part);
        out->cells[out->n] = part;
        out->shape[out->n++] = shape;
    }
}

/** Sum over the nodes of an arc in one part, scalar: sum[0..2] the moments, sum[4..6] their rates
 *  along the path; overwritten.
 *  @param[in] s  the geometry of the part; its cells are not read */
AW_FN void aw_interpolated_cells_sum_scalar(const aw_arc *arc, const aw_arc_slice *s,
                                            const double *cells, double sum[8])
{
    ptrdiff_t row = s->ns + 2 * AW_PAD;
    for (int k = 0; k < 8; ++k) sum[k] = 0.0;
    for (int m = 0; m < arc->n; ++m) {
        double cosine, sine;
        const double weight = aw_arc_turned(&arc->even, arc->first + m * arc->step, &cosine, &sine);
        aw_node node = aw_node_at(s, arc, arc->u + arc->r * cosine, arc->w + arc->r * sine);
        aw_node_weigh(&node, weight);
        for (int q = 0; q < AW_SPLINE_NODES; ++q)
            for (int p = 0; p < AW_SPLINE_NODES; ++p) {
                const double *cell =
                    &cells[(node.first + q * row + p) * AW_INTERPOLATED_COMPONENTS];
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
