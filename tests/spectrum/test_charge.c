/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The radiation of one charge on a design orbit, against closed forms. */
#include <gsl/gsl_sf_bessel.h>
#include <math.h>

#include "src/base/units.h"
#include "src/spectrum/spectrum.h"
#include "tests/assert_close.h"

/* A bend of radius R and an angle, from S = 0 on, between two straight lines. */
#define RADIUS 2.0
static const double ANGLE = 0.8;

static void make_bend(aw_orbit_piece piece[3])
{
    const double a = ANGLE;
    piece[0] = (aw_orbit_piece){0.0, 0.0, 0.0, 0.0, 0.0};
    piece[1] = (aw_orbit_piece){0.0, 0.0, 0.0, 0.0, 1.0 / RADIUS};
    piece[2] = (aw_orbit_piece){RADIUS * a, RADIUS * sin(a), RADIUS * (cos(a) - 1.0), -a, 0.0};
}

/* A path from S to S in so many steps. */
typedef struct aw_test_path {
    const aw_orbit_view *orbit;
    double gamma, from, to;
    int steps;
} aw_test_path;

/* Energy per frequency and solid angle of 1 C in one direction. */
static double radiated(const aw_test_path *path, double k, double theta, double psi)
{
    aw_directions d = {.theta = {1, &theta, NULL}, .psi = {1, &psi, NULL}};
    const aw_spectrum_params params = {
        .orbit = path->orbit, .gamma = path->gamma, .k = &k, .waves = 1, .directions = &d};
    aw_spectrum *spectrum;
    assert_ok(aw_spectrum_new(&params, &spectrum));
    for (int i = 0; i <= path->steps; ++i)
        assert_ok(aw_spectrum_add(spectrum, NULL,
                                  path->from + (path->to - path->from) * i / path->steps));
    assert_ok(aw_spectrum_end(spectrum));
    const double energy = aw_spectrum_single(spectrum, 0, 0, 0);
    aw_spectrum_free(spectrum);
    return energy;
}

/* On a circle (Jackson, Classical Electrodynamics, 3rd ed., eq. 14.79). */
static double circle(double gamma, double k, double psi)
{
    const double g = 1.0 / (gamma * gamma) + psi * psi, xi = k * RADIUS / 3.0 * pow(g, 1.5);
    const double a = gsl_sf_bessel_Knu(2.0 / 3.0, xi), b = gsl_sf_bessel_Knu(1.0 / 3.0, xi);
    const double kR = k * RADIUS;
    return AW_K_COULOMB / (3.0 * AW_PI * AW_PI * AW_C) * kR * kR * g *
           (g * a * a + psi * psi * b * b);
}

static void bend_radiates_as_a_circle(void **state)
{
    static const double y[] = {1e-4, 1e-2, 1.0, 5.0}; /* over 3 gamma^3 c/(2 R) */
    const double gamma = 2000.0, critical = 1.5 * gamma * gamma * gamma / RADIUS;
    aw_orbit_piece piece[3];
    const aw_orbit_view orbit = {piece, 3};
    (void)state;
    make_bend(piece);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 3; ++j) {
            const double k = y[i] * critical;
            const aw_test_path path = {&orbit, gamma, -0.1, 1.7, 18};
            const double psi = j * fmin(cbrt(1.0 / (k * RADIUS)), 0.5 / gamma);
            /* what panels leave (src/spectrum/spectrum.c: 5e-4 was seen), of what there is in the
             * plane also where next to nothing is left above it */
            assert_close(radiated(&path, k, -0.5 * ANGLE, psi), circle(gamma, k, psi), 1e-3,
                         1e-4 * circle(gamma, k, 0.0));
        }
}

/* The path alone decides, not how long the straights are or where a step ends. */
static void steps_and_straights_do_not_matter(void **state)
{
    const double k = 1e5, gamma = 500.0;
    aw_orbit_piece piece[3];
    const aw_orbit_view orbit = {piece, 3};
    const aw_test_path bend = {&orbit, gamma, 0.0, RADIUS * ANGLE, 400};
    const aw_test_path longer = {&orbit, gamma, -3.0, 5.0, 7};
    (void)state;
    make_bend(piece);
    for (int i = 0; i < 3; ++i) { /* as above */
        const double theta = -0.4 * i - 0.01;
        assert_close(radiated(&longer, k, theta, 0.003), radiated(&bend, k, theta, 0.003), 1e-3, 0);
    }
}

/* On a line that is straight all along nothing is radiated: the terms of its ends cancel. */
static void straight_line_does_not_radiate(void **state)
{
    const aw_orbit_piece piece = {0.0, 0.0, 0.0, 0.1, 0.0};
    const aw_orbit_view orbit = {&piece, 1};
    const aw_test_path path = {&orbit, 100.0, -2.0, 3.0, 10}, half = {&orbit, 100.0, -2.0, 0.5, 1};
    (void)state;
    for (int i = 0; i < 4; ++i) {
        const double theta = 0.1 + 0.01 * i, end = 4.0 / (0.01 + 1e-4);
        /* rounding of k q, 1e5 m/m: 1e-11 of a term, which is 2 theta/(theta^2 + 1/gamma^2) */
        assert_true(radiated(&path, 1e5, theta, 0.01) < 1e-18 * AW_K_COULOMB * end * end / AW_C);
        assert_true(radiated(&half, 1e5, theta, 0.01) < 1e-18 * AW_K_COULOMB * end * end / AW_C);
    }
}

/* At a bend much shorter than a wave the two straight lines are all there is: |A_1 - A_2|^2 with
 * A = n x (n x beta)/(1 - n.beta). */
static void corner_radiates_as_a_kick(void **state)
{
    const double gamma = 50.0, beta = sqrt(1.0 - 1.0 / (gamma * gamma)), kick = 0.3;
    const double r = 1e-9;
    const aw_orbit_piece piece[3] = {
        {0.0, 0.0, 0.0, 0.0, 0.0},
        {1.0, 1.0, 0.0, 0.0, -1.0 / r},
        {1.0 + r * kick, 1.0 + r * sin(kick), r * (1.0 - cos(kick)), kick, 0.0}};
    const aw_orbit_view orbit = {piece, 3};
    const aw_test_path path = {&orbit, gamma, 0.0, 3.0, 5};
    (void)state;
    for (int i = 0; i < 5; ++i) {
        const double theta = 0.1 * i - 0.05, psi = 0.02 * i;
        double h = 0.0, v = 0.0;
        for (int j = 0; j < 2; ++j) {
            const double a = j * kick - theta, sign = j ? 1.0 : -1.0;
            const double slope = 1.0 - beta * cos(psi) * cos(a);
            h += sign * beta * sin(a) / slope;
            v += sign * beta * sin(psi) * cos(a) / slope;
        }
        /* the bend's phase: k r times its angle */
        assert_close(radiated(&path, 1e4, theta, psi),
                     AW_K_COULOMB / (4.0 * AW_PI * AW_PI * AW_C) * (h * h + v * v), 1e-5, 0.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bend_radiates_as_a_circle),
                                       cmocka_unit_test(steps_and_straights_do_not_matter),
                                       cmocka_unit_test(straight_line_does_not_radiate),
                                       cmocka_unit_test(corner_radiates_as_a_kick)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
