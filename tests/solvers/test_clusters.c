/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How strategies go about whole grids: the same for any number of threads, every region that was
 * used is recorded, and partitions do not grow from step to step. */
#include <omp.h>
#include <string.h>

#include "quadrature/partition.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"
#include "tests/slice_fixture.h"

#define TOLERANCE 1e-6

/* The scalar variant takes 20 times as long a point. */
static int is_fastest(const aw_variant *variant) { return variant == aw_variant_find(NULL); }

static bench_params params_for(const aw_variant *variant)
{
    bench_params p = bench_lcls();
    if (!is_fastest(variant)) {
        p.ns = p.nx = 12;
        p.particles = 5000;
    }
    return p;
}

/* ------------------------------------------------------------------------------------- threads */

enum { THREAD_STEPS = 4 };

/* Four steps with so many threads of the unit and of OpenMP: result[THREAD_STEPS][points]. */
static void few_steps(const bench_params *params, const char *variant, const char *strategy,
                      int threads, double *result)
{
    aw_solver *solver = NULL;
    aw_report report;
    bench b;
    omp_set_num_threads(threads);
    bench_open(&b, params);
    aw_device device = bench_device(variant, threads, 1.0);
    assert_ok(aw_solver_new(strategy, &device, &solver));
    for (int step = 0; step < THREAD_STEPS; ++step) {
        bench_run(&b, 0.2 + 0.02 * step);
        const aw_problem problem = bench_grid_problem(&b, TOLERANCE);
        assert_ok(aw_solver_solve(solver, &problem, result, NULL, &report));
        result += b.points * AW_RESULTS;
    }
    aw_solver_free(solver);
    aw_device_close(&device);
    bench_close(&b);
}

static void several_steps_are_bit_identical_for_any_number_of_threads(void **state)
{
    static const char *const strategy[] = {"heuristic", "predictive"};
    const aw_variant *variant = *state;
    const int before = omp_get_max_threads(), most = is_fastest(variant) ? 3 : 2;
    bench_params p = params_for(variant);
    p.nx -= 5; /* an odd number of rows, and tiles that are not full */
    p.ns -= 6;
    const size_t n = THREAD_STEPS * (size_t)p.ns * (size_t)p.nx * AW_RESULTS;
    double *one = bench_array(n), *more = bench_array(n);
    for (int i = 0; i < 2; ++i) {
        few_steps(&p, variant->name, strategy[i], 1, one);
        for (int threads = 2; threads <= most; ++threads) {
            few_steps(&p, variant->name, strategy[i], threads, more);
            assert_memory_equal(one, more, n * sizeof *one);
        }
    }
    omp_set_num_threads(before);
    aw_free(one);
    aw_free(more);
}

/* ------------------------------------------------------------------------- recorded regions */

/* A solve with its record. */
typedef struct recorded {
    aw_patterns record;
    aw_report report;
} recorded;

static void solve_and_record(aw_solver *solver, const aw_problem *problem, recorded *out)
{
    double *result = bench_array(problem->points * AW_RESULTS);
    aw_problem mine = *problem;
    mine.record = &out->record;
    assert_ok(aw_solver_solve(solver, &mine, result, NULL, &out->report));
    assert_int_equal(out->record.rows, problem->points);
    aw_free(result);
}

/* The same with a solver that has seen nothing. */
static void record_first(const char *strategy, aw_device *device, const aw_problem *problem,
                         recorded *out)
{
    aw_solver *solver = NULL;
    assert_ok(aw_solver_new(strategy, device, &solver));
    solve_and_record(solver, problem, out);
    aw_solver_free(solver);
}

static double row_sum(const aw_patterns *p, size_t row)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->cells; ++i) sum += (double)p->need[row * p->cells + i];
    return sum;
}

/* Regions in cell c of all points. */
static double cell_sum(const aw_patterns *p, size_t c)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->rows; ++i) sum += (double)p->need[i * p->cells + c];
    return sum;
}

static double total_of(const aw_patterns *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->rows; ++i) sum += row_sum(p, i);
    return sum;
}

/* Regions with which all points begin. */
static double starting_regions(const aw_problem *problem)
{
    aw_partition *partition = NULL;
    size_t n = 0;
    assert_ok(aw_partition_new(&partition));
    assert_ok(aw_partition_make(partition, problem->history, &problem->centre, problem->half));
    aw_region *region = aw_alloc(partition->n, sizeof *region);
    assert_non_null(region);
    for (size_t i = 0; i < problem->points; ++i)
        n += aw_partition_regions(partition, problem->history, &problem->point[i], 0, region);
    aw_free(region);
    aw_partition_free(partition);
    return (double)n;
}

/* Parts of a region that lies in several cells are floats; a row has some hundred. */
#define FLOATS 1e-3

static void strategies_that_halve_record_every_region(void **state)
{
    static const char *const strategy[2] = {"adaptive", "two-phase"};
    const aw_variant *variant = *state;
    const bench_params params = params_for(variant);
    recorded r[2] = {{.report = {.error = 0.0}}, {.report = {.error = 0.0}}};
    double off = 0.0;
    bench b;
    bench_open(&b, &params);
    bench_run(&b, 0.2);
    aw_device device = bench_device(variant->name, 0, 1.0);
    const aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    const double start = starting_regions(&problem);
    for (int i = 0; i < 2; ++i) {
        double most = 0.0;
        record_first(strategy[i], &device, &problem, &r[i]);
        for (size_t p = 0; p < r[i].record.rows; ++p) {
            const double n = row_sum(&r[i].record, p);
            assert_close(n, rint(n), 0.0, FLOATS);
            most = fmax(most, n);
        }
        assert_close(most, (double)r[i].report.max_regions, 0.0, FLOATS);
        /* The rule is applied to every region to begin with, and to the two halves of each that is
         * cut, which is then one more. */
        const double halvings = ((double)r[i].report.work.regions - start) / 2.0;
        assert_close(total_of(&r[i].record), start + halvings, 1e-6, 0.0);
    }
    /* Breadth first cuts what a queue would not have come to: 3 % more here, and in cells where the
     * queue cuts too; twice that is allowed. */
    const double all = total_of(&r[0].record);
    for (size_t c = 0; c < r[0].record.cells; ++c)
        off += fabs(cell_sum(&r[1].record, c) - cell_sum(&r[0].record, c));
    assert_close(total_of(&r[1].record), all, 0.06, 0.0);
    assert_close(off, 0.0, 0.0, 0.06 * all);
    for (int i = 0; i < 2; ++i) aw_patterns_free(&r[i].record);
    aw_device_close(&device);
    bench_close(&b);
}

/* Nothing is left over at this tolerance: a point uses the regions of its tile's partition, but for
 * those in which all of the tile's circles miss the beam. */
static void clusters_record_their_partitions(void **state)
{
    const aw_variant *variant = *state;
    const bench_params params = params_for(variant);
    bench b;
    bench_open(&b, &params);
    bench_run(&b, 0.2);
    aw_device device = bench_device(variant->name, 0, 1.0);
    const aw_problem problem = bench_grid_problem(&b, 1e-2);
    aw_forecast how = aw_forecast_default();
    aw_solver *solver = NULL;
    recorded r = {.report = {.error = 0.0}};
    how.conversion = AW_CONVERT_UNIFORM; /* whole numbers in every cell */
    assert_ok(aw_solver_new("predictive", &device, &solver));
    aw_solver_forecast(solver, &how);
    solve_and_record(solver, &problem, &r);
    assert_int_equal(r.report.leftovers, 0);
    const aw_patterns *p = &r.record;
    for (size_t i = 0; i < p->rows * p->cells; ++i) assert_true(p->need[i] == rintf(p->need[i]));
    for (size_t i = 0; i < p->rows; ++i) {
        const size_t column = i % problem.columns;
        if (column % AW_TILE != 0) /* as the point before it, of the same tile */
            assert_memory_equal(&p->need[i * p->cells], &p->need[(i - 1) * p->cells],
                                p->cells * sizeof(float));
    }
    /* Classes leave out what all of their tiles miss; single tiles miss a few of the rest. */
    const double used = (double)r.report.work.regions;
    assert_true(total_of(p) < used && total_of(p) >= 0.98 * used);
    aw_solver_free(solver);
    aw_patterns_free(&r.record);
    aw_device_close(&device);
    bench_close(&b);
}

/* A partition that 16 points and more share has more regions than each of them would need. */
static void clusters_record_more_than_a_queue_but_not_twice_as_many(void **state)
{
    static const char *const strategy[3] = {"adaptive", "heuristic", "predictive"};
    const aw_variant *variant = *state;
    const bench_params params = params_for(variant);
    recorded r[3] = {
        {.report = {.error = 0.0}}, {.report = {.error = 0.0}}, {.report = {.error = 0.0}}};
    aw_solver *solver[3];
    bench b;
    bench_open(&b, &params);
    aw_device device = bench_device(variant->name, 0, 1.0);
    for (int i = 0; i < 3; ++i) assert_ok(aw_solver_new(strategy[i], &device, &solver[i]));
    for (int step = 0; step < 3; ++step) {
        bench_run(&b, 0.2 + 0.02 * step);
        const aw_problem problem = bench_grid_problem(&b, TOLERANCE);
        for (int i = step < 2; i < 3; ++i) solve_and_record(solver[i], &problem, &r[i]);
    }
    for (int i = 1; i < 3; ++i) {
        const double more = total_of(&r[i].record) / total_of(&r[0].record);
        assert_true(more >= 1.0 && more <= 2.0); /* seen: 1.5 and 1.14 */
        assert_true(total_of(&r[i].record) <= (double)r[i].report.work.regions);
        for (size_t k = 0; k < r[i].record.rows * r[i].record.cells; ++k)
            assert_true(r[i].record.need[k] >= 0.0F);
    }
    for (int i = 0; i < 3; ++i) {
        aw_solver_free(solver[i]);
        aw_patterns_free(&r[i].record);
    }
    aw_device_close(&device);
    bench_close(&b);
}

/* ---------------------------------------------------------------------------------- no growth */

enum { LEARNING = 3, STEADY = 12 };

static double mean_of(const double *number, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += number[i];
    return sum / n;
}

/* A union of the partitions of a class's points would keep for ever what one of them once needed;
 * numbers of regions that are learned anew from the errors seen do not. */
static void partitions_do_not_grow_in_steady_state(void **state)
{
    const aw_variant *variant = *state;
    const bench_params params = params_for(variant);
    aw_solver *solver[3];
    double regions[3][LEARNING + STEADY];
    bench b;
    bench_open(&b, &params);
    double *result = bench_array(b.points * AW_RESULTS);
    aw_device device = bench_device(variant->name, 0, 1.0);
    for (int i = 0; i < 3; ++i) {
        aw_forecast how = aw_forecast_default();
        how.conversion = (aw_conversion)i;
        assert_ok(aw_solver_new("predictive", &device, &solver[i]));
        aw_solver_forecast(solver[i], &how);
    }
    for (int step = 0; step < LEARNING + STEADY; ++step) {
        bench_run(&b, 2.0 + 0.02 * step); /* the entrance is 0.9 m and more behind all circles */
        const aw_problem problem = bench_grid_problem(&b, TOLERANCE);
        for (int i = 0; i < 3; ++i) {
            aw_report report;
            assert_ok(aw_solver_solve(solver[i], &problem, result, NULL, &report));
            regions[i][step] = (double)report.work.regions;
        }
    }
    for (int i = 0; i < 3; ++i) {
        const double *r = &regions[i][LEARNING], mean = mean_of(r, STEADY);
        /* Seen: 2 % about the mean, for break points fall on every other slice alternately, and no
         * difference between the first and the last four. */
        for (int k = 0; k < STEADY; ++k) assert_close(r[k], mean, 0.05, 0.0);
        assert_close(mean_of(&r[STEADY - 4], 4), mean_of(r, 4), 0.03, 0.0);
        assert_true(mean < regions[i][0]); /* less than without a forecast */
        aw_solver_free(solver[i]);
    }
    aw_free(result);
    aw_device_close(&device);
    bench_close(&b);
}

int main(int argc, char **argv)
{
    const aw_variant *variant = variant_of(argc, argv);
    void *state = variant_state(argc, argv);
    /* Numbers of regions do not depend on the variant. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(several_steps_are_bit_identical_for_any_number_of_threads, state),
        cmocka_unit_test_prestate(strategies_that_halve_record_every_region, state),
        cmocka_unit_test_prestate(clusters_record_their_partitions, state),
        cmocka_unit_test_prestate(clusters_record_more_than_a_queue_but_not_twice_as_many, state),
        cmocka_unit_test_prestate(partitions_do_not_grow_in_steady_state, state)};
    const struct CMUnitTest threads[] = {tests[0]};
    return is_fastest(variant) ? cmocka_run_group_tests(tests, NULL, NULL)
                               : cmocka_run_group_tests(threads, NULL, NULL);
}
