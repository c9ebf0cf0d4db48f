/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The peak current of a Gaussian bunch, on straight and tilted grids. */
#include <math.h>

#include "kernels/math/spline.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/simulation/current.h"
#include "tests/assert_close.h"

#define SIGMA 50e-6
#define CHARGE 1e-9

/* Peak current of a Gaussian of rms length SIGMA and width `sigma_x`, put on n x n nodes of a grid
 * turned by `tilt`. The bunch's own axes are those of the grid: it is tilted, too. */
static double peak_of(int n, double tilt, double sigma_u, double sigma_w, double beta)
{
    const size_t row = (size_t)(n + 2 * AW_PAD);
    double *cells = aw_alloc(row * row * AW_COMPONENTS, sizeof(double));
    aw_field_point *point = aw_alloc((size_t)(n * n), sizeof *point);
    double *bin = aw_alloc(aw_current_bins(n, n), sizeof *bin);
    const aw_grid_view grid = {
        .ns = n, .nx = n, .hs = 10.0 * sigma_u / n, .hx = 10.0 * sigma_w / n, .tilt = tilt};
    aw_history_view view = {.ns = n, .nx = n};
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            const double u = (i - 0.5 * (n - 1)) * grid.hs, w = (j - 0.5 * (n - 1)) * grid.hx;
            const size_t at = ((size_t)(j + AW_PAD) * row + (size_t)(i + AW_PAD)) * AW_COMPONENTS;
            cells[at] = CHARGE / (2.0 * AW_PI * sigma_u * sigma_w) *
                        exp(-0.5 * (u * u / (sigma_u * sigma_u) + w * w / (sigma_w * sigma_w)));
            point[j * n + i].S = 3.0 + u * cos(tilt) - w * sin(tilt);
            point[j * n + i].beta = beta;
        }
    aw_slice slice = {.cells = cells};
    view.slice = &slice;
    const double peak = aw_current_peak(&view, &grid, point, bin);
    aw_free(cells);
    aw_free(point);
    aw_free(bin);
    return peak;
}

/* Without tilt the bins are the nodes: what is left is the parabola through points a cell apart,
 * off by a fourth order of spacing/sigma: at 6.4 cells per sigma, the top half a cell away, 5e-5.
 */
static void gaussian_without_tilt(void **state)
{
    (void)state;
    const double known = CHARGE * 0.9 * AW_C / (sqrt(2.0 * AW_PI) * SIGMA);
    assert_close(peak_of(64, 0.0, SIGMA, 20e-6, 0.9), known, 1e-4, 0.0);
    assert_close(peak_of(65, 0.0, SIGMA, 20e-6, 0.9), known, 1e-6, 0.0);
    assert_close(peak_of(64, 0.5 * AW_PI, 20e-6, SIGMA, 0.9), known, 1e-4, 0.0);
}

/* A bunch of 1 mm by 10 um at 89 degrees: sigma_s = 20 um from both. Linear sharing among bins of
 * width b adds b^2/6 to b^2/4 of variance: the peak is low by (b/sigma_s)^2/8 or less. */
static void gaussian_tilted(void **state)
{
    (void)state;
    const double tilt = 1.5534, u = 1e-3, w = 10e-6;
    const double sigma = hypot(u * cos(tilt), w * sin(tilt));
    const double known = CHARGE * AW_C / (sqrt(2.0 * AW_PI) * sigma);
    double last = 1.0;
    for (int n = 64; n <= 256; n *= 2) {
        const double b = fmax(10.0 * u / n * cos(tilt), 10.0 * w / n * sin(tilt)) / sigma;
        const double off = peak_of(n, tilt, u, w, 1.0) / known - 1.0;
        assert_true(fabs(off) <= 0.125 * b * b + 1e-4);
        assert_true(fabs(off) < 0.5 * last); /* second order: a quarter */
        last = fabs(off);
    }
}

static void a_place_that_is_not_finite_gives_nan(void **state)
{
    (void)state;
    assert_true(isnan(peak_of(16, NAN, SIGMA, SIGMA, 1.0)));
}

/* The charge of a node is its weight: a field of 5 at a node with three times the charge of another
 * with 1, and 100 where there is none. */
static void means_are_over_the_charge(void **state)
{
    enum { N = 8 };
    const size_t row = N + 2 * AW_PAD;
    double *cells = aw_alloc(row * row * AW_COMPONENTS, sizeof(double));
    double field[N * N];
    aw_slice slice = {.cells = cells};
    const aw_history_view view = {.ns = N, .nx = N, .slice = &slice};
    (void)state;
    for (int k = 0; k < N * N; ++k) field[k] = 100.0;
    assert_true(isnan(aw_charge_mean(&view, field)));
    cells[((3 + AW_PAD) * row + 2 + AW_PAD) * AW_COMPONENTS] = 3e-3;
    cells[((5 + AW_PAD) * row + 7 + AW_PAD) * AW_COMPONENTS] = 1e-3;
    field[3 * N + 2] = 5.0;
    field[5 * N + 7] = 1.0;
    assert_close(aw_charge_mean(&view, field), 4.0, 1e-15, 0.0);
    aw_free(cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian_without_tilt),
        cmocka_unit_test(gaussian_tilted),
        cmocka_unit_test(a_place_that_is_not_finite_gives_nan),
        cmocka_unit_test(means_are_over_the_charge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
