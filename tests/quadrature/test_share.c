/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Division of a point's tolerance: it is never exceeded, NaN is refused, the order is refused. */
#include <string.h>

#include "quadrature/share.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { MANY = 200 };

/* Regions in ascending order with errors over six decades and distinct I[k]. */
static void draw(uint64_t *random, aw_region *region, size_t n)
{
    memset(region, 0, n * sizeof *region);
    for (size_t i = 0; i < n; ++i) {
        region[i].a = (double)i;
        region[i].b = (double)i + 1.0;
        region[i].known = 31;
        region[i].error = pow(10.0, uniform(random, -6.0, 0.0));
        for (unsigned k = 0; k < AW_RESULTS; ++k) region[i].I[k] = (double)(i + 1) * (k + 1.0);
    }
}

static void accepted_errors_never_exceed_the_tolerance(void **state)
{
    aw_region region[MANY];
    uint32_t order[MANY];
    uint64_t random = 1;
    (void)state;
    for (int trial = 0; trial < 300; ++trial) {
        double tolerance = pow(10.0, uniform(&random, -5.0, 2.0));
        aw_estimate e;
        memset(&e, 0, sizeof e);
        for (int generation = 0; generation < 20;
             ++generation) { /* as in the generations of a solver */
            size_t n = 1 + (size_t)uniform(&random, 0.0, MANY - 1.0);
            draw(&random, region, n);
            size_t refused = aw_share_accept(region, n, order, tolerance, &e);
            assert_true(refused <= n);
            assert_true(e.error <= tolerance * (1.0 + 1e-12)); /* rounding of the sums */
        }
    }
}

static void accepted_and_refused_regions_sum_to_all(void **state)
{
    aw_region region[MANY];
    uint32_t order[MANY];
    uint64_t random = 2;
    int some = 0;
    (void)state;
    for (int trial = 0; trial < 300; ++trial) {
        double tolerance = pow(10.0, uniform(&random, -4.0, 1.0)), error = 0.0;
        aw_estimate e;
        memset(&e, 0, sizeof e);
        draw(&random, region, MANY);
        for (int i = 0; i < MANY; ++i) error += region[i].error;
        size_t refused = aw_share_accept(region, MANY, order, tolerance, &e);
        double sum = e.I[0], left = e.error;
        for (size_t i = 0; i < refused; ++i) {
            sum += region[i].I[0];
            left += region[i].error;
            if (i > 0) assert_true(region[i].a > region[i - 1].a); /* in order */
            assert_int_equal(region[i].known, 31);                 /* no mark is left */
        }
        assert_close(sum, MANY * (MANY + 1) / 2.0, 0.0, 0.0); /* whole numbers: exact */
        assert_close(e.I[4], 5.0 * e.I[0], 0.0, 0.0);
        assert_close(left, error, 1e-12, 0.0);
        assert_int_equal(e.regions + refused, MANY);
        some += refused > 0 && refused < MANY;
    }
    assert_true(some > 100);
}

static void the_smallest_errors_are_accepted_first_up_to_half_the_tolerance(void **state)
{
    aw_region region[MANY], before[MANY];
    uint32_t order[MANY];
    uint64_t random = 3;
    (void)state;
    for (int trial = 0; trial < 100; ++trial) {
        double tolerance = pow(10.0, uniform(&random, -4.0, 0.0)), smallest_refused = HUGE_VAL;
        aw_estimate e;
        memset(&e, 0, sizeof e);
        draw(&random, region, MANY);
        memcpy(before, region, sizeof region);
        size_t refused = aw_share_accept(region, MANY, order, tolerance, &e);
        assert_true(refused > 0);
        for (size_t i = 0; i < refused; ++i)
            smallest_refused = fmin(smallest_refused, region[i].error);
        double accepted = 0.0;
        for (int i = 0; i < MANY; ++i)
            if (before[i].error < smallest_refused) accepted += before[i].error;
        assert_close(e.error, accepted, 1e-12, 1e-300);
        assert_true(accepted <= 0.5 * tolerance * (1.0 + 1e-12));
        assert_true(accepted + smallest_refused >
                    0.5 * tolerance * (1.0 - 1e-12)); /* one more would be too much */
    }
}

static void all_regions_are_accepted_if_their_sum_is_within_the_tolerance(void **state)
{
    aw_region region[3];
    uint32_t order[3];
    uint64_t random = 4;
    aw_estimate e;
    (void)state;
    memset(&e, 0, sizeof e);
    draw(&random, region, 3);
    region[0].error = 0.25;
    region[1].error = 0.5;
    region[2].error = 0.25;
    assert_int_equal(aw_share_accept(region, 3, order, 1.0, &e), 0);
    assert_close(e.error, 1.0, 0.0, 0.0);
    assert_close(e.I[0], 6.0, 0.0, 0.0);
}

static void an_error_that_is_not_finite_is_never_accepted(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (int place = 0; place < 9; ++place)
        for (int kind = 0; kind < 2; ++kind) {
            aw_region region[9];
            uint32_t order[9];
            aw_estimate e;
            int found = 0;
            memset(&e, 0, sizeof e);
            draw(&random, region, 9);
            region[place].error = kind ? INFINITY : NAN;
            size_t refused = aw_share_accept(region, 9, order, 1e9, &e);
            for (size_t i = 0; i < refused; ++i) found += !isfinite(region[i].error);
            assert_int_equal(found, 1);
            assert_true(isfinite(e.error));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_errors_never_exceed_the_tolerance),
        cmocka_unit_test(accepted_and_refused_regions_sum_to_all),
        cmocka_unit_test(the_smallest_errors_are_accepted_first_up_to_half_the_tolerance),
        cmocka_unit_test(all_regions_are_accepted_if_their_sum_is_within_the_tolerance),
        cmocka_unit_test(an_error_that_is_not_finite_is_never_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
