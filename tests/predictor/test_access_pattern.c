/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access patterns: transferred to other cells, summed by slice, and chosen for a given error. */
#include <string.h>

#include "tests/assert_close.h"
#include "tests/predictor/patterns.h"
#include "tests/slice_fixture.h"

/* Numbers are floats, and so are sums of some tens of them: a few roundings of 6e-8. */
#define FLOATS 1e-6

static void carry_spreads_by_length(void **state)
{
    const double edge[] = {0.0, 1.0, 3.0}, other[] = {0.0, 0.5, 2.0, 4.0, 5.0};
    const float need[] = {2.0F, 4.0F}, want[] = {1.0F, 3.0F, 2.0F, 0.0F};
    float got[4];
    aw_patterns from = {.rows = 0}, to = {.rows = 0};
    (void)state;
    patterns_over(&from, edge, NULL, 2, 1);
    patterns_over(&to, other, NULL, 4, 1);
    aw_patterns_carry(&from, need, &to, got);
    for (int i = 0; i < 4; ++i) assert_close(got[i], want[i], 0.0, FLOATS);
    aw_patterns_free(&from);
    aw_patterns_free(&to);
}

static void carry_conserves_sums_over_equal_ranges(void **state)
{
    uint64_t random = 1;
    aw_patterns from = {.rows = 0}, to = {.rows = 0};
    (void)state;
    for (int trial = 0; trial < 200; ++trial) {
        const size_t m = (size_t)uniform(&random, 1.0, 40.0), n = (size_t)uniform(&random, 1, 40);
        double edge[CELLS_MAX + 1], other[CELLS_MAX + 1];
        float need[CELLS_MAX], got[CELLS_MAX];
        random_edges(edge, m, 3.0, &random);
        random_edges(other, n, 3.0, &random);
        if (n > 2 && m > 2) other[1] = edge[1] < other[2] ? edge[1] : other[1]; /* one in common */
        for (size_t i = 0; i < m; ++i) need[i] = (float)uniform(&random, 0.0, 9.0);
        patterns_over(&from, edge, NULL, m, 1);
        patterns_over(&to, other, NULL, n, 1);
        aw_patterns_carry(&from, need, &to, got);
        assert_close(sum_of(got, n), sum_of(need, m), FLOATS, 0.0);
    }
    aw_patterns_free(&from);
    aw_patterns_free(&to);
}

static void carry_to_the_same_cells_changes_no_bit(void **state)
{
    uint64_t random = 2;
    double edge[CELLS_MAX + 1];
    float need[CELLS_MAX], got[CELLS_MAX];
    aw_patterns patterns = {.rows = 0};
    (void)state;
    random_edges(edge, CELLS_MAX, 7.0, &random);
    for (int i = 0; i < CELLS_MAX; ++i) need[i] = (float)uniform(&random, 0.0, 9.0);
    patterns_over(&patterns, edge, NULL, CELLS_MAX, 1);
    aw_patterns_carry(&patterns, need, &patterns, got);
    assert_memory_equal(got, need, sizeof need);
    aw_patterns_free(&patterns);
}

static void numbers_by_slice_are_shares_of_the_cells(void **state)
{
    /* in slices: three cells in the first slice, one that begins within a slice, long cells */
    const double in_slices[] = {0.0, 0.1, 0.4, 1.0, 1.5, 3.0, 7.0};
    const float need[] = {1.0F, 2.0F, 3.0F, 1.0F, 6.0F, 8.0F};
    const double want[] = {6.0, 1.0 + 2.0, 4.0, 2.0, 2.0, 2.0, 2.0, 0.0, 0.0};
    /* the first slice is 40 mm long, two 20 mm, the others 30 mm */
    const double age[] = {0.0, 0.04, 0.06, 0.08, 0.11, 0.14, 0.17, 0.20, 0.23, 0.26};
    double edge[7], n[9];
    aw_patterns patterns = {.rows = 0};
    (void)state;
    for (int i = 0; i < 7; ++i) {
        const int k = (int)in_slices[i];
        edge[i] = age[k] + (in_slices[i] - k) * (age[k + 1] - age[k]);
    }
    patterns_over(&patterns, edge, NULL, 6, 1);
    aw_patterns_by_slice(&patterns, need, age, 9, n);
    for (int i = 0; i < 9; ++i) assert_close(n[i], want[i], 0.0, FLOATS);
    aw_patterns_by_slice(&patterns, need, age, 3, n); /* farther cells are not counted */
    for (int i = 0; i < 3; ++i) assert_close(n[i], want[i], 0.0, FLOATS);
    aw_patterns_free(&patterns);
}

static void numbers_by_slice_conserve_the_sum(void **state)
{
    uint64_t random = 3;
    aw_patterns patterns = {.rows = 0};
    (void)state;
    for (int trial = 0; trial < 100; ++trial) {
        const size_t cells = (size_t)uniform(&random, 1.0, 40.0);
        double edge[CELLS_MAX + 1], age[513], n[512], sum = 0.0;
        float need[CELLS_MAX];
        random_edges(edge, cells, 4.0, &random);
        for (size_t i = 0; i < cells; ++i) need[i] = (float)uniform(&random, 0.0, 9.0);
        random_edges(age, 512, 4.0, &random);
        patterns_over(&patterns, edge, NULL, cells, 1);
        aw_patterns_by_slice(&patterns, need, age, 512, n);
        for (int i = 0; i < 512; ++i) sum += n[i];
        assert_close(sum, sum_of(need, cells), FLOATS, 0.0);
    }
    aw_patterns_free(&patterns);
}

/* ---------------------------------------------------------------------------------------- allot */

/* Error of the cells, s^4/n^3 each. */
static double error_of(const float *rough, const float *need, size_t cells)
{
    double sum = 0.0;
    for (size_t i = 0; i < cells; ++i)
        if (rough[i] > 0.0F) sum += pow((double)rough[i], 4.0) / pow((double)need[i], 3.0);
    return sum;
}

/* Tolerance: the level is found by 24 bisections, to 2e-7 at worst, and enters the error with its
 * third power; numbers are floats. */
#define MARK 2e-6

static void allotted_numbers_meet_the_error(void **state)
{
    uint64_t random = 4;
    (void)state;
    for (int trial = 0; trial < 500; ++trial) {
        const size_t cells = (size_t)uniform(&random, 1.0, 60.0);
        const double total = pow(10.0, uniform(&random, -9.0, 0.0));
        float rough[CELLS_MAX], need[CELLS_MAX];
        for (size_t i = 0; i < cells; ++i)
            rough[i] = (float)pow(total, 0.25) * (float)pow(10.0, uniform(&random, -3.0, 1.0));
        rough[0] = 9.0F * (float)pow(total, 0.25); /* so that `least` does not suffice */
        aw_patterns_allot(rough, cells, 0.5, total, need);
        assert_close(error_of(rough, need, cells), total, MARK, 0.0);
        assert_close(aw_patterns_error(rough, need, cells), total, MARK, 0.0);
    }
}

/* Fewest regions for three cells, by search over the first two; the third follows. */
static double fewest(const float *rough, double least, double total)
{
    double best = HUGE_VAL;
    double s[3], most[2];
    for (int i = 0; i < 3; ++i) s[i] = pow((double)rough[i], 4.0);
    for (int i = 0; i < 2; ++i) most[i] = 4.0 * fmax(least, cbrt(s[i] / total));
    for (double a = least; a <= most[0]; a *= 1.01)
        for (double b = least; b <= most[1]; b *= 1.01) {
            const double rest = total - s[0] / (a * a * a) - s[1] / (b * b * b);
            if (rest > 0.0) best = fmin(best, a + b + fmax(least, cbrt(s[2] / rest)));
        }
    return best;
}

static void allotted_numbers_are_the_fewest(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (int trial = 0; trial < 40; ++trial) {
        const double total = 1e-6, least = trial % 2 ? 0.5 : 1.0;
        float rough[3], need[3];
        for (int i = 0; i < 3; ++i) /* up to 10 regions per cell, often the minimum */
            rough[i] = (float)(pow(total, 0.25) * pow(10.0, uniform(&random, -1.0, 0.9)));
        aw_patterns_allot(rough, 3, least, total, need);
        const double best = fewest(rough, least, total), ours = sum_of(need, 3);
        assert_true(ours <= best * (1.0 + MARK));
        assert_true(best <= ours * 1.01); /* the search goes in steps of 1 % */
    }
}

static void every_cell_gets_at_least_the_minimum(void **state)
{
    const float rough[] = {0.0F, 1e-6F, 1e-2F, 0.3F, 0.0F};
    float need[5];
    (void)state;
    aw_patterns_allot(rough, 5, 0.5, 1e-6, need);
    for (int i = 0; i < 5; ++i) assert_true(need[i] >= 0.5F);
    assert_true(need[0] == 0.5F && need[1] == 0.5F && need[4] == 0.5F);
    assert_true(need[3] > 1.0F);
    aw_patterns_allot(rough, 2, 0.5, 1e-6, need); /* not rough: the minimum everywhere */
    assert_true(need[0] == 0.5F && need[1] == 0.5F);
}

static void cells_that_miss_the_beam_get_no_regions_and_have_no_error(void **state)
{
    const float rough[] = {-1.0F, 0.2F, 0.1F, -1.0F}, only[] = {0.2F, 0.1F};
    float need[4], alone[2];
    (void)state;
    aw_patterns_allot(rough, 4, 0.5, 1e-6, need);
    aw_patterns_allot(only, 2, 0.5, 1e-6, alone);
    assert_true(need[0] == 0.0F && need[3] == 0.0F);
    assert_true(need[1] == alone[0] && need[2] == alone[1]);
    /* 0.2^4 in one region and 0.1^4 in two, to the rounding of floats */
    const float one_and_two[] = {3.0F, 1.0F, 2.0F, 0.0F};
    assert_close(aw_patterns_error(rough, one_and_two, 4), 1.6e-3 + 1e-4 / 8.0, 1e-6, 0.0);
}

static void numbers_may_overwrite_the_roughness(void **state)
{
    float row[] = {0.3F, 0.02F, -1.0F, 0.7F, 0.0F};
    float need[5];
    (void)state;
    aw_patterns_allot(row, 5, 0.5, 1e-6, need);
    aw_patterns_allot(row, 5, 0.5, 1e-6, row);
    assert_memory_equal(row, need, sizeof need);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carry_spreads_by_length),
        cmocka_unit_test(carry_conserves_sums_over_equal_ranges),
        cmocka_unit_test(carry_to_the_same_cells_changes_no_bit),
        cmocka_unit_test(numbers_by_slice_are_shares_of_the_cells),
        cmocka_unit_test(numbers_by_slice_conserve_the_sum),
        cmocka_unit_test(allotted_numbers_meet_the_error),
        cmocka_unit_test(allotted_numbers_are_the_fewest),
        cmocka_unit_test(every_cell_gets_at_least_the_minimum),
        cmocka_unit_test(cells_that_miss_the_beam_get_no_regions_and_have_no_error),
        cmocka_unit_test(numbers_may_overwrite_the_roughness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
