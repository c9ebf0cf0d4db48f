/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/run/restart.h"

#include <stdio.h>

#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/input/resolved.h"

/* Open the checkpoint on rank 0. */
static aw_status open_first(const aw_options *options, const aw_config *config, const char *text,
                            aw_checkpoint *out)
{
    char there[AW_DIFFERENCE_SIZE], here[AW_DIFFERENCE_SIZE];
    aw_status status = aw_checkpoint_open(config->directory, options->restart_file, out);
    if (status != AW_OK) return status;
    if (!aw_resolved_difference(out->text, text, there, here)) return AW_OK;
    return aw_error(AW_ERR_INPUT,
                    "%s: is of another input or program: '%s' there, '%s' here (expected those of "
                    "the run that wrote it; device, threads and output.directory may differ)",
                    out->path, there, here);
}

aw_status aw_restart_open(const aw_options *options, const aw_config *config, const char *text,
                          aw_checkpoint *out)
{
    char path[AW_PATH_MAX_LEN + 64] = "";
    const int first = aw_comm_rank() == 0;
    aw_status status = AW_OK;
    *out = (aw_checkpoint){.text = NULL};
    if (first) status = open_first(options, config, text, out);
    if (first && out->path) snprintf(path, sizeof path, "%s", out->path);
    status = aw_comm_agree(status);
    if (status != AW_OK) return status;
    aw_comm_broadcast(path, sizeof path);
    if (!first) status = aw_checkpoint_open(config->directory, path, out);
    return aw_comm_agree(status);
}
