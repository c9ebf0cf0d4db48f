/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of the bench for times and counts with known results, and the measured peaks. */
#include "kernels/cpu/peak.h"
#include "src/bench/bench.h"
#include "tests/assert_close.h"

/* Two solves on two threads, each with 3e9 evaluations in 2 s, 2e9 of them in the 1.5 s of the part
 * `evaluate`. Half of the evaluations have rates, in that part and overall. */
static aw_bench_row two_solves(int single)
{
    aw_bench_row row;
    const aw_report report = {
        .work = {.evaluations = 3000000000, .rated = 1500000000, .nodes = 8000, .regions = 1000},
        .evaluated = {.evaluations = 2000000000, .rated = 1000000000},
        .leftovers = 50,
        .single = single,
        .predict = 0.02,
        .cluster = 0.03,
        .evaluate = 1.5,
        .refine = 0.4,
        .learn = 0.01};
    aw_bench_row_clear(&row);
    aw_bench_row_add(&row, &report, 1.8);
    aw_bench_row_add(&row, &report, 2.2);
    aw_bench_row_close(&row);
    row.threads = 2;
    row.nodes = 100;
    row.interpolates = 1;
    return row;
}

static void figures_follow_from_times_and_counts(void **state)
{
    (void)state;
    const aw_peak peak = {.threads = 2, .arithmetic = {200.0, 400.0}};
    aw_bench_row row = two_solves(1);
    aw_bench_figures f;
    row.adaptive = 1.5e7; /* of 3e7 a point */
    aw_bench_figure(&row, &peak, &f);
    assert_int_equal(row.solves, 2);
    /* 1e-14: a few roundings */
    assert_close(row.mean, 2.0, 1e-14, 0.0);
    assert_close(row.best, 1.8, 1e-14, 0.0);
    assert_close(f.equivalent, 0.5 * (324.0 + 162.0) * 3.0 / 2.0, 1e-14, 0.0);
    assert_close(f.kernel, 130.5 * 2.0 / 1.5, 1e-14, 0.0); /* (198 + 63)/2 */
    assert_close(f.peak_share, 130.5 * 2.0 / 1.5 / (2.0 * 400.0), 1e-14, 0.0);
    assert_close(f.rated, 0.5, 1e-14, 0.0);
    assert_close(f.kernel_rated, 0.5, 1e-14, 0.0);
    assert_close(f.nanoseconds, 1.5, 1e-14, 0.0); /* 2 threads, 1.5 s, 2e9 */
    assert_close(f.intensity, 130.5 / (9.0 * 4.5 * 4.0), 1e-14, 0.0);
    assert_close(f.leftover, 0.05, 1e-14, 0.0);
    assert_close(f.over, 2.0, 1e-14, 0.0);
    assert_close(f.learning, 0.06 / 2.0, 1e-14, 0.0);
}

static void double_precision_halves_the_intensity_and_has_a_peak_of_its_own(void **state)
{
    (void)state;
    const aw_peak peak = {.threads = 2, .arithmetic = {200.0, 400.0}};
    const aw_bench_row row = two_solves(0);
    aw_bench_figures f;
    aw_bench_figure(&row, &peak, &f);
    assert_close(f.intensity, 130.5 / (9.0 * 4.5 * 8.0), 1e-14, 0.0);
    assert_close(f.peak_share, 130.5 * 2.0 / 1.5 / (2.0 * 200.0), 1e-14, 0.0);
}

/* A device that does not interpolate slices reads 27 cells of three numbers, with and without
 * rates. */
static void without_interpolated_slices_27_cells_are_counted(void **state)
{
    (void)state;
    aw_bench_row row = two_solves(1);
    aw_bench_figures f;
    row.interpolates = 0;
    aw_bench_figure(&row, NULL, &f);
    assert_close(f.kernel, 243.0 * 2.0 / 1.5, 1e-14, 0.0); /* (324 + 162)/2 */
    assert_close(f.intensity, 243.0 / (81.0 * 4.0), 1e-14, 0.0);
    assert_close(f.kernel_rated, 0.5, 1e-14, 0.0);
}

static void adaptive_is_counted_in_its_refinement(void **state)
{
    (void)state;
    aw_bench_row row = two_solves(0);
    aw_bench_figures f;
    row.evaluated = row.evaluate = 0.0; /* all of them in the part `refine` */
    aw_bench_figure(&row, NULL, &f);
    assert_close(f.kernel, 324.0 * 3.0 / 0.4, 1e-14, 0.0);
    assert_close(f.intensity, 0.5, 1e-14, 0.0); /* 324 operations on 27 cells of 3 doubles */
    assert_close(f.nanoseconds, 1e9 * 0.4 * 2.0 / 3e9, 1e-14, 0.0);
    assert_true(isnan(f.peak_share));
    assert_true(isnan(f.over));
}

static void measured_peaks_are_plausible(void **state)
{
    (void)state;
    aw_peak peak;
    assert_ok(aw_peak_measure(NULL, 1, &peak));
    /* No core since 1990 does fewer than 1e6 operations per second or more than 1e13; a loop that
     * the compiler had removed would. */
    for (int single = 0; single < 2; ++single) {
        assert_true(peak.arithmetic[single] > 1e-3);
        assert_true(peak.arithmetic[single] < 1e4);
    }
    for (int i = 0; i < AW_PEAK_ARRAYS; ++i) {
        assert_true(peak.read[i] > 1e-3);
        assert_true(peak.read[i] < 1e5);
    }
    assert_status(aw_peak_measure("no-such-variant", 1, &peak), AW_ERR_BACKEND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_follow_from_times_and_counts),
        cmocka_unit_test(double_precision_halves_the_intensity_and_has_a_peak_of_its_own),
        cmocka_unit_test(without_interpolated_slices_27_cells_are_counted),
        cmocka_unit_test(adaptive_is_counted_in_its_refinement),
        cmocka_unit_test(measured_peaks_are_plausible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
