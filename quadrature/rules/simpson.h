/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A subregion [a, b] of the outer integral at one point: five nodes, Simpson's rule, its error. */
#ifndef AW_QUADRATURE_RULES_SIMPSON_H
#define AW_QUADRATURE_RULES_SIMPSON_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "quadrature/rules/results.h"
#include "src/base/port.h"

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
    uint64_t evaluations; /* of the integrand (27 points each) ... */
    uint64_t rated;       /* ... of which so many with the rates of the moments */
    uint64_t nodes;       /* of the outer integral */
    uint64_t regions;     /* to which the rule was applied */
} aw_work;

/** Add to `sum` what was done from `before` to `now`. */
AW_FN void aw_work_add(aw_work *sum, const aw_work *now, const aw_work *before)
{
    sum->evaluations += now->evaluations - before->evaluations;
    sum->rated += now->rated - before->rated;
    sum->nodes += now->nodes - before->nodes;
    sum->regions += now->regions - before->regions;
}

/** Count a region `times` in the cells between `edge`s: a cell that it fills a part of gets that
 *  part of the count.
 *  @param[in,out] count  [cells] */
AW_FN void aw_pattern_add(const double *edge, size_t cells, double a, double b, float times,
                          float *count)
{
    size_t lo = 0, hi = cells;
    while (hi - lo > 1) { /* the cell that holds a */
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

/** Outer node k of a region. */
AW_FN double aw_region_node(const aw_region *q, int k) { return q->a + 0.25 * k * (q->b - q->a); }

/* Size of the fourth difference that five values suggest, for the error of Simpson's rule.
 * |S2 - S1| is the fourth difference itself, times h/12. Over millions of regions it is small by
 * accident (a change of sign) now and then where the true error is not; the second and third
 * difference, whose decay predicts the fourth, are then not small. */
AW_FN double aw_fourth_difference(double f0, double f1, double f2, double f3, double f4)
{
    double d2 = fabs(f0 - 2.0 * f2 + f4);
    double d3 = fabs(f4 - 2.0 * (f3 - f1) - f0);
    double d4 = fabs(f0 - 4.0 * (f1 + f3) + 6.0 * f2 + f4);
    double expected = d3 > 0.0 ? d3 * (d3 / (d2 + d3)) : d3;
    return d4 >= expected ? d4 : expected + (d4 - d4); /* a NaN in d4 stays one */
}

/** Scale to which the error of result k is relative. */
AW_FN double aw_scale_of(const aw_scales *scales, unsigned k)
{
    return k == AW_PSI ? scales->psi : (k <= AW_AX ? scales->phi : scales->rate);
}

/** Simpson's rule on one and on two panels; the estimate is their Richardson extrapolation.
 *  Error model: |S2 - S1|/7 of each result over its scale, guarded against accidents
 *  (aw_fourth_difference); the worst counts. NaN in, NaN out.
 *  Source: J. N. Lyness, J. ACM 16 (1969) 483; dissertation eq. 15 and 16. Differs: Lyness's 1/15
 *  holds for smooth integrands, but a quadratic B-spline has kinks in its second derivative, where
 *  halving the step gains a factor 8 only and the extrapolation nothing (measured: with 1/15 points
 *  missed their tolerance up to nine times; docs/theory.md). */
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

/** Hand the last node of a region to the one after it, if that begins where this one ends. */
AW_FN void aw_region_follow(const aw_region *left, aw_region *right)
{
    if (right->a != left->b || (right->known & 1u)) return;
    for (unsigned k = 0; k < AW_RESULTS; ++k) right->f[0][k] = left->f[4][k];
    right->known |= 1u;
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
