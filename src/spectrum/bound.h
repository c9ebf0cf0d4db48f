/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy of the field that a bunch carries along, and how much of it is not there yet behind a
 * bend. docs/spectrum.md, "Energy balance". */
#ifndef AW_SPECTRUM_BOUND_H
#define AW_SPECTRUM_BOUND_H
#include "kernels/math/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Of which bunch; borrowed. */
typedef struct aw_bound_params {
    const aw_slice *slice; /* of a bunch in straight motion */
    int ns, nx;            /* its nodes */
    int single;            /* its cells are float */
    double gamma;
    double distance;      /* behind the end of the last bend, > 0 [m]; 0: no bend before it */
    double radius, angle; /* of that bend, > 0 [m], [rad]; 0: of no length */
} aw_bound_params;

/** Energies [J]. */
typedef struct aw_bound {
    double whole;   /* of the field of the slice in straight uniform motion since ever: of E and B,
                     * U = 1/(2 eps0) int d3k/(2 pi)^3 |rho|^2 [K^2 (1 + beta^2) + k_s^2/gamma^4]
                     *     /(K^2 + k_s^2/gamma^2)^2,   K^2 = k_x^2 + k_y^2.
                     * The integral over k_y is done by hand */
    double missing; /* what of it the bunch has still to give, at the distance behind a bend. A
                     * particle is seen on the straight line from ahead, by z, and aside, by r, only
                     * from z < u - r^2/(2 d) on, u = d/(2 gamma^2); the push of those further
                     * behind is missing. So the mean force is -Q^2/(4 pi eps0 gamma^2)
                     * int_u^inf L(z) dz/z^2 for r << d/gamma, and
                     * -Q^2/(4 pi eps0) L(0, r) (2/d)/(1 + (gamma r/d)^2) for particles at the same
                     * z; integrated from d on
                     * Q^2/(4 pi eps0) [int_u^inf L(z) (2/z - 2 u/z^2) dz
                     *                  - int L(0, r) ln(1 + (gamma r/d)^2) dr],
                     * with L, the distribution of distances of two particles, from the slice. A
                     * bend has a length: of those that are seen in it, the force is by
                     * 4 R int L(z) dpsi/(R psi + 2 d)^2 weaker, 0 <= psi <= its angle,
                     * z = (R psi^3/24) (R psi + 4 d)/(R psi + d) (Stupakov and Emma, EPAC 2002,
                     * p. 1479, case D, integrated by parts); its integral from d on is
                     * subtracted. That is for u << sigma; u is added to z, so that nothing is
                     * where L is gone */
} aw_bound;

/** Both energies of a slice. Not while another thread makes plans of FFTW.
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_bound_of(const aw_bound_params *params, aw_bound *out);

AW_END_DECLS
#endif
