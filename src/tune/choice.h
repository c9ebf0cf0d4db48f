/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of several timed candidates is the fastest, and whether by more than the noise. */
#ifndef AW_TUNE_CHOICE_H
#define AW_TUNE_CHOICE_H
#include "src/base/status.h"

AW_BEGIN_DECLS

enum { AW_CANDIDATES_MAX = 8, AW_ROUNDS_MAX = 24 };

/** A smaller relative gain never replaces the present value, whatever the noise. */
#define AW_TUNE_GAIN_MIN 0.01

/** Times [s] of candidates that were run in turn, round after round. Candidate 0 has the present
 *  value. */
typedef struct aw_timings {
    int n, rounds;
    double seconds[AW_ROUNDS_MAX][AW_CANDIDATES_MAX];
} aw_timings;

typedef struct aw_choice {
    double best[AW_CANDIDATES_MAX]; /* shortest time of each [s] */
    double noise;                   /* relative; see aw_tune_choose */
    int chosen;                     /* 0: the present value is kept */
} aw_choice;

/** Choose the candidate with the shortest time if that is shorter than the time of candidate 0 by
 *  more than the noise and by more than AW_TUNE_GAIN_MIN, else candidate 0.
 *
 *  Disturbances only lengthen a time, so the time of a candidate is the shortest of its rounds. The
 *  noise is the error that may remain: the largest relative difference, over all candidates,
 *  between the shortest time of the even rounds and that of the odd ones. With fewer than two
 *  rounds, or a NaN, candidate 0 is chosen. */
void aw_tune_choose(const aw_timings *timings, aw_choice *choice);

AW_END_DECLS
#endif
