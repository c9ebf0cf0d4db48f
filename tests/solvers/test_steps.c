/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices at unequal times: a rigid bunch that enters a bend has the same potentials with steps on a
 * ladder as with equal ones, and strategies agree on it. */
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"
#include "tests/slice_fixture.h"

#define TOLERANCE 1e-5
#define S_END 0.6 /* [m] */

enum { EVERY = 23 }; /* every 23rd point: coprime to the 32 of a row, so that all columns occur */

static void open_at_the_end(bench *b, double cdt, int ladder)
{
    bench_params params = bench_lcls();
    params.cdt = cdt;
    params.ladder = ladder;
    bench_open(b, &params);
    bench_run(b, S_END);
}

/* The bunch has moved through 0.6 m of a bend: the overtaking length is 0.9 m. In the frame of a
 * rigid bunch only the directions of the currents change, at the edge. */
static void a_ladder_of_steps_gives_the_potentials_of_equal_small_steps(void **state)
{
    const aw_variant *variant = *state;
    double *result[2];
    aw_problem problem;
    aw_report report;
    aw_device device = bench_device(variant->name, 0, 1.0);
    for (int ladder = 0; ladder < 2; ++ladder) {
        bench b;
        open_at_the_end(&b, ladder ? 0.02 : 0.005, ladder);
        result[ladder] = bench_array(b.points * AW_RESULTS);
        problem = bench_problem(&b, TOLERANCE, EVERY);
        assert_ok(bench_solve("two-phase", &device, &problem, result[ladder], &report));
        if (ladder) {
            /* both are within the tolerance of their scales */
            for (unsigned k = AW_PHI; k <= AW_PSI; k += AW_PSI - AW_PHI)
                assert_close(bench_distance(result[1], result[0], problem.points, k), 0.0, 0.0,
                             2.0 * TOLERANCE);
            for (unsigned k = AW_DPHI; k <= AW_DAX; ++k)
                assert_close(bench_distance(result[1], result[0], problem.points, k) *
                                 bench_largest(result[0], problem.points, k),
                             0.0, 0.0, 2.0 * TOLERANCE * problem.scales.rate);
        }
        bench_close(&b);
    }
    aw_device_close(&device);
    aw_free(result[0]);
    aw_free(result[1]);
}

/* Against a reference of a tolerance smaller by 1000, on the whole grid. */
static void strategies_agree_on_unequal_steps(void **state)
{
    static const char *const strategy[] = {"two-phase", "predictive", "heuristic", "projection"};
    const aw_variant *variant = *state;
    bench b;
    aw_report report;
    open_at_the_end(&b, 0.02, 1);
    double *got = bench_array(b.points * AW_RESULTS);
    aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    double *want = bench_reference(&problem, EVERY);
    aw_device device = bench_device(variant->name, 0, 1.0);
    for (size_t i = 0; i < sizeof strategy / sizeof strategy[0]; ++i) {
        assert_ok(bench_solve(strategy[i], &device, &problem, got, &report));
        assert_true(bench_error(&problem, EVERY, want, got, AW_PHI) <= TOLERANCE);
        assert_true(bench_error(&problem, EVERY, want, got, AW_PSI) <= TOLERANCE);
        /* rates: within 3 tolerances of their scale, as AW_RATE_TOLERANCES has it */
        for (unsigned k = AW_DPHI; k <= AW_DAX; ++k)
            assert_true(bench_error(&problem, EVERY, want, got, k) *
                            bench_largest(got, problem.points, k) <=
                        3.0 * TOLERANCE * problem.scales.rate);
    }
    aw_device_close(&device);
    aw_free(got);
    aw_free(want);
    bench_close(&b);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_ladder_of_steps_gives_the_potentials_of_equal_small_steps,
                                  variant),
        cmocka_unit_test_prestate(strategies_agree_on_unequal_steps, variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
