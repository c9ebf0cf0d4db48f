/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One particle on the grid: its nodes and weights, what it deposits, and the force on it. */
#ifndef AW_PIC_PARTICLE_GRID_H
#define AW_PIC_PARTICLE_GRID_H
#include <float.h>
#include <math.h>

#include "kernels/math/spline.h"
#include "kernels/math/view.h"

/** Map from lab coordinates to coordinates of the grid, in cells. With (dz, dx) the lab position
 *  from the grid's centre (z, x), a = dz az + dx ax + mid_s runs along s and b = dz bz + dx bx +
 *  mid_x along x; node (i, j) is at a = i, b = j. */
typedef struct aw_particle_grid {
    double z, x;           /* centre [m] */
    double az, ax, bz, bx; /* [1/m] */
    double mid_s, mid_x;   /* a and b of the centre */
    int ns, nx;            /* nodes */
    double ct, st; /* design tangent at the centre (deposit), at the node nearest to it (gather) */
    double theta;  /* gather: angle of (ct, st) [rad] */
    double beta;   /* gather: design velocity in c */
} aw_particle_grid;

/** The map of a grid; ct, st, theta and beta are 0. */
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

/** Nodes of a particle, AW_SHAPE_NODES along each axis: the first one and the weights. */
typedef struct aw_particle_nodes {
    int i, j;
    double wu[AW_SHAPE_NODES], wv[AW_SHAPE_NODES]; /* along s and x */
} aw_particle_nodes;

/** Whether all nodes of a particle at a belong to an axis of n nodes; 0 for a NaN. */
AW_FN int aw_shape_is_on(double a, int n)
{
    return a > AW_SHAPE_REACH - 1.0 && a < n - AW_SHAPE_REACH;
}

/** Base node of a particle at a, moved so that all its nodes are among the n of the axis. */
AW_FN int aw_shape_base(double a, int n)
{
    const double least = -AW_SHAPE_FIRST, after = AW_SHAPE_NODES + AW_SHAPE_FIRST;
    return (int)fmin(fmax(a + AW_SHAPE_ROUND, least), n - after);
}

/** Nodes and weights of the particle at (z, x) [m]; of one off the grid, the nearest nodes.
 *  @return 0: it may be deposited; 1: it is off the grid, or not finite */
AW_FN int aw_particle_nodes_find(const aw_particle_grid *g, double z, double x,
                                 aw_particle_nodes *out)
{
    const double dz = z - g->z, dx = x - g->x;
    const double a = dz * g->az + (dx * g->ax + g->mid_s);
    const double b = dz * g->bz + (dx * g->bx + g->mid_x);
    const int i = aw_shape_base(a, g->ns), j = aw_shape_base(b, g->nx);
    aw_shape_weights(a - i, out->wu);
    aw_shape_weights(b - j, out->wv);
    out->i = i + AW_SHAPE_FIRST;
    out->j = j + AW_SHAPE_FIRST;
    return !(aw_shape_is_on(a, g->ns) && aw_shape_is_on(b, g->nx));
}

/** Moments that a particle deposits besides its charge: *late = 1 - beta_par and *perp = beta_perp,
 *  with respect to the design tangent (ct, st). 1 - beta_par = (gamma - along)/gamma cancels for
 *  along > 0; there (gamma - along)(gamma + along) = 1 + across^2 is used.
 *  @param pz, px  momentum gamma beta */
AW_FN void aw_particle_moments(double pz, double px, double ct, double st, double *late,
                               double *perp)
{
    const double gamma = sqrt(1.0 + (pz * pz + px * px));
    const double along = pz * ct + px * st, across = px * ct - pz * st;
    const double sum = gamma + fabs(along), inverse = 1.0 / (gamma * sum);
    *late = (along > 0.0 ? 1.0 + across * across : sum * sum) * inverse;
    *perp = across * sum * inverse;
}

/** Force on a particle [eV/m] along the lab axes, and along the design tangent and normal; the
 *  vector potential times q c [eV] and its rate along the path of the particle [eV/m], (z, x). */
typedef struct aw_particle_force {
    double z, x, s, n;
    double A[2], rate[2];
} aw_particle_force;

/** Force on a particle of momentum (pz, px) [gamma beta]; see aw_gather_run (pic/gather.h).
 *  @param[in] field   Fz_lab, Fx_lab, cBy and theta interpolated at the particle
 *  @param[in] vector  the eight numbers of aw_forces.vector, too; NULL: A and rate are 0
 *  @param[in] beta    design velocity in c, for which Fz_lab, Fx_lab and the rates hold */
AW_FN aw_particle_force aw_particle_force_of(const double field[4], const double *vector, double pz,
                                             double px, double beta)
{
    const double c = cos(field[3]), q = sin(field[3]), g = sqrt(1.0 + pz * pz + px * px);
    const double dz = pz / g - beta * c, dx = px / g - beta * q;
    aw_particle_force f;
    f.z = field[0] + dx * field[2];
    f.x = field[1] - dz * field[2];
    f.s = f.z * c + f.x * q;
    f.n = f.x * c - f.z * q;
    for (int k = 0; k < 2; ++k) {
        f.A[k] = vector ? vector[k] : 0.0;
        f.rate[k] = vector ? vector[2 + k] + dz * vector[4 + 2 * k] + dx * vector[5 + 2 * k] : 0.0;
    }
    return f;
}

/** c times the times [m] for which the forces at either end of a step have acted on the particles:
 *  what they took for dA/dt is replaced by the difference of A (aw_gather_step). */
typedef struct aw_kick_times {
    double before; /* the forces at its beginning, since they were gathered */
    double now;    /* the forces at its end, those that are gathered */
} aw_kick_times;

/** What a component of the momentum of a particle is due at the end of a step [eV].
 *  @param A, rate          at the beginning
 *  @param A_now, rate_now  at the end */
AW_FN double aw_particle_due(const aw_kick_times *times, double A, double rate, double A_now,
                             double rate_now)
{
    return times->before * rate + times->now * rate_now - (A_now - A);
}

#endif
