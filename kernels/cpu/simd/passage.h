/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weighted sums of consecutive entries of a table (kernels/cpu/passage.h). */

typedef double aw_double_entry
    __attribute__((vector_size(AW_PROJECTION_WIDTH * sizeof(double)), aligned(8), may_alias));

/* out[r] = sum_m weight[m - r] in[m], for r < AW_MEANS. An entry is read once for all of them,
 * whose sums hide the time that an addition takes. */
static void aw_entry_sums_run(const double *weight, const double (*in)[AW_PROJECTION_WIDTH], int n,
                              double out[AW_MEANS][AW_PROJECTION_WIDTH])
{
    const aw_double_entry *entry = (const aw_double_entry *)in;
    aw_double_entry sum[AW_MEANS] = {{0.0}};
    for (int m = 0; m < n; ++m)
        for (int r = 0; r < AW_MEANS; ++r) sum[r] += weight[m - r] * entry[m];
    for (int r = 0; r < AW_MEANS; ++r) *(aw_double_entry *)out[r] = sum[r];
}
