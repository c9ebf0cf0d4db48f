/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constants (CODATA 2018), and the sign conventions of the whole program.
 *
 * Lab plane (z, x): the beam starts along +z; y is up; (x, y, z) is right-handed, so x is to the
 * left of the motion. A direction theta is (cos theta, sin theta) in (z, x). On the design orbit
 * t = (cos theta, sin theta), n = (-sin theta, cos theta), d theta/dS = -kappa: a positive angle
 * bends towards -x (MAD), and for kappa > 0 the normal n points away from the centre.
 * Inside the program the beam's charge is positive; files have the electrons' negative sign. */
#ifndef AW_BASE_UNITS_H
#define AW_BASE_UNITS_H

#define AW_PI 3.14159265358979323846
#define AW_C 299792458.0                             /* speed of light [m/s] */
#define AW_E 1.602176634e-19                         /* elementary charge [C] */
#define AW_ME 9.1093837015e-31                       /* electron mass [kg] */
#define AW_EPS0 8.8541878128e-12                     /* vacuum permittivity [F/m] */
#define AW_ME_EV 510998.95                           /* electron rest energy [eV] */
#define AW_RE 2.8179403262e-15                       /* classical electron radius [m] */
#define AW_COMPTON 3.8615926796e-13                  /* reduced Compton wavelength [m] */
#define AW_K_COULOMB (1.0 / (4.0 * AW_PI * AW_EPS0)) /* [V m/C] */

/* Largest energy over the rest energy: above it, 51 TeV, the speed is that of light in double
 * precision. */
#define AW_GAMMA_MAX 1e8

#endif
