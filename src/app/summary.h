/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run says of itself at its start and at its end. */
#ifndef AW_APP_SUMMARY_H
#define AW_APP_SUMMARY_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** The plan in a few lines: steps, grid, memory, unit. */
void aw_summary_begin(const aw_simulation *simulation);

/** The plan's numbers alone, for `inspect`. */
void aw_summary_plan(const aw_config *config, const aw_plan *plan);

/** Table of the forces on the axis at a solved step, beside the one-dimensional steady-state ones
 *  where the bunch is in a bend.
 *  @param[out] text  lines without the last line end, room for `size`
 *  @return 2 in a bend, 1 elsewhere, 0 (nothing written): the grid holds no 3 sigma of axis. */
int aw_summary_forces(const aw_simulation *simulation, char *text, size_t size);

/** The bunch at the end of a run. */
void aw_summary_print(const aw_simulation *simulation);

AW_END_DECLS
#endif
