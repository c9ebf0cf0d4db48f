/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a device is asked for a form factor: sums over particles of weight exp(i k.r). */
#ifndef AW_KERNELS_DEVICE_FORM_FACTOR_H
#define AW_KERNELS_DEVICE_FORM_FACTOR_H
#include <stddef.h>

#include "kernels/math/form_factor.h"

/** Waves k = outer + inner and k = outer - inner, for every pair of them: the wave of a pair is the
 *  product of two, so that a particle costs outers + inners cosines and sines, and each pair four
 *  products, which two waves share. Nothing is approximated. All pointers are borrowed. */
typedef struct aw_form_call {
    const double *at[3]; /* [particles] each: positions [m] */
    const double *weight;
    size_t particles;
    const aw_wave *outer;  /* [outers] */
    const aw_wave *inner;  /* [inners] */
    size_t outers, inners; /* inners = 0: the waves are the outer ones */
    int single;            /* 1: terms in single precision, 0: in double; sums are in double */
    double *sum; /* added to: [outers][inners][4], real and imaginary part for outer + inner, and
                  * for outer - inner; without inner waves [outers][2] */
} aw_form_call;

/** Numbers in `sum`. */
AW_FN size_t aw_form_numbers(const aw_form_call *call)
{
    return call->inners > 0 ? 4 * call->outers * call->inners : 2 * call->outers;
}

/** Add to `sum` of a pair of waves what the products of their cosines (c) and sines (s), outer
 *  first, have added up to. */
AW_FN void aw_form_pair_add(double cc, double cs, double sc, double ss, double sum[4])
{
    sum[0] += cc - ss;
    sum[1] += cs + sc;
    sum[2] += cc + ss;
    sum[3] += sc - cs;
}

#endif
