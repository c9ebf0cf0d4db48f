/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A region [a, b] of the outer integral at one point: five nodes, Simpson's rule and its error. */
#ifndef AW_QUADRATURE_RULES_SIMPSON_H
#define AW_QUADRATURE_RULES_SIMPSON_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "quadrature/rules/results.h"
#include "src/base/port.h"

/** Scales to which errors are relative: of phi (and A), of psi, and of the rates. */
typedef struct aw_scales {
    double phi, psi, rate;
} aw_scales;

/** A region of the outer integral at one point. */
typedef struct aw_region {
    double a, b;             /* [m], a < b */
    uint32_t point;          /* index of the field point */
    uint32_t known;          /* bit k: f[k] is known */
    double f[5][AW_RESULTS]; /* f_in at a + k (b-a)/4 */
    double I[AW_RESULTS];    /* the rule's estimate of the integral */
    double error;            /* of the estimate, in scales: the largest over the results */
} aw_region;

/** Counters of work done. */
typedef struct aw_work {
    uint64_t evaluations; /* of the integrand (27 cells each) ... */
    uint64_t rated;       /* ... and those of them with the rates of the moments */
    uint64_t nodes;       /* of the outer integral */
    uint64_t regions;     /* to which the rule was applied */
} aw_work;

/** Add the work between the counters `before` and `now` to `sum`. */
AW_FN void aw_work_add(aw_work *sum, const aw_work *now, const aw_work *before)
{
    sum->evaluations += now->evaluations - before->evaluations;
    sum->rated += now->rated - before->rated;
    sum->nodes += now->nodes - before->nodes;
    sum->regions += now->regions - before->regions;
}

/** Count the region [a, b] in the cells between the edges [cells + 1]: each cell gets `times` the
 *  fraction of the region that lies in it.
 *  @param[in,out] count  [cells], added to */
AW_FN void aw_pattern_add(const double *edge, size_t cells, double a, double b, float times,
                          float *count)
{
    size_t lo = 0, hi = cells;
    while (hi - lo > 1) { /* find the cell that contains a */
        const size_t middle = lo + (hi - lo) / 2;
        if (edge[middle] <= a)
            lo = middle;
        else
            hi = middle;
    }
    for (; lo < cells && edge[lo] < b; ++lo) {
        const double from = edge[lo] > a ? edge[lo] : a, to = edge[lo + 1] < b ? edge[lo + 1] : b;
        if (to > from) count[lo] += times * (float)((to - from) / (b - a));
    }
}

/** Position of node k = 0 .. 4 of a region [m]. */
AW_FN double aw_region_node(const aw_region *q, int k) { return q->a + 0.25 * k * (q->b - q->a); }

/* Size of the fourth difference of five values, guarded, for the error of Simpson's rule.
 * |S2 - S1| is the fourth difference times h/12. Among millions of regions it is now and then small
 * by accident (at a change of sign) where the true error is not; the second and third differences,
 * whose decay predicts the fourth, are not small there. */
AW_FN double aw_fourth_difference(double f0, double f1, double f2, double f3, double f4)
{
    double d2 = fabs(f0 - 2.0 * f2 + f4);
    double d3 = fabs(f4 - 2.0 * (f3 - f1) - f0);
    double d4 = fabs(f0 - 4.0 * (f1 + f3) + 6.0 * f2 + f4);
    double expected = d3 > 0.0 ? d3 * (d3 / (d2 + d3)) : d3;
    return d4 >= expected ? d4 : expected + (d4 - d4); /* a NaN in d4 stays one */
}

/** Scale of result k. */
AW_FN double aw_scale_of(const aw_scales *scales, unsigned k)
{
    return k == AW_PSI ? scales->psi : (k <= AW_AX ? scales->phi : scales->rate);
}

/** Apply Simpson's rule with one panel and with two; the estimate is their Richardson
 *  extrapolation.
 *  Error model: the largest over the results of |S2 - S1|/7 over the scale, guarded against
 *  accidents (aw_fourth_difference). A NaN in a node gives a NaN.
 *  Source: J. N. Lyness, J. ACM 16 (1969) 483; dissertation eq. 15 and 16. Differs: Lyness's 1/15
 *  holds for smooth integrands, but a quadratic B-spline has jumps in its second derivative, where
 *  halving the step gains only a factor 8 and the extrapolation nothing (measured: with 1/15,
 *  points exceeded their tolerance up to ninefold; docs/theory.md). */
AW_FN void aw_region_rule(aw_region *q, const aw_scales *scales)
{
    double h = q->b - q->a, worst = 0.0;
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        double ends = q->f[0][k] + q->f[4][k], odd = q->f[1][k] + q->f[3][k];
        double s1 = h / 6.0 * (ends + 4.0 * q->f[2][k]);
        double s2 = h / 12.0 * (ends + 4.0 * odd + 2.0 * q->f[2][k]);
        double d4 =
            aw_fourth_difference(q->f[0][k], q->f[1][k], q->f[2][k], q->f[3][k], q->f[4][k]);
        double error = h / 84.0 * d4 / aw_scale_of(scales, k);
        q->I[k] = s2 + (s2 - s1) / 15.0;
        if (!(error <= worst) && !isnan(worst)) worst = error;
    }
    q->error = worst;
}

/** Copy the last node of a region to the next region, if that begins where this one ends. */
AW_FN void aw_region_follow(const aw_region *left, aw_region *right)
{
    if (right->a != left->b || (right->known & 1u)) return;
    for (unsigned k = 0; k < AW_RESULTS; ++k) right->f[0][k] = left->f[4][k];
    right->known |= 1u;
}

/** Half of a region (side 0: [a, middle], 1: [middle, b]), with the nodes known from the parent. */
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
