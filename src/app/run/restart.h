/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run --restart`: the checkpoint from which a run goes on. */
#ifndef AW_APP_RUN_RESTART_H
#define AW_APP_RUN_RESTART_H
#include "src/app/options.h"
#include "src/io/checkpoint_file.h"

AW_BEGIN_DECLS

/** Open the checkpoint that the options name, on all ranks the same one, if it is of this input.
 *  All ranks must call this; aw_checkpoint_close ends it.
 *  @param[in] text  the resolved input of this run (src/input/resolved.h)
 *  @return as aw_checkpoint_open, the same on all ranks; AW_ERR_INPUT: another input (message) */
aw_status aw_restart_open(const aw_options *options, const aw_config *config, const char *text,
                          aw_checkpoint *out);

AW_END_DECLS
#endif
