/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a run is: a bar on a terminal, a line every tenth elsewhere, nothing when quiet. */
#ifndef AW_OUTPUT_PROGRESS_H
#define AW_OUTPUT_PROGRESS_H
#include <stddef.h>
#include <stdio.h>

#include "src/output/monitor.h"

AW_BEGIN_DECLS

/** What is known after `done` of `total` steps. */
typedef struct aw_progress_state {
    long done, total;
    double elapsed;           /* wall-clock time since the start [s] */
    double seconds[AW_PARTS]; /* summed over the steps; NaN counts as 0 */
} aw_progress_state;

/** Plain struct, to be kept by the caller; its contents are private to progress.c. */
typedef struct aw_progress {
    FILE *stream; /* borrowed; NULL: quiet */
    int terminal;
    int drawn;          /* a bar stands on the current line of the terminal */
    double start, last; /* aw_now at the start and when something was last printed */
    long tenth;         /* lines: last tenth that was printed */
    aw_progress_state state;
} aw_progress;

/** One line, without a line end, of at most `width` characters (and at most size - 1), such as
 *  "[=====>    ]  50 % 100/200  12.5 steps/s  ETA 0:08  potentials 91 %, push 5 %". The bar and the
 *  shares are left out where the width does not hold them. */
void aw_progress_format(const aw_progress_state *state, int width, char *text, size_t size);

/** Begin. @param[in] stream  usually stderr, borrowed   @param[in] quiet  1: print nothing, ever */
void aw_progress_begin(aw_progress *progress, FILE *stream, long total, int quiet);

/** One more step is done, and its parts took `seconds` (NULL: not known). A terminal is redrawn at
 *  most 10 times a second. */
void aw_progress_step(aw_progress *progress, const double seconds[AW_PARTS]);

/** Take the bar off the terminal, before a message is printed; the next step draws it again. */
void aw_progress_clear(aw_progress *progress);

/** Leave the last state standing, with a line end. */
void aw_progress_end(aw_progress *progress);

AW_END_DECLS
#endif
