/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shape of a particle on the grid, and the quadratic B-spline (TSC) with which slices are
 * interpolated: weights, slopes, width, reach, and the padding around a slice. */
#ifndef AW_KERNELS_MATH_SPLINE_H
#define AW_KERNELS_MATH_SPLINE_H
#include "kernels/math/orbit.h"
#include "src/base/port.h"

/* Zero cells on each side of a slice. A clamped index reads zeros, so evaluating a point needs no
 * branch. */
#define AW_PAD 3

/* Shape of a particle, for deposit and gather alike: the nodes that it touches along an axis, and
 * the distance in cells at which it vanishes. */
#define AW_SHAPE_NODES 3
#define AW_SHAPE_REACH (0.5 * AW_SHAPE_NODES)

/* Its weights depend on the distance from a base node: the nearest node where AW_SHAPE_NODES is
 * odd, the one below where it is even. A coordinate plus AW_SHAPE_ROUND truncates to the base node,
 * and the first node is AW_SHAPE_FIRST from there. */
#define AW_SHAPE_ROUND (0.5 * (AW_SHAPE_NODES % 2))
enum { AW_SHAPE_FIRST = -((AW_SHAPE_NODES - 1) / 2) };

/* The B-spline with which slices are interpolated: its nodes along an axis, and the first of them
 * counted from the nearest node. */
#define AW_SPLINE_NODES 3
#define AW_SPLINE_FIRST (-1)
/* Distance beyond the outermost node of a slice where interpolated moments vanish [cells]. */
#define AW_SPLINE_REACH 1.5

/** Quadratic B-spline (TSC) weights of the three nodes about a coordinate, f in [-1/2, 1/2] cells
 *  from the middle one. */
AW_FN void aw_spline(double f, double w[AW_SPLINE_NODES])
{
    w[0] = 0.5 * (0.5 - f) * (0.5 - f);
    w[1] = 0.75 - f * f;
    w[2] = 0.5 * (0.5 + f) * (0.5 + f);
}

/** Weights of the nodes of a particle that is f cells beyond its base node. AW_SHAPE_WEIGHTS of
 *  pic/simd/grid.h is the same for vectors of particles. */
AW_FN void aw_shape_weights(double f, double w[AW_SHAPE_NODES]) { aw_spline(f, w); }

/** Derivatives of the weights of aw_spline with respect to the coordinate [1/cell]. */
AW_FN void aw_spline_slope(double f, double d[AW_SPLINE_NODES])
{
    d[0] = f - 0.5;
    d[1] = -2.0 * f;
    d[2] = f + 0.5;
}

/** What deposition leaves of a wave of this phase per cell [rad] along an axis: the particle's
 *  shape times the filter of the moments (docs/theory.md, "Moments"). A Fourier sum over the nodes
 *  of a slice is the transform of the beam times this for each axis. Falls to 0 at a phase of pi.
 */
AW_FN double aw_spline_deposited(double phase)
{
    const double c = aw_sinc(0.5 * phase), s = sin(0.5 * phase), w = s * s;
    return c * c * c * (1.0 + w + 13.0 / 15.0 * w * w) * (1.0 - w * w * w * w * w);
}

/* Largest phase at which enough of a wave is left, a tenth, to tell what it was. */
#define AW_SPLINE_PHASE 2.8

/** Node nearest to coordinate a [cells] on an axis of n nodes, clamped so that the AW_SPLINE_NODES
 *  nodes about it lie in the padded slice. */
AW_FN int aw_nearest(double a, int n)
{
    double lo = -(AW_PAD - 1), hi = n + AW_PAD - 2;
    a = a < lo ? lo : a;
    a = a > hi ? hi : a;
    return (int)(a + 0.5 + AW_PAD) - AW_PAD; /* the shift keeps truncation a floor */
}

#endif
