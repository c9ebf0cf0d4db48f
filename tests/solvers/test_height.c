/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strategies agree within the tolerance for a bunch whose height grows, from a bend's entrance to
 * its steady state. */
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"
#include "tests/slice_fixture.h"

#define TOLERANCE 1e-4

enum { EVERY = 37, STEPS = 2 };

static void check_errors(const aw_problem *problem, const double *got, const char *strategy)
{
    double *want = bench_reference(problem, EVERY);
    double e[AW_RESULTS];
    for (unsigned k = 0; k < AW_RESULTS; ++k) e[k] = bench_error(problem, EVERY, want, got, k);
    printf("%s: phi %.2e psi %.2e rates %.2e %.2e %.2e\n", strategy, e[AW_PHI], e[AW_PSI],
           e[AW_DPHI] * bench_largest(got, problem->points, AW_DPHI) / problem->scales.rate,
           e[AW_DAZ] * bench_largest(got, problem->points, AW_DAZ) / problem->scales.rate,
           e[AW_DAX] * bench_largest(got, problem->points, AW_DAX) / problem->scales.rate);
    aw_free(want);
}

static void check(const aw_variant *variant, const char *strategy, double height, double S)
{
    bench_params params = bench_lcls();
    aw_solver *solver = NULL;
    aw_report report;
    bench b;
    params.quiet = 1;
    params.ns = 48;
    params.nx = 40;
    params.height2 = height * height;
    bench_open(&b, &params);
    bench_run(&b, S - STEPS * params.cdt);
    double *got = bench_array(b.points * AW_RESULTS);
    aw_device device = bench_device(variant->name, 0, 1.0);
    assert_ok(aw_solver_new(strategy, &device, &solver));
    for (int step = 1; step <= STEPS; ++step) {
        bench_run(&b, S + params.cdt * (step - STEPS));
        aw_problem problem = bench_grid_problem(&b, TOLERANCE);
        assert_ok(aw_solver_solve(solver, &problem, got, NULL, &report));
        printf("fell back %d sampled %.2e nodes %zu %zu seconds? \n", report.fell_back, report.sampled, report.common_nodes[0], report.common_nodes[1]);
        if (step == STEPS) check_errors(&problem, got, strategy);
    }
    aw_solver_free(solver);
    aw_device_close(&device);
    aw_free(got);
    bench_close(&b);
}

static void strategies_agree(void **state)
{
    static const char *const strategy[] = {"two-phase", "heuristic", "predictive", "projection"};
    static const double S[] = {0.1, 0.4, 1.4}, height[] = {5e-6, 50e-6};
    for (size_t h = 0; h < 2; ++h)
        for (size_t i = 0; i < 3; ++i)
            for (size_t k = 0; k < 4; ++k) {
                printf("height %g S %g\n", height[h], S[i]);
                check(*state, strategy[k], height[h], S[i]);
            }
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(strategies_agree, variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
