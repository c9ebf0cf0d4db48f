/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/tune_choice.h"

#include <math.h>

/* Shortest time of a candidate in every second round, from `first` on; a NaN stays. */
static double shortest(const aw_timings *t, int candidate, int first)
{
    double best = HUGE_VAL;
    for (int round = first; round < t->rounds; round += 2) {
        const double seconds = t->seconds[round][candidate];
        if (!(seconds >= best)) best = seconds;
    }
    return best;
}

void aw_tune_choose(const aw_timings *t, aw_choice *choice)
{
    int fastest = 0;
    choice->noise = 0.0;
    choice->chosen = 0;
    for (int i = 0; i < t->n; ++i) {
        const double even = shortest(t, i, 0), odd = shortest(t, i, 1);
        const double least = even <= odd ? even : odd, most = even <= odd ? odd : even;
        const double noise = most / least - 1.0;
        choice->best[i] = least;
        if (!(noise <= choice->noise)) choice->noise = noise;
        if (least < choice->best[fastest]) fastest = i;
    }
    const double gain = 1.0 - choice->best[fastest] / choice->best[0];
    if (gain > choice->noise && gain > AW_TUNE_LEAST) choice->chosen = fastest;
}
