/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Look-up of a projection at the points of a tile: quintic in the offset, a Chebyshev series in the
 * direction. Lanes are points while their positions in the table are computed, and results while
 * the table is read. */

typedef float aw_entry __attribute__((vector_size(AW_PROJECTION_WIDTH * sizeof(float))));
typedef float aw_entry_loose
    __attribute__((vector_size(AW_PROJECTION_WIDTH * sizeof(float)), aligned(4), may_alias));

/* aw_projection_lagrange for the points of a tile, in single precision. */
static inline void aw_quintic(const float at[AW_TILE], float w[AW_PROJECTION_ENTRIES][AW_TILE])
{
#pragma omp simd
    for (int l = 0; l < AW_TILE; ++l) {
        const float t = at[l], a = t + 2.0F, b = t + 1.0F, c = t - 1.0F, d = t - 2.0F, e = t - 3.0F;
        const float ab = a * b, de = d * e, tc = t * c;
        w[0][l] = b * tc * de * (-1.0F / 120.0F);
        w[1][l] = a * tc * de * (1.0F / 24.0F);
        w[2][l] = ab * c * de * (-1.0F / 12.0F);
        w[3][l] = ab * t * de * (1.0F / 12.0F);
        w[4][l] = ab * tc * e * (-1.0F / 24.0F);
        w[5][l] = ab * tc * d * (1.0F / 120.0F);
    }
}

/* Positions of the points of a tile in a table: entry before the point's offset, fraction of the
 * way to the next entry, and sine of the direction over p->sine. The loops are short so that the
 * compiler vectorizes each. */
static inline void aw_entries_of(const aw_projection *p, const double z[AW_TILE],
                                 const double x[AW_TILE], int cell[AW_TILE], float t[AW_TILE],
                                 float turn[AW_TILE])
{
    const double cz = p->cz / p->sine, cx = p->cx / p->sine, inv_h = 1.0 / p->h;
    const double pz = p->z, px = p->x, ahead = p->r - p->first, last = p->n - 4;
    double entry[AW_TILE];
#pragma omp simd
    for (int l = 0; l < AW_TILE; ++l) {
        const double dz = z[l] - pz, dx = x[l] - px, d = sqrt(dz * dz + dx * dx);
        const double at = (ahead - d) * inv_h, from = at < 2.0 ? 2.0 : at;
        entry[l] = from > last ? last : from; /* the projection is zero beyond the ends */
        turn[l] = (float)((dx * cz - dz * cx) / d);
    }
#pragma omp simd
    for (int l = 0; l < AW_TILE; ++l) cell[l] = (int)entry[l];
#pragma omp simd
    for (int l = 0; l < AW_TILE; ++l) t[l] = (float)(entry[l] - cell[l]);
}

/* Add the table's values at the points of a tile. `order` is p->order, a compile-time constant
 * where it is small. */
static inline __attribute__((always_inline)) void aw_look_up_order(
    const aw_projection *p, int order, const float *table, const double z[AW_TILE],
    const double x[AW_TILE], float sum[AW_TILE][AW_PROJECTION_WIDTH])
{
    const ptrdiff_t row = (ptrdiff_t)(order + 1) * AW_PROJECTION_WIDTH;
    float w[AW_PROJECTION_ENTRIES][AW_TILE], t[AW_TILE], turn[AW_PROJECTION_ORDER + 1][AW_TILE];
    int cell[AW_TILE];
    aw_entries_of(p, z, x, cell, t, turn[1]);
    int lowest = cell[0], highest = cell[0];
#pragma omp simd reduction(min : lowest) reduction(max : highest)
    for (int l = 0; l < AW_TILE; ++l) {
        lowest = cell[l] < lowest ? cell[l] : lowest;
        highest = cell[l] > highest ? cell[l] : highest;
    }
    if (lowest >= p->n - 4 || highest <= 2) return; /* all are beyond one end */
    aw_quintic(t, w);
    for (int m = 2; m <= order; ++m) {
#pragma omp simd
        for (int l = 0; l < AW_TILE; ++l)
            turn[m][l] = 2.0F * turn[1][l] * turn[m - 1][l] - (m > 2 ? turn[m - 2][l] : 1.0F);
    }
    for (int l = 0; l < AW_TILE; ++l) {
        const float *entry = table + (cell[l] - 2) * row;
        aw_entry total = *(aw_entry_loose *)sum[l];
        for (int m = 0; m <= order; ++m, entry += AW_PROJECTION_WIDTH) {
            aw_entry even = w[0][l] * *(const aw_entry_loose *)entry;
            aw_entry odd = w[1][l] * *(const aw_entry_loose *)(entry + row);
#pragma GCC unroll 2
            for (int i = 2; i < AW_PROJECTION_ENTRIES; i += 2) {
                even += w[i][l] * *(const aw_entry_loose *)(entry + i * row);
                odd += w[i + 1][l] * *(const aw_entry_loose *)(entry + (i + 1) * row);
            }
            total += m == 0 ? even + odd : turn[m][l] * (even + odd);
        }
        *(aw_entry_loose *)sum[l] = total;
    }
}

static void aw_look_up(const aw_projection *p, const float *table, const double z[AW_TILE],
                       const double x[AW_TILE], float sum[AW_TILE][AW_PROJECTION_WIDTH])
{
    if (p->order == 0)
        aw_look_up_order(p, 0, table, z, x, sum);
    else if (p->order == 1)
        aw_look_up_order(p, 1, table, z, x, sum);
    else if (p->order == 2)
        aw_look_up_order(p, 2, table, z, x, sum);
    else
        aw_look_up_order(p, p->order, table, z, x, sum);
}
