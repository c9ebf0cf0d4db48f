/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results for points that move differently. */
#ifndef AW_SOLVERS_PROJECTION_VELOCITIES_H
#define AW_SOLVERS_PROJECTION_VELOCITIES_H
#include "src/solvers/solver.h"

/** Convert the results of a grid of points that all move as its centre to those of points with
 *  velocities of their own.
 *  @param[in] problem  of the points as they move
 *  @param[in,out] I    [points]
 *  @param[out] old     [points], workspace */
void aw_convert_velocities(const aw_problem *problem, double (*I)[AW_RESULTS],
                           double (*old)[AW_RESULTS]);

#endif
