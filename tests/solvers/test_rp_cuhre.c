/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rp-integral as one integral over (r', theta') by the n-dimensional integrator agrees with the
 * strategy `adaptive`, which has a rule for each variable: they have no node, limit or rule in
 * common. */
#include "kernels/math/integrand.h"
#include "quadrature/cuhre.h"
#include "src/base/units.h"
#include "src/solvers/solver.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { N = 24, SLICES = 8, POINTS = 3 };
#define GAMMA 2.0 /* slow: circles leave the bunch after some millimetres */
#define SIGMA 50e-6
#define H (8.0 * SIGMA / (N - 1)) /* nodes over +-4 sigma */
#define KAPPA 200.0               /* bends by half a radian while the circle is inside */
#define CDT 1e-4
#define R_END 6e-3 /* twice 8 sigma/(1 - beta), where the circle has left the box */
#define TOLERANCE 1e-6

static void growing_sheet(const void *context, double age, double u, double w, double m[3])
{
    double sigma = SIGMA * (1.0 + 0.03 * age), beta = beta_of(GAMMA);
    (void)context;
    m[0] = exp(-0.5 * (u * u + w * w) / (sigma * sigma)) / (2.0 * AW_PI * sigma * sigma);
    m[1] = m[0] * (1.0 - beta * (1.0 + 0.1 * u / SIGMA));
    m[2] = m[0] * 0.05 * w / SIGMA;
}

typedef struct point_of {
    const aw_history_view *history;
    const aw_field_point *point;
    unsigned result; /* AW_PHI, ... */
} point_of;

/* The integrand at one point of the past light cone: x[0] = r' [m], x[1] = theta' [rad]. */
static double at_place(void *context, int n, const double *x)
{
    const point_of *at = context;
    const aw_retarded f = aw_retarded_at(at->history, x[0]);
    aw_arc_slice slice[3];
    aw_arc arc = {.n = 1};
    double sum[3][8], value[AW_RESULTS] = {0.0};
    (void)n;
    for (int t = 0; t < f.nt; ++t) slice[t] = aw_arc_slice_of(at->history, f.slice[t]);
    aw_arc_place(&f, at->point, &arc);
    arc.first = x[1] - atan2(f.sg, f.cg);
    arc.step = 0.0;
    arc.n = 1;
    aw_arc_sum_scalar(&arc, f.nt, slice, at->history->single, sum);
    aw_arc_interpolate(&f, at->point, 1.0, sum, value);
    return value[at->result];
}

static void fill(slices *s)
{
    slices_new(s, SLICES, N, N, 0, H, H);
    for (int i = 0; i < SLICES; ++i) {
        s->slice[i].S = -beta_of(GAMMA) * CDT * i;
        slices_fill(s, i, 0, growing_sheet, NULL);
    }
}

static void solve(const aw_history_view *h, aw_field_point *point, double *result,
                  aw_scales *scales)
{
    const aw_device_params params = {.inner_density = 4.0};
    aw_device device;
    aw_solver *solver;
    aw_report report;
    aw_problem problem = {.history = h,
                          .point = point,
                          .points = POINTS,
                          .centre = point[0],
                          .half = 2.3 * SIGMA,
                          .tolerance = 0.1 * TOLERANCE};
    assert_ok(aw_device_open("cpu", &params, &device));
    assert_ok(aw_solver_new("adaptive", &device, &solver));
    assert_ok(aw_solver_scales(solver, &problem, &problem.scales));
    assert_ok(aw_solver_solve(solver, &problem, result, NULL, &report));
    *scales = problem.scales;
    aw_solver_free(solver);
    aw_device_close(&device);
}

static void the_rp_integral_in_two_dimensions_agrees_with_adaptive(void **state)
{
    static const double at_s[POINTS] = {0.0, 1.0, -1.5}, at_x[POINTS] = {0.0, 1.0, -0.5};
    static const double a[2] = {0.0, -AW_PI}, b[2] = {R_END, AW_PI};
    const aw_orbit_piece piece = {.kappa = KAPPA};
    double result[POINTS * AW_RESULTS];
    aw_field_point point[POINTS];
    aw_scales scales;
    slices s;
    (void)state;
    fill(&s);
    aw_history_view h = slices_view(&s, (aw_orbit_view){&piece, 1}, CDT, GAMMA, 1.0);
    for (int i = 0; i < POINTS; ++i)
        point[i] = point_on(&h.orbit, at_s[i] * SIGMA, at_x[i] * SIGMA, GAMMA);
    solve(&h, point, result, &scales);
    for (size_t i = 0; i < POINTS; ++i)
        for (unsigned k = AW_PHI; k <= AW_PSI; ++k) {
            double scale = k == AW_PSI ? scales.psi : scales.phi;
            point_of at = {&h, &point[i], k};
            aw_cuhre_params p = {
                .n = 2, .a = a, .b = b, .absolute = TOLERANCE * scale, .max_evaluations = 3000000};
            aw_cuhre_result r;
            assert_ok(aw_cuhre(&p, at_place, &at, &r));
            /* the sum of the two tolerances */
            assert_close(result[i * AW_RESULTS + k], r.value, 0.0, 1.1 * TOLERANCE * scale);
        }
    slices_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rp_integral_in_two_dimensions_agrees_with_adaptive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
