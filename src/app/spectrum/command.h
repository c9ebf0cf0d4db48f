/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake spectrum`, also at the end of a run. */
#ifndef AW_APP_SPECTRUM_COMMAND_H
#define AW_APP_SPECTRUM_COMMAND_H
#include "src/plan/plan.h"

AW_BEGIN_DECLS

/** Refuse, in one line, an input whose far field is not known: upstream steady, no bends.
 *  @return AW_OK, AW_ERR_ARG */
aw_status aw_spectrum_check(const aw_config *config, const aw_plan *plan);

/** What `arcwake spectrum DIRECTORY` does, for a run that has just ended; with this rank alone.
 *  @return as that command */
aw_status aw_spectrum_of_run(const char *directory, int threads, int quiet);

AW_END_DECLS
#endif
