/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First derivative along a line of a grid, to the sixth order. */
#ifndef AW_KERNELS_MATH_SLOPE_H
#define AW_KERNELS_MATH_SLOPE_H
#include <stddef.h>

#include "src/base/port.h"
#include "src/base/windows.h"

/* Nodes of a window, and the common denominator of its weights. */
#define AW_SLOPE_NODES 7
#define AW_SLOPE_UNIT 60.0

/** Weights of the seven nodes from *first on, for the derivative at node i of n >= 7, to be divided
 *  by AW_SLOPE_UNIT and by the spacing. Near an end of the line the window is shifted inward.
 *  @return [AW_SLOPE_NODES], static */
AW_FN const double *aw_slope_weights(int i, int n, int *first)
{
    static const double weight[AW_SLOPE_NODES][AW_SLOPE_NODES] = {
        {-147, 360, -450, 400, -225, 72, -10}, {-10, -77, 150, -100, 50, -15, 2},
        {2, -24, -35, 80, -30, 8, -1},         {-1, 9, -45, 0, 45, -9, 1},
        {1, -8, 30, -80, 35, 24, -2},          {-2, 15, -50, 100, -150, 77, 10},
        {10, -72, 225, -400, 450, -360, 147}};
    *first = aw_window_first(i, n, AW_SLOPE_NODES);
    return weight[i - *first];
}

/** Derivative per spacing at node i of a line of n >= 7 nodes.
 *  @param[in] at  the value at node i; neighbouring nodes are `stride` numbers apart */
AW_FN double aw_slope_at(const double *at, ptrdiff_t stride, int i, int n)
{
    int first;
    const double *weight = aw_slope_weights(i, n, &first);
    const double *line = at + (first - i) * stride;
    double sum = 0.0;
    for (int k = 0; k < AW_SLOPE_NODES; ++k) sum += weight[k] * line[k * stride];
    return sum / AW_SLOPE_UNIT;
}

#endif
