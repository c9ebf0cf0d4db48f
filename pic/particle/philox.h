/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counter-based random numbers: item i of a stream depends on (seed, i) alone. */
#ifndef AW_PIC_PARTICLE_PHILOX_H
#define AW_PIC_PARTICLE_PHILOX_H
#include <math.h>
#include <stdint.h>

#include "src/base/port.h"

/** Four random words. */
typedef struct aw_philox {
    uint32_t v[4];
} aw_philox;

/** Philox4x32-10 of a counter and a key.
 *  Source: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11 (2011),
 *  doi:10.1145/2063384.2063405; constants and known answers of its Random123 library. */
AW_FN aw_philox aw_philox4x32(aw_philox counter, uint32_t key0, uint32_t key1)
{
    aw_philox c = counter;
    for (int round = 0; round < 10; ++round) {
        uint64_t a = UINT64_C(0xD2511F53) * c.v[0], b = UINT64_C(0xCD9E8D57) * c.v[2];
        aw_philox next;
        next.v[0] = (uint32_t)(b >> 32) ^ c.v[1] ^ key0;
        next.v[1] = (uint32_t)b;
        next.v[2] = (uint32_t)(a >> 32) ^ c.v[3] ^ key1;
        next.v[3] = (uint32_t)a;
        c = next;
        key0 += UINT32_C(0x9E3779B9);
        key1 += UINT32_C(0xBB67AE85);
    }
    return c;
}

/** A number in (0, 1), never 0 or 1, in steps of 2^-52, from two words. */
AW_FN double aw_philox_unit(uint32_t high, uint32_t low)
{
    uint64_t bits = ((uint64_t)high << 32) | low;
    return ((double)(bits >> 12) + 0.5) * (1.0 / 4503599627370496.0);
}

/** Four numbers in (0, 1): item `index` of `stream` (any number < 2^31) under `seed`. */
AW_FN void aw_philox_units(uint64_t seed, uint64_t index, uint32_t stream, double u[4])
{
    for (uint32_t half = 0; half < 2; ++half) {
        aw_philox c;
        c.v[0] = (uint32_t)index;
        c.v[1] = (uint32_t)(index >> 32);
        c.v[2] = 2 * stream + half;
        c.v[3] = 0;
        c = aw_philox4x32(c, (uint32_t)seed, (uint32_t)(seed >> 32));
        u[2 * half] = aw_philox_unit(c.v[0], c.v[1]);
        u[2 * half + 1] = aw_philox_unit(c.v[2], c.v[3]);
    }
}

/** A normally distributed number, by Box and Muller: that of item `index` at a step. No other use
 *  of the seed shares a word with it: aw_philox_units leaves the last counter at 0. */
AW_FN double aw_philox_normal(uint64_t seed, uint64_t index, uint32_t step)
{
    aw_philox c;
    c.v[0] = (uint32_t)index;
    c.v[1] = (uint32_t)(index >> 32);
    c.v[2] = step;
    c.v[3] = 1;
    c = aw_philox4x32(c, (uint32_t)seed, (uint32_t)(seed >> 32));
    return sqrt(-2.0 * log(aw_philox_unit(c.v[0], c.v[1]))) *
           cos(6.28318530717958647692 * aw_philox_unit(c.v[2], c.v[3]));
}

#endif
