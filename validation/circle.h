/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steady state on a circle: forces of a three-dimensional Gaussian bunch, by quadrature.
 *
 * The bunch is rigid: its density depends on (s, x, y) about the orbit of radius R alone, and every
 * particle has the speed beta c along the tangent at its place (the rigid validation mode of the
 * program; for a bunch that is round in the plane of the bend also that of particles of one energy
 * in a uniform field). The potentials are integrated over the place of emission: the sources at
 * the offset x1, the height difference Y and the arc length y behind the observer, seen at the
 * distance D, are those that are now at s - y + beta D,
 *
 *   psi(s, x) = (Q/4 pi eps0) int dx1 dY w(x1, Y) int dy lambda(s - y + beta D)
 *               (1 - beta^2 cos(y/R))/D,
 *   D^2 = (x - x1)^2 + Y^2 + 4 (R + x)(R + x1) sin^2(y/2R),
 *
 * with w normal in x1 (sigma_x) and in Y (hypot(sigma_y, observers_y)); phi has 1 and A_n (along
 * the observer's normal) beta sin(y/R) in place of the bracket. The slopes along s and x are taken
 * under the integral, with the velocity of the observer held fixed. There is neither an expansion
 * in angles nor a light cone in polar coordinates about the observer, nor a grid.
 *
 * x is along the normal, positive outside the circle. SI units, V, and eV/m for q = e. */
#ifndef AW_VALIDATION_CIRCLE_H
#define AW_VALIDATION_CIRCLE_H
#include "validation/height.h"

AW_BEGIN_DECLS

/** Forces of docs/theory.md on a particle of speed beta c along the tangent [eV/m]:
 *  F_s_eff = -q d psi/ds,  F_s = F_s_eff - q d phi/dS,  F_x_eff = -q d psi/dx - q d(A.n)/dt,
 *  where d/dS and d/dt follow the particle, which at x leaves the rigid bunch behind at the rate
 *  d s/dS = -x/(R + x). On the axis F_s = F_s_eff. */
typedef struct aw_circle_force {
    double phi, psi; /* [V] */
    double F_s, F_s_eff, F_x_eff;
} aw_circle_force;

/** Where the force is wanted, and the circle's radius R [m]. */
typedef struct aw_circle_place {
    double R, s, x; /* [m] */
} aw_circle_place;

/** The force at the middle of the observers' height. One of sigma_x and hypot(sigma_y,
 *  observers_y) may be zero, not both (the potential of a line is infinite): NaN.
 *  A sheet: sigma_y = observers_y = 0.
 *  Source: the retarded potentials; for the forces R. Li, PRST-AB 11 024401 (2008).
 *  Error: 1e-6 of the largest of each (twice the nodes change it by less), if the transverse sizes
 *  are within a factor of 20 of each other and |x| within 3 sigma_x. 10 to 50 ms. */
aw_circle_force aw_circle_forces(const aw_solid *bunch, const aw_circle_place *place);

/** The force of a line bunch (charge, gamma and sigma_s of `bunch`) at the offset x1, at the height
 *  Y relative to the observer: one image between plates. gamma = INFINITY is allowed; x = x1 and
 *  Y = 0 together are not.
 *  Error: 1e-7 of the largest. */
aw_circle_force aw_circle_line(const aw_solid *bunch, const aw_circle_place *place, double x1,
                               double Y);

AW_END_DECLS
#endif
