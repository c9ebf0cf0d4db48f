/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/tune/choice.h"

#include <math.h>

/* Shortest time of a candidate in rounds first, first + 2, ... [s]; infinite if there are none. */
static double shortest(const aw_timings *t, int candidate, int first)
{
    double best = HUGE_VAL;
    for (int round = first; round < t->rounds; round += 2)
        best = fmin(best, t->seconds[round][candidate]);
    return best;
}

static int all_finite(const aw_timings *t)
{
    for (int round = 0; round < t->rounds; ++round)
        for (int i = 0; i < t->n; ++i)
            if (!isfinite(t->seconds[round][i])) return 0;
    return 1;
}

void aw_tune_choose(const aw_timings *t, aw_choice *choice)
{
    int fastest = 0;
    choice->noise = 0.0;
    choice->chosen = 0;
    for (int i = 0; i < t->n; ++i) {
        const double even = shortest(t, i, 0), odd = shortest(t, i, 1);
        choice->best[i] = fmin(even, odd);
        choice->noise = fmax(choice->noise, fmax(even, odd) / choice->best[i] - 1.0);
        if (choice->best[i] < choice->best[fastest]) fastest = i;
    }
    if (!all_finite(t)) choice->noise = HUGE_VAL;
    const double gain = 1.0 - choice->best[fastest] / choice->best[0];
    if (gain > choice->noise && gain > AW_TUNE_GAIN_MIN) choice->chosen = fastest;
}
