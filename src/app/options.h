/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several sub-commands accept on the command line, and the input it leads to. */
#ifndef AW_APP_OPTIONS_H
#define AW_APP_OPTIONS_H
#include "src/input/config.h"

AW_BEGIN_DECLS

enum { AW_SET_MAX = 64 };

/** Options of `run` and `inspect`. Texts are borrowed from argv or from `text`. */
typedef struct aw_options {
    const char *input;
    const char *set[AW_SET_MAX]; /* "key=value", from --set and from options that are keys */
    size_t n_set;
    char text[AW_SET_MAX][AW_PATH_MAX_LEN / 8]; /* room for the latter */
    size_t n_text;
    int threads, force, quiet;
    long steps, solve_every;
} aw_options;

/** Read the options.
 *  @return AW_OK, AW_ERR_ARG (one line: what and how to mend it). */
aw_status aw_options_read(int argc, char **argv, aw_options *options);

/** The resolved input of these options. @return as aw_config_read, or AW_ERR_ARG. */
aw_status aw_options_config(const aw_options *options, aw_config **out);

AW_END_DECLS
#endif
