/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forces between plates: the sum over modes and the sum over images against each other, against
 * free space, and in the limits of strong and weak shielding. */
#include <gsl/gsl_errno.h>
#include <math.h>

#include "src/base/units.h"
#include "tests/assert_close.h"
#include "validation/analytic.h"
#include "validation/plates.h"

static const aw_line_bunch lcls = {1e-9, 50e-6};
static const double R = 25.13, S = 50e-6;

/* The largest of F_s in free space, and the unit of what follows [eV/m]. */
static double largest(void) { return fabs(aw_steady_force(&lcls, R, -0.3816 * S)); }

static void impedance_of_distant_plates_is_that_of_free_space(void **state)
{
    (void)state;
    for (int i = 0; i < 3; ++i) {
        const double k = pow(10.0, 3 + i);
        const aw_impedance free = aw_free_impedance(R, k), Z = aw_plates_impedance(R, 1.0, k);
        assert_close(Z.re, free.re, 1e-6, 0.0);
        assert_close(Z.im, free.im, 1e-6, 0.0);
    }
}

/* Known: shielding sets in near k = sqrt(2/3) (pi/h)^(3/2) sqrt(R), exponentially below it. */
static void long_waves_are_shielded(void **state)
{
    const double h = 0.01, k = sqrt(2.0 / 3.0) * pow(AW_PI / h, 1.5) * sqrt(R);
    (void)state;
    assert_true(aw_plates_impedance(R, h, 0.15 * k).re < 1e-15 * aw_free_impedance(R, k).re);
    assert_true(aw_plates_impedance(R, h, 0.3 * k).re < 0.01 * aw_free_impedance(R, k).re);
    /* the modes are then so close that their sum is an integral to 1e-6 */
    assert_close(aw_plates_impedance(R, h, 10.0 * k).re, aw_free_impedance(R, 10.0 * k).re, 1e-5,
                 0.0);
}

static void force_of_the_free_impedance_is_the_closed_form(void **state)
{
    double s[7], F[7];
    (void)state;
    for (int i = 0; i < 7; ++i) s[i] = (i - 3) * S;
    aw_plates_forces(&lcls, R, INFINITY, s, 7, F);
    for (int i = 0; i < 7; ++i) /* the header's error */
        assert_close(F[i], aw_steady_force(&lcls, R, s[i]), 0.0, 1e-5 * largest());
    assert_close(aw_plates_mean(&lcls, R, INFINITY), -0.350472 * aw_line_unit(&lcls, R), 1e-6, 0.0);
    /* plates a metre apart take 1e-6 of k from it */
    assert_close(aw_plates_mean(&lcls, R, 1.0), aw_steady_mean(&lcls, R), 1e-5, 0.0);
}

/* From no shielding to a loss of 2e-5 of that in free space. The force of the bunch's own field is
 * paraxial in one sum, those of the images are not: 2e-5 k. */
static void modes_and_images_agree(void **state)
{
    static const double gap[7] = {0.1, 0.02, 0.01, 0.006, 0.0048, 0.004, 0.003};
    double s[7], F[7];
    (void)state;
    for (int i = 0; i < 7; ++i) s[i] = (i - 3) * S;
    for (int j = 0; j < 7; ++j) {
        aw_plates_forces(&lcls, R, gap[j], s, 7, F);
        for (int i = 0; i < 7; ++i)
            assert_close(aw_images_force(&lcls, R, gap[j], s[i]), F[i], 0.0, 1e-4 * largest());
        assert_close(aw_images_mean(&lcls, R, gap[j]), aw_plates_mean(&lcls, R, gap[j]), 0.0,
                     5e-5 * largest());
    }
}

static void loss_falls_from_that_of_free_space_to_nothing(void **state)
{
    static const double gap[5] = {0.1, 0.02, 0.00644956, 0.00468806, 0.003};
    static const double ratio[5] = {0.99998, 0.95122, 0.1, 0.01, 2.0e-5};
    (void)state;
    for (int i = 0; i < 5; ++i) /* five decimals; h of 10 % and 1 % by bisection */
        assert_close(aw_plates_mean(&lcls, R, gap[i]) / aw_steady_mean(&lcls, R), ratio[i], 0.0,
                     6e-6);
}

/* The mean force by the sum over modes, with a rule of its own: midpoints in the cube root of k. Z
 * vanishes with all its derivatives at k = 0, and the spectrum at the end, so that the error falls
 * faster than any power. */
static double mean_of_modes(double h)
{
    enum { MIDPOINTS = 1000 };
    const double top = cbrt(7.0 / S), step = top / MIDPOINTS;
    double sum = 0.0;
    for (int i = 0; i < MIDPOINTS; ++i) {
        const double t = (i + 0.5) * step, k = t * t * t;
        sum -= 3.0 * t * t * step * exp(-k * k * S * S) * aw_plates_impedance(R, h, k).re;
    }
    return sum * lcls.charge * AW_C / AW_PI;
}

/* The loss of the images against that of the modes, from 10 % of the loss in free space to all of
 * it: 2e-5 of free space, as above, are 2e-4 of the smallest. */
static void loss_of_images_is_that_of_modes(void **state)
{
    static const double gap[5] = {0.00644956, 0.008, 0.01, 0.02, 0.05};
    (void)state;
    for (int i = 0; i < 5; ++i)
        assert_close(aw_images_mean(&lcls, R, gap[i]), mean_of_modes(gap[i]), 5e-4, 0.0);
    /* 1 % of free space, by as much of that */
    assert_close(aw_images_mean(&lcls, R, 0.00468806), mean_of_modes(0.00468806), 5e-3, 0.0);
}

static void entrance_in_free_space_is_the_closed_form(void **state)
{
    static const double d[4] = {0.2, 0.5, 0.8, 1.2};
    const aw_entrance bend = {1e5, R, INFINITY};
    (void)state;
    for (int i = 0; i < 4; ++i)
        for (int j = -1; j <= 1; ++j) /* the closed form is paraxial, for an infinite gamma */
            assert_close(aw_images_entrance(&lcls, &bend, d[i], j * S),
                         aw_entrance_force(&lcls, R, d[i], j * S), 0.0, 1e-4 * largest());
}

/* E_s of the images in the entrance, and the slope of their psi on the circle: the two share the
 * alternating sum alone. */
static void entrance_between_plates_ends_in_the_steady_state(void **state)
{
    static const double gap[4] = {0.02, 0.01, 0.0048, 0.003};
    double s[3], F[3];
    (void)state;
    for (int i = 0; i < 3; ++i) s[i] = (i - 1) * S;
    for (int j = 0; j < 4; ++j) {
        const aw_entrance bend = {1e5, R, gap[j]};
        aw_plates_forces(&lcls, R, gap[j], s, 3, F);
        for (int i = 0; i < 3; ++i)
            assert_close(aw_images_entrance(&lcls, &bend, 4.0, s[i]), F[i], 0.0, 1e-4 * largest());
    }
}

static void entrance_between_plates_begins_with_nothing(void **state)
{
    const aw_entrance bend = {1e6, R, 0.01};
    (void)state;
    /* at the edge the images' field of straight motion: 2 ln(2 gamma sigma/h) = 18 of this unit */
    const double unit = AW_K_COULOMB * 1e-9 * 1e-12 * fabs(aw_line_slope(&lcls, S));
    const double edge = aw_images_entrance(&lcls, &bend, 0.0, S);
    assert_close(edge, -18.0 * unit, 0.0, 2.0 * unit);
    /* then as d^2, and d over (3 sigma R^2)^(1/3) of it more */
    const double near = aw_images_entrance(&lcls, &bend, 2e-3, S) - edge;
    const double far = aw_images_entrance(&lcls, &bend, 4e-3, S) - edge;
    assert_close(near / far, 0.25, 5e-3, 0.0);
}

/* A thin bunch between plates, and one in free space. */
static void bunch_with_sizes_has_the_forces_of_its_limits(void **state)
{
    const aw_solid thin = {1e-9, 1e6, S, 1e-6, 1e-6, 1e-6}, real = {1e-9, 1e4, S, S, S, S};
    const aw_circle_place at = {R, -S, 0.0};
    double F;
    (void)state;
    aw_plates_forces(&lcls, R, 0.01, &at.s, 1, &F);
    assert_close(aw_images_solid(&thin, &at, 0.01).F_s, F, 0.0, 2e-4 * largest()); /* paraxial */
    const aw_circle_force a = aw_images_solid(&real, &at, 1.0), b = aw_circle_forces(&real, &at);
    assert_close(a.F_s, b.F_s, 1e-5, 0.0); /* 1.5/(n h)^2 lambda of the images: 1e-6 */
    assert_close(aw_images_solid(&real, &at, INFINITY).F_x_eff, b.F_x_eff, 1e-15, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impedance_of_distant_plates_is_that_of_free_space),
        cmocka_unit_test(long_waves_are_shielded),
        cmocka_unit_test(force_of_the_free_impedance_is_the_closed_form),
        cmocka_unit_test(modes_and_images_agree),
        cmocka_unit_test(loss_falls_from_that_of_free_space_to_nothing),
        cmocka_unit_test(loss_of_images_is_that_of_modes),
        cmocka_unit_test(entrance_in_free_space_is_the_closed_form),
        cmocka_unit_test(entrance_between_plates_ends_in_the_steady_state),
        cmocka_unit_test(entrance_between_plates_begins_with_nothing),
        cmocka_unit_test(bunch_with_sizes_has_the_forces_of_its_limits),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
