/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closed forms: published and independently computed numbers, and their own limits. */
#include <gsl/gsl_errno.h>
#include <math.h>

#include "src/base/units.h"
#include "tests/assert_close.h"
#include "validation/analytic.h"

/* The LCLS bend: 1 nC, 50 um, R = 25.13 m, 11.4 degrees. */
static const aw_line_bunch lcls = {.charge = 1e-9, .sigma = 50e-6};
static const double R = 25.13, PHI = 0.198968;
static const double S = 50e-6; /* one sigma */

/* Numbers given to n digits are good to half of the last digit, in a row to that of the largest. */
#define LAST_OF_5 1e-4

static void lcls_steady_forces_agree_with_published_values(void **state)
{
    static const double Fs[7] = {-6.902e3, -7.430e4, -2.7593e5, -3.1639e5,
                                 -3.381e4, 1.0223e5, 7.543e4};
    static const double Fx[7] = {-63.4, -772.4, -3461.6, -5707.2, -3461.6, -772.4, -63.4};
    (void)state;
    for (int i = 0; i < 7; ++i) {
        double s = (i - 3) * S;
        assert_close(aw_steady_force(&lcls, R, s), Fs[i], LAST_OF_5, 5.0);
        /* given to 0.1 eV/m */
        assert_close(aw_steady_transverse(&lcls, 1.0 / R, s), Fx[i], 0.0, 0.06);
    }
}

static void steady_force_in_units_of_k_has_the_known_mean_rms_and_extremes(void **state)
{
    const double k = aw_line_unit(&lcls, R);
    (void)state;
    assert_close(k, 568.70e3, 1e-5, 0.0); /* five digits given */
    /* six digits given */
    assert_close(aw_steady_mean(&lcls, R) / k, -0.350472, 0.0, 1e-6);
    assert_close(aw_steady_rms(&lcls, R) / k, 0.245987, 0.0, 1e-6);
    assert_close(aw_steady_force(&lcls, R, -0.3816 * S) / k, -0.616700, 0.0, 1e-6);
    assert_close(aw_steady_force(&lcls, R, 2.0966 * S) / k, 0.180962, 0.0, 1e-6);
    /* the zero is given to 5e-5 sigma, and the slope there is 0.4 k per sigma */
    assert_close(aw_steady_force(&lcls, R, 1.1322 * S) / k, 0.0, 0.0, 2e-5);
}

static void steady_force_is_extreme_where_it_should_be(void **state)
{
    static const double place[2] = {-0.3816, 2.0966};
    (void)state;
    for (int i = 0; i < 2; ++i) {
        double side = aw_steady_force(&lcls, R, (place[i] - 0.01) * S),
               top = aw_steady_force(&lcls, R, place[i] * S),
               other = aw_steady_force(&lcls, R, (place[i] + 0.01) * S);
        assert_true(fabs(top) > fabs(side));
        assert_true(fabs(top) > fabs(other));
    }
}

static void closed_mean_is_the_mean_of_the_force(void **state)
{
    double sum = 0.0;
    (void)state;
    /* the trapezoidal rule for a Gaussian converges faster than any power */
    for (int i = -80; i <= 80; ++i)
        sum +=
            0.1 * S * aw_line_density(&lcls, 0.1 * i * S) * aw_steady_force(&lcls, R, 0.1 * i * S);
    assert_close(sum, aw_steady_mean(&lcls, R), 1e-9, 0.0);
}

/* A rule that shares nothing with the one under test: midpoints after the substitution u =
 * t^(3/2). */
static void steady_force_agrees_with_a_midpoint_sum(void **state)
{
    const int n = 200000;
    (void)state;
    for (int k = -3; k <= 3; ++k) {
        double s = k * S, top = pow(12.0 * S + fmax(s, 0.0), 2.0 / 3.0), h = top / n, sum = 0.0;
        for (int i = 0; i < n; ++i)
            sum += 1.5 * h * aw_line_slope(&lcls, s - pow((i + 0.5) * h, 1.5));
        double F = -AW_K_COULOMB * lcls.charge * 2.0 / cbrt(3.0 * R * R) * sum;
        /* midpoints: h^2 of the second derivative, which is singular as t^(-1/2) at 0 */
        assert_close(aw_steady_force(&lcls, R, s), F, 0.0, 1e-6 * aw_line_unit(&lcls, R));
    }
}

/* Computed by adaptive quadrature with an algebraic weight (QUADPACK's QAWS, through scipy) in
 * another program, from the formula of docs/theory.md. */
static void entrance_forces_agree_with_known_values(void **state)
{
    static const double d[4] = {0.2, 0.5, 0.8, 1.2};
    static const double F[4][3] = {{-4.130219e4, -1.294055e3, 4.130172e4},
                                   {-2.318949e5, -1.137687e5, 2.220987e5},
                                   {-2.881884e5, -3.648061e5, -6.284320e4},
                                   {-2.759731e5, -3.172293e5, -4.084418e4}};
    (void)state;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 3; ++j) /* seven digits given */
            assert_close(aw_entrance_force(&lcls, R, d[i], (j - 1) * S), F[i][j], 1e-6, 0.0);
}

static void entrance_mean_overshoots_and_settles(void **state)
{
    static const double ratio[5] = {0.5, 0.75, 1.0, 1.25, 2.0};
    static const double mean[5] = {-0.0480, -0.2702, -0.4025, -0.3620, -0.3505};
    const double k = aw_line_unit(&lcls, R), L = aw_line_overtaking(&lcls, R);
    (void)state;
    assert_close(L, 0.9116, 1e-3, 0.0); /* (24 * 50e-6 * 25.13^2)^(1/3) by hand */
    for (int i = 0; i < 5; ++i)         /* four digits given */
        assert_close(aw_entrance_mean(&lcls, R, ratio[i] * L) / k, mean[i], 0.0, 1e-4);
}

static void entrance_mean_is_the_mean_of_the_force(void **state)
{
    (void)state;
    for (int j = 1; j <= 5; ++j) {
        double d = 0.3 * j, sum = 0.0;
        for (int i = -80; i <= 80; ++i)
            sum += 0.1 * S * aw_line_density(&lcls, 0.1 * i * S) *
                   aw_entrance_force(&lcls, R, d, 0.1 * i * S);
        assert_close(sum, aw_entrance_mean(&lcls, R, d), 0.0, 1e-8 * aw_line_unit(&lcls, R));
    }
}

static void entrance_force_grows_from_zero_to_the_steady_state(void **state)
{
    const double k = aw_line_unit(&lcls, R);
    (void)state;
    assert_close(aw_entrance_force(&lcls, R, 0.0, 0.3 * S), 0.0, 0.0, 0.0);
    /* the leading term is 3 lambda' s_L^(2/3) - 3/2 lambda' s_L^(2/3): d^2 */
    assert_close(aw_entrance_force(&lcls, R, 1e-3, S) / aw_entrance_force(&lcls, R, 2e-3, S), 0.25,
                 1e-3, 0.0);
    for (int i = -3; i <= 3; ++i) /* at 4 m the slip is 84 sigma: the Gaussian is gone */
        assert_close(aw_entrance_force(&lcls, R, 4.0, i * S), aw_steady_force(&lcls, R, i * S), 0.0,
                     1e-9 * k);
}

static void whole_bend_costs_0_887_MeV(void **state)
{
    const double L = R * PHI;
    (void)state;
    assert_close(aw_entrance_energy(&lcls, R, L), -0.887e6, 0.0, 0.5e3 + 1.0); /* three digits */
    /* by Simpson's rule on the mean rate, whose structure is 0.9 m long */
    const int n = 2000;
    double sum = 0.0, h = L / n;
    for (int i = 0; i <= n; ++i) {
        double w = i == 0 || i == n ? 1.0 : (i % 2 ? 4.0 : 2.0);
        sum += w * h / 3.0 * aw_entrance_mean(&lcls, R, i * h);
    }
    assert_close(aw_entrance_energy(&lcls, R, L), sum, 1e-7, 0.0);
}

static void exit_forces_agree_with_known_values(void **state)
{
    static const double F[3] = {-1.141291e5, -1.672581e5, -7.008497e4};
    (void)state;
    for (int j = 0; j < 3; ++j) /* computed as those of the entrance; seven digits given */
        assert_close(aw_exit_force(&lcls, R, PHI, 0.5, (j - 1) * S), F[j], 1e-6, 0.0);
}

static void exit_force_begins_with_the_force_in_the_bend(void **state)
{
    (void)state;
    for (int i = -3; i <= 3; ++i)
        for (int j = 1; j <= 4;
             ++j) { /* also bends that end within the transient of the entrance */
            double phi = 0.01 * j * j;
            assert_close(aw_exit_force(&lcls, R, phi, 0.0, i * S),
                         aw_entrance_force(&lcls, R, R * phi, i * S), 0.0,
                         1e-9 * aw_line_unit(&lcls, R));
        }
}

static void far_behind_the_exit_the_force_is_minus_2_lambda_over_d(void **state)
{
    (void)state;
    for (int i = -2; i <= 2; ++i) {
        double d = 3e4, lambda = aw_line_density(&lcls, i * S);
        double far = -2.0 * AW_K_COULOMB * lcls.charge * lambda / d;
        double peak = -2.0 * AW_K_COULOMB * lcls.charge * aw_line_density(&lcls, 0.0) / d;
        /* psi next to 2x: corrections of order (sigma R/d^2)^(1/2) R/d, 1e-6 here, and larger where
         * they are of first order in psi/x: 1e-3 at d = 300 m, which falls as d^(-3/2) */
        assert_close(aw_exit_force(&lcls, R, PHI, d, i * S), far, 0.0, 1e-4 * fabs(peak));
    }
}

static void forces_have_the_right_sign(void **state)
{
    (void)state;
    assert_true(aw_steady_force(&lcls, R, 0.0) < 0.0);     /* the middle radiates */
    assert_true(aw_steady_force(&lcls, R, 2.0 * S) > 0.0); /* the head is pushed */
    assert_true(aw_steady_transverse(&lcls, 1.0 / R, 0.0) < 0.0);
    assert_true(aw_steady_transverse(&lcls, -1.0 / R, 0.0) > 0.0); /* a bend to the left */
    assert_true(aw_exit_force(&lcls, R, PHI, 0.5, 0.0) < 0.0);
}

/* The potential of a disc that is round in its rest frame: phi' = (Q/4 pi eps0)
 * sqrt(pi/2)/sigma. */
static void sheet_that_is_round_at_rest_has_the_potential_of_a_disc(void **state)
{
    const aw_sheet sheet = {.charge = 1e-9, .sigma_s = 1e-6, .sigma_x = 1e-4, .gamma = 100.0};
    (void)state;
    double want = 100.0 * AW_K_COULOMB * 1e-9 * sqrt(0.5 * AW_PI) / 1e-4;
    assert_close(aw_sheet_phi(&sheet, 0.0, 0.0), want, 1e-9, 0.0);
    assert_close(aw_sheet_psi(&sheet, 0.0, 0.0), want / 1e4, 1e-9, 0.0);
    /* far away a point charge; the disc's quadrupole is (3/2) (sigma/r)^2 and less */
    assert_close(aw_sheet_phi(&sheet, 0.1, 0.0), 100.0 * AW_K_COULOMB * 1e-9 / 0.1, 1e-5, 0.0);
    assert_close(aw_sheet_phi(&sheet, 0.0, 1e-3), 100.0 * AW_K_COULOMB * 1e-9 / 0.1, 1e-5, 0.0);
}

/* A direct sum over the charge in the rest frame, in polar coordinates about the field point. */
static void sheet_agrees_with_a_sum_over_its_charge(void **state)
{
    const aw_sheet sheet = {.charge = 1e-9, .sigma_s = 50e-6, .sigma_x = 50e-6, .gamma = 10.0};
    const double a = 500e-6, b = 50e-6;                                     /* rest-frame sizes */
    const double at[3][2] = {{0.0, 0.0}, {40e-6, 30e-6}, {-100e-6, 60e-6}}; /* x, s */
    (void)state;
    for (int p = 0; p < 3; ++p) {
        double x0 = at[p][0], s0 = 10.0 * at[p][1], sum = 0.0;
        const int nr = 6000, nt = 2000;
        const double top = 5e-3, h = top / nr, dt = 2.0 * AW_PI / nt;
        for (int i = 0; i < nr; ++i)
            for (int j = 0; j < nt; ++j) {
                double r = (i + 0.5) * h, s = (s0 + r * cos(j * dt)) / a,
                       x = (x0 + r * sin(j * dt)) / b;
                sum += exp(-0.5 * (s * s + x * x)) * h * dt;
            }
        double want = 10.0 * AW_K_COULOMB * 1e-9 * sum / (2.0 * AW_PI * a * b);
        assert_close(aw_sheet_phi(&sheet, x0, at[p][1]), want, 1e-5,
                     0.0); /* h^2 of the midpoints */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lcls_steady_forces_agree_with_published_values),
        cmocka_unit_test(steady_force_in_units_of_k_has_the_known_mean_rms_and_extremes),
        cmocka_unit_test(steady_force_is_extreme_where_it_should_be),
        cmocka_unit_test(closed_mean_is_the_mean_of_the_force),
        cmocka_unit_test(steady_force_agrees_with_a_midpoint_sum),
        cmocka_unit_test(entrance_forces_agree_with_known_values),
        cmocka_unit_test(entrance_mean_overshoots_and_settles),
        cmocka_unit_test(entrance_mean_is_the_mean_of_the_force),
        cmocka_unit_test(entrance_force_grows_from_zero_to_the_steady_state),
        cmocka_unit_test(whole_bend_costs_0_887_MeV),
        cmocka_unit_test(exit_forces_agree_with_known_values),
        cmocka_unit_test(exit_force_begins_with_the_force_in_the_bend),
        cmocka_unit_test(far_behind_the_exit_the_force_is_minus_2_lambda_over_d),
        cmocka_unit_test(forces_have_the_right_sign),
        cmocka_unit_test(sheet_that_is_round_at_rest_has_the_potential_of_a_disc),
        cmocka_unit_test(sheet_agrees_with_a_sum_over_its_charge),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
