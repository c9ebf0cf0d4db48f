/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closed forms for a bunch with a height: a Gaussian in three dimensions in straight uniform
 * motion, and the longitudinal space charge of a modulated beam.
 *
 * s is along the motion, positive ahead of the centre, x across it in the plane of the bends, y
 * the height. SI units; forces on one beam particle (q = e) in eV/m, which are fields in V/m.
 *
 * Forces that move a beam in the plane are means over the height of the observers. The mean over
 * observers and sources, both normal in y, is the integral over the difference of their heights,
 * whose variance is the sum of the two: the mean field of sources of rms height sigma_y over
 * observers of the rms height `observers_y` is that of sources of the height hypot(sigma_y,
 * observers_y), seen at y = 0. With sigma_y = observers_y that is sqrt(2) sigma_y.
 *
 * A function whose quadrature fails returns NaN (validation/integral.h). */
#ifndef AW_VALIDATION_HEIGHT_H
#define AW_VALIDATION_HEIGHT_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** A Gaussian bunch, and how its field is observed. */
typedef struct aw_solid {
    double charge, gamma;             /* [C]; INFINITY is allowed on a circle */
    double sigma_s, sigma_x, sigma_y; /* rms sizes [m] */
    double observers_y;               /* rms height of the observers [m]: 0 in the plane that is
                                         asked for, sigma_y for the mean over the bunch */
} aw_solid;

/** Potentials [V] and the force's components [eV/m]: F = -grad psi, psi = phi - v.A = phi/gamma^2.
 *  F_s is also the field E_s; E_x = gamma^2 F_x. */
typedef struct aw_solid_field {
    double phi, psi, F_s, F_x, F_y;
} aw_solid_field;

/** Field of straight uniform motion at (x, s) and the height y of the middle of the observers:
 *  phi = (2 gamma Q/(4 pi eps0 sqrt(pi))) int_0^inf dq prod_i exp(-q^2 r_i^2/(1 + 2 q^2 a_i^2))
 *        / sqrt(1 + 2 q^2 a_i^2),
 *  r = (x, y, gamma s), a = (sigma_x, hypot(sigma_y, observers_y), gamma sigma_s).
 *  Sizes of zero are allowed in one transverse direction. At the centre, with q^2 = 1/t, it is the
 *  form phi(0)/(Q/4 pi eps0) = (gamma/sqrt(pi)) int_0^inf dt/sqrt(prod_i (2 a_i^2 + t)).
 *  Source: O. D. Kellogg, Foundations of Potential Theory (1929), chapter VII (the potential of an
 *  ellipsoid), for a superposition of Gaussians; transformed to the laboratory.
 *  Error: 1e-9 of the largest. */
aw_solid_field aw_solid_straight(const aw_solid *bunch, double x, double y, double s);

/** A long beam of `line` [C/m], modulated as 1 + depth cos(k s), Gaussian across. */
typedef struct aw_modulated {
    double line, depth, wavelength; /* [C/m], [1], 2 pi/k [m] */
    double gamma, sigma_x, sigma_y; /* [1], [m] */
    double observers_x;             /* rms of the observers' x [m]: 0 on the axis, sigma_x for the
                                       mean over the beam */
    double observers_y;             /* as in aw_solid */
} aw_modulated;

/** Amplitude E of the longitudinal field, E_s = E sin(k s) [V/m]: in k-space
 *  phi = (depth line/eps0) int d2K/(2 pi)^2 exp(-K_x^2 a_x - K_y^2 a_y)/(K^2 + (k/gamma)^2)
 *      = (depth line/(4 pi eps0)) int_0^inf dt exp(-t (k/gamma)^2)/sqrt((t + a_x)(t + a_y)),
 *  2 a_x = sigma_x^2 + observers_x^2, 2 a_y likewise;  E = k phi/gamma^2.
 *  One of a_x and a_y may be zero. Exact. For a_x = a_y = a the last integral is
 *  exp(p) E_1(p), p = (k/gamma)^2 a.
 *  Source: Poisson's equation in the rest frame, folded with the Gaussians. Error: 1e-9. */
double aw_modulated_field(const aw_modulated *beam);

/** The same from the impedance of a round beam of uniform density, averaged over it:
 *  |Z| = Z0/(pi k r^2) [1 - 2 I_1(q) K_1(q)], q = k r/gamma, r = 0.8735 (sigma_x + sigma_y), and
 *  E = depth line c |Z|. For orientation: the mean over a round Gaussian beam is up to 24 % less
 *  (the limit of short waves).
 *  Source: Z. Huang et al., PRST-AB 7 074401 (2004), with the radius that other codes take. */
double aw_modulated_round(const aw_modulated *beam);

AW_END_DECLS
#endif
