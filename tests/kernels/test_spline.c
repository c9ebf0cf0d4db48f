/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quadratic B-spline against its closed forms. */
#include "kernels/math/integrand.h"
#include "tests/assert_close.h"

enum { SAMPLES = 1001 };

static double sample(int i) { return -0.5 + (double)i / (SAMPLES - 1); }

static void weights_have_unit_sum_exact_centre_and_variance_one_quarter(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; ++i) {
        double f = sample(i), w[AW_SPLINE_NODES], sum = 0.0, first = 0.0, second = 0.0;
        aw_spline(f, w);
        for (int k = 0; k < AW_SPLINE_NODES; ++k) {
            assert_true(w[k] >= 0.0);
            sum += w[k];
            first += w[k] * (k - 1);
            second += w[k] * (k - 1 - f) * (k - 1 - f);
        }
        /* a handful of roundings of numbers up to 1 */
        assert_close(sum, 1.0, 0.0, 4e-16);
        assert_close(first, f, 0.0, 4e-16);
        assert_close(second, 0.25, 0.0, 4e-16);
    }
}

static void slopes_are_the_derivatives_of_the_weights(void **state)
{
    const double d = 0.0625; /* central differences of a quadratic are exact */
    (void)state;
    for (int i = 0; i < SAMPLES; ++i) {
        double f = sample(i), sum = 0.0, first = 0.0;
        double ahead[AW_SPLINE_NODES], behind[AW_SPLINE_NODES], slope[AW_SPLINE_NODES];
        aw_spline(f + d, ahead);
        aw_spline(f - d, behind);
        aw_spline_slope(f, slope);
        for (int k = 0; k < AW_SPLINE_NODES; ++k) {
            assert_close(slope[k], (ahead[k] - behind[k]) / (2.0 * d), 0.0, 1e-14);
            sum += slope[k];
            first += slope[k] * (k - 1);
        }
        assert_close(sum, 0.0, 0.0, 4e-16);   /* a constant has no slope */
        assert_close(first, 1.0, 0.0, 4e-16); /* a line has slope 1 */
    }
}

static void value_and_slope_are_continuous_from_cell_to_cell(void **state)
{
    double left[4] = {0.0}, right[4] = {0.0}; /* at nodes -1 .. 2; the boundary is at 1/2 */
    (void)state;
    aw_spline(0.5, left);
    aw_spline(-0.5, right + 1);
    for (int k = 0; k < 4; ++k) assert_close(left[k], right[k], 0.0, 0.0);
    aw_spline_slope(0.5, left);
    aw_spline_slope(-0.5, right + 1);
    for (int k = 0; k < 4; ++k) assert_close(left[k], right[k], 0.0, 0.0);
}

static void nearest_node_is_within_half_a_cell_and_clamped_to_the_padding(void **state)
{
    const int n = 7;
    (void)state;
    for (int i = 0; i <= 4000; ++i) {
        double a = -20.0 + 0.01 * i;
        int k = aw_nearest(a, n);
        assert_true(k >= -(AW_PAD - 1) && k <= n + AW_PAD - 2);
        if (a > -(AW_PAD - 1) - 0.5 && a < n + AW_PAD - 1.5) assert_close(a, k, 0.0, 0.5);
    }
    assert_int_equal(aw_nearest(-1e300, n), -(AW_PAD - 1));
    assert_int_equal(aw_nearest(1e300, n), n + AW_PAD - 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_have_unit_sum_exact_centre_and_variance_one_quarter),
        cmocka_unit_test(slopes_are_the_derivatives_of_the_weights),
        cmocka_unit_test(value_and_slope_are_continuous_from_cell_to_cell),
        cmocka_unit_test(nearest_node_is_within_half_a_cell_and_clamped_to_the_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
