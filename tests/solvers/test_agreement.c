/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strategies agree within the tolerance with a reference of 1000 times smaller tolerance and four
 * times denser inner nodes, for a deposited bunch that enters a bend. */
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"
#include "tests/slice_fixture.h"

#define TOLERANCE 1e-6
#define DENSITY 1.0 /* inner nodes per cell, the default of a run */

enum { EVERY = 23 }; /* every 23rd point: coprime to the 32 of a row, so that all columns occur */

static void check_agreement(const aw_variant *variant, int quiet, const char *strategy)
{
    bench_params params = bench_lcls();
    aw_report report;
    bench b;
    params.quiet = quiet;
    bench_open(&b, &params);
    bench_run(&b, 0.4);
    double *got = bench_array(b.points * AW_RESULTS), *want = bench_array(b.points * AW_RESULTS);
    aw_device device = bench_device(variant->name, 0, DENSITY);
    /* The reference uses the fastest variant; the kernels' tests check that variants agree. */
    aw_device dense = bench_device(NULL, 0, 4.0 * DENSITY);
    aw_problem problem = bench_problem(&b, TOLERANCE, EVERY);
    assert_ok(bench_solve(strategy, &device, &problem, got, &report));
    assert_true(report.error <= TOLERANCE);
    problem.tolerance = 1e-3 * TOLERANCE;
    assert_ok(bench_solve("adaptive", &dense, &problem, want, &report));
    assert_close(bench_distance(got, want, problem.points, AW_PHI), 0.0, 0.0, TOLERANCE);
    assert_close(bench_distance(got, want, problem.points, AW_PSI), 0.0, 0.0, TOLERANCE);
    /* The rates within the tolerance of their own scale, which is 300 times the largest force. */
    for (unsigned k = AW_DPHI; k <= AW_DAX; ++k)
        assert_close(bench_distance(got, want, problem.points, k) *
                         bench_largest(want, problem.points, k),
                     0.0, 0.0, TOLERANCE * problem.scales.rate);
    aw_device_close(&device);
    aw_device_close(&dense);
    aw_free(got);
    aw_free(want);
    bench_close(&b);
}

static void two_phase_meets_the_tolerance_on_a_quiet_beam(void **state)
{
    check_agreement(*state, 1, "two-phase");
}
static void two_phase_meets_the_tolerance_on_a_random_beam(void **state)
{
    check_agreement(*state, 0, "two-phase");
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(two_phase_meets_the_tolerance_on_a_quiet_beam, variant),
        cmocka_unit_test_prestate(two_phase_meets_the_tolerance_on_a_random_beam, variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
