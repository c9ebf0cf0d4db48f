/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The integral over exact paths of electrons, against closed forms and against itself. */
#include "validation/ridge.h"

#include <gsl/gsl_errno.h>
#include <math.h>

#include "tests/assert_close.h"
#include "validation/analytic.h"

#define SIGMA 50e-6

/* A far upstream, so that the cut is nothing. */
static const double cut = 1e6;

static const aw_sheet sheet = {1e-9, SIGMA, SIGMA, 100.0};

/* The same sheet in a drift. */
static aw_ridge ridge_of(const aw_sheet *of)
{
    const aw_referee_beam b = {.element = {{.length = 1.0}},
                               .elements = 1,
                               .charge = of->charge,
                               .gamma = of->gamma,
                               .sigma_s = of->sigma_s,
                               .sigma_x = of->sigma_x};
    return aw_ridge_default(&b, cut);
}

static void straight_sheet_has_its_potentials(void **state)
{
    const aw_ridge ridge = ridge_of(&sheet);
    const double beta = sqrt(1.0 - 1e-4);
    (void)state;
    for (int i = 0; i < 5; ++i) {
        const double x = 0.7 * i * SIGMA, s = 0.5 * i * SIGMA, phi = aw_sheet_phi(&sheet, x, s);
        const aw_referee_event e = {0.5 / beta, 0.5 + s, x, 0.0};
        const aw_referee_potential p = aw_ridge_potential(&ridge, &e);
        assert_close(p.phi, phi, 1e-8, 0.0);
        assert_close(p.psi, 1e-4 * phi, 1e-8, 0.0); /* phi/gamma^2 */
    }
}

/* Along straight lines the force is -q d psi/ds of the closed form. */
static void straight_sheet_has_its_force(void **state)
{
    const aw_ridge ridge = ridge_of(&sheet);
    const double beta = sqrt(1.0 - 1e-4), d = 1e-3 * SIGMA;
    const aw_referee_place place = {0.5 / beta, 0.5 + SIGMA, 0.5 * SIGMA, 0.0};
    aw_ridge_force f;
    (void)state;
    aw_ridge_forces(&ridge, &place, 1, &f);
    const double known = (aw_sheet_psi(&sheet, 0.5 * SIGMA, SIGMA - d) -
                          aw_sheet_psi(&sheet, 0.5 * SIGMA, SIGMA + d)) /
                         (2.0 * d);
    assert_close(f.s_eff, known, 1e-5, 0.0);
    assert_close(f.s, known, 1e-4, 0.0);
}

/* 3 m, three overtaking lengths, behind the entrance of a bend. All electrons begin parallel, so
 * that the arcs of those beside the axis come nearer to it: the width falls as cos(angle), and phi
 * rises by -2 (qQ/4 pi eps0) lambda ln(cos(angle)). That part of -(1/v) d phi/dt is in F_s. */
static void steady_force_is_that_of_derbenev_et_al(void **state)
{
    const double R = 25.13, gamma = 3e4, width = 1e-6, in = 3.0;
    const aw_line_bunch line = {.charge = 1e-9, .sigma = SIGMA};
    const aw_referee_beam b = {.element = {{.length = 0.5}, {.length = 5.0, .angle = 5.0 / R}},
                               .elements = 2,
                               .charge = line.charge,
                               .gamma = gamma,
                               .sigma_s = SIGMA,
                               .sigma_x = width};
    aw_ridge ridge = aw_ridge_default(&b, cut);
    ridge.growth = 1.5; /* for a bunch fifty times as long as wide */
    const double beta = sqrt(1.0 - 1.0 / (gamma * gamma));
    const double scale = fabs(aw_steady_force(&line, R, -0.38 * SIGMA));
    aw_referee_place place[5];
    aw_ridge_force f[5];
    (void)state;
    for (int i = 0; i < 5; ++i)
        place[i] = (aw_referee_place){(0.5 + in) / beta, 0.5 + in + (i - 2) * SIGMA, 0.0, 0.0};
    aw_ridge_forces(&ridge, place, 5, f);
    for (int i = 0; i < 5; ++i) {
        const double s = (i - 2) * SIGMA, steady = aw_steady_force(&line, R, s);
        const double narrower = aw_steady_transverse(&line, 1.0 / R, s) * tan(in / R);
        /* The closed form is for gamma without end and a line: these are a few 1e-5. */
        assert_close(f[i].s_eff, steady, 0.0, 2e-4 * scale);
        assert_close(f[i].s, steady + narrower, 0.0, 2e-4 * scale);
    }
}

/* The bunch of the case "ridge", tilted and short, 1.1 m in its bend: finer rules change forces by
 * less than a fifth of the case's tolerances, 0.4 % and 0.1 %. */
static void finer_rules_change_nothing(void **state)
{
    const aw_referee_beam b = {.element = {{.length = 0.1}, {.length = 1.5, .angle = 0.3}},
                               .elements = 2,
                               .charge = 1e-9,
                               .gamma = 5e3,
                               .sigma_s = 100e-6,
                               .sigma_x = 50e-6,
                               .divergence = 4e-6,
                               .chirp = 36.0};
    const aw_ridge ridge = aw_ridge_default(&b, cut);
    aw_ridge finer[5] = {ridge, ridge, ridge, ridge, ridge};
    const double ct = 1.2 / sqrt(1.0 - 1.0 / 25e6);
    const aw_referee_place place = {ct, 1.2 + 5e-6, 50e-6, 0.0};
    aw_ridge_force f, g;
    (void)state;
    finer[0].radii *= 2;
    finer[1].arc *= 0.5;
    finer[2].fans += 4;
    finer[3].along *= 0.5;
    finer[4].path *= 0.5;
    aw_ridge_forces(&ridge, &place, 1, &f);
    for (int i = 0; i < 5; ++i) {
        aw_ridge_forces(&finer[i], &place, 1, &g);
        assert_close(g.s, f.s, 1e-5, 0.0);
        assert_close(g.s_eff, f.s_eff, 1e-5, 0.0);
    }
}

/* A chirp in a bend shears the bunch and moves what is at s0 to the place that optics say. */
static void an_electron_is_where_optics_say(void **state)
{
    const double R = 5.0, angle = 0.3, chirp = 36.0, s0 = 1e-6;
    const aw_referee_beam b = {.element = {{.length = R * angle, .angle = angle}},
                               .elements = 1,
                               .gamma = 1e6,
                               .sigma_s = 100e-6,
                               .sigma_x = 50e-6,
                               .chirp = chirp};
    const double delta = chirp * s0;
    double z, x, z0, x0;
    (void)state;
    aw_ridge_electron(&b, R * angle, (double[]){0.0, 0.0}, &z0, &x0);
    aw_ridge_electron(&b, R * angle, (double[]){s0, 0.0}, &z, &x);
    const double s = (z - z0) * cos(angle) - (x - x0) * sin(angle);
    const double across = (z - z0) * sin(angle) + (x - x0) * cos(angle);
    /* R56 = -R (angle - sin(angle)), R16 = R (1 - cos(angle)); second order is 1e-4 of it. */
    assert_close(s, s0 - R * (angle - sin(angle)) * delta, 1e-3, 0.0);
    assert_close(across, R * (1.0 - cos(angle)) * delta, 1e-3, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_sheet_has_its_potentials),
        cmocka_unit_test(straight_sheet_has_its_force),
        cmocka_unit_test(steady_force_is_that_of_derbenev_et_al),
        cmocka_unit_test(finer_rules_change_nothing),
        cmocka_unit_test(an_electron_is_where_optics_say),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
