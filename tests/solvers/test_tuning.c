/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tuning of the CPU device changes the potentials by rounding only; bad parameters are refused. */
#include <string.h>

#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"
#include "tests/slice_fixture.h"

enum { N = 16, STEPS = 3 };

static aw_device device_of(const aw_variant *variant, const aw_tuning *tuning)
{
    const aw_device_params params = {
        .variant = variant->name, .threads = 2, .inner_density = 1.0, .tuning = *tuning};
    aw_device device;
    assert_ok(aw_device_open("cpu", &params, &device));
    return device;
}

/* Potentials of the whole grid; free with aw_free. */
static double *sweep(bench *b, const aw_variant *variant, const aw_tuning *tuning, uint64_t *nodes)
{
    aw_report report;
    double *result = bench_array(b->points * AW_RESULTS);
    aw_device device = device_of(variant, tuning);
    aw_problem problem = bench_problem(b, 1e-6, 1);
    problem.columns = N;
    assert_ok(bench_solve("two-phase", &device, &problem, result, &report));
    *nodes = report.work.nodes;
    aw_device_close(&device);
    return result;
}

static void check_sweeps(const aw_variant *variant, int single, const aw_tuning *tried, size_t n)
{
    const aw_tuning standard = {.sweep_pieces = 1};
    bench_params params = bench_lcls();
    uint64_t nodes, fewest;
    bench b;
    params.ns = params.nx = N;
    params.particles = 5000;
    params.single = single;
    bench_open(&b, &params);
    bench_run(&b, 0.4);
    double *want = sweep(&b, variant, &standard, &fewest);
    for (size_t i = 0; i < n; ++i) {
        double *got = sweep(&b, variant, &tried[i], &nodes);
        /* The nodes are the same; slices are interpolated in time before or after the sum over a
         * node's cells, which changes the rounding in each of 1e4 terms: 1e-14 where they do not
         * cancel, and psi is never a difference. The largest measured is 3e-15, of the rates. No
         * region's error is within rounding of its limit: of some 1e5 regions, one is in one case
         * in 1e6. */
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            assert_close(bench_distance(got, want, b.points, k), 0.0, 0.0, 1e-13);
        /* The tuning took effect: each chunk adds nodes, and separate slices round differently. */
        if (tried[i].sweep_pieces != 1) assert_true(nodes > fewest);
        if (tried[i].blend_points > AW_GROUP_MAX)
            assert_memory_not_equal(got, want, b.points * AW_RESULTS * sizeof *got);
        aw_free(got);
    }
    aw_free(want);
    bench_close(&b);
}

static void tuned_sweeps_differ_by_rounding_only(void **state)
{
    const aw_tuning tried[] = {{.sweep_group = 16},
                               {.sweep_group = 100},
                               {.sweep_pieces = 128},
                               {.blend_points = 1},
                               {.blend_points = AW_GROUP_MAX + 1},
                               {.sweep_group = 33, .sweep_pieces = 7, .blend_points = 20}};
    check_sweeps(*state, 0, tried, 6);
    check_sweeps(*state, 1, &tried[3], 3);
}

/* Potentials after a few steps of a solver with all tiles in one class; free with aw_free. */
static double *clusters(const aw_variant *variant, const char *strategy, int cluster_tiles)
{
    const aw_tuning tuning = {.cluster_tiles = cluster_tiles};
    aw_forecast forecast = aw_forecast_default();
    bench_params params = bench_lcls();
    aw_solver *solver = NULL;
    aw_report report;
    bench b;
    params.ns = params.nx = N;
    params.particles = 5000;
    forecast.classes = 1;
    bench_open(&b, &params);
    double *result = bench_array(b.points * AW_RESULTS);
    aw_device device = device_of(variant, &tuning);
    assert_ok(aw_solver_new(strategy, &device, &solver));
    aw_solver_forecast(solver, &forecast);
    for (int i = 0; i < STEPS; ++i) {
        bench_run(&b, 0.3 + 0.02 * i);
        aw_problem problem = bench_problem(&b, 1e-6, 1);
        problem.columns = N;
        assert_ok(aw_solver_solve(solver, &problem, result, NULL, &report));
    }
    assert_int_equal(aw_device_cluster_tiles(&device), cluster_tiles);
    aw_solver_free(solver);
    aw_device_close(&device);
    bench_close(&b);
    return result;
}

static void cluster_sizes_do_not_change_a_bit(void **state)
{
    const aw_variant *variant = *state;
    const char *const strategy[] = {"heuristic", "predictive"};
    for (size_t i = 0; i < 2; ++i) {
        /* 16 tiles: one cluster, or several with a smaller last one. A cluster interpolates slices
         * in time for other points then, but each interpolated value is the same. */
        double *want = clusters(variant, strategy[i], AW_CLUSTER_TILES);
        for (int tiles = 5; tiles <= 9; tiles += 4) {
            double *got = clusters(variant, strategy[i], tiles);
            assert_memory_equal(want, got, (size_t)N * N * AW_RESULTS * sizeof *want);
            aw_free(got);
        }
        aw_free(want);
    }
}

static void zeroed_tuning_parameters_are_the_defaults(void **state)
{
    aw_tuning out, again;
    (void)state;
    assert_ok(aw_tuning_resolve(NULL, &out));
    for (int i = 0; aw_tuning_list(i); ++i) {
        const aw_tuning_field *field = aw_tuning_list(i);
        assert_true(field->least <= field->initial && field->initial <= field->most);
        assert_int_equal(aw_tuning_get(&out, field), field->initial);
        assert_ptr_equal(aw_tuning_find(field->name), field);
    }
    assert_null(aw_tuning_find("sweep"));
    assert_ok(aw_tuning_resolve(&out, &again)); /* defaults are within their ranges */
    assert_memory_equal(&out, &again, sizeof out);
}

static void tuning_parameters_out_of_range_are_refused(void **state)
{
    const aw_variant *variant = *state;
    for (int i = 0; aw_tuning_list(i); ++i) {
        const aw_tuning_field *field = aw_tuning_list(i);
        const int value[] = {field->least, field->most, field->least - 1, field->most + 1, -1};
        for (int j = 0; j < 5; ++j) {
            aw_device_params params = {.variant = variant->name, .threads = 1};
            aw_device device;
            aw_tuning_set(&params.tuning, field, value[j]);
            const int good = j < 2 || value[j] == 0; /* zero: the default */
            assert_status(aw_device_open("cpu", &params, &device), good ? AW_OK : AW_ERR_ARG);
            aw_device_close(&device);
        }
    }
}

static void a_device_describes_its_tuning(void **state)
{
    const aw_variant *variant = *state;
    aw_tuning tuning = {0};
    aw_device device = device_of(variant, &tuning);
    assert_null(strstr(device.ops->describe(device.state), "sweep"));
    aw_device_close(&device);
    tuning = (aw_tuning){
        .sweep_group = 100, .sweep_pieces = 128, .blend_points = 257, .cluster_tiles = 33};
    device = device_of(variant, &tuning);
    assert_non_null(strstr(device.ops->describe(device.state),
                           ", sweep_group 100, sweep_pieces 128, blend_points 257, "
                           "cluster_tiles 33"));
    aw_device_close(&device);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(tuned_sweeps_differ_by_rounding_only, variant),
        cmocka_unit_test_prestate(cluster_sizes_do_not_change_a_bit, variant),
        cmocka_unit_test(zeroed_tuning_parameters_are_the_defaults),
        cmocka_unit_test_prestate(tuning_parameters_out_of_range_are_refused, variant),
        cmocka_unit_test_prestate(a_device_describes_its_tuning, variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
