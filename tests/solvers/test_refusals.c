/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NaNs, impossible tolerances, a beam without charge and unknown names are errors, never
 * results. */
#include <math.h>
#include <string.h>

#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"
#include "tests/slice_fixture.h"

enum { EVERY = 23, POINTS = (16 * 16 + EVERY - 1) / EVERY };

typedef struct stage {
    bench b;
    aw_device device;
    aw_problem problem;
    double *result;
    aw_report report;
} stage;

static void stage_open(stage *g, const aw_variant *variant, double tolerance)
{
    bench_params params = bench_lcls();
    params.ns = params.nx = 16;
    params.particles = 5000;
    bench_open(&g->b, &params);
    bench_run(&g->b, 0.2);
    g->device = bench_device(variant->name, 0, 1.0);
    g->problem = bench_problem(&g->b, tolerance, EVERY);
    g->result = bench_array(g->b.points * AW_RESULTS);
}

static void stage_close(stage *g)
{
    aw_device_close(&g->device);
    aw_free(g->result);
    bench_close(&g->b);
}

/* Overwrite a value in the middle of a slice stored in the history, and clear the slice's id, since
 * its contents have changed.
 * @return the value before */
static double overwrite(const aw_slice *slice, int ns, int nx, int k, double value)
{
    size_t row = (size_t)ns + 2 * AW_PAD, i = (size_t)ns / 2 + AW_PAD;
    size_t at = ((size_t)(nx / 2 + AW_PAD) * row + i) * AW_COMPONENTS + (size_t)k;
    double *cells, before;
    aw_slice *own;
    memcpy(&cells, &slice->cells, sizeof cells);
    memcpy(&own, &slice, sizeof own);
    own->id = 0;
    before = cells[at];
    cells[at] = value;
    return before;
}

/* Solve with the scales of the intact beam. */
static aw_status solve_given_scales(stage *g, const char *strategy)
{
    aw_solver *solver;
    assert_ok(aw_solver_new(strategy, &g->device, &solver));
    aw_status status = aw_solver_solve(solver, &g->problem, g->result, NULL, &g->report);
    aw_solver_free(solver);
    return status;
}

static void a_nan_in_a_slice_is_an_error_from_every_strategy(void **state)
{
    stage g;
    stage_open(&g, *state, 1e-4);
    for (int i = 0; aw_solver_list(i); ++i) {
        assert_ok(solve_given_scales(&g, aw_solver_list(i)));
        for (int k = 0; k < 3; ++k) /* sigma, D, K_perp */
            for (int age = 0; age < 10; age += 4) {
                const aw_slice *slice = &g.problem.history->slice[age];
                const double intact = overwrite(slice, 16, 16, k, NAN);
                assert_status(solve_given_scales(&g, aw_solver_list(i)), AW_ERR_NONFINITE);
                assert_true(isnan(g.report.error)); /* later points do not replace it */
                overwrite(slice, 16, 16, k, intact);
            }
        assert_ok(solve_given_scales(&g, aw_solver_list(i)));
    }
    stage_close(&g);
}

/* Strategies with a memory work on whole grids only. One solver does all the calls: its memory
 * hides no error, and an error does not spoil the next result. */
static void a_nan_in_a_slice_is_an_error_on_a_whole_grid(void **state)
{
    stage g;
    stage_open(&g, *state, 1e-4);
    bench_run(&g.b, 0.2); /* all points again */
    g.problem = bench_grid_problem(&g.b, 1e-4);
    double *intact = bench_array(g.b.points * AW_RESULTS);
    for (int i = 0; aw_solver_list(i); ++i) {
        aw_solver *solver;
        assert_ok(aw_solver_new(aw_solver_list(i), &g.device, &solver));
        assert_ok(aw_solver_solve(solver, &g.problem, intact, NULL, &g.report));
        for (int k = 0; k < 3; ++k) { /* sigma, D, K_perp, each in another slice */
            const aw_slice *slice = &g.problem.history->slice[4 * k];
            const double before = overwrite(slice, 16, 16, k, NAN);
            assert_status(aw_solver_solve(solver, &g.problem, g.result, NULL, &g.report),
                          AW_ERR_NONFINITE);
            assert_true(isnan(g.report.error));
            overwrite(slice, 16, 16, k, before);
        }
        assert_ok(aw_solver_solve(solver, &g.problem, g.result, NULL, &g.report));
        /* two results, each within its tolerance */
        assert_close(bench_distance(g.result, intact, g.b.points, AW_PHI), 0.0, 0.0, 2e-4);
        assert_close(bench_distance(g.result, intact, g.b.points, AW_PSI), 0.0, 0.0, 2e-4);
        aw_solver_free(solver);
    }
    aw_free(intact);
    stage_close(&g);
}

static void a_nan_in_a_slice_is_an_error_of_the_scales(void **state)
{
    aw_solver *solver;
    aw_scales scales;
    stage g;
    stage_open(&g, *state, 1e-5);
    overwrite(&g.problem.history->slice[0], 16, 16, 0, NAN);
    assert_ok(aw_solver_new("adaptive", &g.device, &solver));
    assert_status(aw_solver_scales(solver, &g.problem, &scales), AW_ERR_NONFINITE);
    aw_solver_free(solver);
    stage_close(&g);
}

static void an_infinite_cell_is_an_error_from_every_strategy(void **state)
{
    for (int i = 0; aw_solver_list(i); ++i) {
        stage g;
        stage_open(&g, *state, 1e-5);
        overwrite(&g.problem.history->slice[3], 16, 16, 0, INFINITY);
        assert_status(solve_given_scales(&g, aw_solver_list(i)), AW_ERR_NONFINITE);
        stage_close(&g);
    }
}

static void a_field_point_that_is_not_finite_is_an_error(void **state)
{
    for (int i = 0; aw_solver_list(i); ++i) {
        stage g;
        stage_open(&g, *state, 1e-5);
        g.b.point[POINTS - 1].x = NAN;
        assert_status(solve_given_scales(&g, aw_solver_list(i)), AW_ERR_NONFINITE);
        stage_close(&g);
    }
}

/* The tolerance is a hundredth of the rounding of the potentials: no quadrature can reach it. Two
 * points suffice, for each takes all regions; they are neighbours, with columns = 2 one tile. */
static void check_impossible_tolerance(const aw_variant *variant, const char *strategy,
                                       size_t columns)
{
    aw_report report;
    aw_solver *solver;
    double I[2 * AW_RESULTS], error[2];
    stage g;
    stage_open(&g, variant, 1e-6);
    bench_run(&g.b, 0.2); /* all points again */
    g.problem.point = &g.b.point[16 * 7 + 5];
    g.problem.points = 2;
    assert_ok(solve_given_scales(&g, "two-phase"));
    g.problem.tolerance = 1e-17;
    g.problem.columns = columns;
    assert_ok(aw_solver_new(strategy, &g.device, &solver));
    assert_status(aw_solver_solve(solver, &g.problem, I, error, &report), AW_ERR_MAXEVAL);
    aw_solver_free(solver);
    assert_true(report.error > 1e-17);
    for (int p = 0; p < 2; ++p) {
        const double *before = &g.result[p * (int)AW_RESULTS];
        /* 16384 regions give an error far below that of the first result, 1e-6, which was within
         * its tolerance on the same inner nodes. */
        assert_true(error[p] > 1e-17 && error[p] < 1e-7);
        assert_close(I[p * (int)AW_RESULTS + AW_PHI], before[AW_PHI], 1e-5, 0.0);
        assert_close(I[p * (int)AW_RESULTS + AW_PSI], before[AW_PSI], 1e-5, 0.0);
    }
    stage_close(&g);
}

static void an_impossible_tolerance_is_maxeval_with_the_best_values(void **state)
{
    for (int i = 0; aw_solver_list(i); ++i) {
        check_impossible_tolerance(*state, aw_solver_list(i), 0);
        check_impossible_tolerance(*state, aw_solver_list(i), 2);
    }
}

static void a_beam_without_charge_has_no_scales(void **state)
{
    aw_solver *solver;
    aw_scales scales;
    slices s;
    const aw_orbit_piece piece = {.S = 0.0};
    const aw_variant *variant = *state;
    aw_device device = bench_device(variant->name, 0, 1.0);
    slices_new(&s, 1, 16, 16, 0, 1e-5, 1e-5);
    aw_history_view h = slices_view(&s, (aw_orbit_view){&piece, 1}, 0.02, 100.0, 100.0);
    aw_field_point p = point_on(&h.orbit, 0.0, 0.0, 100.0);
    aw_problem problem = {
        .history = &h, .point = &p, .points = 1, .centre = p, .half = 1e-4, .tolerance = 1e-6};
    assert_ok(aw_solver_new("adaptive", &device, &solver));
    assert_status(aw_solver_scales(solver, &problem, &scales), AW_ERR_NONFINITE);
    aw_solver_free(solver);
    aw_device_close(&device);
    slices_free(&s);
}

static void unknown_names_are_refused(void **state)
{
    const aw_device_params fast = {.threads = 1, .inner_density = 1.0};
    const aw_device_params odd = {.variant = "sse9", .threads = 1, .inner_density = 1.0};
    const aw_variant *variant = *state;
    aw_device device = bench_device(variant->name, 1, 1.0), none;
    aw_solver *solver;
    assert_status(aw_solver_new("magic", &device, &solver), AW_ERR_ARG);
    assert_null(solver);
    assert_status(aw_device_open("abacus", &fast, &none), AW_ERR_BACKEND);
    assert_null(none.ops);
    assert_status(aw_device_open("cpu", &odd, &none), AW_ERR_BACKEND);
    assert_null(none.ops);
    aw_device_close(&none); /* closing what was never opened is fine */
    aw_device_close(&device);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_nan_in_a_slice_is_an_error_from_every_strategy, variant),
        cmocka_unit_test_prestate(a_nan_in_a_slice_is_an_error_on_a_whole_grid, variant),
        cmocka_unit_test_prestate(a_nan_in_a_slice_is_an_error_of_the_scales, variant),
        cmocka_unit_test_prestate(an_infinite_cell_is_an_error_from_every_strategy, variant),
        cmocka_unit_test_prestate(a_field_point_that_is_not_finite_is_an_error, variant),
        cmocka_unit_test_prestate(an_impossible_tolerance_is_maxeval_with_the_best_values, variant),
        cmocka_unit_test_prestate(a_beam_without_charge_has_no_scales, variant),
        cmocka_unit_test_prestate(unknown_names_are_refused, variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
