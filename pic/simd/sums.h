/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums and extremes over a block; part of variant.c. */
#ifndef AW_PIC_SIMD_SUMS_H
#define AW_PIC_SIMD_SUMS_H
#include <math.h>

#include "pic/simd/simd.h"
#include "pic/simd/small_angles.h"

static void extremes(const double *AW_RESTRICT value, size_t n, double sum[3])
{
    double total = 0.0, min = sum[1], max = sum[2];
#pragma omp simd reduction(+ : total) reduction(min : min) reduction(max : max)
    for (size_t l = 0; l < n; ++l) {
        total += value[l];
        min = value[l] < min ? value[l] : min;
        max = value[l] > max ? value[l] : max;
    }
    sum[0] += total;
    sum[1] = min;
    sum[2] = max;
}

static void weighted_moments(const aw_particles *p, size_t i, size_t n, const double centre[2],
                             double sum[5])
{
    for (size_t l = i; l < i + n; ++l) {
        const double w = p->weight[l], dz = p->z[l] - centre[0], dx = p->x[l] - centre[1];
        const double term[5] = {dz, dx, dz * dz, dz * dx, dx * dx};
        for (int k = 0; k < 5; ++k) sum[k] += w * term[k];
    }
}

static void moments(const aw_particles *p, size_t i, size_t n, double z, double x, double sum[5])
{
    if (p->weight) {
        weighted_moments(p, i, n, (const double[2]){z, x}, sum);
        return;
    }
    const double *AW_RESTRICT zs = p->z + i, *AW_RESTRICT xs = p->x + i;
    double a = 0.0, b = 0.0, aa = 0.0, ab = 0.0, bb = 0.0;
#pragma omp simd reduction(+ : a, b, aa, ab, bb)
    for (size_t l = 0; l < n; ++l) {
        const double dz = zs[l] - z, dx = xs[l] - x;
        a += dz;
        b += dx;
        aa += dz * dz;
        ab += dz * dx;
        bb += dx * dx;
    }
    sum[0] += a;
    sum[1] += b;
    sum[2] += aa;
    sum[3] += ab;
    sum[4] += bb;
}

static void reach(const aw_particles *p, size_t i, size_t n, const double axes[4], double out[2])
{
    const double *AW_RESTRICT zs = p->z + i, *AW_RESTRICT xs = p->x + i;
    const double z = axes[0], x = axes[1], c = axes[2], s = axes[3];
    double u = out[0], w = out[1];
#pragma omp simd reduction(max : u, w)
    for (size_t l = 0; l < n; ++l) {
        const double dz = zs[l] - z, dx = xs[l] - x;
        const double du = fabs(dz * c + dx * s), dw = fabs(dx * c - dz * s);
        u = du > u ? du : u;
        w = dw > w ? dw : w;
    }
    out[0] = u;
    out[1] = w;
}

/* Coordinates with respect to the reference. With (l, m) the position along its tangent and normal,
 * and k the curvature, the tangent at the closest point of the circle is turned by atan(k l/(1 + k
 * m)), and the offset is the difference of two radii, in a form that does not cancel; k = 0 is no
 * special case.
 * @return the number of particles that are not on this piece of the orbit, or not finite */
AW_SIMD_FN double coordinates(const aw_particles *p, size_t i, size_t n,
                              const aw_simd_reference *ref, double (*AW_RESTRICT c)[AW_BLOCK])
{
    const double *AW_RESTRICT zs = p->z + i, *AW_RESTRICT xs = p->x + i;
    const double *AW_RESTRICT pzs = p->pz + i, *AW_RESTRICT pxs = p->px + i;
    const double *AW_RESTRICT gamma0 = p->gamma0 + i;
    const aw_simd_reference r = *ref;
    const double by_gamma = 1.0 / r.gamma, k = r.kappa;
    double off = 0.0;
#pragma omp simd reduction(+ : off)
    for (size_t j = 0; j < n; ++j) {
        const double dz = zs[j] - r.z, dx = xs[j] - r.x, pz = pzs[j], px = pxs[j];
        const double l = dz * r.ct + dx * r.st, m = dx * r.ct - dz * r.st;
        const double a = 1.0 + k * m, b = k * l, radius = sqrt(a * a + b * b);
        const double by_a = 1.0 / a, t = b * by_a, q = t * t;
        const double s = l * by_a * aw_small_atan(q);
        const double along = pz * r.ct + px * r.st, across = px * r.ct - pz * r.st;
        const double gamma = sqrt(1.0 + (pz * pz + px * px));
        /* the tangent at the closest point is (a, -b)/radius */
        const double slope = (across * a + along * b) / (along * a - across * b);
        const int here =
            (a > 0.0) & (q <= AW_SMALL_TAN * AW_SMALL_TAN) & (s > r.behind) & (s < r.ahead);
        off += here ? 0.0 : 1.0;
        c[AW_BEAM_S][j] = s;
        c[AW_BEAM_X][j] = (2.0 * m + k * (l * l + m * m)) / (1.0 + radius);
        c[AW_BEAM_ANGLE][j] = slope;
        c[AW_BEAM_DELTA][j] = (gamma - r.gamma) * by_gamma;
        c[AW_BEAM_CHANGE][j] = gamma - gamma0[j];
    }
    return off;
}

/* Add up coordinate b, and its products with the coordinates up to b. */
AW_SIMD_FN void add_products(const double (*AW_RESTRICT c)[AW_BLOCK], size_t n, int b,
                             aw_beam_sums *sums)
{
    double mean = 0.0, product[AW_BEAM_WIDTH] = {0.0};
    double p0 = 0.0, p1 = 0.0, p2 = 0.0, p3 = 0.0, p4 = 0.0;
#pragma omp simd reduction(+ : mean, p0, p1, p2, p3, p4)
    for (size_t l = 0; l < n; ++l) {
        const double v = c[b][l];
        mean += v;
        p0 += v * c[0][l];
        if (b > 0) p1 += v * c[1][l];
        if (b > 1) p2 += v * c[2][l];
        if (b > 2) p3 += v * c[3][l];
        if (b > 3) p4 += v * c[4][l];
    }
    product[0] = p0;
    product[1] = p1;
    product[2] = p2;
    product[3] = p3;
    product[4] = p4;
    sums->mean[b] += mean;
    for (int a = 0; a <= b; ++a) sums->product[b][a] += product[a];
}

/* The same with the weight of each particle. */
static void add_weighted(const double (*c)[AW_BLOCK], const double *weight, size_t n,
                         aw_beam_sums *sums)
{
    for (size_t l = 0; l < n; ++l)
        for (int b = 0; b < AW_BEAM_WIDTH; ++b) {
            const double v = weight[l] * c[b][l];
            sums->mean[b] += v;
            for (int a = 0; a <= b; ++a) sums->product[b][a] += v * c[a][l];
        }
}

AW_SIMD_FN int stats_some(const aw_particles *p, size_t i, size_t n, const aw_simd_reference *r,
                          aw_beam_sums *sums)
{
    _Alignas(64) double c[AW_BEAM_WIDTH][AW_BLOCK];
    if (coordinates(p, i, n, r, c) > 0.0) return 1;
    if (p->weight) {
        add_weighted((const double(*)[AW_BLOCK])c, p->weight + i, n, sums);
        return 0;
    }
    for (int b = 0; b < AW_BEAM_WIDTH; ++b) add_products((const double(*)[AW_BLOCK])c, n, b, sums);
    return 0;
}

static int stats(const aw_particles *p, size_t i, size_t n, const aw_simd_reference *r,
                 aw_beam_sums *sums)
{
    return n == AW_BLOCK ? stats_some(p, i, AW_BLOCK, r, sums) : stats_some(p, i, n, r, sums);
}

#endif
