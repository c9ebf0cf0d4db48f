/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A subregion [a, b] of the outer integral at one point: five nodes, Simpson's rule and its error. */
#ifndef AW_KERNELS_REGION_H
#define AW_KERNELS_REGION_H
#include <stdint.h>

#include "kernels/view.h"

/* Scales to which errors are relative: of phi (and A), of psi, and of the rates. */
typedef struct aw_scales {
    double phi, psi, rate;
} aw_scales;

typedef struct aw_region {
    double a, b; /* [m], a < b */
    uint32_t point;
    uint32_t known;          /* bit k: f[k] is filled */
    double f[5][AW_RESULTS]; /* f_in at a + k (b-a)/4 */
    double I[AW_RESULTS];    /* the rule's estimate */
    double error;            /* its error in units of the scales: the worst of all results */
} aw_region;

/* What work has been done. */
typedef struct aw_work {
    uint64_t evaluations; /* of the integrand (27 points each) */
    uint64_t nodes;       /* of the outer integral */
    uint64_t regions;     /* to which the rule was applied */
} aw_work;

/** Outer node k of a region. */
AW_FN double aw_region_node(const aw_region *q, int k) { return q->a + 0.25 * k * (q->b - q->a); }

/** Simpson's rule on one and on two panels; the estimate is their Richardson extrapolation.
 *  Error model: |S2 - S1|/15, the error of S2 (J. N. Lyness, J. ACM 16 (1969) 483; dissertation
 *  eq. 15 and 16), of each result over its scale; the worst counts. NaN in, NaN out. */
AW_FN void aw_region_rule(aw_region *q, const aw_scales *scales)
{
    double h = q->b - q->a, worst = 0.0;
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        double s1 = h / 6.0 * (q->f[0][k] + 4.0 * q->f[2][k] + q->f[4][k]);
        double s2 =
            h / 12.0 *
            (q->f[0][k] + 4.0 * q->f[1][k] + 2.0 * q->f[2][k] + 4.0 * q->f[3][k] + q->f[4][k]);
        double scale = k == AW_PSI ? scales->psi : (k <= AW_AX ? scales->phi : scales->rate);
        double error = fabs(s2 - s1) / 15.0 / scale;
        q->I[k] = s2 + (s2 - s1) / 15.0;
        if (!(error <= worst)) worst = error;
        if (isnan(error)) {
            q->error = error;
            return;
        }
    }
    q->error = worst;
}

/** Half of a region (side 0: [a, middle], 1: [middle, b]) with the nodes that the parent knows. */
AW_FN void aw_region_half(const aw_region *parent, int side, aw_region *child)
{
    double middle = 0.5 * (parent->a + parent->b);
    child->a = side ? middle : parent->a;
    child->b = side ? parent->b : middle;
    child->point = parent->point;
    child->known = 1u | 4u | 16u;
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        child->f[0][k] = parent->f[2 * side][k];
        child->f[2][k] = parent->f[2 * side + 1][k];
        child->f[4][k] = parent->f[2 * side + 2][k];
    }
}

#endif
