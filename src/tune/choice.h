/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of some timed candidates is faster, and whether that is more than chance. */
#ifndef AW_TUNE_CHOICE_H
#define AW_TUNE_CHOICE_H
#include "src/base/status.h"

AW_BEGIN_DECLS

enum { AW_CANDIDATES_MAX = 8, AW_ROUNDS_MAX = 24 };

/** Least gain for which the standing candidate is left, whatever the noise. */
#define AW_TUNE_LEAST 0.01

/** Times of candidates that were run in turn, round after round. Candidate 0 is what stands. */
typedef struct aw_timings {
    int n, rounds;
    double seconds[AW_ROUNDS_MAX][AW_CANDIDATES_MAX];
} aw_timings;

typedef struct aw_choice {
    double best[AW_CANDIDATES_MAX]; /* shortest time of each [s] */
    double noise;                   /* relative; see aw_tune_choose */
    int chosen;                     /* 0: what stands is kept */
} aw_choice;

/** Choose the candidate with the shortest time, if that is shorter than that of candidate 0 by more
 *  than the noise and by more than AW_TUNE_LEAST.
 *
 *  Disturbances only ever lengthen a time, so that the shortest of some rounds is what a candidate
 *  takes; the noise is how much that can still be off: the largest difference, over the candidates,
 *  between the shortest time of the even and that of the odd rounds. Fewer than two rounds, or a
 *  NaN: candidate 0. */
void aw_tune_choose(const aw_timings *timings, aw_choice *choice);

AW_END_DECLS
#endif
