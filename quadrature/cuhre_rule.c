/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quadrature/cuhre_rule.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Squares of the coordinates of the points, in half widths. */
#define INNER2 (9.0 / 70.0)
#define OUTER2 (9.0 / 10.0)
#define CORNER2 (9.0 / 19.0)
#define RIM (1.0 - 0x1p-17) /* a coordinate */

/* Orbits: the centre; (inner, 0 ..), (outer, 0 ..), (rim, 0 ..) on the axes;
 * (outer, outer, 0 ..); and the corners of two cubes. */
enum { CENTRE, INNER, OUTER, FACE, PAIR, CORNER, VERTEX };

/* Gram and Schmidt on n rows of n numbers, with weights m; twice, for the last digits. */
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

/* A null rule of degree d is orthogonal, point by point, to all monomials up to d. Symmetry leaves
 * 1, x^2, x^4, x^2 y^2 up to degree 5: so orthonormalise these and three more, and read the null
 * rules off from the end. Scaled to the size of the rule itself: on noise, both err alike. */
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
        row[3][k] = k == PAIR ? OUTER2 * OUTER2 / pairs : (k > PAIR ? one[k] * one[k] : 0.0);
        row[4][k] = row[2][k] * one[k];
        norm += m[k] * rule->degree7[k] * rule->degree7[k];
    }
    row[5][CORNER] = row[6][VERTEX] = 1.0;
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
    /* Genz and Malik's, of degree 7 and 5 */
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
        rule->points += (uint64_t)m[k];
        rule->degree7[k] = seven[k];
        rule->difference[k] = seven[k] - five[k];
    }
    make_nulls(rule, m);
    /* degree 5 on x^6, less the mean of x^6 */
    make_axis(rule,
              2.0 * five[INNER] * INNER2 * INNER2 * INNER2 +
                  (2.0 * five[OUTER] + 4.0 * (d - 1.0) * five[PAIR]) * OUTER2 * OUTER2 * OUTER2 -
                  1.0 / 7.0);
}

/* Values of one application. */
typedef struct sample {
    aw_cuhre_fn f;
    void *context;
    int n;
    double x[AW_CUHRE_DIMENSIONS];
    double largest;
    double sum[AW_CUHRE_ORBITS];
    double axis[3];                     /* sizes of the null rules along the axes, summed up */
    double fourth[AW_CUHRE_DIMENSIONS]; /* divided difference of each axis */
} sample;

static double value_at(sample *s)
{
    double value = s->f(s->context, s->n, s->x);
    s->largest = fmax(s->largest, fabs(value));
    return value;
}

/* Fourth divided difference from the centre and two pairs of points, |x| = a and b. */
static double fourth_difference(double centre, double a2, double at_a, double b2, double at_b)
{
    double near = (at_a - 2.0 * centre) / a2, far = (at_b - 2.0 * centre) / b2;
    return fabs((far - near) / (b2 - a2));
}

static void sample_axes(const aw_cuhre_rule *rule, const aw_cuhre_region *q, sample *s)
{
    const double at[3] = {sqrt(INNER2), sqrt(OUTER2), RIM};
    const double centre = s->sum[CENTRE] = value_at(s);
    for (int i = 0; i < s->n; ++i) {
        double v[4] = {centre, 0.0, 0.0, 0.0};
        for (int k = 0; k < 3; ++k) {
            s->x[i] = q->c[i] - at[k] * q->h[i];
            v[k + 1] = value_at(s);
            s->x[i] = q->c[i] + at[k] * q->h[i];
            v[k + 1] += value_at(s);
            s->sum[INNER + k] += v[k + 1];
        }
        s->x[i] = q->c[i];
        for (int j = 0; j < 3; ++j)
            s->axis[j] += fabs(rule->axis[j][0] * v[0] + rule->axis[j][1] * v[1] +
                               rule->axis[j][2] * v[2] + rule->axis[j][3] * v[3]);
        s->fourth[i] = fmax(fourth_difference(centre, INNER2, v[1], OUTER2, v[2]),
                            fourth_difference(centre, INNER2, v[1], RIM * RIM, v[3]));
    }
}

static void sample_pairs(const aw_cuhre_region *q, sample *s)
{
    const double at = sqrt(OUTER2);
    for (int i = 0; i < s->n; ++i)
        for (int j = i + 1; j < s->n; ++j) {
            for (int k = 0; k < 4; ++k) {
                s->x[i] = q->c[i] + (k & 1 ? at : -at) * q->h[i];
                s->x[j] = q->c[j] + (k & 2 ? at : -at) * q->h[j];
                s->sum[PAIR] += value_at(s);
            }
            s->x[i] = q->c[i];
            s->x[j] = q->c[j];
        }
}

static void sample_corners(const aw_cuhre_region *q, sample *s, double at, int orbit)
{
    for (unsigned k = 0; k < 1u << s->n; ++k) {
        for (int i = 0; i < s->n; ++i) s->x[i] = q->c[i] + (k >> i & 1u ? at : -at) * q->h[i];
        s->sum[orbit] += value_at(s);
    }
}

static double weigh(const double *weight, const double *sum)
{
    double total = 0.0;
    for (int k = 0; k < AW_CUHRE_ORBITS; ++k) total += weight[k] * sum[k];
    return total;
}

/* a/b; of what is nothing but rounding, 0. */
static double ratio(double a, double b, double rounding)
{
    if (!(a > rounding)) return 0.0;
    return b > 0.0 ? a / b : HUGE_VAL;
}

/* Of the mean over the box. */
static double error_of(const aw_cuhre_rule *rule, const sample *s)
{
    double e[AW_CUHRE_NULLS];
    for (int j = 0; j < AW_CUHRE_NULLS; ++j) e[j] = weigh(rule->null[j], s->sum);
    double e1 = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    double e2 = sqrt(e[3] * e[3] + e[4] * e[4]), e3 = fabs(e[5]);
    e1 = fmax(e1, fabs(weigh(rule->difference, s->sum)));
    e1 = fmax(e1, rule->sixth * s->axis[2]);
    const double rounding = 16.0 * DBL_EPSILON * s->largest;
    double r = fmax(ratio(e1, e2, rounding), ratio(e2, e3, rounding));
    r = fmax(r, 0.5 * ratio(s->axis[2], s->axis[1], rounding));
    r = fmax(r, 0.5 * ratio(s->axis[1], s->axis[0], rounding));
    double error = r < 0.5 ? 3.0 * r * e1 : fmax(1.5 * e1, fmax(e2, e3));
    return fmax(error, rounding);
}

static int axis_of(const aw_cuhre_region *q, const sample *s)
{
    int best = 0;
    double noise = 1e-14 * s->largest; /* of a difference: larger by chance is not larger */
    for (int i = 1; i < s->n; ++i) {
        double more = s->fourth[i] - s->fourth[best], equal = noise + 1e-10 * s->fourth[best];
        if (more > equal || (more >= -equal && q->h[i] > q->h[best])) best = i;
    }
    return best;
}

aw_status aw_cuhre_rule_apply(const aw_cuhre_rule *rule, aw_cuhre_fn f, void *context,
                              aw_cuhre_region *q)
{
    sample s = {.f = f, .context = context, .n = rule->n};
    double volume = 1.0;
    for (int i = 0; i < s.n; ++i) {
        s.x[i] = q->c[i];
        volume *= 2.0 * q->h[i];
    }
    sample_axes(rule, q, &s);
    sample_pairs(q, &s);
    sample_corners(q, &s, sqrt(CORNER2), CORNER);
    sample_corners(q, &s, RIM, VERTEX);
    q->value = volume * weigh(rule->degree7, s.sum);
    q->error = volume * error_of(rule, &s);
    q->axis = axis_of(q, &s);
    /* A NaN or an infinity anywhere is one in the value: it enters all sums, if with weight 0. */
    if (isfinite(q->value) && isfinite(q->error)) return AW_OK;
    q->error = HUGE_VAL;
    return AW_ERR_NONFINITE;
}
