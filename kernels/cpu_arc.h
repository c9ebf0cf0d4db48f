/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sum over the nodes of an arc with short vectors. Included by cpu_variant.c once per cell type:
 * AW_CELL is double or float, AW_SUFFIX ends the names.
 *
 * Coordinates and weights are computed for a batch of nodes at a time (nodes as lanes). The cells
 * are then read one node at a time: the four numbers of a cell are half a vector of eight, which
 * weights for the moments in its lower and for their rates in its upper half multiply. No gathers. */

typedef AW_CELL AW_CAT(aw_cell_, AW_SUFFIX)
    __attribute__((vector_size(4 * sizeof(AW_CELL)), aligned(sizeof(AW_CELL)), may_alias));

/* The four numbers of a cell, twice. */
static inline aw_v8 AW_CAT(aw_cell_twice_, AW_SUFFIX)(const AW_CELL *cell)
{
    aw_v4 g = __builtin_convertvector(*(const AW_CAT(aw_cell_, AW_SUFFIX) *)cell, aw_v4);
    return __builtin_shufflevector(g, g, 0, 1, 2, 3, 0, 1, 2, 3);
}

/* Add the nodes of a batch for nt slices that share their weights. */
static inline __attribute__((always_inline)) void AW_CAT(aw_batch_add_, AW_SUFFIX)(
    const aw_batch *batch, int count, ptrdiff_t row, int nt, const AW_CELL *const cells[3],
    aw_v8 acc[3][3])
{
    const ptrdiff_t stride = row * AW_COMPONENTS;
    for (int m = 0; m < count; ++m) {
        ptrdiff_t at = batch->cell[m];
        aw_v8 wu[3], du[3];
        for (int p = 0; p < 3; ++p) {
            double a = batch->wu[p][m], b = batch->du[p][m], c = a * batch->wd[m];
            wu[p] = (aw_v8){a, a, a, a, b, b, b, b};
            du[p] = (aw_v8){0, 0, 0, 0, c, c, c, c};
        }
        for (int q = 0; q < 3; ++q) {
            double value = batch->wv[q][m], slope = batch->dv[q][m];
            aw_v8 w0 = wu[0] * value + du[0] * slope;
            aw_v8 w1 = wu[1] * value + du[1] * slope;
            aw_v8 w2 = wu[2] * value + du[2] * slope;
            for (int t = 0; t < nt; ++t) {
                const AW_CELL *g = cells[t] + at + q * stride;
                acc[t][q] += w0 * AW_CAT(aw_cell_twice_, AW_SUFFIX)(g);
                acc[t][q] += w1 * AW_CAT(aw_cell_twice_, AW_SUFFIX)(g + AW_COMPONENTS);
                acc[t][q] += w2 * AW_CAT(aw_cell_twice_, AW_SUFFIX)(g + 2 * AW_COMPONENTS);
            }
        }
    }
}

/* Sum over all nodes for nt (a constant to the compiler) slices of equal spacing. */
static inline __attribute__((always_inline)) void AW_CAT(aw_arc_run_,
                                                         AW_SUFFIX)(const aw_arc *arc,
                                                                    const aw_arc_slice *s, int nt,
                                                                    double sum[3][8])
{
    aw_v8 acc[3][3] = {{{0}}};
    aw_batch batch;
    const AW_CELL *cells[3] = {NULL, NULL, NULL};
    for (int t = 0; t < nt; ++t) cells[t] = (const AW_CELL *)s[t].cells;
    aw_batch_begin(arc, &batch);
    for (int m = 0; m < arc->n; m += AW_BATCH) {
        int count = arc->n - m < AW_BATCH ? arc->n - m : AW_BATCH;
        aw_batch_fill(arc, s, &batch);
        AW_CAT(aw_batch_add_, AW_SUFFIX)(&batch, count, s->ns + 2 * AW_PAD, nt, cells, acc);
    }
    for (int t = 0; t < nt; ++t) {
        aw_v8 total = acc[t][0] + acc[t][1] + acc[t][2];
        for (int k = 0; k < 8; ++k) sum[t][k] = total[k];
    }
}

static void AW_CAT(aw_arc_sum_, AW_SUFFIX)(const aw_arc *arc, int nt, int same,
                                           const aw_arc_slice *s, double sum[3][8])
{
    if (nt == 3 && same) {
        AW_CAT(aw_arc_run_, AW_SUFFIX)(arc, s, 3, sum);
        return;
    }
    for (int t = 0; t < nt; ++t) AW_CAT(aw_arc_run_, AW_SUFFIX)(arc, s + t, 1, sum + t);
}
