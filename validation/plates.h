/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bend between parallel plates: forces on a rigid Gaussian line bunch, by two methods that share
 * no step: the impedance as a sum over the modes between the plates, and the images of the bunch.
 *
 * Two perfectly conducting plates, h apart, lie parallel to the plane of the bend, the beam in the
 * middle between them. The images are at the heights n h with the charge (-1)^n of the bunch's.
 * h = INFINITY is free space. SI units, forces in eV/m for q = e; s is positive ahead, and a
 * negative force takes energy away. A function whose quadrature fails returns NaN. */
#ifndef AW_VALIDATION_PLATES_H
#define AW_VALIDATION_PLATES_H
#include <stddef.h>

#include "validation/analytic.h"
#include "validation/circle.h"

AW_BEGIN_DECLS

/** Impedance per length [Ohm/m], of waves exp(i k (z - c t)): a force is
 *  F_s(s) = -(q Q c/2 pi) int dk Z(k) exp(-k^2 sigma^2/2) exp(-i k s). */
typedef struct aw_impedance {
    double re, im;
} aw_impedance;

/** In the steady state on a circle of radius R between plates, k > 0 [1/m]:
 *  Z/L = (2 pi Z0/h) (2/(R k))^(1/3) sum_{p>=0} [Ai'(u)(Ai'(u) + i Bi'(u)) + u Ai(u)(Ai(u) + i
 *  Bi(u))],  u = ((2p + 1) pi/h)^2 (R/(2 k^2))^(2/3).
 *  The terms of the sum of Bi are (3/16 pi) u^(-5/2) at large u; from u = 100 on that is summed as
 *  an integral. Source: T. Agoh, K. Yokoya, PRST-AB 7 054403 (2004), for a beam in the
 *  middle without height. Ultrarelativistic and paraxial. Error: 1e-6 for h < 1 m. */
aw_impedance aw_plates_impedance(double R, double h, double k);

/** In free space: (Z0/2 pi) Gamma(2/3) (-i k/(3 R^2))^(1/3).
 *  Source: J. B. Murphy, S. Krinsky, R. L. Gluckstern, Part. Accel. 57 (1997) 9. */
aw_impedance aw_free_impedance(double R, double k);

/** Steady force at n places s, from the impedance of the plates.
 *  @param[in] s   [n]
 *  @param[out] F  [n]
 *  Error: 1e-5 of the largest in free space, for |s| <= 5 sigma. */
void aw_plates_forces(const aw_line_bunch *bunch, double R, double h, const double *s, size_t n,
                      double *F);

/** Its mean over the bunch: -(q Q c/pi) int_0^inf Re Z exp(-k^2 sigma^2) dk; the loss factor is
 *  this over -Q. */
double aw_plates_mean(const aw_line_bunch *bunch, double R, double h);

/** Steady force by the images: aw_steady_force, and aw_circle_line for each image, gamma infinite.
 *  The alternating sum is taken by repeated averages of its partial sums.
 *  Error: 1e-6 of the largest in free space. */
double aw_images_force(const aw_line_bunch *bunch, double R, double h, double s);

/** Its mean over the bunch. */
double aw_images_mean(const aw_line_bunch *bunch, double R, double h);

/** Steady state of a bunch with width and height between plates: aw_circle_forces, and its images,
 *  each averaged over both normal distributions (Gauss and Hermite, 8 x 8 lines). For sizes up to
 *  h/5. Error: as aw_circle_forces, and 1e-5 of the images' largest. 0.1 s. */
aw_circle_force aw_images_solid(const aw_solid *bunch, const aw_circle_place *place, double h);

/** A bunch in a bend entered from a straight line, plates along all of both. */
typedef struct aw_entrance {
    double gamma, R, h; /* [1], [m], [m] */
} aw_entrance;

/** Real force F_s = q E_s at the distance d >= 0 [m] of the particle behind the edge, as the sum
 *  of the retarded fields of the line bunch and its images, each
 *  E_s/(Q/4 pi eps0) = int dy { lambda (rho^.t)/rho^2 + lambda' (beta^2 t'.t - beta rho^.t)/rho }
 *  with the place of emission y behind, at the distance rho in the direction rho^, the tangent t'
 *  there, and lambda, lambda' at s - y + beta rho. From the bunch's own field that of the same
 *  bunch on a straight line is subtracted, which is infinite for a line; those of the images keep
 *  theirs, about lambda' 2 ln(2 gamma sigma/h)/gamma^2. No expansion in angles.
 *  Images up to d^2/(12^(1/2) R), which are seen from inside the bend, are summed as they are: near
 *  that height they are in the transient. At most 1000 of them.
 *  Source: O. D. Jefimenko, Electricity and Magnetism (1966). Error: 1e-6 of the largest steady
 *  force in free space; it differs from aw_entrance_force by what that neglects (5e-4). */
double aw_images_entrance(const aw_line_bunch *bunch, const aw_entrance *bend, double d, double s);

AW_END_DECLS
#endif
