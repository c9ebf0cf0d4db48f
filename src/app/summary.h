/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run says of itself at its start and at its end. */
#ifndef AW_APP_SUMMARY_H
#define AW_APP_SUMMARY_H
#include "src/app/simulation.h"

AW_BEGIN_DECLS

/** The plan in a few lines: steps, grid, memory, unit. */
void aw_summary_begin(const aw_simulation *simulation);

/** The plan's numbers alone, for `inspect`. */
void aw_summary_plan(const aw_config *config, const aw_plan *plan);

/** Table of the forces on the axis at the last solved step, beside the one-dimensional steady-state
 *  ones where the bunch is in a bend; and of the bunch. */
void aw_summary_print(const aw_simulation *simulation);

AW_END_DECLS
#endif
