/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of a convolution: over the products of spectra, and over the nodes of a lattice about a
 * point (kernels/math/convolution.h). Only elementwise products are needed, and sums stay in
 * registers: an output reads each spectrum once. */

enum {
    AW_SUM_DOUBLES = AW_VECTOR_BYTES / (int)sizeof(double),
    AW_SUM_VECTORS = AW_SPECTRAL_CHUNK / AW_SUM_DOUBLES,
    AW_NODE_VECTORS = AW_LATTICE_WIDTH / AW_SUM_DOUBLES
};

typedef double aw_sum_vector __attribute__((vector_size(AW_VECTOR_BYTES)));
typedef double aw_sum_loose __attribute__((vector_size(AW_VECTOR_BYTES), aligned(8), may_alias));

static void aw_spectral_sum_run(const aw_spectral_sum *s, size_t first, double *out)
{
    aw_sum_vector even[AW_SUM_VECTORS] = {{0.0}}, odd[AW_SUM_VECTORS] = {{0.0}};
    for (int q = 0; q < AW_RINGS; ++q) {
        aw_sum_vector x[AW_SUM_VECTORS] = {{0.0}};
        int used = 0;
        for (int i = 0; i < s->sources; ++i) {
            const double w = s->weight[q][i];
            if (w == 0.0) continue;
            const aw_sum_loose *from = (const aw_sum_loose *)(s->source[i] + first);
#pragma GCC unroll 16
            for (int v = 0; v < AW_SUM_VECTORS; ++v) x[v] += w * from[v];
            used = 1;
        }
        if (!used) continue;
        const aw_sum_loose *a = (const aw_sum_loose *)(s->even[q] + first);
        const aw_sum_loose *b = (const aw_sum_loose *)(s->odd[q] + first);
#pragma GCC unroll 16
        for (int v = 0; v < AW_SUM_VECTORS; ++v) {
            even[v] += a[v] * x[v];
            odd[v] += b[v] * x[v];
        }
    }
    double sum[2][AW_SPECTRAL_CHUNK];
    memcpy(sum[0], even, sizeof even);
    memcpy(sum[1], odd, sizeof odd);
    for (int i = 0; i < AW_SPECTRAL_CHUNK; ++i) out[i] = sum[0][i] + sum[1][i ^ 1];
    for (int i = 0; s->factor && i < AW_SPECTRAL_CHUNK; ++i) out[i] *= s->factor[first + (size_t)i];
}

/* Sums over the nodes about a point, at (a, b) cells from the first node of the lattice. */
static void aw_lattice_sum_run(const aw_lattice_values *lattice, const aw_lattice_turn *turn,
                               aw_lattice_sums *out)
{
    const int columns = lattice->columns;
    const double along = turn->along, across = turn->across, u = turn->u, w = turn->w;
    const aw_lattice_axis x = aw_lattice_axis_at(turn->a, columns);
    const aw_lattice_axis y = aw_lattice_axis_at(turn->b, lattice->rows);
    aw_sum_vector value[AW_NODE_VECTORS] = {{0.0}}, once[AW_NODE_VECTORS] = {{0.0}};
    aw_sum_vector twice[AW_NODE_VECTORS] = {{0.0}};
    for (int m = 0; m < AW_LATTICE_NODES; ++m) {
        const double(*node)[AW_LATTICE_WIDTH] =
            lattice->node + (ptrdiff_t)(y.first + m) * columns + x.first;
        const double v = y.at.value[m], dv = y.at.slope[m], ddv = y.at.bend[m];
        /* L = along d/du - across d/dw, and L^2, as sums over the weights along u. */
        const double ls = -across * dv, lds = along * v;
        const double lls = across * across * ddv - w * dv;
        const double llds = -2.0 * along * across * dv - u * v, lldds = along * along * v;
        for (int n = 0; n < AW_LATTICE_NODES; ++n, ++node) {
            const double s = x.at.value[n], ds = x.at.slope[n], dds = x.at.bend[n];
            const double by = v * s, l = ls * s + lds * ds;
            const double ll = lls * s + llds * ds + lldds * dds;
            const aw_sum_loose *at = (const aw_sum_loose *)*node;
#pragma GCC unroll 8
            for (int k = 0; k < AW_NODE_VECTORS; ++k) {
                value[k] += by * at[k];
                once[k] += l * at[k];
                twice[k] += ll * at[k];
            }
        }
    }
    memcpy(out->value, value, sizeof out->value);
    memcpy(out->once, once, sizeof out->once);
    memcpy(out->twice, twice, sizeof out->twice);
}
