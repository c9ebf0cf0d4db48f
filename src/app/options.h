/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Command-line options of `run`, `inspect`, `certify` and `spectrum`, and the input they make. */
#ifndef AW_APP_OPTIONS_H
#define AW_APP_OPTIONS_H
#include "src/input/config.h"

AW_BEGIN_DECLS

enum { AW_SET_MAX = 64 };

/** The options. Strings are borrowed from argv, or point into `text`. */
typedef struct aw_options {
    const char *input;
    const char *set[AW_SET_MAX]; /* "key=value", of --set and of options that stand for a key */
    size_t n_set;
    char text[8 * AW_PATH_MAX_LEN]; /* storage of the latter: n_text bytes are in use */
    size_t n_text;
    int threads, force, quiet, no_timing;
    long steps, solve_every;
    long jobs;         /* of `certify`: 0: not given */
    double max_time;   /* of `run` and `certify` [s]; 0: not given */
    const char *minus; /* of `certify`; NULL: not given */
    /* Of `run`: */
    double stop_after;        /* [s]; 0: not given */
    int restart;              /* 1: go on from a checkpoint, */
    const char *restart_file; /* from this one; NULL: from the newest of the output directory */
    /* Of `spectrum`, as given; NULL: not given */
    const char *frequencies, *theta, *psi, *aperture, *band;
} aw_options;

/** Read the options.
 *  @return AW_OK, AW_ERR_ARG (one line: the mistake and its remedy). */
aw_status aw_options_read(int argc, char **argv, aw_options *options);

/** Read the input file, apply the options to it, and choose what `accuracy` stands
 *  for.
 *  @return as aw_config_read and aw_choose; AW_ERR_ARG: --solve-every with self-consistent motion
 *  (message). */
aw_status aw_options_config(const aw_options *options, aw_config **out);

AW_END_DECLS
#endif
