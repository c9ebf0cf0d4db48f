/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rates d/d(ct) along the path of the point, against differences of the inner integral. */
#include <string.h>

#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NODES = 24, SLICES = 6 };
#define H 1e-5
#define GAMMA 4.0

/* A beam whose moments, offset and tilt are quadratic in time, so that interpolation in time is
 * exact and slices at any times describe the same beam. */
typedef struct beam {
    aw_orbit_piece piece[2];
    aw_orbit_view orbit;
    double cdt, S; /* spacing of the slices; centre at ct = 0 */
    double speed;  /* of the centre */
    double change; /* 0: rigid, only the centre moves */
    double now;    /* ct of the newest slice */
} beam;

static void moments(const void *context, double age, double u, double w, double m[3])
{
    const beam *b = context;
    double t = (b->now - age * b->cdt) / b->cdt * b->change;
    double a = u / (2.0 * H), c = w / (1.6 * H), g = exp(-0.5 * (a * a + c * c + 0.6 * a * c));
    m[0] = g * (1.0 + 0.11 * t + 0.02 * t * t);
    m[1] = g * (0.08 + 0.02 * a - 0.03 * t + 0.004 * t * t);
    m[2] = g * (0.15 * c + 0.05 * t - 0.01 * t * t);
}

static void fill(const beam *b, slices *s)
{
    for (int i = 0; i < s->n; ++i) {
        double ct = b->now - i * b->cdt, t = ct / b->cdt * b->change;
        s->slice[i].S = b->S + b->speed * ct;
        s->slice[i].x = 2.0 * H + 0.4 * H * t + 0.1 * H * t * t;
        s->slice[i].tilt = 0.4 + 0.02 * t + 0.005 * t * t;
        slices_fill(s, i, 0, moments, b);
    }
}

/* f_in at r' = r with the point and the beam advanced by ct. */
static void inner_at(const beam *start, const aw_variant *variant, slices *s,
                     const aw_field_point *p0, double r, double ct, double f[AW_RESULTS])
{
    beam b = *start;
    aw_field_point p = *p0;
    aw_work work = {0};
    b.now = ct;
    p.z += p.beta * p.ct * ct;
    p.x += p.beta * p.st * ct;
    fill(&b, s);
    aw_history_view h = slices_view(s, b.orbit, b.cdt, GAMMA, 1e3);
    h.beta = b.speed;
    /* nodes so dense that their motion across cells is negligible */
    variant->inner(&h, &p, r, 48.0, f, &work);
}

/* Compare the rates with differences over +-d, to `level` times phi/H, the scale of a rate. */
static void check_rates(const beam *b, const aw_variant *variant, const aw_field_point *p, double r,
                        double level)
{
    const double d = 2e-3 * H;
    double f[AW_RESULTS], a[AW_RESULTS], c[AW_RESULTS];
    slices s;
    slices_new(&s, SLICES, NODES, NODES, 0, H, 1.2 * H);
    inner_at(b, variant, &s, p, r, 0.0, f);
    inner_at(b, variant, &s, p, r, -d, a);
    inner_at(b, variant, &s, p, r, d, c);
    assert_true(f[AW_PHI] > 1e-4); /* the circle meets the beam */
    for (unsigned k = 0; k < 3; ++k)
        assert_close(f[AW_DPHI + k], (c[k] - a[k]) / (2.0 * d), 0.0, level * f[AW_PHI] / H);
    slices_free(&s);
}

/* A point at a distance of about r from the beam's position at ct = -r, in direction `angle`. */
static aw_field_point observer(const beam *b, double r, double angle, double aside)
{
    aw_orbit_point at = aw_orbit_at(&b->orbit, b->S - b->speed * r);
    aw_field_point p = point_on(&b->orbit, b->S, 0.0, GAMMA);
    p.z = at.z + r * cos(angle) + aside;
    p.x = at.x + r * sin(angle) - 0.7 * aside;
    return p;
}

static beam beam_on(double kappa, double cdt)
{
    beam b = {.cdt = cdt, .S = 3.3 * cdt, .speed = 0.9, .change = 1.0};
    b.piece[0] = (aw_orbit_piece){.S = 0.0};
    b.piece[1] = (aw_orbit_piece){.S = 0.0, .kappa = kappa};
    return b;
}

static void check_path(void **state, double kappa)
{
    beam b = beam_on(kappa, 20.0 * H);
    b.orbit = (aw_orbit_view){b.piece, 2};
    for (int i = 0; i < 12; ++i) {
        /* small radii give whole circles, large ones open arcs; for r > 3.67 c dt the beam was in
         * the straight before the arc. Retarded times differ from slices and edge by > d. */
        static const double radius[] = {0.5, 2.7, 9.0, 31.3, 55.0, 79.0};
        double r = radius[i % 6] * H, angle = 2.1 * i;
        aw_field_point p = observer(&b, r, angle, 0.3 * H);
        /* Whole circles: the nodes move with the point, and the error is that of the difference,
         * second order in d/H = 2e-3 times jumps of third derivatives: 1e-5. Open arcs: the nodes
         * move through the cells, and the rule's error in a rate is (1/48)^2 = 4e-4, less by
         * averaging. */
        check_rates(&b, *state, &p, r, i % 6 < 2 ? 1e-5 : 5e-5);
    }
}

static void rates_are_differences_along_the_path_in_a_straight(void **state)
{
    check_path(state, 0.0);
}
static void rates_are_differences_along_the_path_across_an_edge_into_an_arc(void **state)
{
    check_path(state, 40.0); /* 25 mm radius: the rotation of frames matters */
    check_path(state, -40.0);
}

/* In the rigid upstream a single slice moves along the orbit. */
static void rates_are_differences_along_the_path_in_the_upstream(void **state)
{
    beam b = beam_on(25.0, 20.0 * H);
    b.change = 0.0; /* rigid */
    b.orbit = (aw_orbit_view){b.piece, 2};
    for (int i = 0; i < 6; ++i) {
        double r = (SLICES - 1 + 0.7 + 3.0 * i) * b.cdt;
        aw_field_point p = observer(&b, r, 0.4 + i, 0.3 * H);
        check_rates(&b, *state, &p, r, 5e-5);
    }
    b.S = 50.0 * b.cdt; /* the upstream still in the arc */
    for (int i = 0; i < 6; ++i) {
        double r = (SLICES - 1 + 0.7 + 3.0 * i) * b.cdt;
        aw_field_point p = observer(&b, r, 0.4 + i, 0.3 * H);
        check_rates(&b, *state, &p, r, 5e-5);
    }
}

/* For a point that moves with a rigid beam nothing changes. */
static void a_rigid_beam_in_a_straight_has_no_rate_for_its_own_points(void **state)
{
    const aw_variant *variant = *state;
    beam b = beam_on(0.0, 20.0 * H);
    slices s;
    b.change = 0.0;
    b.speed = beta_of(GAMMA);
    b.orbit = (aw_orbit_view){b.piece, 1};
    slices_new(&s, SLICES, NODES, NODES, 0, H, 1.2 * H);
    for (int i = 0; i < 20; ++i) {
        aw_field_point p = point_on(&b.orbit, b.S + H * (i % 5 - 2), H * (i % 3), GAMMA);
        double f[AW_RESULTS], r = 0.9 * H * i;
        inner_at(&b, variant, &s, &p, r, 0.0, f);
        /* slopes of 1/H times zero, to the rounding of velocities and of time weights/c dt */
        for (unsigned k = AW_DPHI; k <= AW_DAX; ++k)
            assert_close(f[k], 0.0, 0.0, 1e-13 * f[AW_PHI] / H);
    }
    slices_free(&s);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(rates_are_differences_along_the_path_in_a_straight, variant),
        cmocka_unit_test_prestate(rates_are_differences_along_the_path_across_an_edge_into_an_arc,
                                  variant),
        cmocka_unit_test_prestate(rates_are_differences_along_the_path_in_the_upstream, variant),
        cmocka_unit_test_prestate(a_rigid_beam_in_a_straight_has_no_rate_for_its_own_points,
                                  variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
