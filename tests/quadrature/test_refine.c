/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Globally adaptive quadrature of integrals with closed forms. */
#include <stdlib.h>
#include <string.h>

#include "quadrature/rules/refine.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"

enum { TRACE = 1 << 17 };

typedef struct integrand {
    double (*f)(double r);
    long calls;
    double at[TRACE]; /* every node, in order */
} integrand;

static void node(void *context, uint32_t point, double r, double f[AW_RESULTS])
{
    integrand *g = context;
    (void)point;
    if (g->calls < TRACE) g->at[g->calls] = r;
    g->calls++;
    for (unsigned k = 0; k < AW_RESULTS; ++k) f[k] = g->f(r);
}

typedef struct fixture {
    aw_refine_space space;
    integrand *g;
    aw_work work;
} fixture;

static int set_up(void **state)
{
    fixture *b = calloc(1, sizeof *b);
    assert_non_null(b);
    assert_ok(aw_refine_space_make(&b->space));
    b->g = calloc(1, sizeof *b->g);
    assert_non_null(b->g);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    fixture *b = *state;
    aw_refine_space_free(&b->space);
    free(b->g);
    free(b);
    return 0;
}

/* Integrate f, starting from n equal regions. */
static aw_job refine(fixture *b, double (*f)(double), double from, double to, size_t n,
                     double tolerance)
{
    const aw_scales one = {1.0, 1.0, 1.0};
    aw_region start[16];
    aw_job job;
    assert_true(n <= 16);
    memset(start, 0, sizeof start);
    memset(&job, 0, sizeof job);
    for (size_t i = 0; i < n; ++i) {
        start[i].a = from + (to - from) * (double)i / (double)n;
        start[i].b = from + (to - from) * (double)(i + 1) / (double)n;
    }
    job.count = n;
    job.tolerance = tolerance;
    b->g->f = f;
    b->g->calls = 0;
    memset(&b->work, 0, sizeof b->work);
    aw_refine_job(start, &job, &(aw_nodes){node, b->g}, &one, &b->space, &b->work);
    return job;
}

static double peak(double r) { return 1e-2 / (1e-4 + (r - 0.3) * (r - 0.3)); }
static double bell(double r) { return exp(-0.5 * (r - 0.7) * (r - 0.7) / 1e-4); }
static double wave(double r) { return cos(50.0 * r); }
static double step(double r) { return r < 0.1234567 ? 1.0 : 0.0; }
static double hole(double r) { return fabs(r - 0.3) < 1e-3 ? (double)NAN : peak(r); }
static double pole(double r) { return 1.0 / (r - 0.5); }
static double flat(double r) { return r < 0.75 ? 0.25 + r : exp(20.0 * (r - 0.75)); }

static void converges_to_the_closed_form_within_the_tolerance(void **state)
{
    const struct {
        double (*f)(double);
        double exact;
    } known[] = {
        {peak, atan(70.0) + atan(30.0)},
        {bell, 1e-2 * sqrt(2.0 * AW_PI)}, /* cut at 30 sigma: nothing is missing */
        {wave, sin(50.0) / 50.0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        for (double tolerance = 1e-3; tolerance > 1e-13; tolerance *= 0.1) {
            aw_job job = refine(*state, known[i].f, 0.0, 1.0, 16, tolerance);
            double error = fabs(job.I[0] - known[i].exact);
            assert_status(job.status, AW_OK);
            assert_true(job.error <= tolerance);
            /* the error estimate is of lower order than the value, so it bounds the error; 1e-14:
             * rounding of the sum of some hundred regions and of the closed form */
            assert_true(error <= job.error + 1e-14);
        }
}

static void error_tracked_through_refinement_is_the_sum_over_regions(void **state)
{
    fixture *b = *state;
    aw_job job = refine(b, peak, 0.0, 1.0, 4, 1e-10);
    double sum = 0.0, length = 0.0;
    for (uint64_t i = 0; i < job.regions; ++i) {
        sum += b->space.region[i].error;
        length += b->space.region[i].b - b->space.region[i].a;
    }
    assert_close(job.error, sum, 1e-15, 0.0);
    assert_close(length, 1.0, 1e-14, 0.0); /* no part of [0, 1] is missing or doubled */
}

static void no_node_is_evaluated_twice(void **state)
{
    fixture *b = *state;
    aw_job job = refine(b, peak, 0.0, 1.0, 4, 1e-6);
    /* four regions share their ends: 17 nodes; every split adds one region and four nodes */
    assert_int_equal(b->g->calls, 17 + 4 * (long)(job.regions - 4));
    assert_true(b->g->calls < TRACE);
    for (long i = 0; i < b->g->calls; ++i)
        for (long j = 0; j < i; ++j) assert_true(b->g->at[i] != b->g->at[j]);
    assert_int_equal(b->work.regions, 4 + 2 * (job.regions - 4));
}

static void the_region_with_the_largest_error_is_split_first(void **state)
{
    fixture *b = *state;
    refine(b, flat, 0.0, 1.0, 4, 1e-6);
    assert_true(b->g->calls > 17 + 8);
    /* the first three quarters are a straight line: all work goes into the last quarter */
    for (long i = 17; i < b->g->calls; ++i) assert_true(b->g->at[i] > 0.75);
}

static void a_nan_is_an_error_at_the_start_and_during_refinement(void **state)
{
    aw_job job = refine(*state, hole, 0.29995, 0.30005, 1, 1e-6); /* all five nodes */
    assert_status(job.status, AW_ERR_NONFINITE);
    job = refine(*state, hole, 0.0, 1.0, 3, 1e-9); /* only refinement finds it */
    assert_status(job.status, AW_ERR_NONFINITE);
    assert_false(job.error <= 1e300);
    job = refine(*state, pole, 0.0, 1.0, 1, 1e-6); /* an infinity at a node */
    assert_status(job.status, AW_ERR_NONFINITE);
}

static void a_tolerance_out_of_reach_is_maxeval_with_the_best_estimate(void **state)
{
    aw_job job = refine(*state, step, 0.0, 1.0, 1, 1e-20);
    assert_status(job.status, AW_ERR_MAXEVAL);
    assert_close(job.I[0], 0.1234567, 0.0, 1e-13); /* bisected down to rounding at the jump */
    assert_true(job.error > 1e-20 && job.error < 1e-13);
    job = refine(*state, peak, 0.0, 1.0, 4, 1e-30); /* until the pool of regions is full */
    assert_status(job.status, AW_ERR_MAXEVAL);
    assert_close(job.I[0], atan(70.0) + atan(30.0), 1e-13, 0.0);
    assert_true(job.regions <= AW_REFINE_MAX);
    assert_true(job.error > 1e-30);
}

static void regions_with_known_nodes_need_no_evaluations(void **state)
{
    const aw_scales one = {1.0, 1.0, 1.0};
    fixture *b = *state;
    aw_region q;
    aw_job job = {.count = 1, .tolerance = 1.0};
    memset(&q, 0, sizeof q);
    q.b = 1.0;
    b->g->f = wave;
    aw_region_complete(&q, node, b->g, &one);
    b->g->calls = 0;
    aw_refine_job(&q, &job, &(aw_nodes){node, b->g}, &one, &b->space, &b->work);
    assert_int_equal(b->g->calls, 0);
    assert_status(job.status, AW_OK);
    assert_close(job.I[0], q.I[0], 0.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converges_to_the_closed_form_within_the_tolerance),
        cmocka_unit_test(error_tracked_through_refinement_is_the_sum_over_regions),
        cmocka_unit_test(no_node_is_evaluated_twice),
        cmocka_unit_test(the_region_with_the_largest_error_is_split_first),
        cmocka_unit_test(a_nan_is_an_error_at_the_start_and_during_refinement),
        cmocka_unit_test(a_tolerance_out_of_reach_is_maxeval_with_the_best_estimate),
        cmocka_unit_test(regions_with_known_nodes_need_no_evaluations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
