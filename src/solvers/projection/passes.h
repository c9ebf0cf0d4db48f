/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The passes of a step of the strategy `projection`: what they integrate, and which are next where
 * the errors are too large. docs/projection.md, "The next pass". */
#ifndef AW_SOLVERS_PROJECTION_PASSES_H
#define AW_SOLVERS_PROJECTION_PASSES_H
#include "src/solvers/projection/step.h"

/** What a step does after its estimate was too large. */
typedef enum aw_common_next {
    AW_GIVE_UP,       /* nothing is left that is worth its cost */
    AW_ESTIMATE_ANEW, /* from the same sums: the sample has changed */
    AW_RUN_PASSES
} aw_common_next;

/** Evaluations of a point beyond which a zone is over cost: what the other strategy took when it
 *  was last used, or, before it was, a part of what a point of the sample takes. */
double aw_common_cost_limit(const aw_common_memory *p);

/** Integrate the zones that have a pass. The convolution of the near zone is started first, so that
 *  several devices do it while they integrate the far zone.
 *  @return as aw_zone_begin and aw_zone_integrate */
aw_status aw_common_integrate(const aw_common_step *s);

/** Do the chosen passes, extend the sample, and measure the zones' errors.
 *  @return as aw_common_integrate and aw_common_extend_sample */
aw_status aw_common_run_passes(aw_common_step *s);

/** Choose the next passes: which zone, and whether with shorter panels, more nodes in angle or the
 *  next finer rule.
 *  @param[in] estimate  the larger of the estimates of the potentials' and the rates' errors
 *  @return AW_OK, or as aw_zone_examine and aw_sample_resample */
aw_status aw_common_choose_passes(aw_common_step *s, double estimate, aw_common_next *out);

#endif
