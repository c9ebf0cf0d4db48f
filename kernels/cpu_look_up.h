/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Look-up of a projection at the points of a tile: quintic in the offset, a Chebyshev series in the
 * direction. Lanes are points while positions are found, and results while the table is read. */

typedef float aw_entry __attribute__((vector_size(AW_PROJECTION_WIDTH * sizeof(float))));
typedef float aw_entry_loose
    __attribute__((vector_size(AW_PROJECTION_WIDTH * sizeof(float)), aligned(4), may_alias));

/* Neighbours that a look-up reads along the offsets. */
enum { AW_NEIGHBOURS = 6 };

/* Weights of Lagrange's polynomial through -2, -1, 0, 1, 2, 3 at t in [0, 1]. */
static inline void aw_quintic(float t, float w[AW_NEIGHBOURS])
{
    const float a = t + 2.0F, b = t + 1.0F, c = t - 1.0F, d = t - 2.0F, e = t - 3.0F;
    const float ab = a * b, de = d * e, tc = t * c;
    w[0] = b * tc * de * (-1.0F / 120.0F);
    w[1] = a * tc * de * (1.0F / 24.0F);
    w[2] = ab * c * de * (-1.0F / 12.0F);
    w[3] = ab * t * de * (1.0F / 12.0F);
    w[4] = ab * tc * e * (-1.0F / 24.0F);
    w[5] = ab * tc * d * (1.0F / 120.0F);
}

static void aw_look_up(const aw_projection *p, const float *table, const double z[AW_TILE],
                       const double x[AW_TILE], float sum[AW_TILE][AW_PROJECTION_WIDTH])
{
    const ptrdiff_t row = (ptrdiff_t)(p->order + 1) * AW_PROJECTION_WIDTH;
    const double cz = p->cz / p->sine, cx = p->cx / p->sine, inv_h = 1.0 / p->h;
    const double last = p->n - 4;
    float w[AW_TILE][AW_NEIGHBOURS], turn[AW_PROJECTION_ORDER + 1][AW_TILE];
    int cell[AW_TILE];
#pragma omp simd
    for (int l = 0; l < AW_TILE; ++l) {
        const double dz = z[l] - p->z, dx = x[l] - p->x, d = sqrt(dz * dz + dx * dx);
        double q = (p->r - d - p->first) * inv_h;
        q = q < 2.0 ? 2.0 : q; /* nothing is seen beyond the ends */
        q = q > last ? last : q;
        cell[l] = (int)q;
        turn[0][l] = 1.0F;
        turn[1][l] = (float)((dx * cz - dz * cx) / d);
        aw_quintic((float)(q - cell[l]), w[l]);
    }
    for (int m = 2; m <= p->order; ++m) {
#pragma omp simd
        for (int l = 0; l < AW_TILE; ++l)
            turn[m][l] = 2.0F * turn[1][l] * turn[m - 1][l] - turn[m - 2][l];
    }
    for (int l = 0; l < AW_TILE; ++l) {
        const float *entry = table + (cell[l] - 2) * row;
        aw_entry total = *(aw_entry_loose *)sum[l];
        for (int m = 0; m <= p->order; ++m, entry += AW_PROJECTION_WIDTH) {
            aw_entry value = w[l][0] * *(const aw_entry_loose *)entry;
            for (int i = 1; i < AW_NEIGHBOURS; ++i)
                value += w[l][i] * *(const aw_entry_loose *)(entry + i * row);
            total += turn[m][l] * value;
        }
        *(aw_entry_loose *)sum[l] = total;
    }
}
