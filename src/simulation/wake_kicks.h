/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wakes of the machine in the steps of a run (pic/wake). */
#ifndef AW_SIMULATION_WAKE_KICKS_H
#define AW_SIMULATION_WAKE_KICKS_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** Kick the particles by what the wakes do while the centre of the bunch moves from one arc length
 *  to another, all at the place where they are now. A step is a kick for its first half, the
 *  transport, and a kick for its second half, with the new density: of second order in the step.
 *  Does nothing where no wake acts. All ranks must call this.
 *  @return AW_OK, AW_ERR_NONFINITE, AW_ERR_RANGE (a table does not reach through the bunch),
 *          messages; the same on all ranks */
aw_status aw_wake_kicks(aw_simulation *simulation, double from, double to);

AW_END_DECLS
#endif
