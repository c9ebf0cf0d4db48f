/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The images of a bunch between plates, apart from the bunch itself: they and the bunch are all
 * that the plates show, the strategies agree on them, and `projection`, which interpolates them,
 * agrees with `adaptive` on the whole. */
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"

#define TOLERANCE 1e-4

enum { EVERY = 53, FEW = 97 };

/* A bunch of that height at S, in the entrance of a bend between plates. */
static void open_between(bench *b, double height, double gap, double S)
{
    bench_params params = bench_lcls();
    params.quiet = 1;
    params.height2 = height * height;
    params.gap = gap;
    bench_open(b, &params);
    bench_run(b, S);
}

/* Results for a part of what the problem's history holds. */
static double *solve(const char *strategy, const char *kind, const aw_problem *problem,
                     const aw_history_view *part)
{
    const aw_device_params on = {.inner_density = 2.0};
    aw_device device;
    aw_report report;
    aw_problem one = *problem;
    double *result = bench_array(problem->points * AW_RESULTS);
    one.history = part;
    assert_ok(aw_device_open(kind, &on, &device));
    assert_ok(bench_solve(strategy, &device, &one, result, &report));
    aw_device_close(&device);
    return result;
}

/* Check |a + b - sum| over the scales, at all points. */
static void check_sum(const aw_problem *problem, const double *a, const double *b,
                      const double *sum, double tolerance)
{
    for (size_t i = 0; i < problem->points; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k) {
            const size_t at = i * AW_RESULTS + k;
            const double scale = aw_scale_of(&problem->scales, k);
            assert_close((a[at] + b[at]) / scale, sum[at] / scale, 0.0, tolerance);
        }
}

/* Images are Gaussian in height, too: one pair of plates 40 heights apart, one for a sheet. Each of
 * the three integrals is right to the tolerance. */
static void images_and_the_bunch_are_all(void **state)
{
    static const double height[2] = {0.0, 50e-6}, gap[2] = {10e-3, 2e-3};
    static const char *const how[] = {"two-phase", "predictive"};
    (void)state;
    for (int i = 0; i < 2; ++i) {
        bench b;
        open_between(&b, height[i], gap[i], 0.2);
        const aw_problem problem = bench_problem(&b, TOLERANCE, FEW);
        aw_history_view alone = *problem.history, images = *problem.history;
        alone.gap = 0.0;
        images.images_only = 1;
        double *all = solve("adaptive", "cpu", &problem, problem.history);
        double *own = solve("adaptive", "cpu", &problem, &alone);
        for (int k = 0; k < 2; ++k) {
            double *apart = solve(how[k], "cpu", &problem, &images);
            check_sum(&problem, own, apart, all, 3.0 * TOLERANCE);
            aw_free(apart);
        }
        double *emulated = solve("two-phase", "emulated", &problem, &images);
        check_sum(&problem, own, emulated, all, 3.0 * TOLERANCE);
        aw_free(emulated);
        aw_free(own);
        aw_free(all);
        bench_close(&b);
    }
}

/* Copy what a solver has learned. */
static void copy_memory(aw_solver *from, aw_solver *to)
{
    aw_archive archive;
    const size_t length = 1 << 24; /* more than enough */
    unsigned char *bytes = aw_alloc(length, 1);
    assert_non_null(bytes);
    aw_archive_save_memory(&archive, bytes, length);
    aw_solver_archive(from, &archive);
    assert_ok(aw_archive_end(&archive));
    assert_null(aw_archive_load_memory(&archive, bytes, aw_archive_length(&archive)));
    aw_solver_archive(to, &archive);
    assert_ok(aw_archive_end(&archive));
    aw_free(bytes);
}

/* A grid between plates by `projection`, step after step with one solver, that is saved and loaded
 * into another one after the first step if `restart`. Results of both steps; free with aw_free. */
static double *two_steps(int threads, int restart, size_t *points)
{
    aw_device device = bench_device(NULL, threads, 1.0);
    aw_solver *solver, *other;
    bench b;
    open_between(&b, 0.0, 10e-3, 0.2);
    *points = b.points;
    double *result = bench_array(2 * b.points * AW_RESULTS);
    assert_ok(aw_solver_new("projection", &device, &solver));
    for (int i = 0; i < 2; ++i) {
        aw_report report;
        aw_problem problem = bench_grid_problem(&b, TOLERANCE);
        assert_ok(aw_solver_scales(solver, &problem, &problem.scales));
        assert_ok(aw_solver_solve(solver, &problem, result + (size_t)i * b.points * AW_RESULTS,
                                  NULL, &report));
        assert_int_equal(report.fell_back, 0);
        if (restart && i == 0) {
            assert_ok(aw_solver_new("projection", &device, &other));
            copy_memory(solver, other);
            aw_solver_free(solver);
            solver = other;
        }
        bench_run(&b, 0.2 + b.params.cdt);
    }
    aw_solver_free(solver);
    aw_device_close(&device);
    bench_close(&b);
    return result;
}

static void threads_and_restarts_change_no_bit(void **state)
{
    static const int threads[2] = {3, 1}, restart[2] = {0, 1};
    size_t points;
    (void)state;
    double *want = two_steps(1, 0, &points);
    for (int i = 0; i < 2; ++i) {
        double *got = two_steps(threads[i], restart[i], &points);
        assert_memory_equal(want, got, 2 * points * AW_RESULTS * sizeof *want);
        aw_free(got);
    }
    aw_free(want);
}

/* Behind an entrance, a grid at an angle to the motion has its lines along the other axis. */
static void projection_agrees_with_adaptive(void **state)
{
    static const double S[2] = {0.1, 0.6};
    (void)state;
    for (int i = 0; i < 2; ++i) {
        bench b;
        open_between(&b, 0.0, 10e-3, S[i]);
        const aw_problem problem = bench_grid_problem(&b, TOLERANCE);
        double *got = solve("projection", "cpu", &problem, problem.history);
        double *want = bench_reference(&problem, EVERY);
        for (size_t j = 0; j * EVERY < problem.points; ++j)
            for (unsigned k = 0; k < AW_RESULTS; ++k) {
                const double scale = aw_scale_of(&problem.scales, k);
                assert_close(got[j * EVERY * AW_RESULTS + k] / scale,
                             want[j * AW_RESULTS + k] / scale, 0.0, TOLERANCE);
            }
        aw_free(want);
        aw_free(got);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_and_the_bunch_are_all),
        cmocka_unit_test(projection_agrees_with_adaptive),
        cmocka_unit_test(threads_and_restarts_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
