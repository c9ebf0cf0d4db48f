/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One particle and the grid: the nodes about it, what it deposits, and the force on it. */
#ifndef AW_PIC_PARTICLE_GRID_H
#define AW_PIC_PARTICLE_GRID_H
#include <float.h>
#include <math.h>

#include "kernels/math/spline.h"
#include "kernels/math/view.h"

/** A grid as a particle sees it: node coordinates a = z az + x ax along s, b = z bz + x bx along x,
 *  of lab coordinates about (z, x); node (i, j) is at a = i, b = j. */
typedef struct aw_particle_grid {
    double z, x;           /* centre [m] */
    double az, ax, bz, bx; /* [1/m] */
    double mid_s, mid_x;   /* a and b of the centre */
    int ns, nx;
    double ct, st; /* deposit: design tangent at the centre. Gather: a direction near all nodes' */
    double theta;  /* gather: the angle of (ct, st) */
    double beta;   /* gather: of the design velocity */
} aw_particle_grid;

/** A grid without what follows nx. */
AW_FN aw_particle_grid aw_particle_grid_of(const aw_grid_view *g)
{
    const double c = cos(g->theta), s = sin(g->theta);
    aw_particle_grid to;
    to.z = g->z;
    to.x = g->x;
    to.az = c / g->hs;
    to.ax = s / g->hs;
    to.bz = -s / g->hx;
    to.bx = c / g->hx;
    to.mid_s = 0.5 * (g->ns - 1);
    to.mid_x = 0.5 * (g->nx - 1);
    to.ns = g->ns;
    to.nx = g->nx;
    to.ct = to.st = to.theta = to.beta = 0.0;
    return to;
}

/** The nodes about a particle, AW_SHAPE_NODES along either axis: the first of them, and weights. */
typedef struct aw_particle_nodes {
    int i, j;
    double wu[AW_SHAPE_NODES], wv[AW_SHAPE_NODES]; /* along s and x */
} aw_particle_nodes;

/** Of a particle off the grid, the nearest ones. @return 0: it may be deposited; 1: it is off the
 *  grid, or not finite */
AW_FN int aw_particle_nodes_find(const aw_particle_grid *g, double z, double x,
                                 aw_particle_nodes *out)
{
    const double dz = z - g->z, dx = x - g->x;
    const double a = dz * g->az + (dx * g->ax + g->mid_s);
    const double b = dz * g->bz + (dx * g->bx + g->mid_x);
    const int on = a > 0.5 && a < g->ns - 1.5 && b > 0.5 && b < g->nx - 1.5;
    const int i = (int)fmin(fmax(a + 0.5, 1.0), g->ns - 2.0);
    const int j = (int)fmin(fmax(b + 0.5, 1.0), g->nx - 2.0);
    aw_shape_weights(a - i, out->wu);
    aw_shape_weights(b - j, out->wv);
    out->i = i + AW_SHAPE_FIRST;
    out->j = j + AW_SHAPE_FIRST;
    return !on;
}

/** What a particle deposits besides its charge: 1 - beta_par, and beta_perp, against the design
 *  tangent (ct, st). 1 - beta_par = (gamma - along)/gamma, which cancels for along > 0; there
 *  (gamma - along)(gamma + along) = 1 + across^2. */
AW_FN void aw_particle_moments(double pz, double px, double ct, double st, double *late,
                               double *perp)
{
    const double gamma = sqrt(1.0 + (pz * pz + px * px));
    const double along = pz * ct + px * st, across = px * ct - pz * st;
    const double sum = gamma + fabs(along), inverse = 1.0 / (gamma * sum);
    *late = (along > 0.0 ? 1.0 + across * across : sum * sum) * inverse;
    *perp = across * sum * inverse;
}

/** Force on a particle [eV/m] along the lab axes, and along the design tangent and normal. */
typedef struct aw_particle_force {
    double z, x, s, n;
} aw_particle_force;

/** @param[in] taken  Fz_lab, Fx_lab, cBy and theta at the particle;  @param[in] beta  for which
 *  these forces hold (pic/gather.h, aw_gather_run) */
AW_FN aw_particle_force aw_particle_force_of(const double taken[4], double pz, double px,
                                             double beta)
{
    const double c = cos(taken[3]), q = sin(taken[3]), g = sqrt(1.0 + pz * pz + px * px);
    const double dz = pz / g - beta * c, dx = px / g - beta * q;
    aw_particle_force f;
    f.z = taken[0] + dx * taken[2];
    f.x = taken[1] - dz * taken[2];
    f.s = f.z * c + f.x * q;
    f.n = f.x * c - f.z * q;
    return f;
}

#endif
