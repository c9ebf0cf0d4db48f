/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The referee, a sum over single electrons, against closed forms. */
#include "validation/referee.h"

#include <gsl/gsl_errno.h>
#include <math.h>

#include "tests/assert_close.h"
#include "validation/analytic.h"

#define SIGMA 50e-6
#define R 25.13

static const aw_line_bunch line = {.charge = 1e-9, .sigma = SIGMA};

enum { BUNCHES = 16, POINTS = 5 };

static void steady_force_is_that_of_derbenev_et_al(void **state)
{
    /* Half a metre of drift, then a bend without end. */
    const aw_referee_beam b = {.element = {{.length = 0.5}, {.length = 5.0, .angle = 5.0 / R}},
                               .elements = 2,
                               .charge = line.charge,
                               .gamma = 1e4,
                               .sigma_s = SIGMA,
                               .sigma_x = 20e-6,
                               .cutoff = 6.0,
                               .electrons = 20000};
    const double beta = sqrt(1.0 - 1e-8), scale = fabs(aw_steady_force(&line, R, -0.38 * SIGMA));
    aw_referee_place place[POINTS];
    aw_referee_force mean[POINTS + 1], error[POINTS + 1];
    double square = 0.0;
    (void)state;
    for (int i = 0; i < POINTS; ++i) /* 3 m, three overtaking lengths, behind the entrance */
        place[i] = (aw_referee_place){3.5 / beta, 3.5 + (i - 2) * SIGMA, 0.0, 0.25 * SIGMA};
    assert_int_equal(aw_referee_mean(&b, BUNCHES, place, POINTS, mean, error), AW_OK);
    for (int i = 0; i < POINTS; ++i) {
        const double apart = mean[i].s_eff - aw_steady_force(&line, R, (i - 2) * SIGMA);
        square += apart * apart / (error[i].s_eff * error[i].s_eff) / POINTS;
        /* Standard errors are up to 0.9 % of the largest force, at most points 0.3 %. */
        assert_close(mean[i].s_eff, mean[i].s_eff - apart, 0.0, 0.02 * scale);
    }
    /* 1 if all of it is noise; five points that share their electrons are within 2. */
    assert_in_range((long)(1000.0 * sqrt(square)), 0, 2000);
}

/* The mean potentials of a sheet of 50 x 50 um at four points, at a height above it. */
static void sheet_at(double height, aw_referee_force mean[POINTS], aw_referee_force error[POINTS])
{
    const aw_referee_beam b = {.element = {{.length = 1.0}},
                               .elements = 1,
                               .charge = line.charge,
                               .gamma = 100.0,
                               .sigma_s = SIGMA,
                               .sigma_x = SIGMA,
                               .cutoff = 6.0,
                               .height = height,
                               .electrons = 20000};
    const double beta = sqrt(1.0 - 1e-4);
    aw_referee_place place[POINTS - 1];
    for (int i = 0; i < POINTS - 1; ++i)
        place[i] =
            (aw_referee_place){0.5 / beta, 0.5 + 0.5 * i * SIGMA, 0.7 * i * SIGMA, 0.15 * SIGMA};
    assert_int_equal(aw_referee_mean(&b, BUNCHES, place, POINTS - 1, mean, error), AW_OK);
}

static void straight_sheet_has_its_potentials(void **state)
{
    const aw_sheet sheet = {line.charge, SIGMA, SIGMA, 100.0};
    const double top = aw_sheet_phi(&sheet, 0.0, 0.0);
    aw_referee_force at[POINTS], low[POINTS], high[POINTS], error[POINTS];
    (void)state;
    sheet_at(0.0, at, error);
    sheet_at(5e-6, low, error);
    sheet_at(10e-6, high, error);
    for (int i = 0; i < POINTS - 1; ++i) {
        const double phi = aw_sheet_phi(&sheet, 0.7 * i * SIGMA, 0.5 * i * SIGMA);
        /* In the plane single electrons come close: the standard error is 1.4 % at one point. */
        assert_close(at[i].phi, phi, 0.0, 0.02 * top);
        /* Above it 0.1 %. The potential is linear in the height, but for (height/sigma)^2 times
         * a tenth: 0.4 %. */
        assert_close(2.0 * low[i].phi - high[i].phi, phi, 0.0, 0.005 * top);
        assert_close(at[i].psi, 1e-4 * at[i].phi, 1e-9, 0.0); /* phi/gamma^2 to rounding */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_force_is_that_of_derbenev_et_al),
        cmocka_unit_test(straight_sheet_has_its_potentials),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
