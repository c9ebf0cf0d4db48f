/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake validate`: the program against closed forms and known results. */
#ifndef AW_VALIDATE_VALIDATE_H
#define AW_VALIDATE_VALIDATE_H
#include "src/base/command.h"

AW_BEGIN_DECLS

/** validate [CASE]... [--list] [--full] [--json FILE] [--threads N] [-o DIR]
 *  Runs the named cases (none: every one that is not marked full; --full: all), prints each check
 *  as it is made, and with -o writes tables and pictures into DIR.
 *  Its status: AW_OK; AW_ERR_ARG (usage, an unknown case: one line); AW_ERR_CHECK (a check failed, or a
 *          case could not be run to its end); AW_ERR_IO, AW_ERR_NOMEM. */
extern const aw_command aw_validate_command;

AW_END_DECLS
#endif
