/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bunch with a height that grows: strategies agree within the tolerance, on a host and on the
 * emulated GPU, from the entrance of a bend to its steady state. */
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"
#include "tests/slice_fixture.h"

#define TOLERANCE 1e-4

enum { EVERY = 53, FEW = 97 };

/* Compare the results with a reference, and the rates with the tolerance of their own scale. */
static void check_errors(const aw_problem *problem, const double *got)
{
    double *want = bench_reference(problem, EVERY);
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        const double error = bench_error(problem, EVERY, want, got, k);
        const double rates = bench_largest(got, problem->points, k) / problem->scales.rate;
        assert_close(k < AW_DPHI ? error : error * rates, 0.0, 0.0, TOLERANCE);
    }
    aw_free(want);
}

/* A bunch of that height at S, between plates if there is a gap. */
static void check_between(const char *strategy, const char *kind, double height, double S,
                          double gap)
{
    const aw_device_params on = {.inner_density = 1.0};
    bench_params params = bench_lcls();
    aw_device device;
    aw_report report;
    bench b;
    params.quiet = 1;
    params.height2 = height * height;
    params.gap = gap;
    bench_open(&b, &params);
    bench_run(&b, S);
    double *got = bench_array(b.points * AW_RESULTS);
    assert_ok(aw_device_open(kind, &on, &device));
    aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    assert_ok(bench_solve(strategy, &device, &problem, got, &report));
    assert_int_equal(report.fell_back, 0);
    check_errors(&problem, got);
    aw_device_close(&device);
    aw_free(got);
    bench_close(&b);
}

static void check(const char *strategy, const char *kind, double height, double S)
{
    check_between(strategy, kind, height, S, 0.0);
}

/* 5 um are less than a cell, 50 um as much as the bunch is wide. */
static void strategies_agree(void **state)
{
    (void)state;
    check("two-phase", "cpu", 50e-6, 0.1);
    check("heuristic", "cpu", 5e-6, 0.4);
    check("predictive", "cpu", 50e-6, 1.2);
    check("projection", "cpu", 5e-6, 0.1);
    check("projection", "cpu", 50e-6, 0.4);
    check("projection", "cpu", 50e-6, 1.2);
}

static void the_emulated_gpu_agrees(void **state)
{
    (void)state;
    check("two-phase", "emulated", 50e-6, 0.1);
    check("predictive", "emulated", 5e-6, 0.1);
    check("projection", "emulated", 50e-6, 0.1);
}

/* Images of a bunch with a height between plates 2 mm apart, behind an entrance. */
static void images_agree(void **state)
{
    static const char *const how[][2] = {{"two-phase", "cpu"}, {"two-phase", "emulated"}};
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        const aw_device_params on = {.inner_density = 1.0};
        bench_params params = bench_lcls();
        aw_device device;
        aw_report report;
        bench b;
        params.quiet = 1;
        params.height2 = 1e-10;
        params.gap = 2e-3;
        bench_open(&b, &params);
        bench_run(&b, 0.2);
        double *got = bench_array(b.points * AW_RESULTS);
        double *want = bench_array(b.points * AW_RESULTS);
        assert_ok(aw_device_open(how[i][1], &on, &device));
        aw_problem problem = bench_problem(&b, TOLERANCE, FEW);
        assert_ok(bench_solve(how[i][0], &device, &problem, got, &report));
        aw_device_close(&device);
        device = bench_device(NULL, 0, 2.0);
        problem.tolerance = 0.01 * TOLERANCE;
        assert_ok(bench_solve("adaptive", &device, &problem, want, &report));
        for (size_t k = 0; k < problem.points * AW_RESULTS; ++k) {
            const unsigned result = (unsigned)(k % AW_RESULTS);
            const double scale = aw_scale_of(&problem.scales, result);
            if (result == AW_PHI || result == AW_PSI)
                assert_close(got[k] / scale, want[k] / scale, 0.0, TOLERANCE);
        }
        aw_device_close(&device);
        aw_free(got);
        aw_free(want);
        bench_close(&b);
    }
}

/* Tables serve all images, also where their circles are smaller than the largest. */
static void tables_serve_images(void **state)
{
    (void)state;
    check_between("projection", "cpu", 0.0, 0.1, 20e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strategies_agree),
        cmocka_unit_test(the_emulated_gpu_agrees),
        cmocka_unit_test(images_agree),
        cmocka_unit_test(tables_serve_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
