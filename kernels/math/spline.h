/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shape of a particle on the grid, a quadratic B-spline (TSC): weights, slopes, width, reach,
 * and the padding around a slice that it requires. */
#ifndef AW_KERNELS_MATH_SPLINE_H
#define AW_KERNELS_MATH_SPLINE_H
#include "src/base/port.h"

/* Width: nodes along each axis to which a particle deposits and from which it gathers; and the
 * first of them, counted from the nearest node. */
#define AW_SHAPE_NODES 3
#define AW_SHAPE_FIRST (-1)
/* Reach: a deposit on the outermost node vanishes this many cells beyond that node. */
#define AW_SHAPE_REACH 1.5

/* Zero cells on each side of a slice. A clamped index reads zeros, so evaluating a point needs no
 * branch. */
#define AW_PAD 3

/** Weights of the AW_SHAPE_NODES nodes about a coordinate, which lies f cells from the middle node,
 *  f in [-1/2, 1/2]. */
AW_FN void aw_spline(double f, double w[AW_SHAPE_NODES])
{
    w[0] = 0.5 * (0.5 - f) * (0.5 - f);
    w[1] = 0.75 - f * f;
    w[2] = 0.5 * (0.5 + f) * (0.5 + f);
}

/** The same, for deposit and gather of particles; pic/simd/grid.h has it for vectors of them. */
AW_FN void aw_shape_weights(double f, double w[AW_SHAPE_NODES]) { aw_spline(f, w); }

/** Derivatives of these weights with respect to the coordinate [1/cell]. */
AW_FN void aw_spline_slope(double f, double d[AW_SHAPE_NODES])
{
    d[0] = f - 0.5;
    d[1] = -2.0 * f;
    d[2] = f + 0.5;
}

/** Node nearest to coordinate a [cells] on an axis of n nodes, clamped so that the AW_SHAPE_NODES
 *  nodes about it lie in the padded slice. */
AW_FN int aw_nearest(double a, int n)
{
    double lo = -(AW_PAD - 1), hi = n + AW_PAD - 2;
    a = a < lo ? lo : a;
    a = a > hi ? hi : a;
    return (int)(a + 0.5 + AW_PAD) - AW_PAD; /* the shift keeps truncation a floor */
}

#endif
