/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/commands.h"

#include <string.h>

extern const aw_command aw_run_command, aw_inspect_command, aw_validate_command, aw_bench_command,
    aw_tune_command, aw_devices_command, aw_report_command, aw_help_command;

static const aw_command *const commands[] = {
    &aw_run_command,  &aw_inspect_command, &aw_validate_command, &aw_bench_command,
    &aw_tune_command, &aw_devices_command, &aw_report_command,   &aw_help_command};

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
