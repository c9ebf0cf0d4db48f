/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kick, transport and rigid motion of a block; part of variant.c. */
#ifndef AW_PIC_SIMD_PUSH_H
#define AW_PIC_SIMD_PUSH_H
#include <float.h>
#include <math.h>

#include "pic/simd/simd.h"
#include "pic/simd/small_angles.h"
#include "src/base/units.h"

AW_SIMD_FN int kick_some(aw_particles *p, size_t i, size_t n, double factor,
                         const double *AW_RESTRICT Fz, const double *AW_RESTRICT Fx)
{
    double *AW_RESTRICT pz = p->pz + i, *AW_RESTRICT px = p->px + i, off = 0.0;
#pragma omp simd reduction(+ : off)
    for (size_t l = 0; l < n; ++l) {
        const double z = pz[l] + factor * Fz[l], x = px[l] + factor * Fx[l];
        off += (fabs(z) <= DBL_MAX ? 0.0 : 1.0) + (fabs(x) <= DBL_MAX ? 0.0 : 1.0);
        pz[l] = z;
        px[l] = x;
    }
    return off > 0.0;
}

static int kick(aw_particles *p, size_t i, size_t n, double factor, const double *Fz,
                const double *Fx)
{
    return n == AW_BLOCK ? kick_some(p, i, AW_BLOCK, factor, Fz, Fx)
                         : kick_some(p, i, n, factor, Fz, Fx);
}

AW_SIMD_FN int settle_some(aw_particles *p, size_t i, size_t n, const aw_kick_times *times,
                           const aw_block_forces *f, double *const vector[4])
{
    double *const momentum[2] = {p->pz + i, p->px + i};
    double off = 0.0;
    const aw_kick_times acted = *times; /* a copy, which the momenta cannot alias */
    for (int k = 0; k < 2; ++k) {
        const double *AW_RESTRICT A_now = f->vector[k], *AW_RESTRICT rate_now = f->vector[2 + k];
        const double *AW_RESTRICT A = vector[k], *AW_RESTRICT rate = vector[2 + k];
        double *AW_RESTRICT to = momentum[k];
#pragma omp simd reduction(+ : off)
        for (size_t l = 0; l < n; ++l) {
            const double due = aw_particle_due(&acted, A[l], rate[l], A_now[l], rate_now[l]);
            to[l] += due * (1.0 / AW_ME_EV);
            off += fabs(to[l]) <= DBL_MAX ? 0.0 : 1.0;
        }
    }
    return off > 0.0;
}

static int settle(aw_particles *p, size_t i, size_t n, const aw_kick_times *times,
                  const aw_block_forces *f, double *const vector[4])
{
    return n == AW_BLOCK ? settle_some(p, i, AW_BLOCK, times, f, vector)
                         : settle_some(p, i, n, times, f, vector);
}

/* The arithmetic of pic/particle/track.h. A particle is certain to stay in the region if its path
 * is shorter than the distance to the exit plane. The other conditions of track.h (that the circle
 * meets the plane at all) are checked too, so that an error is found at the same step. `bend` is a
 * constant where this is inlined. */
AW_SIMD_FN uint64_t transport_some(aw_particles *p, size_t i, size_t n, const aw_simd_field *region,
                                   double cdt, const int bend)
{
    double *AW_RESTRICT zs = p->z + i, *AW_RESTRICT xs = p->x + i;
    double *AW_RESTRICT pzs = p->pz + i, *AW_RESTRICT pxs = p->px + i;
    const aw_field_region r = *region->field;
    const double field = region->bend, never = region->last ? INFINITY : 0.0;
    const double nz = region->last ? r.ct : r.exit_nz, nx = region->last ? r.st : r.exit_nx;
    _Alignas(64) double left[AW_BLOCK];
    double count = 0.0;
    uint64_t bits = 0;
#pragma omp simd reduction(+ : count)
    for (size_t l = 0; l < n; ++l) {
        const double z = zs[l], x = xs[l], pz = pzs[l], px = pxs[l], square = pz * pz + px * px;
        const double m = sqrt(square), gamma = sqrt(1.0 + square), inverse = 1.0 / (m * gamma);
        const double path = cdt * (square * inverse), by_m = gamma * inverse;
        const double uz = pz * by_m, ux = px * by_m;
        const double gap = (r.exit_z - z) * r.exit_nz + (r.exit_x - x) * r.exit_nx + never;
        const double onward = uz * nz + ux * nx;
        int stays = (onward > AW_GRAZING) & (path < gap);
        if (bend) {
            const double k = field * by_m, turning = ux * nz - uz * nx, h = 0.5 * (k * path);
            const double root = onward * onward + k * gap * (2.0 * turning - k * gap), q = h * h;
            stays &= (root >= 0.0) & (q <= AW_SMALL * AW_SMALL);
            /* half of the turn, the chord, the other half */
            const double c = aw_small_versine(q), half = aw_small_sinc(q), s = h * half;
            const double vz = uz - (uz * c - ux * s), vx = ux - (ux * c + uz * s);
            const double wz = vz - (vz * c - vx * s), wx = vx - (vx * c + vz * s);
            const double chord = path * half, norm = m * (1.5 - 0.5 * (wz * wz + wx * wx));
            zs[l] = stays ? z + chord * vz : z;
            xs[l] = stays ? x + chord * vx : x;
            pzs[l] = stays ? norm * wz : pz;
            pxs[l] = stays ? norm * wx : px;
        } else {
            zs[l] = stays ? z + path * uz : z;
            xs[l] = stays ? x + path * ux : x;
        }
        left[l] = stays ? 0.0 : 1.0;
        count += left[l];
    }
    if (count > 0.0)
        for (size_t l = 0; l < n; ++l) bits |= (uint64_t)(left[l] > 0.0) << l;
    return bits;
}

static uint64_t transport(aw_particles *p, size_t i, size_t n, const aw_simd_field *r, double cdt)
{
    const int whole = n == AW_BLOCK;
    if (r->bend != 0.0)
        return whole ? transport_some(p, i, AW_BLOCK, r, cdt, 1)
                     : transport_some(p, i, n, r, cdt, 1);
    return whole ? transport_some(p, i, AW_BLOCK, r, cdt, 0) : transport_some(p, i, n, r, cdt, 0);
}

/* A first pass only checks the particles; either all of the block or none of it is moved. */
AW_SIMD_FN int rigid_some(aw_particles *p, size_t i, size_t n, const aw_simd_reference *ref,
                          double momentum)
{
    const double *AW_RESTRICT s0 = p->s0 + i, *AW_RESTRICT x0 = p->x0 + i;
    double *AW_RESTRICT zs = p->z + i, *AW_RESTRICT xs = p->x + i;
    double *AW_RESTRICT pzs = p->pz + i, *AW_RESTRICT pxs = p->px + i;
    const aw_simd_reference r = *ref;
    double off = 0.0;
#pragma omp simd reduction(+ : off)
    for (size_t l = 0; l < n; ++l) {
        const double a = r.kappa * s0[l];
        const int here = (s0[l] > r.behind) & (s0[l] < r.ahead) & (a * a <= AW_SMALL * AW_SMALL) &
                         (fabs(x0[l]) <= DBL_MAX);
        off += here ? 0.0 : 1.0;
    }
    if (off > 0.0) return 1;
#pragma omp simd
    for (size_t l = 0; l < n; ++l) {
        const double s = s0[l], a = r.kappa * s, q = a * a;
        const double cosc = aw_small_cosc(q), sinc = aw_small_sinc(q);
        const double along = s * sinc, across = -a * s * cosc, sine = a * sinc, versine = q * cosc;
        const double ct = r.ct - (r.ct * versine - r.st * sine);
        const double st = r.st - (r.st * versine + r.ct * sine);
        zs[l] = r.z + (along * r.ct - across * r.st - x0[l] * st);
        xs[l] = r.x + (along * r.st + across * r.ct + x0[l] * ct);
        pzs[l] = momentum * ct;
        pxs[l] = momentum * st;
    }
    return 0;
}

static int rigid(aw_particles *p, size_t i, size_t n, const aw_simd_reference *r, double momentum)
{
    return n == AW_BLOCK ? rigid_some(p, i, AW_BLOCK, r, momentum)
                         : rigid_some(p, i, n, r, momentum);
}

#endif
