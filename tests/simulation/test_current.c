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

/* Value at node i of n of the coefficients whose spline is a Gaussian across ten sigma, but for a
 * kurtosis of -(h/sigma)^4/40: the spline adds a quarter of a cell to the variance. */
static double coefficient(int i, int n)
{
    const double h = 10.0 / n, variance = 1.0 - 0.25 * h * h, u = (i - 0.5 * (n - 1)) * h;
    return exp(-0.5 * u * u / variance) / sqrt(2.0 * AW_PI * variance);
}

/* Top of the current of a Gaussian of rms length SIGMA and width `sigma_x`, put on n x n nodes of a
 * grid turned by `tilt`. The bunch's own axes are those of the grid: it is tilted, too. */
static aw_current_top top_of(int n, double tilt, double sigma_u, double sigma_w, double beta)
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
            cells[at] = CHARGE / (sigma_u * sigma_w) * coefficient(i, n) * coefficient(j, n);
            point[j * n + i].S = 3.0 + u * cos(tilt) - w * sin(tilt);
            point[j * n + i].beta = beta;
        }
    aw_slice slice = {.cells = cells};
    view.slice = &slice;
    const aw_current_top top = aw_current_peak(&view, &grid, point, bin);
    aw_free(cells);
    aw_free(point);
    aw_free(bin);
    return top;
}

static double peak_of(int n, double tilt, double sigma_u, double sigma_w, double beta)
{
    return top_of(n, tilt, sigma_u, sigma_w, beta).peak;
}

/* Without tilt the bins are the nodes: what is left is the parabola through points a cell apart,
 * off by a fourth order of spacing/sigma: at 6.4 cells per sigma, the top half a cell away, 5e-5;
 * and the kurtosis of the coefficients' spline, 2e-6. */
static void gaussian_without_tilt(void **state)
{
    (void)state;
    const double known = CHARGE * 0.9 * AW_C / (sqrt(2.0 * AW_PI) * SIGMA);
    assert_close(peak_of(64, 0.0, SIGMA, 20e-6, 0.9), known, 1e-4, 0.0);
    assert_close(peak_of(65, 0.0, SIGMA, 20e-6, 0.9), known, 4e-6, 0.0);
    assert_close(peak_of(64, 0.5 * AW_PI, 20e-6, SIGMA, 0.9), known, 1e-4, 0.0);
    /* the parabola is flatter than the top by (h/sigma)^2/8: 3e-3 */
    assert_close(top_of(65, 0.0, SIGMA, 20e-6, 0.9).width, SIGMA, 4e-3, 0.0);
}

/* A bunch of 1 mm by 10 um at 89 degrees: sigma_s = 20 um from both. Bins of width b: of fourth
 * order in b/sigma_s, too. */
static void gaussian_tilted(void **state)
{
    (void)state;
    const double tilt = 1.5534, u = 1e-3, w = 10e-6;
    const double sigma = hypot(u * cos(tilt), w * sin(tilt));
    const double known = CHARGE * AW_C / (sqrt(2.0 * AW_PI) * sigma);
    for (int n = 16; n <= 256; n *= 2) {
        const double b = fmax(10.0 * u / n * cos(tilt), 10.0 * w / n * sin(tilt)) / sigma;
        const double off = peak_of(n, tilt, u, w, 1.0) / known - 1.0;
        assert_true(fabs(off) <= 0.1 * pow(b, 4.0)); /* without widening the bins: b^2/8 */
    }
}

static void a_place_that_is_not_finite_gives_nan(void **state)
{
    (void)state;
    assert_true(isnan(peak_of(16, NAN, SIGMA, SIGMA, 1.0)));
}

/* The charge of a node is its weight: a field of 5 about a node with three times the charge of
 * another with 1, and 100 elsewhere. Of a field s^2 the mean has the variance of the splines, too.
 */
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
    assert_true(isnan(aw_charge_mean(&view, NULL, field)));
    cells[((3 + AW_PAD) * row + 2 + AW_PAD) * AW_COMPONENTS] = 3e-3;
    cells[((5 + AW_PAD) * row + 7 + AW_PAD) * AW_COMPONENTS] = 1e-3;
    for (int j = 2; j <= 4; ++j)
        for (int i = 1; i <= 3; ++i) field[j * N + i] = 5.0;
    for (int j = 4; j <= 6; ++j)
        for (int i = 6; i <= 7; ++i) field[j * N + i] = 1.0;
    assert_close(aw_charge_mean(&view, NULL, field), 4.0, 1e-14, 0.0);
    cells[((5 + AW_PAD) * row + 7 + AW_PAD) * AW_COMPONENTS] = 0.0;
    for (int k = 0; k < N * N; ++k) field[k] = (k % N - 2) * (k % N - 2);
    assert_close(aw_charge_mean(&view, NULL, field), 0.25, 1e-14, 0.0);
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
