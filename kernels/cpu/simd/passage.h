/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weighted sums of consecutive entries of a table (kernels/cpu/passage.h). */

typedef double aw_double_entry
    __attribute__((vector_size(AW_PROJECTION_WIDTH * sizeof(double)), aligned(8), may_alias));

/* sum = sum_i weight[i] in[i]. Four sums side by side hide the time that an addition takes. */
static void aw_entry_sum_run(const double *weight, const double (*in)[AW_PROJECTION_WIDTH], int n,
                             double sum[AW_PROJECTION_WIDTH])
{
    enum { SUMS = 4 };
    const aw_double_entry *entry = (const aw_double_entry *)in;
    aw_double_entry s[SUMS] = {{0.0}};
    int i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (int k = 0; k < SUMS; ++k) s[k] += weight[i + k] * entry[i + k];
    for (; i < n; ++i) s[0] += weight[i] * entry[i];
    *(aw_double_entry *)sum = (s[0] + s[1]) + (s[2] + s[3]);
}
