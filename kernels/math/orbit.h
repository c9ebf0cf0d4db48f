/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The design orbit in closed form: straight lines and circular arcs (src/base/units.h: signs). */
#ifndef AW_KERNELS_MATH_ORBIT_H
#define AW_KERNELS_MATH_ORBIT_H
#include <math.h>

#include "src/base/port.h"

/** One piece of constant curvature; the first extends to S = -inf, the last to S = +inf. */
typedef struct aw_orbit_piece {
    double S;     /* arc length at which the piece begins [m]; first piece: any point on it */
    double z, x;  /* lab position at S [m] */
    double theta; /* direction of motion at S [rad] */
    double kappa; /* signed curvature [1/m], d theta/dS = -kappa */
} aw_orbit_piece;

/** Borrowed view: n >= 1 pieces in order of S; neighbours of equal curvature have been merged. */
typedef struct aw_orbit_view {
    const aw_orbit_piece *piece;
    int n;
} aw_orbit_view;

/** A point of the orbit: position, direction, and the direction's cosine and sine. */
typedef struct aw_orbit_point {
    double S, z, x, theta, kappa, ct, st;
} aw_orbit_point;

/** sin(a)/a, also at 0. */
AW_FN double aw_sinc(double a) { return fabs(a) < 1e-4 ? 1.0 - a * a / 6.0 : sin(a) / a; }

/** Index of the piece that contains S. */
AW_FN int aw_orbit_find(const aw_orbit_view *orbit, double S)
{
    int i = 0;
    while (i + 1 < orbit->n && S >= orbit->piece[i + 1].S) ++i;
    return i;
}

/** Direction of the design orbit at arc length S [m], any S [rad]. */
AW_FN double aw_orbit_direction(const aw_orbit_view *orbit, double S)
{
    const aw_orbit_piece *p = &orbit->piece[aw_orbit_find(orbit, S)];
    return p->theta - p->kappa * (S - p->S);
}

/** Point of the design orbit at arc length S [m], any S. */
AW_FN aw_orbit_point aw_orbit_at(const aw_orbit_view *orbit, double S)
{
    const aw_orbit_piece *p = &orbit->piece[aw_orbit_find(orbit, S)];
    double d = S - p->S, half = 0.5 * p->kappa * d;
    double chord = d * aw_sinc(half), direction = p->theta - half;
    aw_orbit_point at;
    at.S = S;
    at.z = p->z + chord * cos(direction);
    at.x = p->x + chord * sin(direction);
    at.theta = p->theta - p->kappa * d;
    at.kappa = p->kappa;
    at.ct = cos(at.theta);
    at.st = sin(at.theta);
    return at;
}

/** Arc length and normal offset of a lab point near the orbit, by Newton steps from `guess`.
 *  @param[out] offset  distance along n [m]
 *  @return S [m] of the foot point; exact to rounding within a few mm of the guess, and for points
 *  far closer to the orbit than its radius. */
AW_FN double aw_orbit_project(const aw_orbit_view *orbit, double z, double x, double guess,
                              double *offset)
{
    double S = guess, xn = 0.0;
    for (int i = 0; i < 6; ++i) {
        aw_orbit_point p = aw_orbit_at(orbit, S);
        double dz = z - p.z, dx = x - p.x, along = dz * p.ct + dx * p.st;
        xn = -dz * p.st + dx * p.ct;
        S += along / (1.0 + p.kappa * xn);
        if (fabs(along) < 1e-9) break; /* the next correction is along^2 kappa */
    }
    *offset = xn;
    return S;
}

#endif
