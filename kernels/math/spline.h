/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shape of a particle on the grid: a quadratic B-spline, its weights, width and reach. */
#ifndef AW_KERNELS_MATH_SPLINE_H
#define AW_KERNELS_MATH_SPLINE_H
#include "src/base/port.h"

/* Zero cells around every slice: a clamped index reads zeros, so point maths needs no branch. */
#define AW_PAD 3
#define AW_SHAPE_NODES 3
#define AW_SHAPE_REACH 1.5

/** Quadratic B-spline (TSC) weights of the three nodes about a coordinate, f in [-1/2, 1/2]. */
AW_FN void aw_spline(double f, double w[3])
{
    w[0] = 0.5 * (0.5 - f) * (0.5 - f);
    w[1] = 0.75 - f * f;
    w[2] = 0.5 * (0.5 + f) * (0.5 + f);
}

/** Their derivatives with respect to the coordinate. */
AW_FN void aw_spline_slope(double f, double d[3])
{
    d[0] = f - 0.5;
    d[1] = -2.0 * f;
    d[2] = f + 0.5;
}

/** Nearest node, clamped so that the three nodes about it lie in the padded slice. */
AW_FN int aw_nearest(double a, int n)
{
    double lo = -(AW_PAD - 1), hi = n + AW_PAD - 2;
    a = a < lo ? lo : a;
    a = a > hi ? hi : a;
    return (int)(a + 0.5 + AW_PAD) - AW_PAD; /* the shift keeps truncation a floor */
}

#endif
