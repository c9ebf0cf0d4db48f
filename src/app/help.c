/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake help [COMMAND]`. */
#include <stdio.h>

#include "src/app/commands.h"
#include "src/base/log.h"

static aw_status run_command(int argc, char **argv)
{
    if (argc < 2) {
        puts("arcwake: what coherent synchrotron radiation does to an electron bunch, in two "
             "dimensions\n");
        for (int i = 0; aw_command_list(i); ++i)
            printf("  arcwake %-22s %s\n", aw_command_list(i)->usage, aw_command_list(i)->summary);
        puts("  arcwake --version");
        return AW_OK;
    }
    const aw_command *command = aw_command_find(argv[1]);
    if (!command) return aw_error(AW_ERR_ARG, "help: no command '%s' (see: arcwake help)", argv[1]);
    fputs(command->help, stdout);
    return AW_OK;
}

static const char help[] =

    "arcwake help [COMMAND]\n"
    "Lists the commands, or prints the help of one, as arcwake COMMAND --help does.\n";

const aw_command aw_help_command = {
    .name = "help",
    .usage = "help [COMMAND]",
    .summary = "this, or the options of a command",
    .help = help,
    .run = run_command,
};
