/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deposit and gather of a block; part of variant.c. Weights and moments are computed with vectors
 * of particles, sums on the grid with vectors of a node's components. */
#ifndef AW_PIC_SIMD_GRID_H
#define AW_PIC_SIMD_GRID_H
#include <float.h>
#include <math.h>

#include "kernels/math/view.h"
#include "pic/simd/simd.h"
#include "pic/simd/small_angles.h"

/* The four numbers of a node: one vector of 32 bytes, or two of 16 where the processor has none
 * (the compiler would pass a split vector through memory). */
#ifdef __AVX2__
enum { AW_PARTS_OF_QUAD = 1 };
#else
enum { AW_PARTS_OF_QUAD = 2 };
#endif
typedef double aw_part_of_quad __attribute__((vector_size(32 / AW_PARTS_OF_QUAD), may_alias));
typedef struct aw_quad {
    aw_part_of_quad part[AW_PARTS_OF_QUAD];
} aw_quad;

AW_SIMD_FN aw_quad quad_load(const double *from)
{
    aw_quad r;
    for (int k = 0; k < AW_PARTS_OF_QUAD; ++k) r.part[k] = ((const aw_part_of_quad *)from)[k];
    return r;
}

AW_SIMD_FN void quad_store(aw_quad a, double *to)
{
    for (int k = 0; k < AW_PARTS_OF_QUAD; ++k) ((aw_part_of_quad *)to)[k] = a.part[k];
}

AW_SIMD_FN aw_quad quad_times(aw_quad a, double w)
{
    for (int k = 0; k < AW_PARTS_OF_QUAD; ++k) a.part[k] *= w;
    return a;
}

AW_SIMD_FN aw_quad quad_add(aw_quad sum, aw_quad a, double w)
{
    for (int k = 0; k < AW_PARTS_OF_QUAD; ++k) sum.part[k] += a.part[k] * w;
    return sum;
}

/* Nodes and weights of the particles of a block. */
typedef struct aw_stencil {
    _Alignas(64) double wu[AW_SHAPE_NODES][AW_BLOCK];
    _Alignas(64) double wv[AW_SHAPE_NODES][AW_BLOCK];
    _Alignas(64) int node[AW_BLOCK]; /* the first node */
} aw_stencil;

/* aw_shape_weights (kernels/math/spline.h) in four operations, from the middle weight. */
#define AW_SHAPE_WEIGHTS(f, w, l)              \
    do {                                       \
        const double mid_ = 0.75 - (f) * (f);  \
        const double side_ = 0.5 - 0.5 * mid_; \
        (w)[0][l] = side_ - 0.5 * (f);         \
        (w)[1][l] = mid_;                      \
        (w)[2][l] = side_ + 0.5 * (f);         \
    } while (0)

/* Adding and then subtracting this number rounds a small double to the nearest integer. */
#define AW_WHOLE 0x1.8p52

/* Nodes and weights as aw_particle_nodes_find has them, on a grid that `rim` cells surround: nodes
 * are numbered in rows of ns + 2 rim. A particle off the grid gets the nearest nodes.
 * @return the number of particles off the grid, or not finite */
AW_SIMD_FN double find_nodes(const aw_particles *p, size_t i, size_t n, const aw_particle_grid *g,
                             int rim, aw_stencil *AW_RESTRICT s)
{
    const double *AW_RESTRICT z = p->z + i, *AW_RESTRICT x = p->x + i;
    const aw_particle_grid f = *g;
    const double row = f.ns + 2 * rim, first = (rim + AW_SHAPE_FIRST) * (row + 1.0);
    /* The limits themselves are off the grid: at 1/2, rounding to even would choose node 0. */
    const double low = (AW_SHAPE_REACH - 1.0) * (1.0 + DBL_EPSILON);
    const double top_s = (f.ns - AW_SHAPE_REACH) * (1.0 - DBL_EPSILON);
    const double top_x = (f.nx - AW_SHAPE_REACH) * (1.0 - DBL_EPSILON);
    const double down = 0.5 - AW_SHAPE_ROUND; /* 0, or 1/2 where the base node is the one below */
    double off = 0.0;
#pragma omp simd reduction(+ : off)
    for (size_t l = 0; l < n; ++l) {
        const double dz = z[l] - f.z, dx = x[l] - f.x;
        const double a = dz * f.az + (dx * f.ax + f.mid_s), b = dz * f.bz + (dx * f.bx + f.mid_x);
        double ac = a > low ? a : low, bc = b > low ? b : low; /* of a NaN too */
        ac = ac < top_s ? ac : top_s;
        bc = bc < top_x ? bc : top_x;
        off += ((ac == a) & (bc == b)) ? 0.0 : 1.0;
        const double ia = (ac - down + AW_WHOLE) - AW_WHOLE;
        const double ib = (bc - down + AW_WHOLE) - AW_WHOLE;
        const double u = a - ia, v = b - ib;
        s->node[l] = (int)(ib * row + (ia + first));
        AW_SHAPE_WEIGHTS(u, s->wu, l);
        AW_SHAPE_WEIGHTS(v, s->wv, l);
    }
    return off;
}

/* Moments of each particle of weight 1: 1, 1 - beta_par, beta_perp, 0.
 * @return the number of particles that are not finite */
AW_SIMD_FN double particle_moments(const aw_particles *p, size_t i, size_t n,
                                   const aw_particle_grid *g, double (*AW_RESTRICT moment)[4])
{
    const double *AW_RESTRICT z = p->pz + i, *AW_RESTRICT x = p->px + i, ct = g->ct, st = g->st;
    double off = 0.0;
#pragma omp simd reduction(+ : off)
    for (size_t l = 0; l < n; ++l) {
        double late, perp;
        aw_particle_moments(z[l], x[l], ct, st, &late, &perp);
        off += late <= DBL_MAX ? 0.0 : 1.0;
        moment[l][0] = 1.0;
        moment[l][1] = late;
        moment[l][2] = perp;
        moment[l][3] = 0.0;
    }
    return off;
}

AW_SIMD_FN int deposit_some(const aw_particles *p, size_t i, size_t n, const aw_particle_grid *g,
                            double *AW_RESTRICT cells)
{
    const ptrdiff_t row = 4 * (ptrdiff_t)(g->ns + 2 * AW_PAD);
    _Alignas(64) double moment[AW_BLOCK][4];
    aw_stencil s;
    if (find_nodes(p, i, n, g, AW_PAD, &s) + particle_moments(p, i, n, g, moment) > 0.0) return 1;
    for (size_t l = 0; p->weight && l < n; ++l)
        for (int k = 0; k < 3; ++k) moment[l][k] *= p->weight[i + l];
    for (size_t l = 0; l < n; ++l) {
        const aw_quad m = quad_load(moment[l]);
        double *at = cells + 4 * (ptrdiff_t)s.node[l];
        for (int q = 0; q < AW_SHAPE_NODES; ++q, at += row) {
            const aw_quad r = quad_times(m, s.wv[q][l]);
            for (int k = 0; k < AW_SHAPE_NODES; ++k)
                quad_store(quad_add(quad_load(at + 4 * k), r, s.wu[k][l]), at + 4 * k);
        }
    }
    return 0;
}

static int deposit(const aw_particles *p, size_t i, size_t n, const aw_particle_grid *g,
                   double *AW_RESTRICT cells)
{
    return n == AW_BLOCK ? deposit_some(p, i, AW_BLOCK, g, cells) : deposit_some(p, i, n, g, cells);
}

/* Cosine and sine of the design tangents at the particles, turned by `turn` from that of g. */
AW_SIMD_FN void find_tangents(const double *AW_RESTRICT turn, size_t n, const aw_particle_grid *g,
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
    if (wide > 0.0) /* the bunch fills a good part of a ring */
        for (size_t l = 0; l < n; ++l) {
            ct[l] = cos(g->theta + turn[l]);
            st[l] = sin(g->theta + turn[l]);
        }
}

/* The four numbers of the nodes at the particles. */
AW_SIMD_FN void interpolate(const aw_stencil *s, size_t n, const aw_particle_grid *g,
                            const double *field, double (*AW_RESTRICT out)[4])
{
    const ptrdiff_t row = 4 * (ptrdiff_t)g->ns;
    for (size_t l = 0; l < n; ++l) {
        const double *at = field + 4 * (ptrdiff_t)s->node[l];
        aw_quad sum = {0};
        for (int q = 0; q < AW_SHAPE_NODES; ++q, at += row) {
            aw_quad r = quad_times(quad_load(at), s->wu[0][l]);
            for (int k = 1; k < AW_SHAPE_NODES; ++k)
                r = quad_add(r, quad_load(at + 4 * k), s->wu[k][l]);
            sum = quad_add(sum, r, s->wv[q][l]);
        }
        quad_store(sum, out[l]);
    }
}

/* The vector potential, and its rates (aw_particle_force_of), from the two quads of each particle
 * and its velocity less the design one. */
AW_SIMD_FN void find_vectors(size_t n, const double (*AW_RESTRICT field)[AW_BLOCK][4],
                             const double (*AW_RESTRICT dv)[AW_BLOCK], double *const out[4])
{
    double *AW_RESTRICT az = out[0], *AW_RESTRICT ax = out[1];
    double *AW_RESTRICT rate_z = out[2], *AW_RESTRICT rate_x = out[3];
#pragma omp simd
    for (size_t l = 0; l < n; ++l) {
        const double dz = dv[0][l], dx = dv[1][l];
        az[l] = field[0][l][0];
        ax[l] = field[0][l][1];
        rate_z[l] = field[0][l][2] + dz * field[1][l][0] + dx * field[1][l][1];
        rate_x[l] = field[0][l][3] + dz * field[1][l][2] + dx * field[1][l][3];
    }
}

AW_SIMD_FN void gather_some(const aw_particles *p, size_t i, size_t n, const aw_particle_grid *g,
                            const double *field, const aw_block_forces *out)
{
    double *AW_RESTRICT Fz = out->z, *AW_RESTRICT Fx = out->x;
    double *AW_RESTRICT Fs = out->s, *AW_RESTRICT Fn = out->n;
    const double *AW_RESTRICT z = p->pz + i, *AW_RESTRICT x = p->px + i;
    const double beta = g->beta, theta = g->theta;
    _Alignas(64) double field_at[AW_BLOCK][4], turn[AW_BLOCK], ct[AW_BLOCK], st[AW_BLOCK];
    _Alignas(64) double dv[2][AW_BLOCK];
    aw_stencil s;
    find_nodes(p, i, n, g, 0, &s);
    interpolate(&s, n, g, field, field_at);
    for (size_t l = 0; l < n; ++l) turn[l] = field_at[l][3] - theta;
    find_tangents(turn, n, g, ct, st);
#pragma omp simd
    for (size_t l = 0; l < n; ++l) {
        const double pz = z[l], px = x[l], inverse = 1.0 / sqrt(1.0 + (pz * pz + px * px));
        const double dz = pz * inverse - beta * ct[l], dx = px * inverse - beta * st[l];
        dv[0][l] = dz;
        dv[1][l] = dx;
        const double fz = field_at[l][0] + dx * field_at[l][2],
                     fx = field_at[l][1] - dz * field_at[l][2];
        Fz[l] = fz;
        Fx[l] = fx;
        Fs[l] = fz * ct[l] + fx * st[l];
        Fn[l] = fx * ct[l] - fz * st[l];
    }
    if (!out->vector[0]) return;
    _Alignas(64) double vector[2][AW_BLOCK][4];
    const ptrdiff_t numbers = 4 * (ptrdiff_t)g->ns * g->nx;
    for (int k = 0; k < 2; ++k) interpolate(&s, n, g, field + (k + 1) * numbers, vector[k]);
    find_vectors(n, (const double(*)[AW_BLOCK][4])vector, (const double(*)[AW_BLOCK])dv,
                 out->vector);
}

static void gather(const aw_particles *p, size_t i, size_t n, const aw_particle_grid *g,
                   const double *field, const aw_block_forces *out)
{
    if (n == AW_BLOCK)
        gather_some(p, i, AW_BLOCK, g, field, out);
    else
        gather_some(p, i, n, g, field, out);
}

#endif
