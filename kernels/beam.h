/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One particle against grid and orbit: what deposit, gather and statistics are made of; and the
 * operations of a unit that keeps a beam's particles from step to step. */
#ifndef AW_KERNELS_BEAM_H
#define AW_KERNELS_BEAM_H
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/flight.h"
#include "kernels/integrand.h"
#include "kernels/orbit.h"
#include "kernels/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Particles, borrowed: [n] each (pic/particles.h). */
typedef struct aw_beam_view {
    size_t n;
    double *z, *x, *pz, *px; /* lab position [m], momentum gamma beta */
    double *gamma0;          /* gamma at the start */
    int32_t *element;        /* region of the lattice */
} aw_beam_view;

/** A grid as a particle sees it: node coordinates a = z az + x ax along s, b = z bz + x bx along x,
 *  of lab coordinates about (z, x); node (i, j) is at a = i, b = j. */
typedef struct aw_beam_grid {
    double z, x;           /* centre [m] */
    double az, ax, bz, bx; /* [1/m] */
    double mid_s, mid_x;   /* a and b of the centre */
    int ns, nx;
    double ct, st; /* deposit: design tangent at the centre. Gather: a direction near all nodes' */
    double theta;  /* gather: the angle of (ct, st) */
    double beta;   /* gather: of the design velocity */
} aw_beam_grid;

/** A grid without what follows nx. */
AW_FN aw_beam_grid aw_beam_grid_of(const aw_grid_view *g)
{
    const double c = cos(g->theta), s = sin(g->theta);
    aw_beam_grid to;
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

/** The nine nodes about a particle: the first of them, and weights along s and x. */
typedef struct aw_beam_nodes {
    int i, j;
    double wu[3], wv[3];
} aw_beam_nodes;

/** Of a particle off the grid, the nearest nine. @return 0: it may be deposited; 1: it is off the
 *  grid, or not finite */
AW_FN int aw_beam_find(const aw_beam_grid *g, double z, double x, aw_beam_nodes *out)
{
    const double dz = z - g->z, dx = x - g->x;
    const double a = dz * g->az + (dx * g->ax + g->mid_s);
    const double b = dz * g->bz + (dx * g->bx + g->mid_x);
    const int on = a > 0.5 && a < g->ns - 1.5 && b > 0.5 && b < g->nx - 1.5;
    const int i = (int)fmin(fmax(a + 0.5, 1.0), g->ns - 2.0);
    const int j = (int)fmin(fmax(b + 0.5, 1.0), g->nx - 2.0);
    aw_spline(a - i, out->wu);
    aw_spline(b - j, out->wv);
    out->i = i - 1;
    out->j = j - 1;
    return !on;
}

/** What a particle deposits besides its charge: 1 - beta_par, and beta_perp, against the design
 *  tangent (ct, st). 1 - beta_par = (gamma - along)/gamma, which cancels for along > 0; there
 *  (gamma - along)(gamma + along) = 1 + across^2. */
AW_FN void aw_beam_moments(double pz, double px, double ct, double st, double *late, double *perp)
{
    const double gamma = sqrt(1.0 + (pz * pz + px * px));
    const double along = pz * ct + px * st, across = px * ct - pz * st;
    const double sum = gamma + fabs(along), inverse = 1.0 / (gamma * sum);
    *late = (along > 0.0 ? 1.0 + across * across : sum * sum) * inverse;
    *perp = across * sum * inverse;
}

/** Force on a particle [eV/m] along the lab axes, and along the design tangent and normal. */
typedef struct aw_beam_force {
    double z, x, s, n;
} aw_beam_force;

/** @param[in] taken  Fz_lab, Fx_lab, cBy and theta at the particle;  @param[in] beta  for which
 *  these forces hold (pic/gather.h, aw_gather_run) */
AW_FN aw_beam_force aw_beam_force_of(const double taken[4], double pz, double px, double beta)
{
    const double c = cos(taken[3]), q = sin(taken[3]), g = sqrt(1.0 + pz * pz + px * px);
    const double dz = pz / g - beta * c, dx = px / g - beta * q;
    aw_beam_force f;
    f.z = taken[0] + dx * taken[2];
    f.x = taken[1] - dz * taken[2];
    f.s = f.z * c + f.x * q;
    f.n = f.x * c - f.z * q;
    return f;
}

/* Coordinates of a particle about the reference (pic/stats.h), and the sums of their products. */
enum { AW_BEAM_S, AW_BEAM_X, AW_BEAM_ANGLE, AW_BEAM_DELTA, AW_BEAM_CHANGE, AW_BEAM_WIDTH };

/** Sums over particles of coordinates and of products a <= b, at product[b][a]. */
typedef struct aw_beam_sums {
    double mean[AW_BEAM_WIDTH];
    double product[AW_BEAM_WIDTH][AW_BEAM_WIDTH];
} aw_beam_sums;

/** Of one particle wherever it is: the closest point of the orbit is searched for.
 *  @param[in] ref  the reference, a point of the orbit;  @param[in] gamma  for which delta = 0 */
AW_FN void aw_beam_coordinates(const aw_orbit_view *orbit, const aw_orbit_point *ref, double gamma,
                               const aw_body *body, double gamma0, double c[AW_BEAM_WIDTH])
{
    const double guess = ref->S + (body->z - ref->z) * ref->ct + (body->x - ref->x) * ref->st;
    const double S = aw_orbit_project(orbit, body->z, body->x, guess, &c[AW_BEAM_X]);
    const aw_orbit_point at = aw_orbit_at(orbit, S);
    const double along = body->pz * at.ct + body->px * at.st;
    const double across = -body->pz * at.st + body->px * at.ct;
    const double g = sqrt(1.0 + body->pz * body->pz + body->px * body->px);
    c[AW_BEAM_S] = S - ref->S;
    c[AW_BEAM_ANGLE] = across / along;
    c[AW_BEAM_DELTA] = (g - gamma) / gamma;
    c[AW_BEAM_CHANGE] = g - gamma0;
}

/** The first particle in trouble of each kind; SIZE_MAX: none. */
typedef struct aw_beam_lost {
    size_t kicked; /* its momentum is not finite after the kick; it was not moved */
    size_t turned, nonfinite;
} aw_beam_lost;

/** Operations on particles that a unit keeps, so that they need not cross its bus at each step. All
 *  is done on return. Errors of all: AW_ERR_NOMEM, AW_ERR_BACKEND (messages). A particle in trouble
 *  is no error here. The numbers are those of the host's functions, to rounding. */
typedef struct aw_beam_ops {
    size_t many; /* from so many particles on it is worth it */

    /** Copy particles to the unit, and what they will meet, instead of any that it has.
     *  @return also AW_ERR_NOMEM without a message: it has no room for so many */
    aw_status (*keep)(void *state, const aw_beam_view *beam, const aw_fields_view *fields,
                      const aw_orbit_view *orbit);

    /** Copy back positions, momenta and regions. */
    aw_status (*fetch)(void *state, const aw_beam_view *to);

    /** dz, dx, dz dz, dz dx, dx dx about (z, x), summed. */
    aw_status (*places)(void *state, double z, double x, double sum[5]);

    /** Largest |u| and |w| in axes along (c, s) at (z, x), place = z, x, c, s; a NaN
     *  does not count. */
    aw_status (*reach)(void *state, const double place[4], double reach[2]);

    /** Moments of the particles, in units of the charge of one, on a padded grid (kernels/view.h,
     *  double), overwritten. @param[out] lost  the first one off the grid or not finite: nothing
     *  was deposited then; SIZE_MAX: none */
    aw_status (*deposit)(void *state, const aw_beam_grid *grid, double *cells, size_t *lost);

    /** Forces of aw_gather_run, which stay with the unit; and p += factor F.
     *  @param[in]  field  [nx][ns][4]: Fz_lab, Fx_lab, cBy and theta of a node
     *  @param[out] sum    of F_s, and of F_n: sum, least and greatest (0 among them)
     *  @param[out] lost   the first one of a momentum that is not finite then; SIZE_MAX: none */
    aw_status (*gather)(void *state, const aw_beam_grid *grid, const double *field, double factor,
                        double sum[2][3], size_t *lost);

    /** p += factor F of the last gather, and transport for a time of cdt (aw_body_transport). */
    aw_status (*push)(void *state, double factor, double cdt, aw_beam_lost *lost);

    /** Sums of coordinates about the orbit at S, delta = 0 at gamma. */
    aw_status (*stats)(void *state, double S, double gamma, aw_beam_sums *sums);
} aw_beam_ops;

AW_END_DECLS
#endif
