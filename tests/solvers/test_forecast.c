/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strategies with a memory on whole grids over some steps: results are within the tolerance
 * whatever the forecast. */
#include <string.h>

#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"
#include "tests/slice_fixture.h"

#define TOLERANCE 1e-6

enum {
    EVERY = 23, /* every 23rd point is compared: coprime to the rows, so that all columns occur */
    STEPS = 4,
    COMPARED = 2, /* the last steps, which are compared with the reference */
    ENTRANTS_MAX = 24
};

/* A strategy and how it forecasts. */
typedef struct entrant {
    const char *name; /* for messages */
    const char *strategy;
    aw_forecast forecast;
    double scale; /* factor of the scales before the compared steps; not 1: as of another run */
    int other;    /* 1: the solver has solved for another beam before */
    aw_solver *solver;
} entrant;

typedef struct field {
    bench b;
    aw_device device;
    entrant entrant[ENTRANTS_MAX];
    int n;
} field;

static aw_forecast *enter(field *f, const char *name, const char *strategy)
{
    entrant *e = &f->entrant[f->n++];
    assert_true(f->n <= ENTRANTS_MAX);
    *e = (entrant){name, strategy, aw_forecast_default(), 1.0, 0, NULL};
    return &e->forecast;
}

static void enter_few(field *f)
{
    enter(f, "heuristic", "heuristic");
    enter(f, "learned", "predictive");
    enter(f, "random", "predictive")->source = AW_FORECAST_RANDOM;
}

static void enter_all(field *f)
{
    static const char *const name[3][2] = {{"even, most", "even, mean"},
                                           {"uniform, most", "uniform, mean"},
                                           {"adaptive, most", "adaptive, mean"}};
    aw_forecast *how;
    enter_few(f);
    enter(f, "off", "predictive")->source = AW_FORECAST_OFF;
    for (int i = 1; i < 6; ++i) { /* 0 is the default */
        how = enter(f, name[i / 2][i % 2], "predictive");
        how->conversion = (aw_conversion)(i / 2);
        how->merge = (aw_merge)(i % 2);
    }
    how = enter(f, "one class, five neighbours", "predictive");
    how->classes = 1;
    how->neighbours = 5;
    enter(f, "a class for every tile", "predictive")->classes = 1 << 20;
    enter(f, "heuristic, off", "heuristic")->source = AW_FORECAST_OFF;
    how = enter(f, "long regions", "predictive");
    how->least = 0.1; /* cells joined by tens: with twenties rules skip noise (docs/theory.md) */
    how->budget = 30.0;
    enter(f, "another beam before", "predictive");
    f->entrant[f->n - 1].other = 1;
    enter(f, "heuristic, another beam before", "heuristic");
    f->entrant[f->n - 1].other = 1;
    enter(f, "smaller scales before", "predictive");
    f->entrant[f->n - 1].scale = 0.1;
    enter(f, "larger scales before", "predictive");
    f->entrant[f->n - 1].scale = 100.0;
}

static aw_status solve(entrant *e, const aw_problem *problem, double scale, double *result)
{
    aw_problem scaled = *problem;
    aw_report report;
    scaled.scales = (aw_scales){scale * problem->scales.phi, scale * problem->scales.psi,
                                scale * problem->scales.rate};
    const aw_status status = aw_solver_solve(e->solver, &scaled, result, NULL, &report);
    if (status != AW_OK) print_error("%s: fails\n", e->name);
    return status;
}

/* Solve for another beam, a third as long and in a sharper bend, with the entrants that want one.
 * Its grid has another shape, as in another run. */
static void solve_another_beam(field *f)
{
    bench_params params = f->b.params;
    bench other;
    params.sigma_s /= 3.0;
    params.radius = 3.0;
    params.ns += 7;
    bench_open(&other, &params);
    double *result = bench_array(other.points * AW_RESULTS);
    for (int step = 0; step < 3; ++step) {
        bench_run(&other, 0.1 + 0.02 * step);
        aw_problem problem = bench_grid_problem(&other, TOLERANCE);
        for (int i = 0; i < f->n; ++i)
            if (f->entrant[i].other) assert_ok(solve(&f->entrant[i], &problem, 1.0, result));
    }
    aw_free(result);
    bench_close(&other);
}

static void field_open(field *f, const aw_variant *variant, int quiet)
{
    bench_params params = bench_lcls();
    params.quiet = quiet;
    *f = (field){.n = 0};
    bench_open(&f->b, &params);
    f->device = bench_device(variant->name, 0, 1.0);
    if (quiet)
        enter_all(f);
    else
        enter_few(f);
    for (int i = 0; i < f->n; ++i) {
        entrant *e = &f->entrant[i];
        assert_ok(aw_solver_new(e->strategy, &f->device, &e->solver));
        aw_solver_forecast(e->solver, &e->forecast);
    }
    solve_another_beam(f);
}

static void field_close(field *f)
{
    for (int i = 0; i < f->n; ++i) aw_solver_free(f->entrant[i].solver);
    aw_device_close(&f->device);
    bench_close(&f->b);
}

static void assert_accurate(const entrant *e, const aw_problem *problem, const double *reference,
                            const double *result)
{
    const double phi = bench_error(problem, EVERY, reference, result, AW_PHI);
    const double psi = bench_error(problem, EVERY, reference, result, AW_PSI);
    if (!(phi <= TOLERANCE) || !(psi <= TOLERANCE)) {
        print_error("%s: phi off by %.3g, psi by %.3g\n", e->name, phi, psi);
        fail();
    }
}

static void check_forecasts(const aw_variant *variant, int quiet)
{
    field f;
    field_open(&f, variant, quiet);
    double *result = bench_array(f.b.points * AW_RESULTS);
    for (int step = 0; step < STEPS; ++step) {
        const int compared = step >= STEPS - COMPARED;
        bench_run(&f.b, 0.02 * (step + 1));
        aw_problem problem = bench_grid_problem(&f.b, TOLERANCE);
        double *reference = compared ? bench_reference(&problem, EVERY) : NULL;
        for (int i = 0; i < f.n; ++i) {
            entrant *e = &f.entrant[i];
            assert_ok(solve(e, &problem, compared ? 1.0 : e->scale, result));
            if (compared) assert_accurate(e, &problem, reference, result);
        }
        aw_free(reference);
    }
    aw_free(result);
    field_close(&f);
}

static void any_forecast_meets_the_tolerance_on_a_quiet_beam(void **state)
{
    check_forecasts(*state, 1);
}
static void any_forecast_meets_the_tolerance_on_a_random_beam(void **state)
{
    check_forecasts(*state, 0);
}

/* Let two solvers learn the same; then one may join cells of the starting partition and the other
 * may not. @return 1: their results at S are identical */
static int joins_nothing(const aw_variant *variant, double learned, double S)
{
    const bench_params params = bench_lcls();
    const double at[2] = {learned, S};
    aw_forecast how = aw_forecast_default();
    aw_device device = bench_device(variant->name, 0, 1.0);
    aw_solver *solver[2];
    double *result[2];
    bench b;
    bench_open(&b, &params);
    const size_t n = b.points * AW_RESULTS;
    for (int i = 0; i < 2; ++i) {
        assert_ok(aw_solver_new("predictive", &device, &solver[i]));
        result[i] = bench_array(n);
    }
    for (int step = 0; step < 2; ++step) {
        bench_run(&b, at[step]);
        aw_problem problem = bench_grid_problem(&b, TOLERANCE);
        how.least = 1.0;
        if (step == 1) aw_solver_forecast(solver[1], &how);
        for (int i = 0; i < 2; ++i) {
            aw_report report;
            assert_ok(aw_solver_solve(solver[i], &problem, result[i], NULL, &report));
        }
    }
    const int same = memcmp(result[0], result[1], n * sizeof *result[0]) == 0;
    for (int i = 0; i < 2; ++i) {
        aw_solver_free(solver[i]);
        aw_free(result[i]);
    }
    aw_device_close(&device);
    bench_close(&b);
    return same;
}

/* In the LCLS bend at 64 x 64 with a random start, psi was off by 1.19 tolerances 1.5 m behind the
 * position where the forecast had been learned. */
static void a_forecast_learned_long_ago_joins_no_cells(void **state)
{
    assert_false(joins_nothing(*state, 0.4, 0.42));
    assert_true(joins_nothing(*state, 0.4, 0.6));
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(any_forecast_meets_the_tolerance_on_a_quiet_beam, variant),
        cmocka_unit_test_prestate(a_forecast_learned_long_ago_joins_no_cells, variant),
        cmocka_unit_test_prestate(any_forecast_meets_the_tolerance_on_a_random_beam, variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
