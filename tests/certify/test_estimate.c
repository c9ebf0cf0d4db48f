/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimated errors against true ones, for sequences whose limit is known. */
#include <math.h>
#include <stdlib.h>

#include "src/certify/estimate.h"
#include "tests/assert_close.h"

enum { CASES = 4000 };

/* Numbers from 0 to 1, the same at each run. */
static double uniform(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2.0 * log(1.0 - uniform())) * cos(2.0 * 3.14159265358979323846 * uniform());
}

static const double spacing[AW_LEVELS] = {1.0, 1.5, 2.25};

static aw_estimate of_three(double f1, double f2, double f3)
{
    const aw_levels l = {.f = {&f1, &f2, &f3},
                         .h = {1.0, 1.5, 2.25},
                         .rows = 1,
                         .order = 2.0,
                         .scale = fmax(fabs(f1), fmax(fabs(f2), fabs(f3)))};
    return aw_estimate_levels(&l);
}

static void order_of_a_power_is_found(void **state)
{
    (void)state;
    const double uneven[AW_LEVELS] = {1.0, 1.52, 2.2};
    for (double p = 0.5; p < 4.6; p += 0.5)
        for (int k = 0; k < 2; ++k) {
            const double *h = k ? uneven : spacing;
            const double ratio = (pow(h[2], p) - pow(h[1], p)) / (pow(h[1], p) - pow(h[0], p));
            /* bisection to 12/2^60; the ratio's own rounding is a few 1e-16 */
            assert_close(aw_observed_order(ratio, h), p, 1e-12, 0.0);
        }
    assert_true(isnan(aw_observed_order(-1.0, spacing)));
    assert_true(isnan(aw_observed_order(NAN, spacing)));
    assert_true(isnan(aw_observed_order(0.5, spacing)));
}

/* a h^p exactly: the bar is 1.25 errors. Signs and the size of f0 do not matter. */
static void a_power_has_the_bar_of_its_factor(void **state)
{
    (void)state;
    static const double limit[] = {0.0, 1.0, -3.0};
    for (int k = 0; k < 3; ++k)
        for (double a = -0.2; a < 0.3; a += 0.4) {
            const aw_estimate e =
                of_three(limit[k] + a, limit[k] + a * 2.25, limit[k] + a * 2.25 * 2.25);
            assert_close(e.U, 1.25 * fabs(a), 1e-12, 0.0);
            assert_close(e.order, 2.0, 1e-12, 0.0);
            assert_int_equal(e.asymptotic, 1);
        }
}

static void sequences_that_do_not_converge_have_a_larger_bar(void **state)
{
    (void)state;
    const aw_estimate turning = of_three(1.0, 1.1, 1.05), slow = of_three(1.0, 1.1, 1.15);
    const aw_estimate fast = of_three(1.0, 1.001, 1.1);
    assert_int_equal(turning.asymptotic + slow.asymptotic + fast.asymptotic, 0);
    assert_true(isnan(turning.order));
    assert_close(turning.U, 3.0 * 0.1 / 1.25, 1e-12, 0.0);
    assert_close(slow.U, 3.0 * 0.15 / 1.25, 1e-12, 0.0);
    /* what the coarse levels say of the finest: 0.099/(2.25^2 - 1.5^2) */
    assert_close(fast.U, 1.25 * 0.099 / 2.8125, 1e-12, 0.0);
}

static void missing_and_bad_levels_are_left_out(void **state)
{
    (void)state;
    const double f1 = 1.0, f2 = 1.25, f3 = 2.0;
    aw_levels l = {.f = {&f1, &f2, NULL}, .h = {1.0, 1.5, 2.25}, .rows = 1, .order = 2.0};
    l.scale = 1.0;
    aw_estimate e = aw_estimate_levels(&l);
    assert_close(e.U, 3.0 * 0.25 / 1.25, 1e-12, 0.0);
    assert_true(isnan(e.order) && !e.asymptotic);
    const aw_estimate nan_below = of_three(1.0, NAN, 2.0), nan_main = of_three(NAN, 1.0, 2.0);
    assert_close(nan_below.U, 3.0 * 1.0 / (2.25 * 2.25 - 1.0), 1e-12, 0.0);
    assert_true(isnan(nan_main.U) && !nan_main.asymptotic);
    l.f[0] = &f3;
    l.f[1] = NULL;
    e = aw_estimate_levels(&l);
    assert_true(isnan(e.U));
}

static void differences_of_rounding_are_no_zero_bar(void **state)
{
    (void)state;
    const aw_estimate same = of_three(2.0, 2.0, 2.0), near = of_three(2.0, 2.0 + 1e-15, 2.0);
    assert_close(same.U, 2.0 * AW_ROUNDING, 1e-12, 0.0);
    assert_true(same.rounding && near.rounding && same.asymptotic && isnan(same.order));
    assert_true(near.U > 0.0);
}

/* A finer level at 0.75, of a h^2: its error is a 0.75^2, and it differs by a (1 - 0.75^2) from the
 * first. Where the coarser levels have an order, the smaller bar counts; where they have none, that
 * of the finer one; and where the finer value lies outside of the bar, that of the finer one. */
static void a_finer_level_narrows_the_bar(void **state)
{
    (void)state;
    const double a = 0.1, f1 = 1.0 + a, f2 = 1.0 + 2.25 * a, fine = 1.0 + 0.5625 * a;
    const double good = 1.0 + 5.0625 * a, bad = 1.0 + 3.0 * a, far = f1 + 2.0, none = NAN;
    aw_levels l = {.f = {&f1, &f2, &good},
                   .h = {1.0, 1.5, 2.25},
                   .finer = &fine,
                   .h_finer = 0.75,
                   .rows = 1,
                   .order = 2.0,
                   .scale = 2.0};
    const double from_finer = 1.25 * a;
    assert_close(aw_estimate_levels(&l).U, from_finer, 1e-12, 0.0);
    l.f[2] = &bad;
    assert_close(aw_estimate_levels(&l).U, from_finer, 1e-12, 0.0);
    assert_true(aw_estimate_levels(&l).asymptotic);
    l.f[1] = l.f[2] = NULL; /* two levels: no order */
    assert_close(aw_estimate_levels(&l).U,
                 (1.0 - 0.5625) * a * (1.25 + 3.0 * 0.5625 / (1.0 - 0.5625)), 1e-12, 0.0);
    l.f[1] = &f2;
    l.finer = &far;
    assert_true(aw_estimate_levels(&l).U > 2.0);
    l.finer = &none;
    l.f[2] = &good;
    assert_close(aw_estimate_levels(&l).U, 1.25 * a, 1e-12, 0.0);
    l.finer = &fine;
    l.f[0] = &none;
    assert_true(isnan(aw_estimate_levels(&l).U));
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[n / 2];
}

/* f0 + a h^p, p from 1.25 to 2.5, with a next order of 20 % and noise of 2 % (rms) of the error:
 * the truth lies within the bar at least 95 times of 100, and the bar is at most 5 errors in the
 * median; with a finer level too. */
static void cover_made_up_sequences(int has_finer)
{
    static double ratio[CASES];
    int covered = 0;
    for (int i = 0; i < CASES; ++i) {
        const double limit = 2.0 * uniform() - 1.0, p = 1.25 + 1.25 * uniform();
        const double a = 0.02 * normal(), b = 0.2 * a * normal(), noise = 0.02 * fabs(a);
        double f[AW_LEVELS + 1];
        for (int k = 0; k <= AW_LEVELS; ++k) {
            const double h = k < AW_LEVELS ? spacing[k] : 0.75;
            f[k] = limit + a * pow(h, p) + b * pow(h, p + 1.0) + noise * normal();
        }
        const aw_levels l = {.f = {&f[0], &f[1], &f[2]},
                             .h = {1.0, 1.5, 2.25},
                             .finer = has_finer ? &f[3] : NULL,
                             .h_finer = 0.75,
                             .rows = 1,
                             .order = 2.0,
                             .scale = 1.0};
        const aw_estimate e = aw_estimate_levels(&l);
        const double error = fabs(f[0] - limit);
        covered += error <= e.U;
        ratio[i] = e.U / error;
    }
    printf("coverage %.4f, median of U/error %.2f\n", (double)covered / CASES,
           median(ratio, CASES));
    assert_true(covered >= 0.95 * CASES);
    assert_true(median(ratio, CASES) <= 5.0);
}

static void made_up_sequences_are_covered(void **state)
{
    (void)state;
    cover_made_up_sequences(0);
    cover_made_up_sequences(1);
}

/* The same along a curve whose error changes its sign: there f2 - f1 is zero, and so is the error
 * of one place alone. */
static void zero_crossings_of_a_curve_are_covered(void **state)
{
    (void)state;
    enum { ROWS = 9, AT = 4 };
    static double ratio[CASES];
    int covered = 0;
    for (int i = 0; i < CASES; ++i) {
        const double phase = 6.3 * uniform(), p = 1.5 + uniform();
        double f[AW_LEVELS][ROWS];
        for (int k = 0; k < AW_LEVELS; ++k)
            for (int row = 0; row < ROWS; ++row)
                f[k][row] = cos(0.05 * row) +
                            0.01 * sin(phase + 0.05 * (row - AT)) * pow(spacing[k], p) +
                            3e-4 * sin(3.0 + 7.0 * phase) * pow(spacing[k], 3.0);
        const aw_levels l = {.f = {f[0], f[1], f[2]},
                             .h = {1.0, 1.5, 2.25},
                             .rows = ROWS,
                             .at = AT,
                             .order = 2.0,
                             .scale = 1.0};
        const aw_estimate e = aw_estimate_levels(&l);
        const double error = fabs(f[0][AT] - cos(0.05 * AT));
        covered += error <= e.U;
        ratio[i] = e.U / error;
    }
    printf("coverage %.4f, median of U/error %.2f\n", (double)covered / CASES,
           median(ratio, CASES));
    assert_true(covered >= 0.95 * CASES);
    assert_true(median(ratio, CASES) <= 5.0);
}

/* Samples of a normal distribution: the truth lies within the bar 97 times of 100, and the bar's
 * median is 4.04 errors (4e5 cases by another program). 4000 cases scatter by 0.35 %. */
static void noise_is_covered(void **state)
{
    (void)state;
    static double ratio[CASES];
    int covered = 0;
    for (int i = 0; i < CASES; ++i) {
        const double main = 5.0 + 0.5 * normal();
        const double f[AW_SEEDS] = {5.0 + normal(), 5.0 + normal(), 5.0 + normal()};
        const aw_samples s = {
            .main = &main, .f = {&f[0], &f[1], &f[2]}, .rows = 1, .shrink = 0.5, .scale = 5.0};
        const aw_estimate e = aw_estimate_noise(&s);
        covered += fabs(main - 5.0) <= e.U;
        ratio[i] = e.U / fabs(main - 5.0);
    }
    printf("coverage %.4f, median of U/error %.2f\n", (double)covered / CASES,
           median(ratio, CASES));
    assert_true(covered >= 0.95 * CASES);
    assert_true(median(ratio, CASES) <= 5.0);
}

/* A value off by b/N: 0.25 of the main run, 1 of those with a quarter of the particles. */
static void a_bias_of_few_particles_is_in_the_bar(void **state)
{
    (void)state;
    const double main = 5.25, f[AW_SEEDS] = {6.0 - 1e-3, 6.0, 6.0 + 1e-3};
    for (double shrink = 0.5; shrink <= 1.0; shrink += 0.5) {
        aw_samples s = {
            .main = &main, .f = {&f[0], &f[1], &f[2]}, .rows = 1, .shrink = shrink, .scale = 6.0};
        assert_true(aw_estimate_noise(&s).U > 0.25);
        s.f[0] = s.f[1] = NULL;
        assert_true(aw_estimate_noise(&s).U > 0.25);
        s.f[2] = NULL;
        assert_true(isnan(aw_estimate_noise(&s).U));
    }
}

static void the_sum_is_in_quadrature_and_knows_what_is_missing(void **state)
{
    (void)state;
    const double whole[] = {3.0, 4.0}, part[] = {3.0, NAN};
    assert_close(aw_estimate_sum(whole, 2), 5.0, 1e-15, 0.0);
    assert_true(isnan(aw_estimate_sum(part, 2)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_a_power_is_found),
        cmocka_unit_test(a_power_has_the_bar_of_its_factor),
        cmocka_unit_test(sequences_that_do_not_converge_have_a_larger_bar),
        cmocka_unit_test(missing_and_bad_levels_are_left_out),
        cmocka_unit_test(differences_of_rounding_are_no_zero_bar),
        cmocka_unit_test(a_finer_level_narrows_the_bar),
        cmocka_unit_test(made_up_sequences_are_covered),
        cmocka_unit_test(zero_crossings_of_a_curve_are_covered),
        cmocka_unit_test(noise_is_covered),
        cmocka_unit_test(a_bias_of_few_particles_is_in_the_bar),
        cmocka_unit_test(the_sum_is_in_quadrature_and_knows_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
