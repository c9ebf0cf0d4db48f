/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sum over the nodes of an arc with short vectors. Included by variant.c once per cell type:
 * AW_CELL is double or float, AW_SUFFIX ends the names.
 *
 * Coordinates and weights are computed for a batch of nodes at a time (nodes as lanes). The cells
 * are then read one node at a time: the four numbers of a cell are multiplied by one weight for the
 * moments and by one for their rates (aw_wide). No gathers. */

#define AW_CELL_LOAD AW_CAT(aw_cell_, AW_CELL)
#define AW_BATCH_ADD AW_CAT(aw_batch_add_, AW_SUFFIX)
#define AW_ARC_RUN AW_CAT(aw_arc_run_, AW_SUFFIX)
#define AW_INLINE static inline __attribute__((always_inline))

/* Add the nodes of a batch, for nt slices with common weights. The loops over rows, cells and
 * slices are unrolled, so that the accumulators stay in registers. */
AW_INLINE void AW_BATCH_ADD(const aw_batch *batch, int count, ptrdiff_t row, int nt,
                            const AW_CELL *const cells[3], aw_wide acc[3][AW_CHAINS])
{
    for (int m = 0; m < count; ++m) {
        aw_wide wu[AW_SPLINE_NODES], du[AW_SPLINE_NODES];
#pragma GCC unroll 3
        for (int p = 0; p < AW_SPLINE_NODES; ++p) {
            wu[p] = aw_wide_pair(batch->wu[p][m], batch->du[p][m]);
            du[p] = aw_wide_pair(0.0, batch->cu[p][m]);
        }
#pragma GCC unroll 3
        for (int q = 0; q < AW_SPLINE_NODES; ++q) {
            const ptrdiff_t at = batch->cell[m] + q * row * AW_COMPONENTS;
#pragma GCC unroll 3
            for (int p = 0; p < AW_SPLINE_NODES; ++p) {
                const aw_wide w = aw_wide_weight(wu[p], du[p], batch->wv[q][m], batch->dv[q][m]);
#pragma GCC unroll 3
                for (int t = 0; t < nt; ++t)
                    aw_wide_add(&acc[t][q % AW_CHAINS], w,
                                AW_CELL_LOAD(cells[t] + at + p * AW_COMPONENTS));
            }
        }
    }
}

/* Sum over all nodes, for nt (a compile-time constant) slices of equal spacing. */
AW_INLINE void AW_ARC_RUN(const aw_arc *arc, const aw_arc_slice *s, int nt, double sum[3][8])
{
    aw_wide acc[3][AW_CHAINS];
    aw_batch batch;
    const AW_CELL *cells[3] = {NULL, NULL, NULL};
    for (int t = 0; t < nt; ++t) {
        cells[t] = (const AW_CELL *)s[t].cells;
        for (int q = 0; q < AW_CHAINS; ++q) acc[t][q] = aw_wide_pair(0.0, 0.0);
    }
    aw_batch_begin(arc, &batch);
    for (int m = 0; m < arc->n; m += AW_BATCH) {
        int count = arc->n - m < AW_BATCH ? arc->n - m : AW_BATCH;
        aw_batch_fill(arc, s, &batch);
        AW_BATCH_ADD(&batch, count, s->ns + 2 * AW_PAD, nt, cells, acc);
    }
    for (int t = 0; t < nt; ++t) aw_wide_store(acc[t], sum[t]);
}

static void AW_CAT(aw_arc_sum_, AW_SUFFIX)(const aw_arc *arc, int nt, int same,
                                           const aw_arc_slice *s, double sum[3][8])
{
    if (nt == 3 && same) {
        AW_ARC_RUN(arc, s, 3, sum);
        return;
    }
    for (int t = 0; t < nt; ++t) AW_ARC_RUN(arc, s + t, 1, sum + t);
}

#undef AW_CELL_LOAD
#undef AW_BATCH_ADD
#undef AW_ARC_RUN
#undef AW_INLINE
