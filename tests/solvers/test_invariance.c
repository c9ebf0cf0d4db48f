/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potentials do not depend on the number of threads, on how elements are split, and hardly on
 * the precision of the cells. */
#include <string.h>

#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"
#include "tests/slice_fixture.h"

static bench_params small_bench(void)
{
    bench_params p = bench_lcls();
    p.ns = p.nx = 16;
    p.particles = 5000;
    return p;
}

enum { EVERY = 5, POINTS = (16 * 16 + EVERY - 1) / EVERY };

/* Potentials of a bench at S = 0.4 m at every fifth point; free with aw_free. */
static double *solve(const bench_params *params, const char *strategy, const char *variant,
                     int threads, double tolerance)
{
    aw_report report;
    bench b;
    bench_open(&b, params);
    bench_run(&b, 0.4);
    double *result = bench_array(POINTS * AW_RESULTS);
    aw_device device = bench_device(variant, threads, 1.0);
    aw_problem problem = bench_problem(&b, tolerance, EVERY);
    assert_int_equal(problem.points, POINTS);
    assert_ok(bench_solve(strategy, &device, &problem, result, &report));
    aw_device_close(&device);
    bench_close(&b);
    return result;
}

static void results_are_bit_identical_for_any_number_of_threads(void **state)
{
    const aw_variant *variant = *state;
    const bench_params params = small_bench();
    for (int i = 0; aw_solver_list(i); ++i) {
        double *one = solve(&params, aw_solver_list(i), variant->name, 1, 1e-6);
        for (int threads = 2; threads <= 3; ++threads) {
            double *more = solve(&params, aw_solver_list(i), variant->name, threads, 1e-6);
            assert_memory_equal(one, more, POINTS * AW_RESULTS * sizeof *one);
            aw_free(more);
        }
        aw_free(one);
    }
}

static void splitting_a_bend_does_not_change_the_potentials(void **state)
{
    const aw_variant *variant = *state;
    const bench_params whole = small_bench();
    bench_params pieces = whole;
    const double lengths[] = {0.137, 1.9, 2.963}; /* 5 m; one cut lies before the bunch */
    memcpy(pieces.piece, lengths, sizeof lengths);
    double *a = solve(&whole, "two-phase", variant->name, 0, 1e-6);
    double *b = solve(&pieces, "two-phase", variant->name, 0, 1e-6);
    /* The pieces are merged to one arc whose curvature differs by rounding, 1e-16: that moves the
     * bunch at 0.4 m by 1e-17 m, a part in 1e13 of a cell. */
    for (unsigned k = 0; k <= AW_PSI; ++k)
        assert_close(bench_distance(a, b, POINTS, k), 0.0, 0.0, 1e-10);
    aw_free(a);
    aw_free(b);
}

static void single_precision_history_keeps_psi_to_1e_5(void **state)
{
    const aw_variant *variant = *state;
    const bench_params exact = small_bench();
    bench_params single = exact;
    single.single = 1;
    double *a = solve(&exact, "two-phase", variant->name, 0, 1e-7);
    double *b = solve(&single, "two-phase", variant->name, 0, 1e-7);
    /* Cells are rounded to 6e-8. psi is computed from sigma and D, never as a difference, but in a
     * bend its terms are up to 1e2 times their sum: 1e-5, which the forces need (1e-5 of phi would
     * be all of psi). */
    assert_close(bench_distance(b, a, POINTS, AW_PHI), 0.0, 0.0, 1e-6);
    assert_close(bench_distance(b, a, POINTS, AW_PSI), 0.0, 0.0, 1e-5);
    aw_free(a);
    aw_free(b);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(results_are_bit_identical_for_any_number_of_threads, variant),
        cmocka_unit_test_prestate(splitting_a_bend_does_not_change_the_potentials, variant),
        cmocka_unit_test_prestate(single_precision_history_keeps_psi_to_1e_5, variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
