/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deposit and gather of a block; part of lanes_variant.c. What the particles need by themselves is
 * computed with vectors of particles; what they meet on the grid, with vectors of components. */
#ifndef AW_PIC_LANES_GRID_H
#define AW_PIC_LANES_GRID_H
#include <float.h>
#include <math.h>

#include "kernels/view.h"
#include "pic/lanes.h"
#include "pic/lanes_small.h"

/* The four numbers of a node. */
typedef double aw_quad __attribute__((vector_size(32)));
typedef double aw_loose_quad __attribute__((vector_size(32), aligned(8), may_alias));

/* Nodes and weights of a block. */
typedef struct aw_stencil {
    _Alignas(64) double wu[3][AW_BLOCK];
    _Alignas(64) double wv[3][AW_BLOCK];
    _Alignas(64) int node[AW_BLOCK]; /* first of the nine */
} aw_stencil;

/* Nodes are numbered in rows of ns + 2 rim. A particle that is off the grid gets the nearest nine.
 * @return the number of particles off the grid, or not finite */
AW_LANES_FN double find_nodes(const aw_particles *p, size_t i, size_t n, const aw_lanes_grid *g,
                              int rim, aw_stencil *s)
{
    const double *AW_RESTRICT z = p->z + i, *AW_RESTRICT x = p->x + i;
    const aw_lanes_grid f = *g;
    const int row = f.ns + 2 * rim, first = (rim - 1) * (row + 1);
    const double top_s = f.ns - 1.5, top_x = f.nx - 1.5;
    double off = 0.0;
#pragma omp simd reduction(+ : off)
    for (size_t l = 0; l < n; ++l) {
        const double dz = z[l] - f.z, dx = x[l] - f.x;
        const double a = dz * f.az + dx * f.ax + f.mid_s, b = dz * f.bz + dx * f.bx + f.mid_x;
        double ac = a >= 0.5 ? a : 0.5, bc = b >= 0.5 ? b : 0.5; /* of a NaN too */
        off += (a < top_s ? 0.0 : 1.0) + (b < top_x ? 0.0 : 1.0) + (a >= 0.5 ? 0.0 : 1.0) +
               (b >= 0.5 ? 0.0 : 1.0);
        ac = ac < top_s ? ac : top_s - 0.5;
        bc = bc < top_x ? bc : top_x - 0.5;
        const int ia = (int)(ac + 0.5), ib = (int)(bc + 0.5);
        const double u = a - ia, v = b - ib;
        s->node[l] = ib * row + ia + first;
        s->wu[0][l] = 0.5 * (0.5 - u) * (0.5 - u);
        s->wu[1][l] = 0.75 - u * u;
        s->wu[2][l] = 0.5 * (0.5 + u) * (0.5 + u);
        s->wv[0][l] = 0.5 * (0.5 - v) * (0.5 - v);
        s->wv[1][l] = 0.75 - v * v;
        s->wv[2][l] = 0.5 * (0.5 + v) * (0.5 + v);
    }
    return off;
}

/* The moments of a particle by itself: 1, 1 - beta_par, beta_perp, 0.
 * 1 - beta_par = (gamma - along)/gamma, which cancels for along > 0; there
 * (gamma - along)(gamma + along) = 1 + across^2.
 * @return the number of particles that are not finite */
AW_LANES_FN double own_moments(const aw_particles *p, size_t i, size_t n, const aw_lanes_grid *g,
                               double (*AW_RESTRICT moment)[4])
{
    const double *AW_RESTRICT z = p->pz + i, *AW_RESTRICT x = p->px + i, ct = g->ct, st = g->st;
    double off = 0.0;
#pragma omp simd reduction(+ : off)
    for (size_t l = 0; l < n; ++l) {
        const double pz = z[l], px = x[l];
        const double gamma = sqrt(1.0 + (pz * pz + px * px));
        const double along = pz * ct + px * st, across = px * ct - pz * st;
        const double sum = gamma + fabs(along), inverse = 1.0 / (gamma * sum);
        const double late = (along > 0.0 ? 1.0 + across * across : sum * sum) * inverse;
        off += late <= DBL_MAX ? 0.0 : 1.0;
        moment[l][0] = 1.0;
        moment[l][1] = late;
        moment[l][2] = across * sum * inverse;
        moment[l][3] = 0.0;
    }
    return off;
}

AW_LANES_FN int deposit_some(const aw_particles *p, size_t i, size_t n, const aw_lanes_grid *g,
                             double *AW_RESTRICT grid)
{
    const ptrdiff_t row = 4 * (ptrdiff_t)(g->ns + 2 * AW_PAD);
    _Alignas(64) double moment[AW_BLOCK][4];
    aw_stencil s;
    if (find_nodes(p, i, n, g, AW_PAD, &s) + own_moments(p, i, n, g, moment) > 0.0) return 1;
    for (size_t l = 0; l < n; ++l) {
        const aw_quad m = *(const aw_quad *)moment[l];
        double *at = grid + 4 * (ptrdiff_t)s.node[l];
        for (int q = 0; q < 3; ++q, at += row) {
            const aw_quad r = m * s.wv[q][l];
            for (int k = 0; k < 3; ++k) *(aw_quad *)(at + 4 * k) += r * s.wu[k][l];
        }
    }
    return 0;
}

static int deposit(const aw_particles *p, size_t i, size_t n, const aw_lanes_grid *g,
                   double *AW_RESTRICT grid)
{
    return n == AW_BLOCK ? deposit_some(p, i, AW_BLOCK, g, grid) : deposit_some(p, i, n, g, grid);
}

/* Cosine and sine of the node tangents at the particles, `turn` from the direction of g. */
AW_LANES_FN void find_tangents(const double *AW_RESTRICT turn, size_t n, const aw_lanes_grid *g,
                               double *AW_RESTRICT ct, double *AW_RESTRICT st)
{
    const double c0 = g->ct, s0 = g->st;
    double wide = 0.0;
#pragma omp simd reduction(+ : wide)
    for (size_t l = 0; l < n; ++l) {
        const double t = turn[l], q = t * t, s = t * aw_small_sinc(q), v = aw_small_versine(q);
        wide += q <= AW_SMALL * AW_SMALL ? 0.0 : 1.0;
        ct[l] = c0 - (c0 * v + s0 * s);
        st[l] = s0 - (s0 * v - c0 * s);
    }
    if (wide > 0.0) /* a bunch that fills a good part of a turn */
        for (size_t l = 0; l < n; ++l) {
            ct[l] = cos(g->theta + turn[l]);
            st[l] = sin(g->theta + turn[l]);
        }
}

AW_LANES_FN void gather_some(const aw_particles *p, size_t i, size_t n, const aw_lanes_grid *g,
                             const double *field, double *AW_RESTRICT Fz, double *AW_RESTRICT Fx,
                             double *AW_RESTRICT Fs, double *AW_RESTRICT Fn)
{
    const ptrdiff_t row = 4 * (ptrdiff_t)g->ns;
    const double *AW_RESTRICT z = p->pz + i, *AW_RESTRICT x = p->px + i;
    const double beta = g->beta, theta = g->theta;
    _Alignas(64) double taken[AW_BLOCK][4], turn[AW_BLOCK], ct[AW_BLOCK], st[AW_BLOCK];
    aw_stencil s;
    find_nodes(p, i, n, g, 0, &s);
    for (size_t l = 0; l < n; ++l) {
        const double *at = field + 4 * (ptrdiff_t)s.node[l];
        aw_quad sum = {0.0, 0.0, 0.0, 0.0};
        for (int q = 0; q < 3; ++q, at += row) {
            const aw_quad r = *(const aw_quad *)at * s.wu[0][l] +
                              *(const aw_quad *)(at + 4) * s.wu[1][l] +
                              *(const aw_quad *)(at + 8) * s.wu[2][l];
            sum += r * s.wv[q][l];
        }
        *(aw_quad *)taken[l] = sum;
        turn[l] = sum[3] - theta;
    }
    find_tangents(turn, n, g, ct, st);
#pragma omp simd
    for (size_t l = 0; l < n; ++l) {
        const double pz = z[l], px = x[l], inverse = 1.0 / sqrt(1.0 + (pz * pz + px * px));
        const double dz = pz * inverse - beta * ct[l], dx = px * inverse - beta * st[l];
        const double fz = taken[l][0] + dx * taken[l][2], fx = taken[l][1] - dz * taken[l][2];
        Fz[l] = fz;
        Fx[l] = fx;
        Fs[l] = fz * ct[l] + fx * st[l];
        Fn[l] = fx * ct[l] - fz * st[l];
    }
}

static void gather(const aw_particles *p, size_t i, size_t n, const aw_lanes_grid *g,
                   const double *field, double *AW_RESTRICT Fz, double *AW_RESTRICT Fx,
                   double *AW_RESTRICT Fs, double *AW_RESTRICT Fn)
{
    if (n == AW_BLOCK)
        gather_some(p, i, AW_BLOCK, g, field, Fz, Fx, Fs, Fn);
    else
        gather_some(p, i, n, g, field, Fz, Fx, Fs, Fn);
}

#endif
