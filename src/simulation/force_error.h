/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error of the forces that the solver leaves, measured at a few nodes of the grid.
 *
 * A tolerance bounds the error of the potentials. Forces are made of gradients and of rates, and
 * where they are small (F_x before a bend) a small error of psi is a large part of them. So some
 * nodes get a reference force, from reference potentials at the nodes of their windows, and the
 * difference is the error: whatever the strategy, and whether or not the errors of neighbouring
 * nodes cancel. What the grid, the number of particles and the time step do to a force is not in
 * it: the reference reads the same slices. */
#ifndef AW_SIMULATION_FORCE_ERROR_H
#define AW_SIMULATION_FORCE_ERROR_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** Steps between two measurements, beside those at steps that write meshes. One takes as long as
 *  about four solutions of the LCLS bend by `projection`, at 64 x 64. */
enum { AW_FORCE_ERROR_EVERY = 64 };

/** Largest error on the grid over the rms: 5 to 8 (F_s) and 3 to 4, seldom 7 (F_x), with four
 *  strategies in the LCLS bend; errors of F_s are large in patches,
 *  where the partition of r' does not suit the points. */
#define AW_FORCE_PEAK_S 6.0
#define AW_FORCE_PEAK_X 4.0

/** Measure, after aw_simulation_solve, and store the estimates in simulation->force_error: the
 *  largest difference at the nodes, or AW_FORCE_PEAK_S or _X times its rms if that is more.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
aw_status aw_simulation_force_error(aw_simulation *simulation);

AW_END_DECLS
#endif
