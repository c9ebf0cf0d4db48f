/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of sub-commands. */
#ifndef AW_APP_COMMANDS_H
#define AW_APP_COMMANDS_H
#include "src/base/command.h"

AW_BEGIN_DECLS

/** The i-th sub-command, in the order of `arcwake help`; NULL past the last. */
const aw_command *aw_command_list(int i);

/** Sub-command by name; NULL if there is none. */
const aw_command *aw_command_find(const char *name);

AW_END_DECLS
#endif
