/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one-dimensional model of coherent synchrotron radiation: what a line bunch does to itself, as
 * a convolution of its line density on a regular grid. */
#ifndef AW_PIC_LINE_KERNEL_H
#define AW_PIC_LINE_KERNEL_H
#include "kernels/math/orbit.h"

AW_BEGIN_DECLS

/** Which field of the line bunch acts. */
typedef enum aw_line_model {
    AW_LINE_TRANSIENT, /* of its path through all magnets */
    AW_LINE_STEADY     /* of the circle on which its centre is, for ever; nothing in drifts */
} aw_line_model;

/* Nodes that a cubic B-spline touches, and the first of them counted from the node below. */
enum { AW_LINE_NODES = 4, AW_LINE_FIRST = -1 };

/** Weights of the four nodes about a coordinate that is f cells, 0 <= f < 1, beyond a node. */
AW_FN void aw_line_spline(double f, double w[AW_LINE_NODES])
{
    const double g = 1.0 - f;
    w[0] = g * g * g / 6.0;
    w[1] = (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0;
    w[2] = (4.0 - 6.0 * g * g + 3.0 * g * g * g) / 6.0;
    w[3] = f * f * f / 6.0;
}

/** Their derivatives with respect to f. */
AW_FN void aw_line_spline_slope(double f, double w[AW_LINE_NODES])
{
    const double g = 1.0 - f;
    w[0] = -0.5 * g * g;
    w[1] = 1.5 * f * f - 2.0 * f;
    w[2] = 2.0 * g - 1.5 * g * g;
    w[3] = 0.5 * f * f;
}

/** Where the bunch is, and its grid. */
typedef struct aw_line_place {
    aw_line_model model;
    const aw_orbit_view *orbit;
    double S;     /* arc length of the bunch's centre [m] */
    double gamma; /* > 1 */
    double h;     /* spacing of the grid [m], > 0 */
    int n;        /* its nodes */
} aw_line_place;

/** Weights of the convolution: the longitudinal force at node i is
 *      F_i = (qQ/4 pi eps0) sum_j weight[i - j + 1] c_j,    i - j >= -1,
 *  where lambda(s) = sum_j c_j B(s/h - j) is the line density, normalised to 1 [1/m], with the
 *  cubic B-spline B. With sources at a distance y behind on the orbit, their retarded slippage
 *  D(y) = y - beta rho, the distance rho in space and its direction n, and the tangents t (here)
 *  and t' (there),
 *      F_s = (qQ/4 pi eps0) int_0^inf dy { lambda'(s-D) beta [beta t.t' - n.t]/rho
 *                                        + lambda(s-D) (n.t)/rho^2 - the same on a straight line },
 *  the retarded field along the motion of a line whose shape and velocity are those of now, less
 *  that of the same line in straight motion: what is left is finite for a line without width.
 *  Sources ahead of the field point, over a length of the bunch, count as those of a straight line.
 *  The weights are the same for the whole bunch, those at its centre.
 *  In the steady state the closed form of Derbenev et al. (TESLA-FEL 95-05) is used.
 *  Sources: O. D. Jefimenko, Electricity and Magnetism (1966), for the field; E. L. Saldin, E. A.
 *  Schneidmiller, M. V. Yurkov, NIM A 398 (1997) 373, for the subtraction. Differs: any planar
 *  orbit, and the speed of the bunch.
 *  @param[out] weight  [n + 1] */
void aw_line_kernel(const aw_line_place *place, double *weight);

AW_END_DECLS
#endif
