/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sub-command of the program: a row of the table in src/app/commands.c. */
#ifndef AW_BASE_COMMAND_H
#define AW_BASE_COMMAND_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** A sub-command. All texts are static. */
typedef struct aw_command {
    const char *name;
    const char *usage;   /* for the list of `arcwake help`, e.g. "run INPUT.yaml" */
    const char *summary; /* one line for that list */
    const char *help;    /* text of `arcwake help NAME` and `arcwake NAME --help` */
    aw_status (*run)(int argc, char **argv); /* argv[0] is the command's name */
    int on_all_ranks;    /* 1: the ranks divide its work; 0: only rank 0 runs it */
    int stdout_in_files; /* 1: stdout repeats its files, and may break; 0: stdout is the result */
} aw_command;

/** Parse the value of an option as a whole number from min to max.
 *  @param[in] option  its name, for the message
 *  @return AW_OK, AW_ERR_ARG (message; `out` is unchanged). */
aw_status aw_option_number(const char *option, const char *text, long min, long max, long *out);

/** Parse a length of time above 0: a number of seconds, or one with s, min or h ("90", "1.5h").
 *  @param[out] seconds  [s]
 *  @return as aw_option_number */
aw_status aw_option_duration(const char *option, const char *text, double *seconds);

/** Parse the value of --threads: 1 to 4096, limited as by aw_threads_limit.
 *  @return as aw_option_number */
aw_status aw_option_threads(const char *text, int *out);

AW_END_DECLS
#endif
