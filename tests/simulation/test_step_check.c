/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The check of steps: the trapezium rule's error of known forces, and what makes it halve steps. */
#include "src/simulation/step_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/assert_close.h"

enum { NS = 60, NX = 40 };

/* Components of known forces in a Gaussian of 6 by 4 cells, whose mean lies between nodes. */
static void the_force_is_projected_on_orthonormal_polynomials(void **state)
{
    double *charge = calloc((size_t)NS * NX, sizeof *charge), *force[4];
    (void)state;
    for (int k = 0; k < 4; ++k) force[k] = calloc((size_t)NS * NX, sizeof *force[k]);
    for (int j = 0; j < NX; ++j)
        for (int i = 0; i < NS; ++i) {
            const int at = j * NS + i;
            const double u = (i - 29.3) / 6.0, w = (j - 19.8) / 4.0;
            charge[at] = 3.0 * exp(-0.5 * (u * u + w * w));
            force[0][at] = 5.0 + 2.0 * w;
            force[1][at] = -2.0 * u;
            force[2][at] = (u * u - 1.0) / sqrt(2.0);
            force[3][at] = 7.0 * w * (w * w - 3.0) / sqrt(6.0);
        }
    for (int k = 0; k < 4; ++k) {
        double along[AW_CHECK_FORCES], across[AW_CHECK_FORCES];
        const size_t size[2] = {NS, NX};
        static const double want[4][2] = {{5.0, 0.0}, {-2.0, 0.0}, {1.0, 0.0}, {0.0, 7.0}};
        aw_step_check_force(charge, force[k], size, 1, along);
        aw_step_check_force(charge, force[k], size, 0, across);
        for (int j = 0; j < AW_CHECK_FORCES; ++j) {
            /* the Gaussian is cut at 4.8 sigma: 1e-6 of its charge, 7 * 5^6 times in the third */
            assert_close(along[j], j == (k < 3 ? k : -1) ? want[k][0] : 0.0, 0.0, 0.02);
            const double other = k == 0 && j == 0 ? 5.0 : k == 0 && j == 1 ? 2.0 : 0.0;
            assert_close(across[j], k == 3 && j == 3 ? want[k][1] : other, 0.0, 0.02);
        }
    }
    free(charge);
    for (int k = 0; k < 4; ++k) free(force[k]);
}

/* A force at the time ct/c. */
typedef double (*force_fn)(double ct);

static double parabola(double ct) { return 4e5 + 1e5 * ct - 3e5 * ct * ct; }
static double straight(double ct) { return 4e5 - 7e5 * ct; }

/* Take `steps` steps of lengths that differ by factors of two. @return the time */
static double take(aw_step_check *c, force_fn f, double noise, int steps, double limit)
{
    double ct = 0.0;
    for (int i = 0; i < steps; ++i) {
        const double sign = i % 2 ? 1.0 : -1.0;
        const double F[AW_CHECK_FORCES] = {f(ct) + sign * noise, 0.0, f(ct), 0.0};
        aw_step_check_add(c, ct, F, limit);
        ct += i % 5 < 3 ? 0.02 : 0.04;
    }
    return ct;
}

static void the_error_is_that_of_the_trapezium_rule(void **state)
{
    aw_step_check c = {.n = 0};
    (void)state;
    take(&c, straight, 0.0, 12, 1.0);
    assert_close(c.error, 0.0, 0.0, 1e-6); /* rounding of 4e5 eV/m */
    c = (aw_step_check){.n = 0};
    take(&c, parabola, 0.0, 12, 1e9);
    /* the last of 12 steps, the eleventh, has 20 mm; two components of F'' = -6e5 */
    assert_close(c.error, sqrt(2.0) * 6e5 * 0.02 * 0.02 * 0.02 / 12.0, 1e-6, 0.0);
    assert_int_equal(c.halved, 0);
}

static void steps_are_halved_while_they_err_and_doubled_again(void **state)
{
    aw_step_check c = {.n = 0};
    (void)state;
    /* steps of 20 mm err by 0.57 eV, of 40 mm by 4.5: here nothing follows the finding */
    take(&c, parabola, 0.0, 8, 0.2);
    assert_int_equal(c.halved, 1); /* two forces, four bends, and two more over the limit */
    take(&c, parabola, 0.0, 60, 0.2);
    assert_int_equal(c.halved, AW_CHECK_HALVINGS);
    c.n = 0;
    take(&c, straight, 0.0, 60, 0.2);
    assert_int_equal(c.halved, 0);
}

/* The worst of the steps that stay too long is said at the end, with what would do. */
static void steps_that_stay_too_long_are_told(void **state)
{
    aw_step_check c = {.n = 0};
    char text[256] = "none";
    (void)state;
    take(&c, parabola, 0.0, 8, 0.2); /* halved once, which is no reason to complain */
    assert_false(aw_step_check_text(&c, 1.0, 1.0, text, sizeof text));
    assert_string_equal(text, "none");
    c = (aw_step_check){.n = 0};
    take(&c, parabola, 0.0, 60, 0.2);
    /* three halvings; steps of 40 mm, which err by 4.5 eV in place of 0.2, and need 1/4.8 */
    assert_true(aw_step_check_text(&c, 1.0, 4.0, text, sizeof text));
    assert_non_null(strstr(text, "steps of 0.04 m could not be made short enough at S = "));
    assert_non_null(strstr(text, "err by 23 times their share (use numerics.step_scale: 0.11)"));
    assert_true(aw_step_check_text(&c, 1.0, 1.0, text, sizeof text));
    assert_non_null(strstr(text, "(use numerics.step_m: 0.0084)")); /* a scale of 0.026 is none */
    /* of a run without room for more steps none is halved */
    c = (aw_step_check){.full = 1};
    take(&c, parabola, 0.0, 60, 0.2);
    assert_int_equal(c.halved, 0);
    assert_true(aw_step_check_text(&c, 1.0, 1.0, text, sizeof text));
    assert_non_null(strstr(text, "(use numerics.step_scale: 0.21)"));
}

/* Noise of the solver, and the wrong force of one step, are no curvature: shorter steps would not
 * help. */
static void noise_does_not_halve_steps(void **state)
{
    aw_step_check c = {.n = 0};
    (void)state;
    for (int i = 0; i < 100; ++i) {
        const double F[AW_CHECK_FORCES] = {4e5 + (i % 2 ? 300.0 : -300.0)};
        aw_step_check_add(&c, 0.02 * i, F, 1.0); /* each alone errs by 0.8 eV times four */
        assert_int_equal(c.halved, 0);
    }
    c = (aw_step_check){.n = 0};
    for (int i = 0; i < 100; ++i) {
        const double F[AW_CHECK_FORCES] = {4e5 + (i % 9 == 0 ? 6e4 : 0.0)};
        aw_step_check_add(&c, 0.02 * i + (i % 9 >= 1 ? 0.01 : 0.0), F, 1.0);
        assert_int_equal(c.halved, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_force_is_projected_on_orthonormal_polynomials),
        cmocka_unit_test(the_error_is_that_of_the_trapezium_rule),
        cmocka_unit_test(steps_are_halved_while_they_err_and_doubled_again),
        cmocka_unit_test(steps_that_stay_too_long_are_told),
        cmocka_unit_test(noise_does_not_halve_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
