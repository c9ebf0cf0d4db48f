/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potentials of a Gaussian sheet in straight uniform motion agree with their closed form. */
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/solvers/solver.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { N = 64, POINTS = 5 };
#define GAMMA 100.0
#define SIGMA 50e-6
#define H (10.0 * SIGMA / (N - 1)) /* nodes over +-5 sigma */
/* The circle of causality leaves the box after 2 gamma^2 * 14 sigma = 14 m, long before this. */
#define UPSTREAM 200.0

static void sheet(const void *context, double age, double u, double w, double m[3])
{
    double beta = beta_of(GAMMA);
    (void)context;
    (void)age;
    m[0] = exp(-0.5 * (u * u + w * w) / (SIGMA * SIGMA)) / (2.0 * AW_PI * SIGMA * SIGMA);
    m[1] = m[0] / (GAMMA * GAMMA * (1.0 + beta)); /* sigma (1 - beta) */
    m[2] = 0.0;
}

typedef struct place {
    double s, x, sigma; /* position, and the rms size in both directions [m] */
} place;

/* Integrand of the closed form (docs/theory.md, "Straight uniform motion") in ln q. */
static double closed_form_integrand(double lnq, void *context)
{
    const place *p = context;
    double q2 = exp(2.0 * lnq), g2 = GAMMA * GAMMA, v = p->sigma * p->sigma;
    double a = 1.0 + 2.0 * q2 * v, b = 1.0 + 2.0 * q2 * g2 * v;
    return exp(lnq - q2 * p->x * p->x / a - q2 * g2 * p->s * p->s / b) / sqrt(a * b);
}

/* 4 pi eps0 phi / Q [1/m]. */
static double closed_form(double s, double x, double sigma)
{
    place p = {s, x, sigma};
    gsl_function f = {closed_form_integrand, &p};
    gsl_integration_workspace *work = gsl_integration_workspace_alloc(1000);
    double value = 0.0, error = 0.0;
    assert_non_null(work);
    /* q from 1e-16/sigma (smaller q contribute 1e-16 or less near the bunch) to 1e9/sigma (the
     * integrand falls as 1/q) */
    int code = gsl_integration_qag(&f, log(1e-16 / sigma), log(1e9 / sigma), 0.0, 1e-10, 1000,
                                   GSL_INTEG_GAUSS61, work, &value, &error);
    gsl_integration_workspace_free(work);
    assert_int_equal(code, GSL_SUCCESS);
    return 2.0 * GAMMA / sqrt(AW_PI) * value;
}

/* The centre, and points beside, before and behind. */
static const double at_s[POINTS] = {0.0, 1.0, -1.0, 0.0, 2.0};
static const double at_x[POINTS] = {0.0, 0.0, 1.0, -2.0, 1.0};

static void solve(const aw_variant *variant, const char *strategy, double result[])
{
    const aw_orbit_piece piece = {.S = 0.0};
    const aw_device_params params = {.variant = variant->name, .inner_density = 1.0};
    aw_device device;
    aw_solver *solver;
    aw_report report;
    aw_field_point point[POINTS];
    slices s;
    slices_new(&s, 1, N, N, 0, H, H);
    slices_fill(&s, 0, 0, sheet, NULL);
    aw_history_view h = slices_view(&s, (aw_orbit_view){&piece, 1}, 0.02, GAMMA, UPSTREAM);
    for (int i = 0; i < POINTS; ++i)
        point[i] = point_on(&h.orbit, at_s[i] * SIGMA, at_x[i] * SIGMA, GAMMA);
    aw_problem problem = {.history = &h,
                          .point = point,
                          .points = POINTS,
                          .centre = point[0],
                          .half = 2.3 * SIGMA,
                          .tolerance = 1e-7};
    assert_ok(aw_device_open("cpu", &params, &device));
    assert_ok(aw_solver_new(strategy, &device, &solver));
    assert_ok(aw_solver_scales(solver, &problem, &problem.scales));
    assert_ok(aw_solver_solve(solver, &problem, result, NULL, &report));
    aw_solver_free(solver);
    aw_device_close(&device);
    slices_free(&s);
}

static void check_potentials(const aw_variant *variant, const char *strategy)
{
    double result[POINTS * AW_RESULTS], beta = beta_of(GAMMA);
    solve(variant, strategy, result);
    for (int i = 0; i < POINTS; ++i) {
        const double *I = &result[(size_t)i * AW_RESULTS];
        double s = at_s[i] * SIGMA, x = at_x[i] * SIGMA, phi = closed_form(s, x, SIGMA);
        /* The B-spline between the nodes adds h^2/4 to the variance, which the closed form can
         * include; the rest is of order h^4 (measured: 3e-5 of phi; the solver's tolerance is
         * 1e-7). */
        double widened = closed_form(s, x, sqrt(SIGMA * SIGMA + 0.25 * H * H));
        assert_close(I[AW_PHI], phi, 5e-3, 0.0);
        assert_close(I[AW_PHI], widened, 1e-4, 0.0);
        assert_close(I[AW_PSI], phi / (GAMMA * GAMMA), 5e-3, 0.0);
        /* v is uniform: A and psi are phi times constants, node by node. */
        assert_close(I[AW_AZ], beta * I[AW_PHI], 1e-12, 0.0);
        assert_close(I[AW_AX], 0.0, 0.0, 1e-15 * phi);
        assert_close(I[AW_PSI], I[AW_PHI] / (GAMMA * GAMMA), 1e-11, 0.0);
        /* Nothing changes along v. Rates are sums of terms of size phi/h times v - v_slice, which
         * is zero except for rounding. */
        for (unsigned k = AW_DPHI; k <= AW_DAX; ++k) assert_close(I[k], 0.0, 0.0, 1e-13 * phi / H);
    }
}

static void adaptive_agrees_with_the_closed_form_of_a_sheet(void **state)
{
    check_potentials(*state, "adaptive");
}

static void two_phase_agrees_with_the_closed_form_of_a_sheet(void **state)
{
    check_potentials(*state, "two-phase");
}

/* The closed form itself, far away: a point charge in its rest frame, gamma / r*. */
static void the_closed_form_far_away_is_coulombs_law(void **state)
{
    (void)state;
    /* at 2000 sigma the quadrupole moment contributes (sigma/r)^2 */
    assert_close(closed_form(0.0, 2000.0 * SIGMA * GAMMA, SIGMA), GAMMA / (2000.0 * SIGMA * GAMMA),
                 1e-6, 0.0);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_closed_form_far_away_is_coulombs_law),
        cmocka_unit_test_prestate(adaptive_agrees_with_the_closed_form_of_a_sheet, variant),
        cmocka_unit_test_prestate(two_phase_agrees_with_the_closed_form_of_a_sheet, variant),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
