/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integration in 2 to 8 dimensions: the rule's degree, closed forms, budgets, statuses, threads. */
#include <string.h>

#include "quadrature/cuhre.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"
#include "validation/genz.h"

enum { D = AW_CUHRE_DIMENSIONS };

static const double zeros[D] = {0.0};
static const double ones[D] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

/* The unit_cube cube with default parameters. */
static aw_cuhre_params unit_cube(int n, double relative, uint64_t max_evaluations)
{
    return (aw_cuhre_params){
        .n = n, .a = zeros, .b = ones, .relative = relative, .max_evaluations = max_evaluations};
}

/* ---- the rule ---- */

typedef struct monomial {
    int power[D];
} monomial;

static double monomial_at(void *context, int n, const double *x)
{
    const monomial *m = context;
    double value = 1.0;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < m->power[i]; ++k) value *= x[i];
    return value;
}

/* Step to the next set of powers whose sum is at most `degree`. @return 0: there is none */
static int next_powers(int *power, int n, int degree)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += power[i];
    for (int i = 0; i < n; ++i) {
        if (sum < degree) {
            power[i]++;
            return 1;
        }
        sum -= power[i];
        power[i] = 0;
    }
    return 0;
}

/* A box of unequal sides, not centred at the origin. */
static aw_cuhre_region odd_box(int n)
{
    aw_cuhre_region q;
    memset(&q, 0, sizeof q);
    for (int i = 0; i < n; ++i) {
        q.c[i] = 0.1 + 0.05 * i;
        q.h[i] = 1.0 - 0.07 * i;
    }
    return q;
}

static double monomial_integral(const monomial *m, const aw_cuhre_region *q, int n)
{
    double value = 1.0;
    for (int i = 0; i < n; ++i) {
        int k = m->power[i] + 1;
        value *= (pow(q->c[i] + q->h[i], k) - pow(q->c[i] - q->h[i], k)) / k;
    }
    return value;
}

static void rule_is_exact_up_to_degree_seven(void **state)
{
    (void)state;
    for (int n = 2; n <= D; ++n) {
        aw_cuhre_rule rule;
        aw_cuhre_region q = odd_box(n);
        monomial m = {{0}};
        double volume = 1.0;
        int count = 0;
        aw_cuhre_rule_make(&rule, n);
        for (int i = 0; i < n; ++i) volume *= 2.0 * q.h[i];
        do {
            assert_ok(aw_cuhre_rule_apply(&rule, monomial_at, &m, &q));
            /* rounding: weights of both signs sum to 7 at most, |x| < 1.2 to the seventh is 3 */
            assert_close(q.value, monomial_integral(&m, &q, n), 0.0, 5e-14 * volume);
            count++;
        } while (next_powers(m.power, n, 7));
        int all = 1; /* (n + 7)! / n! 7! */
        for (int i = 1; i <= 7; ++i) all = all * (n + i) / i;
        assert_int_equal(count, all);
    }
}

static void rule_is_not_exact_at_degree_eight(void **state)
{
    static const monomial eight[] = {{{8}}, {{6, 2}}, {{4, 4}}, {{4, 2, 2}}, {{2, 2, 2, 2}}};
    (void)state;
    for (int n = 2; n <= D; ++n) {
        aw_cuhre_rule rule;
        aw_cuhre_region q = {.h = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}};
        aw_cuhre_rule_make(&rule, n);
        for (int k = 0; k < (n < 3 ? 3 : n < 4 ? 4 : 5); ++k) {
            monomial m = eight[k];
            assert_ok(aw_cuhre_rule_apply(&rule, monomial_at, &m, &q));
            double wrong = fabs(q.value - monomial_integral(&m, &q, n));
            assert_true(wrong > 1e-4 * exp2(n)); /* the smallest is 1e-3 */
            assert_true(q.error > wrong);
        }
    }
}

/* Only the null rule of degree 1 responds to a cubic: the series has ended. */
static void error_vanishes_up_to_degree_three_and_not_beyond(void **state)
{
    (void)state;
    for (int n = 2; n <= 5; ++n) {
        aw_cuhre_rule rule;
        aw_cuhre_region q = odd_box(n);
        monomial m = {{0}}, even = {{6}}, mixed = {{4, 2}};
        aw_cuhre_rule_make(&rule, n);
        do {
            assert_ok(aw_cuhre_rule_apply(&rule, monomial_at, &m, &q));
            assert_true(q.error < 1e-12);
        } while (next_powers(m.power, n, 3));
        assert_ok(aw_cuhre_rule_apply(&rule, monomial_at, &even, &q));
        assert_true(q.error > 1e-3);
        assert_ok(aw_cuhre_rule_apply(&rule, monomial_at, &mixed, &q));
        assert_true(q.error > 1e-3);
    }
}

typedef struct wall {
    int axis;
    double place;
    long calls;
} wall;

static double ridge_at(void *context, int n, const double *x)
{
    const wall *w = context;
    double sum = 0.0, d = x[w->axis] - w->place;
    for (int i = 0; i < n; ++i) sum += 0.1 * x[i];
    return exp(sum) / (1.0 + 100.0 * d * d);
}

static double step_at(void *context, int n, const double *x)
{
    const wall *w = context;
    (void)n;
    return x[w->axis] < w->place ? 1.0 : 0.0;
}

static double one_at(void *context, int n, const double *x)
{
    (void)context;
    (void)n;
    (void)x;
    return 1.0;
}

static void cut_is_along_the_rough_axis_or_the_widest(void **state)
{
    (void)state;
    for (int n = 2; n <= D; ++n) {
        aw_cuhre_rule rule;
        aw_cuhre_rule_make(&rule, n);
        for (int axis = 0; axis < n; ++axis) {
            aw_cuhre_region q = odd_box(n);
            wall ridge = {.axis = axis, .place = 0.3};
            assert_ok(aw_cuhre_rule_apply(&rule, ridge_at, &ridge, &q));
            assert_int_equal(q.axis, axis);
            /* a jump that only the points just inside the faces see */
            wall jump = {.axis = axis, .place = q.c[axis] + 0.99 * q.h[axis]};
            assert_ok(aw_cuhre_rule_apply(&rule, step_at, &jump, &q));
            assert_int_equal(q.axis, axis);
            assert_true(q.error > 0.0);
            q.h[axis] *= 3.0;
            assert_ok(aw_cuhre_rule_apply(&rule, one_at, NULL, &q));
            assert_int_equal(q.axis, axis);
        }
    }
}

/* ---- closed forms ---- */

/* All families in dimensions 2 to n_max, `each` integrals of each.
 * @return the number that are reported as converged */
static int genz_sample(int n_max, int each, double relative, uint64_t max_evaluations)
{
    uint64_t random = 11;
    int converged = 0;
    for (int family = 0; family < AW_GENZ_FAMILIES; ++family)
        for (int n = 2; n <= n_max; ++n)
            for (int i = 0; i < each; ++i) {
                aw_genz genz = aw_genz_draw((aw_genz_family)family, n, &random);
                aw_cuhre_params p = unit_cube(n, relative, max_evaluations);
                aw_cuhre_result r;
                aw_status status = aw_cuhre(&p, aw_genz_value, &genz, &r);
                assert_true(r.evaluations <= max_evaluations);
                if (status == AW_ERR_MAXEVAL) {
                    assert_true(!(r.error <= relative * fabs(r.value)));
                    continue;
                }
                assert_ok(status);
                assert_true(r.error <= relative * fabs(r.value));
                assert_close(r.value, aw_genz_integral(&genz), relative, 0.0);
                converged++;
            }
    return converged;
}

static void genz_integrals_that_converge_are_right(void **state)
{
    (void)state;
    /* measured: 129 of 168, and 42 of 72; the rest are reported as not converged */
    assert_true(genz_sample(8, 4, 1e-2, 50000) > 120);
    assert_true(genz_sample(4, 4, 1e-5, 200000) > 36);
}

static double waves_at(void *context, int n, const double *x)
{
    double value = 1.0;
    (void)context;
    for (int i = 0; i < n; ++i) value *= sin(x[i] + i);
    return value;
}

static void boxes_of_any_position_and_size_are_integrated(void **state)
{
    const double a[3] = {-3.0, 100.0, 1e-3}, b[3] = {2.0, 101.0, 2e-3};
    aw_cuhre_params p = {.n = 3, .a = a, .b = b, .relative = 1e-7, .max_evaluations = 1000000};
    aw_cuhre_result r;
    double want = 1.0;
    (void)state;
    for (int i = 0; i < 3; ++i) want *= cos(a[i] + i) - cos(b[i] + i);
    assert_ok(aw_cuhre(&p, waves_at, NULL, &r));
    assert_close(r.value, want, 1e-7, 0.0);
    p.relative = 0.0;
    p.absolute = 1e-6 * fabs(want);
    assert_ok(aw_cuhre(&p, waves_at, NULL, &r));
    assert_close(r.value, want, 1e-6, 0.0);
    assert_true(r.error <= p.absolute);
}

static double root_at(void *context, int n, const double *x)
{
    double value = 1.0;
    (void)context;
    for (int i = 0; i < n; ++i) value /= sqrt(x[i]);
    return value; /* infinite on the boundary, where no point of the rule lies */
}

static void an_integrable_singularity_on_the_boundary_is_integrated(void **state)
{
    aw_cuhre_params p = unit_cube(2, 1e-3, 2000000);
    aw_cuhre_result r;
    (void)state;
    assert_ok(aw_cuhre(&p, root_at, NULL, &r));
    assert_close(r.value, 4.0, 1e-3, 0.0);
}

/* Jumps just beside a cut lie between the inner points of boxes and their faces. */
static void jump_beside_a_cut_is_not_missed(void **state)
{
    uint64_t random = 5;
    int converged = 0;
    (void)state;
    for (int i = 0; i < 300; ++i) {
        wall w = {.axis = i % 2, .place = (double)(1 + i % 15) / 16.0};
        w.place += pow(10.0, uniform(&random, -5.0, -2.0)) * (i % 4 < 2 ? 1.0 : -1.0);
        aw_cuhre_params p = unit_cube(2, 1e-4, 300000);
        aw_cuhre_result r;
        aw_status status = aw_cuhre(&p, step_at, &w, &r);
        if (status == AW_ERR_MAXEVAL) continue;
        assert_ok(status);
        assert_close(r.value, w.place, 1e-4, 0.0);
        converged++;
    }
    assert_true(converged > 250);
}

static void a_constant_is_accepted_only_after_a_second_application(void **state)
{
    (void)state;
    for (int n = 2; n <= D; ++n) {
        aw_cuhre_params p = unit_cube(n, 1e-10, 1000000);
        aw_cuhre_result r;
        assert_ok(aw_cuhre(&p, one_at, NULL, &r));
        assert_close(r.value, 1.0, 1e-14, 0.0); /* rounding of the weights */
        assert_true(r.regions > 1);
    }
}

/* ---- the two phases ---- */

static void two_phases_agree_with_one_queue(void **state)
{
    static const size_t regions[] = {1, 2, 16, 64, 300};
    uint64_t random = 3;
    int second = 0;
    (void)state;
    for (int family = 0; family < AW_GENZ_FAMILIES; ++family) {
        aw_genz genz = aw_genz_draw((aw_genz_family)family, 3, &random);
        double exact = aw_genz_integral(&genz);
        for (int k = 0; k < 5; ++k) {
            aw_cuhre_params p = unit_cube(3, 1e-4, 2000000);
            aw_cuhre_result r;
            p.regions = regions[k];
            assert_ok(aw_cuhre(&p, aw_genz_value, &genz, &r));
            assert_close(r.value, exact, 1e-4, 0.0);
            assert_true(r.error <= 1e-4 * fabs(r.value));
            second += r.rounds > 0;
        }
    }
    assert_true(second > 15); /* phase two was needed in most of the 30 */
}

/* Three applications: the whole and its halves. */
static void errors_of_halves_include_their_discrepancy_from_the_whole(void **state)
{
    (void)state;
    for (int n = 2; n <= D; ++n) {
        aw_cuhre_rule rule;
        aw_cuhre_region whole, half;
        aw_cuhre_result r;
        double value = 0.0, error = 0.0;
        wall ridge = {.axis = n - 1, .place = 0.4};
        aw_cuhre_rule_make(&rule, n);
        aw_cuhre_params p = unit_cube(n, 1e-12, 3 * (uint64_t)rule.points);
        p.regions = 1;
        memset(&whole, 0, sizeof whole);
        for (int i = 0; i < n; ++i) whole.c[i] = whole.h[i] = 0.5;
        assert_ok(aw_cuhre_rule_apply(&rule, ridge_at, &ridge, &whole));
        for (int side = 0; side < 2; ++side) {
            half = whole;
            half.h[n - 1] = 0.25;
            half.c[n - 1] = 0.25 + 0.5 * side;
            assert_ok(aw_cuhre_rule_apply(&rule, ridge_at, &ridge, &half));
            value += half.value;
            error += half.error;
        }
        double discrepancy = fabs(value - whole.value);
        assert_true(discrepancy > 1e-3);
        assert_status(aw_cuhre(&p, ridge_at, &ridge, &r), AW_ERR_MAXEVAL);
        assert_close(r.value, value, 1e-14, 0.0); /* the same sums */
        assert_close(r.error, error + discrepancy, 1e-12, 0.0);
        assert_true(r.regions == 2 && r.evaluations == 3 * (uint64_t)rule.points);
    }
}

static void check_same(const aw_cuhre_result *a, const aw_cuhre_result *b)
{
    assert_memory_equal(&a->value, &b->value, sizeof a->value);
    assert_memory_equal(&a->error, &b->error, sizeof a->error);
    assert_true(a->evaluations == b->evaluations && a->regions == b->regions);
    assert_true(a->generations == b->generations && a->rounds == b->rounds);
}

static void results_do_not_depend_on_threads(void **state)
{
    uint64_t random = 8;
    int limit = 0, second = 0;
    (void)state;
    for (int family = 0; family < AW_GENZ_FAMILIES; ++family)
        for (int n = 2; n <= 6; n += 2) {
            aw_genz genz = aw_genz_draw((aw_genz_family)family, n, &random);
            aw_cuhre_params p = unit_cube(n, 1e-5, 100000);
            aw_cuhre_result one, more;
            p.threads = 1;
            aw_status status = aw_cuhre(&p, aw_genz_value, &genz, &one);
            limit += status == AW_ERR_MAXEVAL;
            second += one.rounds > 0;
            for (p.threads = 2; p.threads <= 3; ++p.threads) {
                assert_status(aw_cuhre(&p, aw_genz_value, &genz, &more), status);
                check_same(&one, &more);
            }
        }
    assert_true(limit > 3 && limit < 15 && second > 9); /* of 18 */
}

/* ---- budgets and statuses ---- */

/* 1 in a quarter of a disc, which no finite number of boxes resolves. */
static double counted_disc_at(void *context, int n, const double *x)
{
    wall *w = context;
    (void)n;
#pragma omp atomic
    w->calls++;
    return x[0] * x[0] + x[1] * x[1] < w->place ? 1.0 : 0.0;
}

static void the_budget_is_never_exceeded_and_its_end_is_reported(void **state)
{
    static const uint64_t budget[] = {0, 1, 24, 25, 49, 100, 1599, 1600, 5000, 20011, 65537};
    (void)state;
    for (int threads = 1; threads <= 2; ++threads)
        for (size_t k = 0; k < sizeof budget / sizeof budget[0]; ++k) {
            wall w = {.place = 0.5};
            aw_cuhre_params p = unit_cube(2, 1e-6, budget[k]);
            aw_cuhre_result r;
            p.threads = threads;
            assert_status(aw_cuhre(&p, counted_disc_at, &w, &r), AW_ERR_MAXEVAL);
            assert_true((uint64_t)w.calls == r.evaluations && r.evaluations <= budget[k]);
            assert_true(r.evaluations + 2 * 25 > budget[k] || budget[k] < 100);
            if (budget[k] < 25) {
                assert_true(r.value == 0.0 && r.error == HUGE_VAL && r.regions == 0);
                continue;
            }
            /* the best estimate so far is within its error */
            assert_close(r.value, 0.25 * AW_PI * w.place, 0.0, r.error);
            assert_true(isfinite(r.error));
        }
}

static void a_larger_budget_gives_a_smaller_error(void **state)
{
    double before = HUGE_VAL;
    (void)state;
    for (uint64_t max_evaluations = 1000; max_evaluations < 1000000; max_evaluations *= 10) {
        wall w = {.place = 0.5};
        aw_cuhre_params p = unit_cube(3, 1e-12, max_evaluations);
        aw_cuhre_result r;
        assert_status(aw_cuhre(&p, counted_disc_at, &w, &r), AW_ERR_MAXEVAL);
        assert_true(r.error < 0.5 * before);
        before = r.error;
    }
}

typedef struct trap {
    double lo, hi, value; /* the integrand is `value` for x[0] between lo and hi */
} trap;

static double trap_at(void *context, int n, const double *x)
{
    const trap *t = context;
    (void)n;
    return x[0] > t->lo && x[0] < t->hi ? t->value : exp(-30.0 * x[0]);
}

static void values_that_are_not_finite_are_detected(void **state)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    for (int n = 2; n <= D; n += 3)
        for (int k = 0; k < 3; ++k)
            for (int late = 0; late < (n == 2 ? 2 : 1); ++late) {
                /* at once, or only by the points of boxes half as large as the first */
                trap t = {late ? 0.005 : 0.4, late ? 0.015 : 0.6, bad[k]};
                aw_cuhre_params p = unit_cube(n, 1e-9, 3000000);
                aw_cuhre_result r;
                assert_status(aw_cuhre(&p, trap_at, &t, &r), AW_ERR_NONFINITE);
                assert_true(isnan(r.value) && r.error == HUGE_VAL);
            }
}

static void wrong_arguments_are_refused(void **state)
{
    const double bad[] = {1.0, 2.0, NAN, INFINITY};
    aw_cuhre_result r;
    (void)state;
    for (int n = -1; n <= 10; ++n) {
        aw_cuhre_params p = unit_cube(n, 1e-3, 100000);
        assert_status(aw_cuhre(&p, one_at, NULL, &r), n >= 2 && n <= D ? AW_OK : AW_ERR_ARG);
    }
    for (int k = 0; k < 4; ++k) {
        double a[2] = {0.0, bad[k]};
        aw_cuhre_params p = unit_cube(2, 1e-3, 100000);
        p.a = a;
        assert_status(aw_cuhre(&p, one_at, NULL, &r), AW_ERR_ARG);
    }
    static const double tolerance[][2] = {{0.0, 0.0}, {-1.0, 1e-3}, {1e-3, -1.0}, {NAN, 1e-3}};
    for (int k = 0; k < 4; ++k) {
        aw_cuhre_params p = unit_cube(2, tolerance[k][1], 100000);
        p.absolute = tolerance[k][0];
        assert_status(aw_cuhre(&p, one_at, NULL, &r), AW_ERR_ARG);
        assert_true(r.value == 0.0 && r.error == HUGE_VAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_is_exact_up_to_degree_seven),
        cmocka_unit_test(rule_is_not_exact_at_degree_eight),
        cmocka_unit_test(error_vanishes_up_to_degree_three_and_not_beyond),
        cmocka_unit_test(cut_is_along_the_rough_axis_or_the_widest),
        cmocka_unit_test(genz_integrals_that_converge_are_right),
        cmocka_unit_test(boxes_of_any_position_and_size_are_integrated),
        cmocka_unit_test(an_integrable_singularity_on_the_boundary_is_integrated),
        cmocka_unit_test(jump_beside_a_cut_is_not_missed),
        cmocka_unit_test(a_constant_is_accepted_only_after_a_second_application),
        cmocka_unit_test(two_phases_agree_with_one_queue),
        cmocka_unit_test(errors_of_halves_include_their_discrepancy_from_the_whole),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(the_budget_is_never_exceeded_and_its_end_is_reported),
        cmocka_unit_test(a_larger_budget_gives_a_smaller_error),
        cmocka_unit_test(values_that_are_not_finite_are_detected),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
