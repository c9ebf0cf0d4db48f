/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The way of a bunch, step by step, for its spectrum and its energy balance: computed, or read from
 * the mesh files of a run. */
#ifndef AW_APP_SPECTRUM_FOLLOW_H
#define AW_APP_SPECTRUM_FOLLOW_H
#include "src/output/progress.h"
#include "src/simulation/simulation.h"
#include "src/spectrum/balance.h"
#include "src/spectrum/spectrum.h"

AW_BEGIN_DECLS

/** What is to be filled on the way; everything is borrowed. */
typedef struct aw_follow {
    const aw_config *config;
    aw_spectrum *spectrum;
    aw_balance *balance; /* all but `radiated`; its `open` may be set before */
    aw_progress *progress;
    double end; /* S that a whole run comes to, but for less than a step [m] */
} aw_follow;

/** Move the bunch to the end, with its forces where it feels them.
 *  @return as the stages of a step (src/simulation/simulation.h); AW_ERR_INTERRUPTED (message) */
aw_status aw_follow_simulation(const aw_follow *follow, aw_simulation *simulation);

/** Read the slices that a run has left in a directory.
 *  @return AW_OK, AW_ERR_NOMEM; AW_ERR_INPUT, AW_ERR_IO (one line: there are none, a file is
 *          damaged, or slices are lacking where the bunch radiates); AW_ERR_INTERRUPTED
 *          (message) */
aw_status aw_follow_files(const aw_follow *follow, const char *directory);

AW_END_DECLS
#endif
