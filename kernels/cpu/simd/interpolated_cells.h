/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sum over the nodes of an arc in one part of the interpolated cells
 * (kernels/math/interpolated_cells.h), with short vectors; included by variant.c. Each row of three
 * cells is summed first, with three sets of weights: for the value, for its slope along the row,
 * and for its slope across the rows. */

#ifdef __AVX512F__

typedef struct aw_interpolated_cells_acc {
    aw_wide both;  /* moments, then their rates at a fixed cell */
    aw_wide moved; /* their rates by motion: along the row, then across the rows */
} aw_interpolated_cells_acc;

/* Weights of a row of cells: of their values, and for slopes along and across. */
typedef struct aw_row_weights {
    aw_wide value[AW_SPLINE_NODES], slope[AW_SPLINE_NODES];
} aw_row_weights;

static inline __attribute__((always_inline)) void aw_interpolated_cells_row(
    const aw_batch *b, int m, int q, const aw_row_weights *w, const double *cell,
    aw_interpolated_cells_acc *acc)
{
    aw_wide value = w->value[0] * (aw_wide)_mm512_loadu_pd(cell);
    aw_wide moved = w->slope[0] * aw_cell_double(cell);
#pragma GCC unroll 2
    for (int p = 1; p < AW_SPLINE_NODES; ++p) {
        value += w->value[p] * (aw_wide)_mm512_loadu_pd(cell + p * AW_INTERPOLATED_COMPONENTS);
        moved += w->slope[p] * aw_cell_double(cell + p * AW_INTERPOLATED_COMPONENTS);
    }
    acc->both += value * b->wv[q][m];
    acc->moved += moved * aw_wide_pair(b->wv[q][m], b->dv[q][m]);
}

static inline __attribute__((always_inline)) void aw_interpolated_cells_node(
    const aw_batch *b, int m, ptrdiff_t row, const double *cells,
    aw_interpolated_cells_acc acc[AW_SPLINE_NODES])
{
    aw_row_weights w;
    const double *cell =
        cells + (ptrdiff_t)b->cell[m] * (AW_INTERPOLATED_COMPONENTS / AW_COMPONENTS);
#pragma GCC unroll 3
    for (int p = 0; p < AW_SPLINE_NODES; ++p) {
        w.value[p] = aw_wide_pair(b->wu[p][m], b->wu[p][m]);
        w.slope[p] = aw_wide_pair(b->du[p][m], b->cu[p][m]);
    }
#pragma GCC unroll 3
    for (int q = 0; q < AW_SPLINE_NODES; ++q)
        aw_interpolated_cells_row(b, m, q, &w, cell + q * row * AW_INTERPOLATED_COMPONENTS,
                                  &acc[q]);
}

static void aw_interpolated_cells_store(const aw_interpolated_cells_acc acc[AW_SPLINE_NODES],
                                        double sum[8])
{
    const aw_wide both = acc[0].both + acc[1].both + acc[2].both;
    const aw_wide moved = acc[0].moved + acc[1].moved + acc[2].moved;
    for (int k = 0; k < 4; ++k) {
        sum[k] = both[k];
        sum[4 + k] = both[4 + k] + moved[k] + moved[4 + k];
    }
}

#else

typedef struct aw_interpolated_cells_acc {
    aw_v4 value, rate;
} aw_interpolated_cells_acc;

static inline __attribute__((always_inline)) void aw_interpolated_cells_row(
    const aw_batch *b, int m, int q, const double *cell, aw_interpolated_cells_acc *acc)
{
    aw_v4 value = {0.0}, rate = {0.0}, across = {0.0};
#pragma GCC unroll 3
    for (int p = 0; p < AW_SPLINE_NODES; ++p) {
        const aw_v4 now = aw_cell_double(cell + p * AW_INTERPOLATED_COMPONENTS);
        const aw_v4 change = aw_cell_double(cell + p * AW_INTERPOLATED_COMPONENTS + AW_COMPONENTS);
        value += now * b->wu[p][m];
        across += now * b->cu[p][m];
        rate += now * b->du[p][m] + change * b->wu[p][m];
    }
    acc->value += value * b->wv[q][m];
    acc->rate += rate * b->wv[q][m] + across * b->dv[q][m];
}

static inline __attribute__((always_inline)) void aw_interpolated_cells_node(
    const aw_batch *b, int m, ptrdiff_t row, const double *cells,
    aw_interpolated_cells_acc acc[AW_SPLINE_NODES])
{
    const double *cell =
        cells + (ptrdiff_t)b->cell[m] * (AW_INTERPOLATED_COMPONENTS / AW_COMPONENTS);
#pragma GCC unroll 3
    for (int q = 0; q < AW_SPLINE_NODES; ++q)
        aw_interpolated_cells_row(b, m, q, cell + q * row * AW_INTERPOLATED_COMPONENTS, &acc[q]);
}

static void aw_interpolated_cells_store(const aw_interpolated_cells_acc acc[AW_SPLINE_NODES],
                                        double sum[8])
{
    const aw_v4 value = acc[0].value + acc[1].value + acc[2].value;
    const aw_v4 rate = acc[0].rate + acc[1].rate + acc[2].rate;
    for (int k = 0; k < 4; ++k) {
        sum[k] = value[k];
        sum[4 + k] = rate[k];
    }
}

#endif

__attribute__((unused)) static void aw_interpolated_cells_run(const aw_arc *arc,
                                                              const aw_arc_slice *s,
                                                              const double *cells, double sum[8])
{
    aw_interpolated_cells_acc acc[AW_SPLINE_NODES];
    aw_batch batch;
    const ptrdiff_t row = s->ns + 2 * AW_PAD;
    memset(acc, 0, sizeof acc);
    aw_batch_begin(arc, &batch);
    for (int m = 0; m < arc->n; m += AW_BATCH) {
        int count = arc->n - m < AW_BATCH ? arc->n - m : AW_BATCH;
        aw_batch_fill(arc, s, &batch);
        for (int l = 0; l < count; ++l) aw_interpolated_cells_node(&batch, l, row, cells, acc);
    }
    aw_interpolated_cells_store(acc, sum);
}
