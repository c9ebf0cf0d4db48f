/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake validate`: the program against closed forms and known results. */
#ifndef AW_APP_VALIDATE_H
#define AW_APP_VALIDATE_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** validate [CASE]... [--list] [--full] [--json FILE] [--threads N] [-o DIR]
 *  Runs the named cases (none: every one that is not marked full; --full: all), prints each check
 *  as it is made, and with -o writes tables and pictures into DIR.
 *  @return AW_OK; AW_ERR_ARG (usage, an unknown case: one line); AW_ERR_CHECK (a check failed, or a
 *          case could not be run to its end); AW_ERR_IO, AW_ERR_NOMEM. */
aw_status aw_validate_command(int argc, char **argv);

AW_END_DECLS
#endif
