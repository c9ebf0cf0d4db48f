/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU: the sum over the nine cells of a node, for the slices of one retarded time. Included once
 * for each precision: AW_CELL is the type of the cells, AW_REAL that of the sums, AW_SUFFIX ends
 * the names of the functions. Slices of equal spacing have the same weights, so that a cell costs
 * six multiply-adds per slice; the interpolation in time follows once for many nodes. */

#if defined(__CUDA_ARCH__)
/* Load the three moments of a cell: one load of 16 bytes, or two. */
AW_GPU_FN void AW_CAT(aw_gpu_load_, AW_SUFFIX)(const float *cells, ptrdiff_t cell, AW_REAL g[3])
{
    const float4 all = __ldg((const float4 *)cells + cell);
    g[0] = (AW_REAL)all.x;
    g[1] = (AW_REAL)all.y;
    g[2] = (AW_REAL)all.z;
}

AW_GPU_FN void AW_CAT(aw_gpu_load_, AW_SUFFIX)(const double *cells, ptrdiff_t cell, AW_REAL g[3])
{
    const double2 first = __ldg((const double2 *)cells + 2 * cell);
    g[0] = (AW_REAL)first.x;
    g[1] = (AW_REAL)first.y;
    g[2] = (AW_REAL)__ldg(cells + AW_COMPONENTS * cell + 2);
}
#else
AW_GPU_FN void AW_CAT(aw_gpu_load_, AW_SUFFIX)(const AW_CELL *cells, ptrdiff_t cell, AW_REAL g[3])
{
    for (int k = 0; k < 3; ++k) g[k] = (AW_REAL)cells[AW_COMPONENTS * cell + k];
}
#endif

/* Add the moments of each slice at a node to value[slice][moment] and, with `rates`, their rates of
 * change along the node's motion to rate[slice][moment]. `row` is the number of cells of a row. */
AW_GPU_FN void AW_CAT(aw_gpu_gather_, AW_SUFFIX)(const aw_gpu_reading *reading, int rates,
                                                 const aw_node *node, ptrdiff_t row,
                                                 AW_REAL value[3][3], AW_REAL rate[3][3])
{
    AW_REAL wu[AW_SPLINE_NODES], wv[AW_SPLINE_NODES], du[AW_SPLINE_NODES], dv[AW_SPLINE_NODES];
    for (int q = 0; q < AW_SPLINE_NODES; ++q) {
        wu[q] = (AW_REAL)node->wu[q];
        wv[q] = (AW_REAL)node->wv[q];
        du[q] = (AW_REAL)node->du[q];
        dv[q] = (AW_REAL)node->dv[q];
    }
    for (int q = 0; q < AW_SPLINE_NODES; ++q)
        for (int p = 0; p < AW_SPLINE_NODES; ++p) {
            const ptrdiff_t cell = node->first + q * row + p;
            const AW_REAL w = wv[q] * wu[p], d = wv[q] * du[p] + dv[q] * wu[p];
            for (int t = 0; t < 3; ++t) {
                AW_REAL g[3];
                if (t >= reading->slices) continue;
                AW_CAT(aw_gpu_load_, AW_SUFFIX)((const AW_CELL *)reading->cells[t], cell, g);
                for (int k = 0; k < 3; ++k) value[t][k] += w * g[k];
                for (int k = 0; rates && k < 3; ++k) rate[t][k] += d * g[k];
            }
        }
}

/* Interpolate the gathered moments in time; add them times `factor` to sum[0..2] and, with `rates`,
 * their rates to sum[3..5]. */
AW_GPU_FN void AW_CAT(aw_gpu_combine_, AW_SUFFIX)(const aw_gpu_reading *reading, int rates,
                                                  double factor, AW_REAL value[3][3],
                                                  AW_REAL rate[3][3], double sum[6])
{
    for (int t = 0; t < 3; ++t) {
        if (t >= reading->slices) continue;
        const double w = factor * reading->w[t], wd = factor * reading->wd[t];
        for (int k = 0; k < 3; ++k) {
            sum[k] += w * (double)value[t][k];
            if (rates) sum[3 + k] += w * (double)rate[t][k] + wd * (double)value[t][k];
        }
    }
}
