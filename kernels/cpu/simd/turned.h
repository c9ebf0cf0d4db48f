/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes of an arc that are not equidistant in angle, a batch at a time. */
#ifndef AW_KERNELS_CPU_SIMD_TURNED_H
#define AW_KERNELS_CPU_SIMD_TURNED_H
#include "kernels/math/integrand.h"

enum { AW_BATCH = 16 };

/** Cosines and sines of the angles of a batch of nodes, and their weights over the step. */
typedef struct aw_turned {
    double c[AW_BATCH], s[AW_BATCH], by[AW_BATCH];
} aw_turned;

/** Vector form of aw_arc_turned: the AW_BATCH nodes from the place `first` on. */
static inline void aw_turn_batch(const aw_arc_even *even, double first, double step,
                                 aw_turned *turned)
{
    const double sign = even->sign, slope = even->slope;
    double *at = even->in == AW_EVEN_ALONG ? turned->c : turned->s;
    double *other = even->in == AW_EVEN_ALONG ? turned->s : turned->c;
    double *by = turned->by;
    for (int l = 0; l < AW_BATCH; ++l) {
        at[l] = first + l * step;
        by[l] = 1.0;
    }
    if (slope > 0.0) {
        for (int l = 0; l < AW_BATCH; ++l) {
            const double y = slope * at[l], root = sqrt(1.0 + y * y), g = sqrt(0.5 + 0.5 * root);
            at[l] /= g;
            by[l] = g / root;
        }
    }
    for (int l = 0; l < AW_BATCH; ++l) {
        const double q = 1.0 - at[l] * at[l], over = sqrt(q > 0.0 ? q : 0.0);
        other[l] = sign * over;
        by[l] /= over;
    }
}

#endif
