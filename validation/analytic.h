/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closed forms for a rigid Gaussian line bunch, and for a uniformly moving Gaussian sheet.
 *
 * Arguments are in SI units, forces on one beam particle (q = e) in eV/m, potentials in V. s is the
 * distance ahead of the bunch centre: the head is at s > 0, and a negative longitudinal force takes
 * energy away. The line charge density is Q lambda(s), with lambda normalised to 1. The forms hold
 * for an ultrarelativistic bunch, gamma >> (R/sigma)^(1/3), that is thin, sigma_x << (R
 * sigma^2)^(1/3).
 *
 * A function whose quadrature fails returns NaN, which no check lets pass. The quadrature is GSL's:
 * call gsl_set_error_handler_off() first, or GSL aborts when it fails. */
#ifndef AW_VALIDATION_ANALYTIC_H
#define AW_VALIDATION_ANALYTIC_H
#include "src/base/status.h"

AW_BEGIN_DECLS

typedef struct aw_line_bunch {
    double charge; /* Q, magnitude [C] */
    double sigma;  /* rms length [m] */
} aw_line_bunch;

/** lambda(s) [1/m] and its derivative [1/m^2]. */
double aw_line_density(const aw_line_bunch *bunch, double s);
double aw_line_slope(const aw_line_bunch *bunch, double s);

/** Unit of the longitudinal force on a circle of radius R [m]:
 *  k = qQ/(4 pi eps0) / (R^(2/3) sigma^(4/3)) [eV/m]. */
double aw_line_unit(const aw_line_bunch *bunch, double R);

/** Overtaking length (24 sigma R^2)^(1/3) [m]. */
double aw_line_overtaking(const aw_line_bunch *bunch, double R);

/** Longitudinal force in the steady state on a circle of radius R > 0 [m]:
 *  F_s = -(qQ/4 pi eps0) 2/(3^(1/3) R^(2/3)) int_0^inf du u^(-1/3) lambda'(s-u).
 *  Source: Ya. S. Derbenev, J. Rossbach, E. L. Saldin, V. D. Shiltsev, TESLA-FEL 95-05 (1995). */
double aw_steady_force(const aw_line_bunch *bunch, double R, double s);

/** Effective transverse force in the steady state, along the normal that points away from the
 *  centre for kappa > 0: F_x_eff = -(qQ/4 pi eps0) 2 lambda(s) kappa.
 *  Sources: Ya. S. Derbenev, V. D. Shiltsev, SLAC-PUB-7181 (1996); R. Li, PRST-AB 11 024401. */
double aw_steady_transverse(const aw_line_bunch *bunch, double kappa, double s);

/** Mean over the bunch of aw_steady_force, in closed form: -3^(1/6) Gamma(2/3)^2/(2 pi) k [eV/m].
 *  Source: the average of aw_steady_force over a Gaussian; the factor agrees with Derbenev et
 *  al. */
double aw_steady_mean(const aw_line_bunch *bunch, double R);

/** Rms about the mean over the bunch of aw_steady_force [eV/m], by integration. */
double aw_steady_rms(const aw_line_bunch *bunch, double R);

/** Real force at distance d >= 0 [m] behind the entrance edge of a bend, for a bunch that has
 *  always moved along a straight line before it; s_L = d^3/(24 R^2):
 *  F_s = -K [ int_{s-s_L}^{s} lambda'(z) (s-z)^(-1/3) dz
 *             + (lambda(s-s_L) - lambda(s-4 s_L))/s_L^(1/3) ],  K = (qQ/4 pi eps0) 2/(3 R^2)^(1/3).
 *  Source: E. L. Saldin, E. A. Schneidmiller, M. V. Yurkov, NIM A 398 (1997) 373, eq. 87, without
 *  its 1/gamma^2 terms. */
double aw_entrance_force(const aw_line_bunch *bunch, double R, double d, double s);

/** Mean over the bunch of aw_entrance_force [eV/m], averaged over s in closed form. */
double aw_entrance_mean(const aw_line_bunch *bunch, double R, double d);

/** Mean energy change of the bunch from the entrance edge to a distance d >= 0 in the bend [eV]. */
double aw_entrance_energy(const aw_line_bunch *bunch, double R, double d);

/** Real force at distance d >= 0 [m] behind the exit of a bend of angle phi_m > 0 [rad], straight
 *  lines before and after it; x = d/R:
 *  F_s = -(4 qQ/(4 pi eps0 R)) { [lambda(s-D_max) - lambda(s-D_C)]/(phi_m + 2x)
 *                                 + int_0^{D_max} lambda'(s-D)/(psi + 2x) dD },
 *  D(psi) = (R/24) psi^3 (psi+4x)/(psi+x),  D_max = D(phi_m),  D_C = (R/6) phi_m^2 (phi_m+3x).
 *  At d = 0 it equals aw_entrance_force at the distance R phi_m; far away it tends to
 *  -2 (qQ/4 pi eps0) lambda/d.
 *  Source: G. Stupakov, P. Emma, LCLS-TN-01-12 and EPAC 2002, 1479. */
double aw_exit_force(const aw_line_bunch *bunch, double R, double phi_m, double d, double s);

/** A Gaussian sheet that moves uniformly along a straight line in its own plane. */
typedef struct aw_sheet {
    double charge;           /* [C] */
    double sigma_s, sigma_x; /* rms sizes along and across the motion [m] */
    double gamma;
} aw_sheet;

/** Scalar potential phi in the plane of the sheet, at (x, s) from its centre [V], and
 *  psi = phi - v.A = phi/gamma^2 (as A_s = beta phi/c).
 *  Source: the sheet's rest-frame potential as a superposition of Gaussians in 1/r
 *  (O. D. Kellogg, Foundations of Potential Theory, 1929), transformed to the laboratory:
 *  phi = (2 gamma Q/(4 pi eps0 sqrt(pi))) int_0^inf dq exp(-q^2 x^2/(1 + 2 q^2 sigma_x^2))
 *        exp(-q^2 gamma^2 s^2/(1 + 2 q^2 gamma^2 sigma_s^2))
 *        / sqrt((1 + 2 q^2 sigma_x^2)(1 + 2 q^2 gamma^2 sigma_s^2)). */
double aw_sheet_phi(const aw_sheet *sheet, double x, double s);
double aw_sheet_psi(const aw_sheet *sheet, double x, double s);

AW_END_DECLS
#endif
