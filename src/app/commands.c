/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/commands.h"

#include <string.h>

/* The sub-commands in the order of `arcwake help`. COMMAND(name) stands for aw_name_command, which
 * the file of the command defines. */
#define COMMANDS(COMMAND) \
    COMMAND(run)          \
    COMMAND(inspect)      \
    COMMAND(certify)      \
    COMMAND(spectrum)     \
    COMMAND(validate)     \
    COMMAND(bench)        \
    COMMAND(tune)         \
    COMMAND(devices)      \
    COMMAND(form_factor)  \
    COMMAND(report)       \
    COMMAND(convert)      \
    COMMAND(help)

#define DECLARE(name) extern const aw_command aw_##name##_command;
COMMANDS(DECLARE)

#define ADDRESS(name) &aw_##name##_command,
static const aw_command *const commands[] = {COMMANDS(ADDRESS) NULL};

const aw_command *aw_command_list(int i)
{
    return i < (int)(sizeof commands / sizeof commands[0]) ? commands[i] : NULL;
}

const aw_command *aw_command_find(const char *name)
{
    for (int i = 0; aw_command_list(i); ++i)
        if (strcmp(name, commands[i]->name) == 0) return commands[i];
    return NULL;
}
