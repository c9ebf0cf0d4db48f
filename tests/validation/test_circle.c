/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steady state of a three-dimensional bunch on a circle: against closed forms where it is thin
 * or the circle straight, and against another code's sum over single electrons. */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>

#include "src/base/units.h"
#include "tests/assert_close.h"
#include "validation/analytic.h"
#include "validation/circle.h"

#define UM 1e-6
static const double R = 25.13, S = 50 * UM; /* the LCLS bend */

static void thin_bunch_has_the_forces_of_a_line(void **state)
{
    const aw_line_bunch line = {1e-9, S};
    const aw_solid bunch = {1e-9, 1e6, S, 1 * UM, 1 * UM, 1 * UM};
    const double largest = fabs(aw_steady_force(&line, R, -0.3816 * S));
    (void)state;
    for (int i = -2; i <= 2; ++i) {
        const aw_circle_place at = {R, i * S, 0.0};
        const aw_circle_force f = aw_circle_forces(&bunch, &at);
        /* paraxial: the square of the angle sigma^(1/3)/R^(1/3) is 1.6e-4 */
        assert_close(f.F_s, aw_steady_force(&line, R, i * S), 0.0, 2e-4 * largest);
        assert_close(f.F_s, f.F_s_eff, 1e-12, 0.0); /* on the axis */
        assert_close(f.F_x_eff, aw_steady_transverse(&line, 1.0 / R, i * S), 0.0,
                     3e-4 * 2.0 * AW_K_COULOMB * 1e-9 * aw_line_density(&line, 0.0) / R);
    }
}

/* R = 1e8 m: the radiation, 2 lambda/R, is 1e-8 of the space charge of a bunch of gamma = 100. */
static void on_a_large_circle_it_is_straight_motion(void **state)
{
    static const double height[3] = {0.0, 25.0, 200.0};
    (void)state;
    for (int i = 0; i < 3; ++i) {
        const aw_solid bunch = {1e-9, 100.0, S, 100 * UM, height[i] * UM, height[i] * UM};
        const aw_circle_place at = {1e8, 30 * UM, 70 * UM};
        const aw_circle_force f = aw_circle_forces(&bunch, &at);
        const aw_solid_field want = aw_solid_straight(&bunch, at.x, 0.0, at.s);
        /* the header's error of the quadrature */
        assert_close(f.phi, want.phi, 2e-6, 0.0);
        assert_close(f.psi, want.psi, 2e-6, 0.0);
        assert_close(f.F_s, want.F_s, 2e-6, 0.0);
        assert_close(f.F_x_eff, want.F_x, 2e-6, 0.0);
    }
}

/* The sheet against sums over its lines with another rule: midpoints, which straddle the observer's
 * own line. */
static void sheet_is_the_sum_of_its_lines(void **state)
{
    const aw_solid sheet = {1e-9, 1e4, S, 50 * UM, 0.0, 0.0};
    const aw_circle_place at = {R, -S, 40 * UM};
    const double step = 1 * UM;
    double F_s = 0.0, F_s_eff = 0.0, F_x = 0.0;
    (void)state;
    for (int i = -400; i < 400; ++i) {
        const double x1 = at.x + (i + 0.5) * step, t = x1 / sheet.sigma_x;
        const double weight = step * exp(-0.5 * t * t) / (sqrt(2.0 * AW_PI) * sheet.sigma_x);
        const aw_circle_force f = aw_circle_line(&sheet, &at, x1, 0.0);
        F_s += weight * f.F_s;
        F_s_eff += weight * f.F_s_eff;
        F_x += weight * f.F_x_eff;
    }
    const aw_circle_force want = aw_circle_forces(&sheet, &at);
    /* the logarithm of the own line within half a step: 0.15 steps of it are missed */
    assert_close(want.F_s_eff, F_s_eff, 1e-5, 0.0);
    assert_close(want.F_s, F_s, 1e-3, 0.0);
    assert_close(want.F_x_eff, F_x, 1e-4, 0.0);
}

/* Means over the height of the forces in planes, by Gauss and Hermite's three-point rule. */
static void mean_over_the_height_is_that_of_the_planes(void **state)
{
    static const double node[3] = {-1.7320508075688772, 0.0, 1.7320508075688772};
    static const double weight[3] = {1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0};
    const aw_solid mean = {1e-9, 1e4, S, 50 * UM, 20 * UM, 20 * UM};
    const aw_solid sources = {1e-9, 1e4, S, 50 * UM, 20 * UM, 0.0};
    const aw_circle_place at = {R, 0.5 * S, 0.0};
    double F_s = 0.0;
    (void)state;
    for (int i = 0; i < 3; ++i) {
        /* a plane at the height y sees the sources' distribution about -y: here as lines */
        double sum = 0.0;
        for (int j = -30; j <= 30; ++j)
            for (int k = -15; k <= 15; ++k) {
                const double x1 = (10.0 * j + 3.0) * UM, Y1 = (8.0 * k + 2.0) * UM;
                const double tx = x1 / sources.sigma_x, ty = Y1 / sources.sigma_y;
                const double part = exp(-0.5 * (tx * tx + ty * ty)) * 80.0 * UM * UM;
                sum += part * aw_circle_line(&sources, &at, x1, Y1 - node[i] * sources.sigma_y).F_s;
            }
        F_s += weight[i] * sum / (2.0 * AW_PI * sources.sigma_x * sources.sigma_y);
    }
    /* lines 8 and 10 um apart miss some of the logarithm of the nearest; gamma^-2 = 1e-8 is its
     * factor, next to 1.6e-4 of the radiation */
    assert_close(aw_circle_forces(&mean, &at).F_s, F_s, 1e-3, 0.0);
}

/* LW3D's example 1 (validation/lw3d), on the inner side, where few single electrons are near. */
static void field_agrees_with_a_sum_over_electrons(void **state)
{
    const aw_solid ball = {100e-12, 500.0, 10 * UM, 10 * UM, 10 * UM, 0.0};
    FILE *file = fopen(AW_SOURCE_DIR "/validation/lw3d/example1.csv", "r");
    char line[128];
    double x, s, E, lowest = 0.0;
    int rows = 0;
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lf,%lf,%lf", &x, &s, &E) != 3 || x > -49.0) continue;
        lowest = fmin(lowest, E);
        if (rows++ % 6) continue;
        const aw_circle_place at = {1.0, s * UM, x * UM};
        /* noise of the electrons: 1.1e-3 rms and 0.016 at most of 129 points */
        assert_close(1e-6 * aw_circle_forces(&ball, &at).F_s, E, 0.0, 0.02);
    }
    fclose(file);
    assert_int_equal(rows, 129);
    const aw_circle_place low = {1.0, -5.46875 * UM, -50 * UM};
    assert_close(1e-6 * aw_circle_forces(&ball, &low).F_s, lowest, 3e-3, 0.0);
}

static void line_seen_from_itself_is_not_a_number(void **state)
{
    const aw_solid line = {1e-9, 1e4, S, 0.0, 0.0, 0.0};
    (void)state;
    const aw_circle_force f = aw_circle_forces(&line, &(aw_circle_place){R, 0.0, 0.0});
    assert_true(isnan(f.F_s) && isnan(f.F_s_eff) && isnan(f.F_x_eff) && isnan(f.psi));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_bunch_has_the_forces_of_a_line),
        cmocka_unit_test(on_a_large_circle_it_is_straight_motion),
        cmocka_unit_test(sheet_is_the_sum_of_its_lines),
        cmocka_unit_test(mean_over_the_height_is_that_of_the_planes),
        cmocka_unit_test(field_agrees_with_a_sum_over_electrons),
        cmocka_unit_test(line_seen_from_itself_is_not_a_number),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
