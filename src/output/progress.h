/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress of a run: a bar on a terminal, a line per tenth of it elsewhere, nothing if quiet. */
#ifndef AW_OUTPUT_PROGRESS_H
#define AW_OUTPUT_PROGRESS_H
#include <stddef.h>
#include <stdio.h>

#include "src/output/monitor.h"

AW_BEGIN_DECLS

/** The state after `done` of `total` steps. */
typedef struct aw_progress_state {
    long done, total;
    double elapsed;           /* wall-clock time since the start [s] */
    double seconds[AW_PARTS]; /* of each part, over all steps; NaN counts as 0 */
} aw_progress_state;

/** A progress display, stored by the caller; its members are private to progress.c. */
typedef struct aw_progress {
    FILE *stream; /* borrowed; NULL: quiet */
    int terminal;
    int drawn;          /* 1: the terminal's current line shows a bar */
    double start, last; /* aw_now at the start and at the last output [s] */
    long tenth;         /* the last tenth that was printed as a line */
    aw_progress_state state;
} aw_progress;

/** Format one line, without a line end, of at most `width` characters (and at most size - 1):
 *  "[=====>    ]  50 % 100/200  12.5 steps/s  ETA 0:08  potentials 91 %, push 5 %". The bar and the
 *  shares are omitted where they do not fit. */
void aw_progress_format(const aw_progress_state *state, int width, char *text, size_t size);

/** Begin. @param[in] stream  usually stderr, borrowed   @param[in] quiet  1: never print */
void aw_progress_begin(aw_progress *progress, FILE *stream, long total, int quiet);

/** Expect `total` steps from now on. */
void aw_progress_expect(aw_progress *progress, long total);

/** Count one more step, whose parts took `seconds` (NULL: unknown). The bar is redrawn at most 10
 *  times a second. */
void aw_progress_step(aw_progress *progress, const double seconds[AW_PARTS]);

/** Erase the bar, before a message is printed; a later step redraws it. */
void aw_progress_clear(aw_progress *progress);

/** Draw the final state and end its line. */
void aw_progress_end(aw_progress *progress);

AW_END_DECLS
#endif
