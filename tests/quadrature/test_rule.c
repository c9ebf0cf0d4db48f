/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simpson's rule on a region: exactness, orders of convergence, nodes known from the parent. */
#include <string.h>

#include "quadrature/rules/refine.h"
#include "tests/assert_close.h"

static const aw_scales one = {1.0, 1.0, 1.0};

/* All seven results as powers of r: r^0 .. r^6. */
static void powers(void *context, uint32_t point, double r, double f[AW_RESULTS])
{
    (void)context;
    (void)point;
    for (unsigned k = 0; k < AW_RESULTS; ++k) f[k] = pow(r, k);
}

static void exponential(void *context, uint32_t point, double r, double f[AW_RESULTS])
{
    (void)context;
    (void)point;
    for (unsigned k = 0; k < AW_RESULTS; ++k) f[k] = exp(r);
}

static aw_region region_of(double a, double b)
{
    aw_region q;
    memset(&q, 0, sizeof q);
    q.a = a;
    q.b = b;
    return q;
}

static void estimate_is_exact_to_degree_five(void **state)
{
    aw_region q = region_of(0.3, 1.7);
    (void)state;
    aw_region_complete(&q, powers, NULL, &one);
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        double exact = (pow(1.7, k + 1.0) - pow(0.3, k + 1.0)) / (k + 1.0);
        if (k <= 5)
            assert_close(q.I[k], exact, 1e-15 * 4, 0.0); /* rounding of five terms */
        else
            assert_true(fabs(q.I[k] - exact) > 1e-6 * exact); /* and no further: Boole's rule */
    }
}

static void error_of_a_quadratic_is_zero(void **state)
{
    aw_region q = region_of(0.0, 1.0);
    aw_scales low = {1.0, INFINITY, INFINITY}; /* only r^0 .. r^2 count */
    (void)state;
    aw_region_complete(&q, powers, NULL, &low);
    assert_close(q.error, 0.0, 0.0, 1e-16);
}

/* |S2 - S1|/15 of result k from the nodes of a region. */
static double richardson(const aw_region *q, unsigned k)
{
    double h = q->b - q->a, ends = q->f[0][k] + q->f[4][k];
    double s1 = h / 6.0 * (ends + 4.0 * q->f[2][k]);
    double s2 = h / 12.0 * (ends + 4.0 * (q->f[1][k] + q->f[3][k]) + 2.0 * q->f[2][k]);
    return fabs(s2 - s1) / 15.0;
}

static void error_is_never_below_that_of_richardson(void **state)
{
    uint32_t random = 12345u;
    (void)state;
    for (int i = 0; i < 2000; ++i) {
        aw_region q = region_of(0.5, 2.5);
        double worst = 0.0;
        for (int n = 0; n < 5; ++n)
            for (unsigned k = 0; k < AW_RESULTS; ++k) {
                random = random * 1664525u + 1013904223u;
                q.f[n][k] = (double)random * 0x1p-32 - 0.5;
            }
        aw_region_rule(&q, &one);
        for (unsigned k = 0; k < AW_RESULTS; ++k) worst = fmax(worst, richardson(&q, k));
        assert_true(q.error >= worst * (1.0 - 1e-12));
    }
}

/* S1 = S2 by accident, although the values are not smooth. */
static void a_fourth_difference_that_vanishes_by_accident_does_not_hide_the_error(void **state)
{
    const double value[5] = {0.0, 1.0, 0.0, -1.0, 0.0};
    aw_region q = region_of(0.0, 1.0);
    (void)state;
    for (int n = 0; n < 5; ++n)
        for (unsigned k = 0; k < AW_RESULTS; ++k) q.f[n][k] = value[n];
    aw_region_rule(&q, &one);
    assert_close(richardson(&q, 0), 0.0, 0.0, 0.0);
    assert_true(q.error > 1e-3); /* of values of 1 */
}

static void each_result_counts_by_its_own_scale(void **state)
{
    const aw_scales scales = {2.0, 1e-3, 50.0};
    aw_region q = region_of(0.0, 2.0);
    (void)state;
    for (unsigned lone = 0; lone < AW_RESULTS; ++lone) {
        double scale = lone == AW_PSI ? 1e-3 : lone <= AW_AX ? 2.0 : 50.0, plain;
        for (int n = 0; n < 5; ++n)
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                q.f[n][k] = k == lone ? exp(aw_region_node(&q, n)) : 1.0;
        aw_region_rule(&q, &one);
        plain = q.error;
        aw_region_rule(&q, &scales);
        assert_close(q.error, plain / scale, 1e-12, 0.0);
    }
}

/* Composite rule on n regions of [0, 2]: error of the estimate, and the sum of error estimates. */
static void composite(int n, double *true_error, double *estimate)
{
    double sum = 0.0;
    *estimate = 0.0;
    for (int i = 0; i < n; ++i) {
        aw_region q = region_of(2.0 * i / n, 2.0 * (i + 1) / n);
        aw_region_complete(&q, exponential, NULL, &one);
        sum += q.I[0];
        *estimate += q.error;
    }
    *true_error = fabs(sum - expm1(2.0));
}

/* The error estimate is that of Simpson's rule (order 4: a factor 16 per halving) or larger, the
 * value is extrapolated (order 6: 64), so for smooth functions the estimate is safe. */
static void error_estimate_falls_with_order_four_and_the_value_with_six(void **state)
{
    double error[4], estimate[4];
    (void)state;
    for (int i = 0; i < 4; ++i) {
        composite(2 << i, &error[i], &estimate[i]);
        assert_true(error[i] < 0.1 * estimate[i]);
    }
    for (int i = 0; i < 3; ++i) { /* the next term of the expansion is h^2/20 */
        assert_close(log2(estimate[i] / estimate[i + 1]), 4.0, 0.0, 0.05);
        assert_close(log2(error[i] / error[i + 1]), 6.0, 0.0, 0.05);
    }
}

static void halves_know_the_nodes_of_their_parent(void **state)
{
    aw_region q = region_of(1.0, 3.0), half;
    (void)state;
    q.point = 77;
    aw_region_complete(&q, powers, NULL, &one);
    for (int side = 0; side < 2; ++side) {
        aw_region_half(&q, side, &half);
        assert_close(half.a, side ? 2.0 : 1.0, 0.0, 0.0);
        assert_close(half.b, side ? 3.0 : 2.0, 0.0, 0.0);
        assert_int_equal(half.point, 77);
        assert_int_equal(half.known, 1u | 4u | 16u);
        for (int n = 0; n < 5; n += 2)
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                assert_close(half.f[n][k], pow(aw_region_node(&half, n), k), 1e-15, 0.0);
    }
}

static void a_nan_or_an_infinity_never_looks_converged(void **state)
{
    (void)state;
    for (int n = 0; n < 5; ++n)
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            for (int kind = 0; kind < 2; ++kind) {
                aw_region q = region_of(0.0, 1.0);
                aw_region_complete(&q, powers, NULL, &one);
                q.f[n][k] = kind ? INFINITY : NAN;
                aw_region_rule(&q, &one);
                assert_false(q.error <= 1e300);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimate_is_exact_to_degree_five),
        cmocka_unit_test(error_of_a_quadratic_is_zero),
        cmocka_unit_test(error_is_never_below_that_of_richardson),
        cmocka_unit_test(a_fourth_difference_that_vanishes_by_accident_does_not_hide_the_error),
        cmocka_unit_test(each_result_counts_by_its_own_scale),
        cmocka_unit_test(error_estimate_falls_with_order_four_and_the_value_with_six),
        cmocka_unit_test(halves_know_the_nodes_of_their_parent),
        cmocka_unit_test(a_nan_or_an_infinity_never_looks_converged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
