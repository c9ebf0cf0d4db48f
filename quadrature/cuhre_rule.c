/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quadrature/cuhre_rule.h"

#include <math.h>
#include <string.h>

#define INNER2 AW_CUHRE_INNER2
#define OUTER2 AW_CUHRE_OUTER2
#define CORNER2 AW_CUHRE_CORNER2
#define RIM AW_CUHRE_RIM

/* Gram-Schmidt orthonormalisation of n rows of n numbers with weights m, in two passes for full
 * accuracy. */
static void orthonormalise(int n, const double *m, double *row)
{
    for (int j = 0; j < n; ++j)
        for (int pass = 0; pass < 2; ++pass) {
            double norm = 0.0;
            for (int i = 0; i < j; ++i) {
                double dot = 0.0;
                for (int k = 0; k < n; ++k) dot += m[k] * row[i * n + k] * row[j * n + k];
                for (int k = 0; k < n; ++k) row[j * n + k] -= dot * row[i * n + k];
            }
            for (int k = 0; k < n; ++k) norm += m[k] * row[j * n + k] * row[j * n + k];
            for (int k = 0; k < n; ++k) row[j * n + k] /= sqrt(norm);
        }
}

/* A null rule of degree d is orthogonal, point by point, to all monomials up to degree d. Symmetry
 * leaves 1, x^2, x^4, x^2 y^2 up to degree 5, so orthonormalise these and three more; the null
 * rules are the rows in reverse order. They are scaled to the norm of the rule itself, so that on
 * noise both have the same error. */
static void make_nulls(aw_cuhre_rule *rule, const double *m)
{
    const double n = rule->n, pairs = 0.5 * n * (n - 1.0), rim2 = RIM * RIM;
    const double squares[AW_CUHRE_ORBITS] = {
        0.0, INNER2 / n, OUTER2 / n, rim2 / n, 2.0 * OUTER2 / n, CORNER2, rim2};
    const double one[AW_CUHRE_ORBITS] = {0.0, INNER2, OUTER2, rim2, OUTER2, CORNER2, rim2};
    double row[AW_CUHRE_ORBITS][AW_CUHRE_ORBITS], norm = 0.0;
    memset(row, 0, sizeof row);
    for (int k = 0; k < AW_CUHRE_ORBITS; ++k) {
        row[0][k] = 1.0;
        row[1][k] = squares[k];
        row[2][k] = squares[k] * one[k];
        row[3][k] = k == AW_CUHRE_PAIR ? OUTER2 * OUTER2 / pairs
                                       : (k > AW_CUHRE_PAIR ? one[k] * one[k] : 0.0);
        row[4][k] = row[2][k] * one[k];
        norm += m[k] * rule->degree7[k] * rule->degree7[k];
    }
    row[5][AW_CUHRE_CORNER] = row[6][AW_CUHRE_VERTEX] = 1.0;
    orthonormalise(AW_CUHRE_ORBITS, m, &row[0][0]);
    for (int j = 0; j < AW_CUHRE_NULLS; ++j)
        for (int k = 0; k < AW_CUHRE_ORBITS; ++k)
            rule->null[j][k] = sqrt(norm) * row[AW_CUHRE_NULLS - j][k];
}

/* The same on the seven points of one axis, for even parts of a function. */
static void make_axis(aw_cuhre_rule *rule, double sixth_moment)
{
    const double m[4] = {1.0, 2.0, 2.0, 2.0}, t[4] = {0.0, INNER2, OUTER2, RIM * RIM};
    double row[4][4], last = 0.0;
    for (int k = 0; k < 4; ++k) {
        row[0][k] = 1.0;
        for (int j = 1; j < 4; ++j) row[j][k] = row[j - 1][k] * t[k];
    }
    orthonormalise(4, m, &row[0][0]);
    memcpy(rule->axis, row[1], sizeof rule->axis);
    for (int k = 0; k < 4; ++k) last += row[3][k] * m[k] * t[k] * t[k] * t[k];
    rule->sixth = fabs(sixth_moment / last);
}

void aw_cuhre_rule_make(aw_cuhre_rule *rule, int n)
{
    const double d = n, corners = exp2(d);
    const double m[AW_CUHRE_ORBITS] = {1.0,     2.0 * d, 2.0 * d, 2.0 * d, 2.0 * d * (d - 1.0),
                                       corners, corners};
    /* weights of Genz and Malik, degree 7 and degree 5 */
    const double seven[AW_CUHRE_ORBITS] = {(12824.0 - 9120.0 * d + 400.0 * d * d) / 19683.0,
                                           980.0 / 6561.0,
                                           (1820.0 - 400.0 * d) / 19683.0,
                                           0.0,
                                           200.0 / 19683.0,
                                           6859.0 / 19683.0 / corners,
                                           0.0};
    const double five[AW_CUHRE_ORBITS] = {(729.0 - 950.0 * d + 50.0 * d * d) / 729.0,
                                          245.0 / 486.0,
                                          (265.0 - 100.0 * d) / 1458.0,
                                          0.0,
                                          25.0 / 729.0,
                                          0.0,
                                          0.0};
    rule->n = n;
    rule->points = 0;
    for (int k = 0; k < AW_CUHRE_ORBITS; ++k) {
        rule->points += (int)m[k];
        rule->degree7[k] = seven[k];
        rule->difference[k] = seven[k] - five[k];
    }
    make_nulls(rule, m);
    /* the rule of degree 5 on x^6, minus the mean of x^6 */
    make_axis(rule, 2.0 * five[AW_CUHRE_INNER] * INNER2 * INNER2 * INNER2 +
                        (2.0 * five[AW_CUHRE_OUTER] + 4.0 * (d - 1.0) * five[AW_CUHRE_PAIR]) *
                            OUTER2 * OUTER2 * OUTER2 -
                        1.0 / 7.0);
}

aw_status aw_cuhre_rule_apply(const aw_cuhre_rule *rule, aw_cuhre_fn f, void *context,
                              aw_cuhre_region *q)
{
    aw_cuhre_share share[AW_CUHRE_SHARES];
    double value[AW_CUHRE_POINTS], x[AW_CUHRE_DIMENSIONS];
    for (int i = 0; i < rule->points; ++i) {
        aw_cuhre_point(q, rule->n, i, x);
        value[i] = f(context, rule->n, x);
    }
    for (int i = 0; i < aw_cuhre_shares(rule->n); ++i) aw_cuhre_share_of(rule, value, i, &share[i]);
    aw_cuhre_judge(rule, value[0], share, q);
    return q->error < HUGE_VAL ? AW_OK : AW_ERR_NONFINITE;
}
