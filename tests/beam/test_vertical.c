/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linear vertical optics against closed forms: gradients, thin ones, and edges, of part of a
 * lattice, too; and the height of particles under them. */
#include "src/beam/vertical.h"

#include <math.h>

#include "src/beam/beam_file.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

/* A few products of numbers of order one. */
#define ROUNDING 1e-14

static void assert_map(const aw_lattice *lat, double S, const double want[4])
{
    double m[4];
    aw_vertical_map(lat, S, m);
    for (int i = 0; i < 4; ++i) assert_close(m[i], want[i], 0.0, ROUNDING);
}

/* m = (a b; c d) m */
static void then(double m[4], double a, double b, double c, double d)
{
    const double p = m[0], q = m[1], r = m[2], s = m[3];
    m[0] = a * p + b * r;
    m[1] = a * q + b * s;
    m[2] = c * p + d * r;
    m[3] = c * q + d * s;
}

/* y'' = k1 y over a length */
static void then_gradient(double m[4], double k1, double length)
{
    const double w = sqrt(fabs(k1)), a = w * length;
    if (k1 > 0.0)
        then(m, cosh(a), sinh(a) / w, w * sinh(a), cosh(a));
    else
        then(m, cos(a), sin(a) / w, -w * sin(a), cos(a));
}

static void gradients_focus_where_they_defocus_in_x(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double k1 = 1.5 * sign, angle = 0.2 * sign;
        aw_element sextupole = {.kind = AW_SEXTUPOLE, .name = "s", .length = 0.4};
        const aw_element thin = {
            .kind = AW_MULTIPOLE, .name = "t", .strength = {[1] = 0.7 * sign, [2] = 9.0}};
        aw_element bend = bend_of(0.5, angle, 0.1, -0.05);
        sextupole.strength[1] = k1;
        sextupole.strength[2] = 30.0;
        bend.strength[1] = k1;
        bend.strength[2] = 5.0;
        const aw_element e[] = {thin, sextupole, bend, thin, drift_of(0.3)};
        aw_lattice *lat = machine_of(e, 5, 1000.0, AW_UPSTREAM_DRIFT);
        double m[4] = {1.0, 0.0, 0.0, 1.0};
        assert_map(lat, 0.0, m);
        then(m, 1.0, 0.0, 0.7 * sign, 1.0);
        then_gradient(m, k1, 0.25);
        assert_map(lat, 0.25, m);
        then_gradient(m, k1, 0.15);
        then(m, 1.0, 0.0, -angle / 0.5 * tan(0.1), 1.0);
        then_gradient(m, k1, 0.2);
        assert_map(lat, 0.6, m);
        then_gradient(m, k1, 0.3);
        then(m, 1.0, 0.0, -angle / 0.5 * tan(-0.05), 1.0);
        then(m, 1.0, 0.0, 0.7 * sign, 1.0);
        then(m, 1.0, 0.1, 0.0, 1.0);
        assert_map(lat, 1.0, m);
        assert_close(m[0] * m[3] - m[1] * m[2], 1.0, ROUNDING, 0.0);
        aw_lattice_free(lat);
    }
}

/* Where the bunch starts in the middle, what is behind it has no part. */
static void the_map_begins_where_the_bunch_does(void **state)
{
    const aw_element thin = {.kind = AW_MULTIPOLE, .name = "t", .strength = {[1] = 0.7}};
    const aw_element e[] = {quadrupole_of(0.2, 2.0), thin, drift_of(1.0), thin, drift_of(1.0)};
    static const double starts[] = {0.2, 0.7, 1.2, 1.5};
    static const int kicks[] = {2, 1, 1, 0};
    aw_lattice_problem problem = {0};
    (void)state;
    for (int i = 0; i < 4; ++i) {
        const aw_lattice_start start = {starts[i], AW_UPSTREAM_DRIFT};
        double m[4] = {1.0, 0.0, 0.0, 1.0};
        aw_lattice *lat = NULL;
        assert_ok(aw_lattice_try(e, 5, 1000.0, &start, &problem, &lat));
        if (kicks[i] > 1) then(m, 1.0, 0.0, 0.7, 1.0);
        if (kicks[i] > 0) then(m, 1.0, 1.2 - starts[i], 0.0, 1.0);
        if (kicks[i] > 0) then(m, 1.0, 0.0, 0.7, 1.0);
        then(m, 1.0, 2.0 - fmax(starts[i], 1.2), 0.0, 1.0);
        assert_map(lat, 2.0, m);
        aw_lattice_free(lat);
    }
}

/* The size from two rays of the ellipse of the Twiss parameters, a quarter of a turn apart. */
static double by_rays(const aw_lattice *lat, const aw_beam_params *beam, double S)
{
    const double y = sqrt(beam->emittance_y * beam->beta_y);
    const double slope = sqrt(beam->emittance_y / beam->beta_y);
    double m[4];
    aw_vertical_map(lat, S, m);
    const double one = m[0] * y - m[1] * beam->alpha_y * slope, other = m[1] * slope;
    return one * one + other * other;
}

static void the_height_follows_the_optics(void **state)
{
    static const double places[] = {0.0, 0.1, 0.4, 0.7, 0.9, 1.2, 2.0};
    const aw_element straight = drift_of(5.0);
    const aw_element e[] = {drift_of(0.4), bend_of(0.5, 0.3, 0.2, 0.1), drift_of(1.1)};
    const aw_beam_params beam = {.emittance_y = 2e-10, .beta_y = 3.0, .alpha_y = 1.7};
    const aw_beam_params constant = {.sigma_y = 3e-5, .beta_y = 3.0, .alpha_y = 1.7};
    (void)state;
    aw_lattice *lat = machine_of(&straight, 1, 1000.0, AW_UPSTREAM_DRIFT);
    for (double S = 0.0; S <= 5.0; S += 0.5) {
        const double beta = 3.0 - 2.0 * 1.7 * S + (1.0 + 1.7 * 1.7) / 3.0 * S * S;
        /* the terms are up to 30 times their sum at the waist */
        assert_close(aw_vertical_size2(lat, &beam, S), 2e-10 * beta, 30.0 * ROUNDING, 0.0);
        assert_close(aw_vertical_size2(lat, &constant, S), 9e-10, ROUNDING, 0.0);
    }
    aw_lattice_free(lat);
    lat = machine_of(e, 3, 1000.0, AW_UPSTREAM_DRIFT);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i)
        assert_close(aw_vertical_size2(lat, &beam, places[i]), by_rays(lat, &beam, places[i]),
                     30.0 * ROUNDING, 0.0);
    aw_lattice_free(lat);
}

/* A height is y' x behind a drift, and what a cavity or radiation does to the energy does not move
 * it: they change gamma0, from which the self-field's work is counted (pic/particles.h). */
static void cavities_and_radiation_leave_heights(void **state)
{
    const double m[4] = {1.0, 2.0, 0.0, 1.0}, y0 = 1e-4, slope = 1e-3, p0 = 2000.0;
    aw_particles *p;
    double y, py;
    (void)state;
    assert_ok(aw_particles_new(1, 1e-15, &p));
    assert_ok(aw_particles_extend(p, AW_WITH_HEIGHT));
    p->y[0] = y0;
    p->py[0] = slope * p0;
    p->p0[0] = p0;
    for (int k = 0; k < 2; ++k) {
        aw_vertical_move(m, p, 0, &y, &py);
        assert_close(y, y0 + 2.0 * slope, ROUNDING, 0.0);
        assert_close(py, slope * p0, ROUNDING, 0.0);
        p->gamma0[0] += 60.0;
        p->pz[0] += 60.0;
    }
    aw_particles_free(p);
}

/* Moments of the particles at the start, carried by the optics, are those of the particles that the
 * optics move; also of particles in a plane y' = k y, or without slopes, whose emittance is 0. */
static void the_height_is_the_rms_of_moved_particles(void **state)
{
    enum { N = 200 };
    const aw_element e[] = {drift_of(0.2), bend_of(0.5, 0.2, 0.1, -0.05), drift_of(0.4)};
    aw_lattice *lat = machine_of(e, 3, 1000.0, AW_UPSTREAM_DRIFT);
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        aw_particles *p = NULL;
        aw_beam_params beam = {.sigma_y = 1.0};
        assert_ok(aw_particles_new(N, 1e-12, &p));
        assert_ok(aw_particles_extend(p, AW_WITH_HEIGHT | AW_WITH_WEIGHT));
        for (int i = 0; i < N; ++i) {
            p->y[i] = 1e-4 * sin(1.0 + i) + 2e-4;
            const double slope[] = {1e-5 * cos(3.0 * i), -0.3 * p->y[i], 0.0};
            p->p0[i] = 1000.0 * (1.0 + 1e-3 * sin(7.0 * i));
            p->py[i] = p->p0[i] * slope[kind];
            p->weight[i] = i % 2 ? 0.5 : 1.5;
        }
        aw_beam_height(p, &beam);
        for (int k = 0; k <= 7; ++k) {
            const double S = 0.17 * k;
            double m[4], y[N], py, mean = 0.0, square = 0.0;
            aw_vertical_map(lat, S, m);
            for (size_t i = 0; i < N; ++i) {
                aw_vertical_move(m, p, i, &y[i], &py);
                mean += p->weight[i] * y[i] / N;
            }
            for (int i = 0; i < N; ++i) square += p->weight[i] * (y[i] - mean) * (y[i] - mean) / N;
            /* beta of at most 1e6 m: of the square, (1 m/1e6 m)^2 */
            assert_close(aw_vertical_size2(lat, &beam, S), square, 1e-11, 0.0);
        }
        aw_particles_free(p);
    }
    aw_lattice_free(lat);
}

static void particles_in_the_plane_have_no_height(void **state)
{
    aw_particles *p = NULL;
    aw_beam_params beam = {.sigma_y = 1.0, .emittance_y = 1.0};
    (void)state;
    assert_ok(aw_particles_new(3, 1e-12, &p));
    aw_beam_height(p, &beam);
    assert_true(beam.sigma_y == 0.0 && beam.emittance_y == 0.0);
    aw_particles_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_focus_where_they_defocus_in_x),
        cmocka_unit_test(the_map_begins_where_the_bunch_does),
        cmocka_unit_test(the_height_follows_the_optics),
        cmocka_unit_test(cavities_and_radiation_leave_heights),
        cmocka_unit_test(the_height_is_the_rms_of_moved_particles),
        cmocka_unit_test(particles_in_the_plane_have_no_height),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
