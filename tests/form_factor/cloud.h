/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cloud of particles, and its form factor in long double. */
#ifndef AW_TESTS_CLOUD_H
#define AW_TESTS_CLOUD_H
#include <math.h>
#include <string.h>

#include "kernels/device/device.h"
#include "src/form_factor/form_factor.h"

enum { CLOUD = 3000 };

typedef struct cloud {
    double at[3][CLOUD], charge[CLOUD];
    aw_form_arrays arrays;
} cloud;

/* Numbers of 0 .. 1: a linear congruential generator (Knuth's MMIX). */
static inline double cloud_chance(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

/* Positions within half a metre, charges of 0.5 to 1.5. */
static inline void cloud_fill(cloud *c)
{
    uint64_t seed = 7;
    for (int j = 0; j < CLOUD; ++j) {
        for (int i = 0; i < 3; ++i) c->at[i][j] = cloud_chance(&seed) - 0.5;
        c->charge[j] = 0.5 + cloud_chance(&seed);
    }
    c->arrays = (aw_form_arrays){{c->at[0], c->at[1], c->at[2]}, c->charge};
}

/* F(k) of the first n particles. */
static inline void cloud_exact(const cloud *c, size_t n, const long double k[3], double F[2])
{
    long double re = 0.0L, im = 0.0L, all = 0.0L;
    for (size_t j = 0; j < n; ++j) {
        const long double phase = k[0] * c->at[0][j] + k[1] * c->at[1][j] + k[2] * c->at[2][j];
        re += c->charge[j] * cosl(phase);
        im += c->charge[j] * sinl(phase);
        all += c->charge[j];
    }
    F[0] = (double)(re / all);
    F[1] = (double)(im / all);
}

/* Wave number i of a lattice, without the rounding of doubles. */
static inline void cloud_wave(const aw_waves *w, size_t i, long double k[3])
{
    const size_t at[3] = {i / w->n[2] / w->n[1], i / w->n[2] % w->n[1], i % w->n[2]};
    for (int c = 0; c < 3; ++c) {
        k[c] = w->origin[c];
        for (int a = 0; a < 3; ++a) k[c] += (long double)at[a] * (long double)w->step[a][c];
    }
}

#endif
