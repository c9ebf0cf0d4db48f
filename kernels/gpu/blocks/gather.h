/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU: the sum over the nine cells of a node, of the slices of one retarded time. Included once for
 * each precision: AW_CELL is that of the cells, AW_REAL that of the sums, AW_LETTER tells them
 * apart. Slices of one spacing have their weights in common, so that a cell costs six
 * multiply-adds of each slice; three slices are combined in time once for many nodes. */

#if defined(__CUDA_ARCH__)
/* Of a cell, the three moments: one load of 16 bytes, or two. */
AW_GPU_FN void AW_CAT(aw_gpu_load_, AW_LETTER)(const float *cells, ptrdiff_t cell, AW_REAL g[3])
{
    const float4 all = __ldg((const float4 *)cells + cell);
    g[0] = (AW_REAL)all.x;
    g[1] = (AW_REAL)all.y;
    g[2] = (AW_REAL)all.z;
}

AW_GPU_FN void AW_CAT(aw_gpu_load_, AW_LETTER)(const double *cells, ptrdiff_t cell, AW_REAL g[3])
{
    const double2 first = __ldg((const double2 *)cells + 2 * cell);
    g[0] = (AW_REAL)first.x;
    g[1] = (AW_REAL)first.y;
    g[2] = (AW_REAL)__ldg(cells + AW_COMPONENTS * cell + 2);
}
#else
AW_GPU_FN void AW_CAT(aw_gpu_load_, AW_LETTER)(const AW_CELL *cells, ptrdiff_t cell, AW_REAL g[3])
{
    for (int k = 0; k < 3; ++k) g[k] = (AW_REAL)cells[AW_COMPONENTS * cell + k];
}
#endif

/* Add a node: the values of each slice and, with `rates`, their rates as the node moves. */
AW_GPU_FN void AW_CAT(aw_gpu_gather_, AW_LETTER)(const aw_gpu_reading *reading, int rates,
                                                 const aw_node *node, ptrdiff_t row,
                                                 AW_REAL value[3][3], AW_REAL rate[3][3])
{
    AW_REAL wu[3], wv[3], du[3], dv[3];
    for (int q = 0; q < 3; ++q) {
        wu[q] = (AW_REAL)node->wu[q];
        wv[q] = (AW_REAL)node->wv[q];
        du[q] = (AW_REAL)node->du[q];
        dv[q] = (AW_REAL)node->dv[q];
    }
    for (int q = 0; q < 3; ++q)
        for (int p = 0; p < 3; ++p) {
            const ptrdiff_t cell = node->first + q * row + p;
            const AW_REAL w = wv[q] * wu[p], d = wv[q] * du[p] + dv[q] * wu[p];
            for (int t = 0; t < 3; ++t) {
                AW_REAL g[3];
                if (t >= reading->slices) continue;
                AW_CAT(aw_gpu_load_, AW_LETTER)((const AW_CELL *)reading->cells[t], cell, g);
                for (int k = 0; k < 3; ++k) value[t][k] += w * g[k];
                for (int k = 0; rates && k < 3; ++k) rate[t][k] += d * g[k];
            }
        }
}

/* Combine in time what was gathered: adds `times` that to sum[0..2], and its rates to sum[3..5]. */
AW_GPU_FN void AW_CAT(aw_gpu_combine_, AW_LETTER)(const aw_gpu_reading *reading, int rates,
                                                  double times, AW_REAL value[3][3],
                                                  AW_REAL rate[3][3], double sum[6])
{
    for (int t = 0; t < 3; ++t) {
        if (t >= reading->slices) continue;
        const double w = times * reading->w[t], wd = times * reading->wd[t];
        for (int k = 0; k < 3; ++k) {
            sum[k] += w * (double)value[t][k];
            if (rates) sum[3 + k] += w * (double)rate[t][k] + wd * (double)value[t][k];
        }
    }
}
