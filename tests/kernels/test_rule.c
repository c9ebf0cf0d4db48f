/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simpson's rule on a region: exactness, orders of convergence, sharing of nodes. */
#include <string.h>

#include "kernels/refine.h"
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

static void error_of_a_cubic_is_nothing_and_of_a_quartic_what_simpson_says(void **state)
{
    aw_region q = region_of(0.0, 1.0);
    aw_scales only_cubic = {1.0, 1.0, INFINITY}; /* r^4 .. r^6 are rates here: not counted */
    (void)state;
    aw_region_complete(&q, powers, NULL, &only_cubic);
    assert_close(q.error, 0.0, 0.0, 1e-16);
    /* of r^4 on [0, 1]: S1 = 5/24, S2 = 77/384, so |S2 - S1|/15 = 1/1920; of r^6, the worst:
     * S1 = (4/64 + 1)/6 = 17/96, S2 = (4/4096 + 2/64 + 4 729/4096 + 1)/12 */
    aw_region_complete(&q, powers, NULL, &one);
    double s1 = 17.0 / 96.0, s2 = (4.0 / 4096 + 2.0 / 64 + 4.0 * 729 / 4096 + 1.0) / 12.0;
    assert_close(q.error, fabs(s2 - s1) / 15.0, 1e-13, 0.0);
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

/* The error estimate is that of Simpson's rule (order 4: 16 per halving); the value is its
 * extrapolation (order 6: 64), so for smooth functions the estimate is safe. */
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

/* S2, put together from the nodes, is what the error estimate is the error of. */
static void error_estimate_is_the_error_of_simpson_on_two_panels(void **state)
{
    aw_region q = region_of(0.0, 0.5);
    double s2;
    (void)state;
    aw_region_complete(&q, exponential, NULL, &one);
    s2 = 0.5 / 12.0 *
         (q.f[0][0] + 4.0 * q.f[1][0] + 2.0 * q.f[2][0] + 4.0 * q.f[3][0] + q.f[4][0]);
    /* the model neglects the next order, h^2/20 of it */
    assert_close(q.error, fabs(s2 - expm1(0.5)), 0.02, 0.0);
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
        cmocka_unit_test(error_of_a_cubic_is_nothing_and_of_a_quartic_what_simpson_says),
        cmocka_unit_test(each_result_counts_by_its_own_scale),
        cmocka_unit_test(error_estimate_falls_with_order_four_and_the_value_with_six),
        cmocka_unit_test(error_estimate_is_the_error_of_simpson_on_two_panels),
        cmocka_unit_test(halves_know_the_nodes_of_their_parent),
        cmocka_unit_test(a_nan_or_an_infinity_never_looks_converged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
