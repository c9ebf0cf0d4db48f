/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums whose terms may be added by any rank. */
#include <math.h>
#include <stdlib.h>

#include "kernels/multi/exchange.h"
#include "tests/assert_close.h"

enum { ROWS = 50, TERMS = 64 };

/* Numbers of both signs over twelve decades, the same on every machine. */
static double term(size_t row, size_t i)
{
    const unsigned h = (unsigned)(row * 2654435761u + i * 40503u + 12345u) * 2246822519u;
    return ldexp((double)(h >> 8) - 8388608.0, -24) * pow(10.0, -(double)(h % 13u));
}

/* The sums, with the terms in steps of `stride`, which has no factor in common with TERMS. */
static void sums(size_t stride, double scale, double out[ROWS])
{
    aw_exchange exchange = {.sum = NULL};
    aw_exchange_begin(&exchange, 1);
    for (size_t row = 0; row < ROWS; ++row)
        for (size_t i = 0; i < TERMS; ++i) aw_exchange_note(&exchange, 0, scale * term(row, i));
    assert_int_equal(aw_exchange_open(&exchange, ROWS, TERMS), AW_OK);
    for (size_t row = 0; row < ROWS; ++row)
        for (size_t i = 0; i < TERMS; ++i)
            aw_exchange_add(&exchange, row, 0, scale * term(row, i * stride % TERMS));
    aw_exchange_sum(&exchange);
    for (size_t row = 0; row < ROWS; ++row) out[row] = aw_exchange_get(&exchange, row, 0);
    aw_exchange_free(&exchange);
}

static void sums_do_not_depend_on_the_order(void **state)
{
    double one[ROWS], other[ROWS];
    (void)state;
    sums(1, 1.0, one);
    for (size_t stride = 3; stride < 20; stride += 2) {
        sums(stride, 1.0, other);
        for (size_t row = 0; row < ROWS; ++row) assert_true(one[row] == other[row]);
    }
}

/* TERMS roundings of half a unit, 2^-55 of a power of two that is above the largest term and at
 * most twice it; and that of the result. Also where squares of the numbers would over- or
 * underflow. */
static void sums_are_as_good_as_doubles(void **state)
{
    static const double scale[] = {1.0, 1e-290, 1e290, 1e-6};
    double got[ROWS];
    (void)state;
    for (size_t k = 0; k < sizeof scale / sizeof scale[0]; ++k) {
        double most = 0.0;
        sums(1, scale[k], got);
        for (size_t row = 0; row < ROWS; ++row)
            for (size_t i = 0; i < TERMS; ++i) most = fmax(most, fabs(scale[k] * term(row, i)));
        for (size_t row = 0; row < ROWS; ++row) {
            long double want = 0.0L;
            for (size_t i = 0; i < TERMS; ++i) want += scale[k] * term(row, i);
            const double bound = TERMS * ldexp(most, -55) + ldexp(fabs(got[row]), -53);
            assert_true(fabs((double)(got[row] - want)) <= bound);
        }
    }
}

static void the_largest_sum_fits(void **state)
{
    aw_exchange exchange = {.sum = NULL};
    (void)state;
    aw_exchange_begin(&exchange, 2);
    aw_exchange_note(&exchange, 0, -0.999);
    aw_exchange_note(&exchange, 1, 0.0);
    assert_int_equal(aw_exchange_open(&exchange, 1, TERMS), AW_OK);
    for (size_t i = 0; i < TERMS; ++i) aw_exchange_add(&exchange, 0, 0, -0.999);
    aw_exchange_add(&exchange, 0, 1, 0.0);
    assert_close(aw_exchange_get(&exchange, 0, 0), -0.999 * TERMS, 1e-14, 0.0);
    assert_true(aw_exchange_get(&exchange, 0, 1) == 0.0);
    aw_exchange_free(&exchange);
}

static void a_number_that_is_none_spreads(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    for (size_t k = 0; k < 3; ++k) {
        aw_exchange exchange = {.sum = NULL};
        aw_exchange_begin(&exchange, 2);
        aw_exchange_note(&exchange, 0, bad[k]);
        aw_exchange_note(&exchange, 0, 1.0);
        aw_exchange_note(&exchange, 1, 1.0);
        assert_int_equal(aw_exchange_open(&exchange, 1, 2), AW_OK);
        aw_exchange_add(&exchange, 0, 0, bad[k]);
        aw_exchange_add(&exchange, 0, 0, 1.0);
        aw_exchange_add(&exchange, 0, 1, 1.0);
        assert_true(isnan(aw_exchange_get(&exchange, 0, 0)));
        assert_true(aw_exchange_get(&exchange, 0, 1) == 1.0);
        aw_exchange_free(&exchange);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_do_not_depend_on_the_order),
        cmocka_unit_test(sums_are_as_good_as_doubles),
        cmocka_unit_test(the_largest_sum_fits),
        cmocka_unit_test(a_number_that_is_none_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
