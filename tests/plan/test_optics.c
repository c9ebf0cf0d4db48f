/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optics compared with closed forms, and expected bunch sizes with those of tracked bunches. */
#include <math.h>
#include <string.h>

#include "pic/push.h"
#include "pic/stats.h"
#include "src/base/units.h"
#include "src/plan/optics.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

#define ZEUTHEN_GAMMA (5e9 / AW_ME_EV)

/* Derivatives of element lists below: 1e-7 of a third derivative, and rounding of metres, 1e-15,
 * over steps of 1e-6 and 3e-4. */
#define FIRST 4e-9
/* Second differences: rounding 1e-15 over 3e-4 squared, and 1e-7 of a fourth derivative. */
#define SECOND 1e-7

static aw_beam_params beam_of(double gamma)
{
    return (aw_beam_params){.charge = 1e-9,
                            .gamma = gamma,
                            .particles = 20000,
                            .seed = 1,
                            .quiet = 1,
                            .cutoff_sigma = 5.0,
                            .sigma_s = 100e-6,
                            .sigma_x = 50e-6};
}

static aw_beam_params zeuthen_beam(void)
{
    aw_beam_params b = beam_of(ZEUTHEN_GAMMA);
    b.sigma_s = 200e-6;
    b.emittance = 1e-6 / ZEUTHEN_GAMMA;
    b.beta_x = 40.0;
    b.alpha_x = 2.6;
    b.energy_spread = 2e-6;
    b.chirp = -36.0;
    return b;
}

static aw_lattice *zeuthen_lattice(void)
{
    aw_element e[ZEUTHEN_N];
    zeuthen(e);
    return machine_of(e, ZEUTHEN_N, ZEUTHEN_GAMMA, AW_UPSTREAM_DRIFT);
}

static aw_optics *optics_of(const aw_lattice *lattice, const aw_beam_params *beam)
{
    aw_optics *optics = NULL;
    assert_ok(aw_optics_new(lattice, beam, 0, &optics));
    return optics;
}

/* The last point of a list of elements. */
static aw_optics_point map_of(const aw_element *e, size_t n, double gamma, aw_upstream upstream)
{
    const aw_beam_params beam = beam_of(gamma);
    aw_lattice *lattice = machine_of(e, n, gamma, upstream);
    aw_optics *optics = optics_of(lattice, &beam);
    const aw_optics_point last = optics->point[optics->n - 1];
    assert_close(last.S, lattice->length, 0.0, 1e-12);
    aw_optics_free(optics);
    aw_lattice_free(lattice);
    return last;
}

static void a_drift_has_the_velocity_alone(void **state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        const double gamma = k ? 1e4 : 10.0, L = 3.0;
        const aw_element e[] = {drift_of(1.0), drift_of(2.0)};
        const aw_optics_point p = map_of(e, 2, gamma, AW_UPSTREAM_DRIFT);
        /* d(beta)/beta = delta/(beta gamma)^2; the third derivative is a few times the first, times
         * 1e-7; no rounding of lengths, since the paths are equal */
        assert_close(p.R56, -L / (gamma * gamma - 1.0), 1e-6, 0.0);
        assert_close(p.R12, L, FIRST, 0.0);
        assert_close(p.R11, 1.0, FIRST, 0.0);
        assert_close(p.R16, 0.0, 0.0, FIRST);
        assert_close(p.R51, 0.0, 0.0, FIRST);
        assert_close(p.R52, 0.0, 0.0, FIRST);
    }
}

static void a_quadrupole_is_cosine_and_sine(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double L = 0.9, w = sqrt(6.0), a = w * L;
        const double c = sign > 0 ? cos(a) : cosh(a), s = sign > 0 ? sin(a) : sinh(a);
        const aw_element e[] = {quadrupole_of(0.4, 6.0 * sign), quadrupole_of(0.5, 6.0 * sign)};
        const aw_optics_point p = map_of(e, 2, 1e4, AW_UPSTREAM_DRIFT);
        /* third order: slopes of 1e-5, squared; rounding as FIRST, times cosh(a) = 4.6 */
        assert_close(p.R11, c, 0.0, 1e-8);
        assert_close(p.R12, s / w, 0.0, 1e-8);
        assert_close(p.R21, -sign * w * s, 0.0, 1e-8);
        assert_close(p.R22, c, 0.0, 1e-8);
        assert_close(p.R16, 0.0, 0.0, FIRST);
    }
}

/* Rows of the matrix of a sector bend, with edges, either way round, after a straight upstream or a
 * circular one. */
static void a_bend_has_the_textbook_matrix(void **state)
{
    (void)state;
    for (int k = 0; k < 4; ++k) {
        const double sign = k & 1 ? -1.0 : 1.0, angle = 0.6, rho = 2.5, L = angle * rho;
        const double gamma = 1e4, per_energy = gamma * gamma / (gamma * gamma - 1.0);
        const aw_element e[] = {bend_of(0.4 * L, 0.4 * sign * angle, 0.0, 0.0),
                                bend_of(0.6 * L, 0.6 * sign * angle, 0.0, 0.0)};
        const aw_optics_point p =
            map_of(e, 2, gamma, k & 2 ? AW_UPSTREAM_STEADY : AW_UPSTREAM_DRIFT);
        const double c = cos(angle), s = sin(angle);
        assert_close(p.R11, c, 0.0, FIRST);
        assert_close(p.R12, rho * s, 0.0, FIRST);
        assert_close(p.R21, -s / rho, 0.0, FIRST);
        assert_close(p.R22, c, 0.0, FIRST);
        /* third derivatives of delta: about rho times 1e-7 */
        assert_close(p.R16, sign * rho * (1.0 - c) * per_energy, 0.0, 1e-6);
        assert_close(p.R26, sign * s * per_energy, 0.0, 1e-6);
        assert_close(p.R51, sign * s, 0.0, FIRST); /* further out: longer */
        assert_close(p.R52, sign * rho * (1.0 - c), 0.0, FIRST);
        assert_close(p.R56, rho * (angle - s), 0.0, 1e-6);
    }
}

/* Sector magnet with a gradient, k1 per h^2 from focusing to defocusing, in two parts, either way
 * round: kx^2 = h^2 + k1 (K. L. Brown, SLAC-75). */
static void a_bend_with_gradient_has_the_textbook_matrix(void **state)
{
    static const double ratio[] = {3.0, 0.5, -0.5, -4.0};
    (void)state;
    for (int k = 0; k < 8; ++k) {
        const double sign = k & 1 ? -1.0 : 1.0, h = 0.4, L = 1.5, gamma = 1e4;
        const double k1 = ratio[k / 2] * h * h, square = h * h + k1, w = sqrt(fabs(square));
        const double C = square > 0.0 ? cos(w * L) : cosh(w * L);
        const double S = (square > 0.0 ? sin(w * L) : sinh(w * L)) / w;
        const double per_energy = gamma * gamma / (gamma * gamma - 1.0);
        aw_element e[] = {bend_of(0.6, sign * 0.6 * h, 0.0, 0.0),
                          bend_of(0.9, sign * 0.9 * h, 0.0, 0.0)};
        e[0].strength[1] = e[1].strength[1] = k1;
        const aw_optics_point p = map_of(e, 2, gamma, AW_UPSTREAM_DRIFT);
        const aw_optics_point q = map_of(e, 2, gamma, AW_UPSTREAM_STEADY);
        assert_close(p.R11, C, 0.0, FIRST);
        assert_close(p.R12, S, 0.0, FIRST);
        assert_close(p.R21, -square * S, 0.0, FIRST);
        assert_close(p.R22, C, 0.0, FIRST);
        /* third derivatives of delta: 1e-7 of the first */
        assert_close(p.R16, sign * h * (1.0 - C) / square * per_energy, 0.0, 1e-6);
        assert_close(p.R26, sign * h * S * per_energy, 0.0, 1e-6);
        assert_close(p.R51, sign * h * S, 0.0, FIRST);
        assert_close(p.R52, sign * h * (1.0 - C) / square, 0.0, FIRST);
        assert_close(p.R56, h * h * (L - S) / square - L / (gamma * gamma), 0.0, 1e-6);
        assert_close(q.R12, S, 0.0, FIRST);
        assert_close(q.R56, p.R56, 0.0, FIRST);
    }
}

/* A thick sextupole, octupole and dodecapole on the axis do nothing to first order. */
static void higher_multipoles_are_drifts_to_first_order(void **state)
{
    aw_element e = {.kind = AW_MULTIPOLE, .name = "m", .length = 0.7};
    (void)state;
    e.strength[2] = 100.0;
    e.strength[3] = -3e3;
    e.strength[5] = 1e7;
    const aw_optics_point p = map_of(&e, 1, 1e4, AW_UPSTREAM_DRIFT);
    assert_close(p.R11, 1.0, 0.0, FIRST);
    assert_close(p.R12, 0.7, 0.0, FIRST);
    assert_close(p.R21, 0.0, 0.0, FIRST);
    assert_close(p.R16, 0.0, 0.0, FIRST);
    assert_close(p.T566, 0.0, 0.0, SECOND);
}

/* Kn2 L/2 (eta delta)^2 at a sextupole deflects to -x, and the rest of the machine turns that into
 * T166 = -R12 Kn2 L eta^2/2 and T566 = -R52 Kn2 L eta^2/2 more than without it. In a chicane R52 of
 * the second half is eta, as its dispersion closes. */
static void a_sextupole_changes_T566_by_the_square_of_the_dispersion(void **state)
{
    const double strength = 7.0;
    aw_element e[ZEUTHEN_N + 1], plain[ZEUTHEN_N];
    (void)state;
    zeuthen(plain);
    memcpy(e, plain, 3 * sizeof *e);
    plain[3].length = 0.5;
    e[3] = e[5] = plain[3];
    e[4] = (aw_element){.kind = AW_SEXTUPOLE, .name = "s", .strength = {[2] = strength}};
    memcpy(&e[6], &plain[4], 3 * sizeof *e);
    const aw_optics_point with = map_of(e, 9, ZEUTHEN_GAMMA, AW_UPSTREAM_DRIFT);
    const aw_optics_point half = map_of(plain, 4, ZEUTHEN_GAMMA, AW_UPSTREAM_DRIFT);
    const aw_optics_point rest = map_of(&plain[3], 4, ZEUTHEN_GAMMA, AW_UPSTREAM_DRIFT);
    e[4].strength[2] = 0.0;
    const aw_optics_point without = map_of(e, 9, ZEUTHEN_GAMMA, AW_UPSTREAM_DRIFT);
    const double eta = half.R16, kick = -0.5 * strength * eta * eta;
    print_message("eta %.4g m, T566 %.6g and %.6g m\n", eta, without.T566, with.T566);
    assert_close(rest.R52, eta, 1e-6, 0.0);
    assert_true(fabs(kick * eta) > 1e-2);
    /* 1e-7 of third derivatives of 1 m, twice */
    assert_close(with.T566 - without.T566, kick * rest.R52, 1e-6, SECOND);
    assert_close(with.T166 - without.T166, kick * rest.R12, 1e-6, 2e-6);
    assert_close(with.R56, without.R56, 0.0, 1e-6);
}

/* Above and beside the orbit a gradient is another field: ln(1 + h x)/h = x - h x^2/2 ..., so that
 * Kn1 vertically pure is Kn1 and Kn2 = -h Kn1 horizontally pure, to second order. */
static void gradients_above_and_beside_the_orbit_differ_in_second_order(void **state)
{
    const double h = 0.4, k1 = 2.0;
    aw_element e = bend_of(1.5, 0.6, 0.0, 0.0);
    (void)state;
    e.strength[1] = k1;
    const aw_optics_point above = map_of(&e, 1, 1e4, AW_UPSTREAM_DRIFT);
    e.geometry = AW_HORIZONTALLY_PURE;
    const aw_optics_point beside = map_of(&e, 1, 1e4, AW_UPSTREAM_DRIFT);
    e.strength[2] = -h * k1;
    const aw_optics_point same = map_of(&e, 1, 1e4, AW_UPSTREAM_DRIFT);
    assert_close(beside.R56, above.R56, 0.0, 1e-6);
    /* the fields differ in third order, and 1e-7 of a fourth derivative of some metres is seen */
    assert_close(same.T566, above.T566, 0.0, 1e-6);
    assert_close(same.T166, above.T166, 0.0, 1e-6);
    assert_true(fabs(beside.T566 - above.T566) > 1e-4);
}

static void an_edge_acts_behind_it_and_not_before(void **state)
{
    const double angle = 0.3, rho = 1.0 / angle, edge = 0.2, h = -tan(edge) / rho;
    const aw_element e[] = {bend_of(1.0, angle, 0.0, edge), drift_of(1.0)};
    const aw_beam_params beam = beam_of(1e4);
    aw_lattice *lattice = machine_of(e, 2, 1e4, AW_UPSTREAM_DRIFT);
    aw_optics *optics = optics_of(lattice, &beam);
    (void)state;
    for (size_t i = 0; i < optics->n; ++i) {
        const aw_optics_point *p = &optics->point[i];
        const double phi = fmin(p->S, 1.0) * angle, c = cos(phi), s = sin(phi);
        const double drift = fmax(p->S - 1.0, 0.0), kick = p->S >= 1.0 - 1e-12 ? -h : 0.0;
        assert_close(p->R21, -s / rho + kick * c, 0.0, FIRST);
        assert_close(p->R22, c + kick * rho * s, 0.0, FIRST);
        assert_close(p->R11, c + drift * p->R21, 0.0, FIRST);
    }
    assert_true(optics->n > 5); /* planes inside the bend, too */
    aw_optics_free(optics);
    aw_lattice_free(lattice);
}

/* Path through four magnets with faces perpendicular to the line of the start, of a particle of
 * momentum (1 + delta) p_ref: sin(a) = L/(rho (1 + delta)). Its derivative is R56. */
static double chicane_path(double rho, double angle, double slant, double delta)
{
    const double radius = rho * (1.0 + delta), a = asin(rho * sin(angle) / radius);
    return 4.0 * radius * a + 2.0 * slant * cos(angle) / cos(a);
}

static void a_chicane_has_the_path_of_its_geometry(void **state)
{
    const double rho = 10.0, LB = 0.5, LD = 4.0;
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double theta = LB / rho, a = sign * theta, h = 1e-3;
        const aw_element e[] = {
            bend_of(LB, a, 0.0, a),   drift_of(LD), bend_of(LB, -a, -a, 0.0), drift_of(1.0),
            bend_of(LB, -a, 0.0, -a), drift_of(LD), bend_of(LB, a, a, 0.0)};
        const aw_optics_point p = map_of(e, 7, 1e5, AW_UPSTREAM_DRIFT);
        const double up = chicane_path(rho, theta, LD, h), mid = chicane_path(rho, theta, LD, 0.0),
                     down = chicane_path(rho, theta, LD, -h);
        /* the differences of h = 1e-3 of the closed form: 1e-6 of U5666 = 2 R56 */
        assert_close(p.R56, (up - down) / (2.0 * h), 4e-6, 0.0);
        assert_close(p.T566, (up - 2.0 * mid + down) / (2.0 * h * h), 1e-5, SECOND);
        /* leading order in theta: next theta^2 = 2.5e-3, times a number of order one */
        assert_close(p.R56, -2.0 * theta * theta * (2.0 / 3.0 * LB + LD), 5e-3, 0.0);
        assert_close(p.T566, -1.5 * p.R56, 5e-3, 0.0);
        assert_close(p.R16, 0.0, 0.0, FIRST);
        assert_close(p.R26, 0.0, 0.0, FIRST);
    }
}

static void the_zeuthen_chicane_compresses_tenfold(void **state)
{
    const aw_beam_params beam = zeuthen_beam();
    aw_lattice *lattice = zeuthen_lattice();
    aw_optics *optics = optics_of(lattice, &beam);
    const aw_optics_point *end = &optics->point[optics->n - 1];
    (void)state;
    assert_close(end->R56, -25e-3, 0.01, 0.0); /* given to two digits */
    assert_close(end->compression, 0.1, 0.0, 0.01);
    assert_close(end->sigma_s, 20e-6, 0.05, 0.0);
    assert_false(aw_optics_fully_compressed(end, &beam));
    /* all faces are parallel: no focusing; 1e-6 of rounding of the given edge angles */
    assert_close(end->R11, 1.0, 0.0, 1e-6);
    assert_close(end->R21, 0.0, 0.0, 1e-6);
    assert_close(end->beta_x,
                 end->R11 * end->R11 * 40.0 - 2.0 * end->R11 * end->R12 * 2.6 +
                     end->R12 * end->R12 * (1.0 + 2.6 * 2.6) / 40.0,
                 1e-12, 0.0);
    aw_optics_free(optics);
    aw_lattice_free(lattice);
}

/* A bunch tracked in one step from the start to S. */
static aw_beam_stats tracked(const aw_lattice *lattice, const aw_beam_params *beam, double S)
{
    const double beta = sqrt(1.0 - 1.0 / (beam->gamma * beam->gamma));
    aw_particles *p = NULL;
    aw_beam_stats stats;
    assert_ok(aw_particles_draw(beam, &p));
    assert_ok(aw_push_place(lattice, p));
    assert_ok(aw_push_transport(lattice, p, S / beta));
    assert_ok(aw_beam_stats_of(p, &lattice->orbit, S, beam->gamma, &stats));
    aw_particles_free(p);
    return stats;
}

static void compare_with_tracking(const aw_lattice *lattice, const aw_beam_params *beam)
{
    aw_optics *optics = optics_of(lattice, beam);
    for (size_t i = 0; i < optics->n; ++i) {
        const aw_optics_point *p = &optics->point[i];
        const aw_beam_stats stats = tracked(lattice, beam, p->S);
        /* the sizes leave out delta^3, and x delta: below 1 % together; sampling of 20000 quiet
         * particles 0.1 % */
        assert_close(p->sigma_s, stats.sigma_s, 0.01, 0.0);
        assert_close(p->sigma_x, stats.sigma_x, 0.01, 0.0);
    }
    aw_optics_free(optics);
}

static void sizes_are_those_of_a_tracked_bunch(void **state)
{
    aw_beam_params beam = zeuthen_beam();
    aw_lattice *lattice = zeuthen_lattice();
    (void)state;
    compare_with_tracking(lattice, &beam);
    aw_lattice_free(lattice);

    /* quadrupoles, slanted edges, a bend to the left, and a beam off the reference energy */
    const aw_element e[] = {drift_of(0.3),
                            quadrupole_of(0.2, 3.0),
                            drift_of(0.4),
                            bend_of(0.5, 0.1, 0.05, 0.05),
                            quadrupole_of(0.2, -2.5),
                            bend_of(0.7, -0.2, 0.0, -0.1),
                            drift_of(1.0)};
    lattice = machine_of(e, sizeof e / sizeof *e, 1000.0, AW_UPSTREAM_DRIFT);
    beam = beam_of(1003.0);
    beam.emittance = 2e-9;
    beam.beta_x = 3.0;
    beam.alpha_x = 0.5;
    beam.energy_spread = 1e-3;
    beam.chirp = 20.0;
    compare_with_tracking(lattice, &beam);
    beam.emittance = 0.0;
    compare_with_tracking(lattice, &beam);
    aw_lattice_free(lattice);
}

static void full_compression_is_recognised(void **state)
{
    aw_lattice *lattice = zeuthen_lattice();
    aw_beam_params beam = zeuthen_beam();
    aw_optics *optics = optics_of(lattice, &beam);
    const double R56 = optics->point[optics->n - 1].R56;
    (void)state;
    for (size_t i = 0; i < optics->n; ++i)
        assert_false(aw_optics_fully_compressed(&optics->point[i], &beam));
    aw_optics_free(optics);

    beam.chirp = 1.0 / R56;
    optics = optics_of(lattice, &beam);
    const aw_optics_point *end = &optics->point[optics->n - 1];
    assert_true(aw_optics_fully_compressed(end, &beam));
    assert_close(end->sigma_s, end->sigma_s_rest, 1e-6, 0.0);
    assert_close(tracked(lattice, &beam, end->S).sigma_s, end->sigma_s, 0.03, 0.0); /* delta^3 */
    aw_optics_free(optics);

    /* over-compressed: the shortest bunch is within the third bend, between two planes */
    beam.chirp = 1.5 / R56;
    beam.emittance *= 1e-4; /* or R51 and R52 would hide it */
    optics = optics_of(lattice, &beam);
    int found = 0;
    for (size_t i = 0; i < optics->n; ++i) {
        const aw_optics_point *p = &optics->point[i];
        if (p->element != 4 || !p->end) continue;
        found = 1;
        assert_true(p->compression < 0.0);
        assert_true(p->shortest_S < p->S && p->shortest_S > p->S - ZEUTHEN_ARC);
        for (int k = 0; k < 8; ++k) assert_true(p->shortest < 0.9 * p[-k].sigma_s);
        /* the plane is interpolated: between neighbours sigma_s falls and rises by 30 um, of which
         * a curved R56 leaves an eighth at most */
        assert_close(tracked(lattice, &beam, p->shortest_S).sigma_s, p->shortest, 0.1, 4e-6);
    }
    assert_true(found);
    aw_optics_free(optics);

    /* a frozen bunch keeps its sizes */
    assert_ok(aw_optics_new(lattice, &beam, 1, &optics));
    end = &optics->point[optics->n - 1];
    assert_close(end->sigma_s, beam.sigma_s, 0.0, 0.0);
    assert_close(end->compression, 1.0, 0.0, 0.0);
    aw_optics_free(optics);
    aw_lattice_free(lattice);
}

static void a_beam_that_circles_is_refused(void **state)
{
    const aw_element e[] = {bend_of(2.0, 2.0, 0.0, 0.0)};
    aw_lattice *lattice = machine_of(e, 1, 1e4, AW_UPSTREAM_DRIFT);
    const aw_beam_params beam = beam_of(100.0);
    aw_optics *optics = NULL;
    (void)state;
    assert_status(aw_optics_new(lattice, &beam, 0, &optics), AW_ERR_RANGE);
    assert_null(optics);
    aw_lattice_free(lattice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drift_has_the_velocity_alone),
        cmocka_unit_test(a_quadrupole_is_cosine_and_sine),
        cmocka_unit_test(a_bend_has_the_textbook_matrix),
        cmocka_unit_test(a_bend_with_gradient_has_the_textbook_matrix),
        cmocka_unit_test(higher_multipoles_are_drifts_to_first_order),
        cmocka_unit_test(a_sextupole_changes_T566_by_the_square_of_the_dispersion),
        cmocka_unit_test(gradients_above_and_beside_the_orbit_differ_in_second_order),
        cmocka_unit_test(an_edge_acts_behind_it_and_not_before),
        cmocka_unit_test(a_chicane_has_the_path_of_its_geometry),
        cmocka_unit_test(the_zeuthen_chicane_compresses_tenfold),
        cmocka_unit_test(sizes_are_those_of_a_tracked_bunch),
        cmocka_unit_test(full_compression_is_recognised),
        cmocka_unit_test(a_beam_that_circles_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
