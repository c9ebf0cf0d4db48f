/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closed forms of the radiation in the far field, and of the energy of the field that a bunch
 * carries along. Energies per frequency are those of omega > 0. A function whose quadrature fails
 * returns NaN (validation/integral.h). */
#ifndef AW_VALIDATION_RADIATION_H
#define AW_VALIDATION_RADIATION_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Energy per frequency that 1 C radiates on a circle, per radian of its path [J s/C^2]:
 *  (1/4 pi eps0) sqrt(3) gamma/(2 pi c) y int_y^inf K_5/3(x) dx,  y = k 2 R/(3 gamma^3).
 *  Source: J. Schwinger, Phys. Rev. 75 (1949) 1912, eq. II.16.
 *  @param k  omega/c [1/m] */
double aw_schwinger(double gamma, double R, double k);

/** Coherent power of a rigid Gaussian line bunch of charge Q on a circle [W]:
 *  3^(1/6) Gamma(2/3)^2/(2 pi) c (1/4 pi eps0) Q^2/(R^(2/3) sigma^(4/3)), the factor is 0.3504720.
 *  Source: the integral of Schwinger's spectrum for gamma = infinity times exp(-(k sigma)^2). */
double aw_coherent_power(double charge, double R, double sigma);

/** A straight line of a length between two kicks, in a direction at the angle a to it: energy per
 *  frequency and solid angle of 1 C [J s/C^2], of that line alone,
 *  (1/4 pi eps0) (1/(4 pi^2 c)) |A|^2 4 sin^2(k L (1/beta - cos a)/2),
 *  A = beta sin a/(1 - beta cos a).
 *  Source: the integral of J. D. Jackson, Classical Electrodynamics, eq. 14.67 over the line; for
 *  edge radiation R. A. Bosch, Nucl. Instrum. Methods A 431 (1999) 320. */
double aw_two_kicks(double gamma, double length, double k, double a);

/** Energy of the field of a Gaussian sheet in straight uniform motion [J], of E and B in k-space:
 *  U = (1/2 eps0) int d3k/(2 pi)^3 |rho|^2 [K^2 (1 + beta^2) + k_s^2/gamma^4]/D^2,
 *  D = K^2 + k_s^2/gamma^2, K^2 = k_x^2 + k_y^2. The integral over k_y is done by hand. */
double aw_bound_energy(double charge, double gamma, double sigma_s, double sigma_x);

/** Energy that the field of a bunch behind a bend has still to take from it, at a distance d behind
 *  the exit that is far for the bend but not for the field [J]:
 *  (1/4 pi eps0) Q^2/(sqrt(pi) sigma) [E_1(x^2)/2 - exp(-x^2) + sqrt(pi) x erfc(x)],
 *  x = d/(4 gamma^2 sigma).
 *  A particle is seen from ahead as it moved on the straight line only from nearer than
 *  u = d/(2 gamma^2); from further behind it lacks its push (1/4 pi eps0)/(gamma z)^2. So the mean
 *  force is -(Q/4 pi eps0 gamma^2) int_u^inf L(z) dz/z^2, L(z) = exp(-z^2/4 sigma^2)/(2 sqrt(pi)
 *  sigma), for u << sigma -2 (Q/4 pi eps0) L(0)/d as in aw_exit_force, and this is its integral
 *  from d on. Relative corrections: (6 sigma R^2)^(1/3)/(2 d). */
double aw_bound_rest(double charge, double gamma, double sigma_s, double d);

AW_END_DECLS
#endif
