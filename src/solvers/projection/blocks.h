/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of r' for the convolution of the near zone of the strategy `projection`: in each, the same
 * slices contribute, and turn so little that one lattice serves all of its radii. */
#ifndef AW_SOLVERS_PROJECTION_BLOCKS_H
#define AW_SOLVERS_PROJECTION_BLOCKS_H
#include "src/solvers/internal.h"
#include "src/solvers/projection/constants.h"

/** Blocks of the convolution (kernels/math/convolution.h); the first begins at r' = 0. */
typedef struct aw_blocks {
    double end[AW_BLOCKS_MAX]; /* [n], increasing [m] */
    int joins[AW_BLOCKS_MAX];  /* [n]: 1: a block has the lattices of the one before it */
    size_t n;
    int lattices; /* of all of them */
} aw_blocks;

/** How far out in r' the convolution reaches [m]; 0: there is none. */
double aw_blocks_reach(const aw_blocks *blocks);

/** Blocks of r' in which the slices lie on the lattice of the points closely enough to be
 *  convolved; none if the device cannot.
 *  @param[in] border  where a far zone could begin at the nearest [m]
 *  @param[in] end     upper limit of r' [m] */
aw_blocks aw_blocks_choose(const aw_solver *solver, const aw_problem *problem, double border,
                           double end);

/** Factor by which, at a tolerance, nodes of a convolution may be further apart, and blocks turn
 *  more, than at AW_CONVOLUTION_TOLERANCE. */
double aw_blocks_spread(double tolerance);

#endif
