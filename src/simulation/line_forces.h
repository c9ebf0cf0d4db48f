/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forces of a step with `forces: line`: those of the one-dimensional model (pic/line). */
#ifndef AW_SIMULATION_LINE_FORCES_H
#define AW_SIMULATION_LINE_FORCES_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** In place of potentials, forces and gather: project the particles on the design orbit, compute
 *  the force of the line that they are, gather it, and apply the half kick that is pending. Of
 *  simulation->field.forces Fs and Fx (which is zero) are filled, at the nodes of the step's grid,
 *  for the meshes.
 *  @return AW_OK, AW_ERR_NONFINITE (message) */
aw_status aw_line_forces_update(aw_simulation *simulation);

AW_END_DECLS
#endif
