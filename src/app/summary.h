/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run prints at its start and at its end. */
#ifndef AW_APP_SUMMARY_H
#define AW_APP_SUMMARY_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** The plan of a run in a few lines: title, steps, grid, memory, solver and device. */
void aw_summary_begin(const aw_simulation *simulation);

/** What was chosen for `accuracy` and why, a line each; nothing without accuracy. */
void aw_summary_choice(const aw_config *config);

/** The same without title, solver and device, for `inspect`. */
void aw_summary_plan(const aw_config *config, const aw_plan *plan);

/** Table of the forces on the axis at a solved step, beside those of one-dimensional theory where
 *  there is one: a Gaussian current without tilt, in a bend (the steady state; behind the entrance
 *  of the first bend the transient one), or behind the first bend. The table says which, or why
 *  there is none.
 *  @param[out] text  [size]: lines, the last without its line feed
 *  @return how much the table tells: 4 in the steady state, 3 in the entrance of the first bend, 2
 *  in a bend without a theory, 1 elsewhere; 0 (nothing is written): the axis leaves the grid within
 *  3 sigma of the centre, or there are no statistics of the bunch. */
int aw_summary_forces(const aw_simulation *simulation, char *text, size_t size);

/** Sizes, emittance and energy change of the bunch at the end of a run. */
void aw_summary_print(const aw_simulation *simulation);

AW_END_DECLS
#endif
