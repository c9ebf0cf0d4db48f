/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sub-command of the program: a row of the table in src/app/commands.c. */
#ifndef AW_BASE_COMMAND_H
#define AW_BASE_COMMAND_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** A sub-command. All texts are static. */
typedef struct aw_command {
    const char *name;
    const char *usage;   /* as in the list of `arcwake help`, e.g. "run INPUT.yaml" */
    const char *summary; /* one line for that list */
    const char *help;    /* its page: `arcwake help NAME`, and with --help */
    aw_status (*run)(int argc, char **argv); /* argv[0] is the command's name */
    int on_all_ranks;                        /* 1: ranks share its work; 0: rank 0 does it alone */
} aw_command;

/** A whole number from the text of an option, between least and most.
 *  @return AW_OK, AW_ERR_ARG (message). */
aw_status aw_option_number(const char *option, const char *text, long least, long most, long *out);

AW_END_DECLS
#endif
