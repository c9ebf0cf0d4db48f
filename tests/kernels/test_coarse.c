/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coarser slices: what stays the same, and how well what is smooth is kept. */
#include "kernels/cpu_unit.h"
#include "kernels/integrand.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { SIZES = 3 };
#define H 1e-5

static const int size[SIZES][2] = {{40, 26}, {41, 26}, {37, 31}};

static void noise(const void *context, double age, double u, double w, double m[3])
{
    static uint64_t random = 5;
    (void)context;
    (void)age;
    (void)u;
    (void)w;
    for (int k = 0; k < 3; ++k) m[k] = uniform(&random, -1.0, 1.0);
}

/* 8 by 5 cells, around a place that is not the middle. */
static void gaussian(const void *context, double age, double u, double w, double m[3])
{
    const double a = (u - 1.3 * H) / (6.0 * H), b = (w + 0.4 * H) / (5.0 * H);
    (void)context;
    (void)age;
    m[0] = exp(-0.5 * (a * a + b * b));
    m[1] = 1e-6 * m[0];
    m[2] = 0.0;
}

static void the_charge_is_kept(void **state)
{
    (void)state;
    for (int i = 0; i < SIZES; ++i)
        for (int coarse = 1; coarse <= AW_COARSE_MAX; ++coarse) {
            slices s;
            double *cells, sum[2][3] = {{0.0}}, most = 0.0;
            slices_new(&s, 1, size[i][0], size[i][1], 0, H, H);
            slices_fill(&s, 0, 0, noise, NULL);
            const aw_history_view h = slices_view(&s, (aw_orbit_view){NULL, 0}, 1.0, 10.0, 1.0);
            assert_ok(aw_cpu_coarse_cells(&h, h.slice, coarse, &cells));
            const int ns = aw_cpu_coarse_nodes(h.ns, coarse),
                      nx = aw_cpu_coarse_nodes(h.nx, coarse);
            for (int k = 0; k < 3; ++k) {
                for (int j = 0; j < h.nx; ++j)
                    for (int l = 0; l < h.ns; ++l) {
                        sum[0][k] += slices_get(&s, 0, l, j, k);
                        most += fabs(slices_get(&s, 0, l, j, k));
                    }
                for (int j = 0; j < nx * ns; ++j) sum[1][k] += cells[k * nx * ns + j];
                /* a cell is 4^coarse times as large; sums of rounding errors */
                assert_close(ldexp(sum[1][k], 2 * coarse), sum[0][k], 0.0, 1e-14 * most);
            }
            aw_free(cells);
            slices_free(&s);
        }
}

/* The interpolated moments anywhere: of 5 cells a sigma, the spline at twice the spacing strays
 * by B3/6 of its third difference, 0.008 (2/5)^3 1.4 = 7e-4 of the peak, and twice that with two
 * axes; the filters' own error is far below. */
static void what_is_smooth_is_kept(void **state)
{
    (void)state;
    for (int i = 0; i < SIZES; ++i) {
        slices s, c;
        double *cells;
        slices_new(&s, 1, size[i][0], size[i][1], 0, H, H);
        slices_fill(&s, 0, 0, gaussian, NULL);
        const aw_history_view h = slices_view(&s, (aw_orbit_view){NULL, 0}, 1.0, 10.0, 1.0);
        assert_ok(aw_cpu_coarse_cells(&h, h.slice, 1, &cells));
        const int ns = aw_cpu_coarse_nodes(h.ns, 1), nx = aw_cpu_coarse_nodes(h.nx, 1);
        slices_new(&c, 1, ns, nx, 0, 2.0 * H, 2.0 * H);
        for (int k = 0; k < 3; ++k)
            for (int j = 0; j < nx; ++j)
                for (int l = 0; l < ns; ++l)
                    slices_set(&c, 0, l, j, k, cells[(k * nx + j) * ns + l]);
        const aw_history_view h2 = slices_view(&c, (aw_orbit_view){NULL, 0}, 1.0, 10.0, 1.0);
        const aw_arc_slice fine = aw_arc_slice_of(&h, h.slice),
                           big = aw_arc_slice_of(&h2, h2.slice);
        const aw_arc still = {.n = 1};
        uint64_t random = 11;
        for (int n = 0; n < 500; ++n) {
            const double u = uniform(&random, -12.0 * H, 12.0 * H);
            const double w = uniform(&random, -8.0 * H, 8.0 * H);
            double a[8] = {0.0}, b[8] = {0.0};
            aw_node node = aw_node_at(&fine, &still, u, w);
            aw_node_add(&fine, 0, &node, a);
            node = aw_node_at(&big, &still, u, w);
            aw_node_add(&big, 0, &node, b);
            assert_close(b[0], a[0], 0.0, 1.5e-3);
            assert_close(b[1], a[1], 0.0, 1.5e-9);
        }
        aw_free(cells);
        slices_free(&s);
        slices_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_charge_is_kept),
        cmocka_unit_test(what_is_smooth_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
