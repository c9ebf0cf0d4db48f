/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transport against closed forms: the design orbit, circle and line, and independence of steps. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "pic/push.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

static void the_reference_particle_follows_the_design_orbit(void **state)
{
    const double gamma = 50.0, step = 0.0371; /* divides no length; beta = 1 - 2e-4 */
    aw_element e[ZEUTHEN_N];
    aw_lattice *lat;
    aw_particles *p;
    double beta;
    (void)state;
    zeuthen(e);
    lat = machine_of(e, ZEUTHEN_N, gamma, AW_UPSTREAM_DRIFT);
    beta = lat->p_ref / gamma;
    p = particle_at(lat, -0.1, 0.0, 0.0, lat->p_ref);
    for (int i = 1; i <= 480; ++i) {
        aw_orbit_point at = aw_orbit_at(&lat->orbit, -0.1 + beta * step * i);
        assert_ok(aw_push_transport(lat, p, step));
        /* 1e-11 m: 500 steps of rounding at 15 m are 1e-12 */
        assert_close(p->z[0], at.z, 0.0, 1e-11);
        assert_close(p->x[0], at.x, 0.0, 1e-11);
        assert_close(atan2(p->px[0], p->pz[0]), at.theta, 0.0, 1e-13);
    }
    assert_int_equal(p->element[0], lat->regions - 1);
    aw_particles_free(p);
    aw_lattice_free(lat);
}

/* Intersection of the circle about `centre` with the line through `point` along the unit vector
 * `along`, all (z, x): of the two, the one nearer to `point`. */
static void circle_meets_line(const double centre[2], double radius, const double point[2],
                              const double along[2], double out[2])
{
    double dz = point[0] - centre[0], dx = point[1] - centre[1];
    double half = dz * along[0] + dx * along[1];
    double c = dz * dz + dx * dx - radius * radius, root = sqrt(half * half - c);
    double m1 = -half + root, m2 = -half - root, m = fabs(m1) < fabs(m2) ? m1 : m2;
    out[0] = point[0] + m * along[0];
    out[1] = point[1] + m * along[1];
}

/* A particle off axis, inclined and off energy through a bend with edges: by ruler and compass. */
static void bend_with_edges_is_circle_and_lines(void **state)
{
    const double length = 1.3, x0 = 4e-3, slope = -3e-3, e1 = 0.15, e2 = -0.25;
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double angle = 0.4 * sign, rho = length / 0.4;
        const aw_element e[] = {bend_of(length, angle, e1, e2), drift_of(2.0)};
        aw_lattice *lat = machine_of(e, 2, 300.0, AW_UPSTREAM_DRIFT);
        double p0 = 1.07 * lat->p_ref, radius = 1.07 * rho;
        aw_particles *p = particle_at(lat, -0.7, x0, slope, p0);
        double norm = sqrt(1.0 + slope * slope), uz = 1.0 / norm, ux = slope / norm;
        /* The entrance, z = x tan(e1), meets x = x0 + slope z; the exit plane contains the design
         * exit. */
        double zi = x0 * tan(e1) / (1.0 - slope * tan(e1)), xi = x0 + slope * zi;
        const double exit[2] = {rho * sin(0.4), -sign * rho * (1.0 - cos(0.4))};
        const double plane[2] = {-sin(-angle + e2), cos(-angle + e2)};
        const double centre[2] = {zi + sign * radius * ux, xi - sign * radius * uz};
        double out[2], zo, xo, turned, path, wz, wx, rest, beta = p0 / sqrt(1.0 + p0 * p0);
        circle_meets_line(centre, radius, exit, plane, out);
        zo = out[0];
        xo = out[1];
        turned = 2.0 * asin(0.5 * hypot(zo - zi, xo - xi) / radius);
        path = hypot(zi - p->z[0], xi - p->x[0]) + radius * turned;
        wz = cos(atan2(ux, uz) - sign * turned);
        wx = sin(atan2(ux, uz) - sign * turned);
        rest = 3.0 - path;
        assert_ok(aw_push_transport(lat, p, 3.0 / beta));
        assert_close(p->z[0], zo + rest * wz, 0.0, 1e-14); /* rounding at 3 m, asin at 0.2 */
        assert_close(p->x[0], xo + rest * wx, 0.0, 1e-14);
        assert_close(p->pz[0], p0 * wz, 1e-14, 0.0);
        assert_close(p->px[0], p0 * wx, 1e-13, 0.0);
        aw_particles_free(p);
        aw_lattice_free(lat);
    }
}

static void one_long_step_equals_many_short_ones(void **state)
{
    const aw_element e[] = {bend_of(0.2, 0.1, 0.03, 0.02), drift_of(0.11),
                            quadrupole_of(0.13, 5.0),      bend_of(0.17, -0.1, 0.02, 0.05),
                            quadrupole_of(0.1, -4.0),      drift_of(0.05)};
    aw_lattice *lat = machine_of(e, 6, 200.0, AW_UPSTREAM_DRIFT);
    (void)state;
    for (int k = -2; k <= 2; ++k) {
        double p0 = lat->p_ref * (1.0 + 0.02 * k);
        aw_particles *one = particle_at(lat, -0.1, 1e-3 * k, 2e-3, p0);
        aw_particles *many = particle_at(lat, -0.1, 1e-3 * k, 2e-3, p0);
        assert_ok(aw_push_transport(lat, one, 1.0));
        for (int i = 0; i < 1000; ++i) assert_ok(aw_push_transport(lat, many, 1e-3));
        /* The substeps in quadrupoles differ: 5e-12 of 5 mm; the rest is 1000 roundings of 1 m. */
        assert_close(many->z[0], one->z[0], 0.0, 1e-12);
        assert_close(many->x[0], one->x[0], 0.0, 1e-12);
        assert_close(many->px[0], one->px[0], 0.0, 1e-12 * p0);
        assert_int_equal(many->element[0], one->element[0]);
        aw_particles_free(one);
        aw_particles_free(many);
    }
    aw_lattice_free(lat);
}

static void transport_conserves_energy_to_rounding(void **state)
{
    aw_element e[ZEUTHEN_N];
    aw_lattice *lat;
    (void)state;
    zeuthen(e);
    e[3] = quadrupole_of(1.0, 1.7);
    lat = machine_of(e, ZEUTHEN_N, 9784.7, AW_UPSTREAM_DRIFT);
    for (int k = 0; k < 20; ++k) {
        double p0 = lat->p_ref * (1.0 + 1e-3 * k);
        aw_particles *p = particle_at(lat, -0.05, 1e-4 * k, 1e-5 * k, p0);
        for (int i = 0; i < 800; ++i) assert_ok(aw_push_transport(lat, p, 0.02));
        /* 800 roundings of 1e-16 add up as a random walk: 3e-15 */
        assert_close(momentum_of(p, 0), p0, 1e-14, 0.0);
        aw_particles_free(p);
    }
    aw_lattice_free(lat);
}

static void a_full_turn_returns_to_its_start(void **state)
{
    const double rho = 2.0;
    const aw_element e[] = {bend_of(2.0 * AW_PI * rho, 2.0 * AW_PI, 0.0, 0.0)};
    aw_lattice *lat = machine_of(e, 1, 100.0, AW_UPSTREAM_STEADY);
    double beta = lat->p_ref / 100.0;
    aw_particles *p = particle_at(lat, 0.0, 0.0, 0.0, lat->p_ref);
    (void)state;
    assert_ok(aw_push_transport(lat, p, 0.5 * lat->length / beta));
    assert_close(p->z[0], 0.0, 0.0, 1e-14);
    assert_close(p->x[0], -2.0 * rho, 0.0, 1e-14); /* rounding of a dozen arcs */
    assert_ok(aw_push_transport(lat, p, 0.5 * lat->length / beta));
    assert_close(p->z[0], 0.0, 0.0, 2e-14);
    assert_close(p->x[0], 0.0, 0.0, 2e-14);
    aw_particles_free(p);
    aw_lattice_free(lat);
}

/* A straight bunch drawn about S = 0 at the edge of a bend is the one that a straight upstream
 * delivers. */
static void placing_equals_arriving_from_upstream(void **state)
{
    const aw_element e[] = {bend_of(1.0, 0.1, 0.05, 0.0)};
    aw_lattice *lat = machine_of(e, 1, 500.0, AW_UPSTREAM_DRIFT);
    const double slope = 1e-4, back = 0.3, beta = lat->p_ref / 500.0;
    (void)state;
    for (int k = -1; k <= 2; ++k) {
        double z = 1e-3 * k;
        aw_particles *p = particle_at(lat, z, 2e-4, slope, lat->p_ref);
        aw_particles *q = particle_at(lat, z - back, 2e-4, slope, lat->p_ref);
        assert_ok(aw_push_place(lat, p));
        assert_ok(aw_push_transport(lat, q, back * sqrt(1.0 + slope * slope) / beta));
        assert_close(p->z[0], q->z[0], 0.0, 1e-15);
        assert_close(p->x[0], q->x[0], 0.0, 1e-15);
        assert_close(p->px[0], q->px[0], 0.0, 1e-15 * lat->p_ref);
        assert_int_equal(p->element[0], q->element[0]);
        assert_int_equal(p->element[0], k > 0); /* e1 > 0: the edge is at +1e-5 m for x = 0.2 mm */
        aw_particles_free(p);
        aw_particles_free(q);
    }
    aw_lattice_free(lat);
}

static void placing_in_a_steady_bend_keeps_offsets_and_slope(void **state)
{
    const aw_element e[] = {bend_of(1.0, 0.1, 0.05, 0.0)};
    aw_lattice *lat = machine_of(e, 1, 500.0, AW_UPSTREAM_STEADY);
    aw_particles *p = particle_at(lat, 2e-3, 3e-4, 0.0, lat->p_ref);
    double offset = 0.0;
    (void)state;
    p->px[0] = 1e-3 * lat->p_ref;
    assert_ok(aw_push_place(lat, p));
    assert_close(aw_orbit_project(&lat->orbit, p->z[0], p->x[0], 0.0, &offset), 2e-3, 0.0, 1e-17);
    assert_close(offset, 3e-4, 0.0, 1e-17);
    assert_close(atan2(p->px[0], p->pz[0]), atan(1e-3) - 2e-4, 0.0, 1e-15); /* kappa s = 2e-4 */
    aw_particles_free(p);
    aw_lattice_free(lat);
}

static void a_kick_adds_force_times_time(void **state)
{
    const aw_element e[] = {drift_of(1.0)};
    aw_lattice *lat = machine_of(e, 1, 500.0, AW_UPSTREAM_DRIFT);
    aw_particles *p = particle_at(lat, 0.0, 0.0, 0.0, 10.0);
    double Fz = AW_ME_EV, Fx = -2.0 * AW_ME_EV; /* one and two rest energies per metre */
    (void)state;
    assert_ok(aw_push_kick(p, &Fz, &Fx, 0.25));
    assert_close(p->pz[0], 10.25, 1e-15, 0.0);
    assert_close(p->px[0], -0.5, 1e-15, 0.0);
    Fx = NAN;
    assert_status(aw_push_kick(p, &Fz, &Fx, 0.25), AW_ERR_NONFINITE);
    aw_particles_free(p);
    aw_lattice_free(lat);
}

static void rigid_motion_keeps_the_offsets_from_the_orbit(void **state)
{
    aw_element e[ZEUTHEN_N];
    aw_lattice *lat;
    aw_particles *p;
    (void)state;
    zeuthen(e);
    lat = machine_of(e, ZEUTHEN_N, 9784.7, AW_UPSTREAM_DRIFT);
    p = particle_at(lat, 0.0, 0.0, 0.0, lat->p_ref);
    p->s0[0] = 3e-4;
    p->x0[0] = -5e-4;
    for (double S = -0.3; S < 16.0; S += 0.0923) {
        double offset = 0.0, at;
        aw_orbit_point o = aw_orbit_at(&lat->orbit, S + 3e-4);
        assert_ok(aw_push_rigid(lat, p, 1000.0, S));
        at = aw_orbit_project(&lat->orbit, p->z[0], p->x[0], S, &offset);
        assert_close(at, S + 3e-4, 0.0, 1e-14);
        assert_close(offset, -5e-4, 0.0, 1e-14);
        assert_close(p->px[0] / p->pz[0], tan(o.theta), 1e-13, 1e-15);
        assert_close(momentum_of(p, 0), sqrt(1e6 - 1.0), 1e-15, 0.0);
    }
    assert_status(aw_push_rigid(lat, p, 0.5, 0.0), AW_ERR_ARG);
    assert_status(aw_push_rigid(lat, p, 10.0, NAN), AW_ERR_NONFINITE);
    aw_particles_free(p);
    aw_lattice_free(lat);
}

static void lost_particles_are_reported(void **state)
{
    const aw_element e[] = {drift_of(1.0), bend_of(1.0, 0.4, 0.0, 0.0), quadrupole_of(1.0, 400.0)};
    aw_lattice *lat = machine_of(e, 3, 500.0, AW_UPSTREAM_DRIFT);
    aw_particles *still = particle_at(lat, 0.0, 0.0, 0.0, 0.0);
    aw_particles *back = particle_at(lat, 0.0, 0.0, 0.0, -5.0);
    aw_particles *slow = particle_at(lat, 0.9, 0.0, 0.0, 5.0); /* a circle of 25 mm in the bend */
    aw_particles *wide = particle_at(lat, 0.9, 0.2, 0.0, lat->p_ref);
    aw_particles *nan = particle_at(lat, 0.0, 0.0, 0.0, lat->p_ref);
    (void)state;
    assert_status(aw_push_transport(lat, still, 0.1), AW_ERR_RANGE);
    assert_status(aw_push_transport(lat, back, 0.1), AW_ERR_RANGE);
    assert_status(aw_push_transport(lat, slow, 0.5), AW_ERR_RANGE);
    assert_status(aw_push_transport(lat, wide, 2.0),
                  AW_ERR_RANGE); /* turned back by the quadrupole */
    nan->pz[0] = NAN;
    assert_status(aw_push_transport(lat, nan, 0.1), AW_ERR_NONFINITE);
    assert_status(aw_push_locate(lat, nan), AW_ERR_NONFINITE);
    assert_status(aw_push_place(lat, nan), AW_ERR_NONFINITE);
    assert_status(aw_push_transport(lat, nan, -0.1), AW_ERR_ARG);
    aw_particles_free(still);
    aw_particles_free(back);
    aw_particles_free(slow);
    aw_particles_free(wide);
    aw_particles_free(nan);
    aw_lattice_free(lat);
}

static void transport_has_the_same_bits_for_any_number_of_threads(void **state)
{
    const aw_element e[] = {bend_of(0.5, 0.1, 0.0, 0.1), drift_of(0.1), quadrupole_of(0.2, 3.0)};
    const aw_beam_params beam = {.charge = 1e-9,
                                 .gamma = 500.0,
                                 .particles = 5001,
                                 .seed = 1,
                                 .cutoff_sigma = 5.0,
                                 .sigma_s = 1e-3,
                                 .sigma_x = 1e-3,
                                 .energy_spread = 1e-2};
    aw_lattice *lat = machine_of(e, 3, 500.0, AW_UPSTREAM_DRIFT);
    aw_particles *p[2] = {NULL, NULL};
    (void)state;
    for (int k = 0; k < 2; ++k) {
        omp_set_num_threads(1 + 2 * k);
        assert_ok(aw_particles_draw(&beam, &p[k]));
        assert_ok(aw_push_place(lat, p[k]));
        for (int i = 0; i < 20; ++i) assert_ok(aw_push_transport(lat, p[k], 0.05));
    }
    assert_memory_equal(p[0]->z, p[1]->z, p[0]->n * sizeof(double));
    assert_memory_equal(p[0]->px, p[1]->px, p[0]->n * sizeof(double));
    aw_particles_free(p[0]);
    aw_particles_free(p[1]);
    aw_lattice_free(lat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_particle_follows_the_design_orbit),
        cmocka_unit_test(bend_with_edges_is_circle_and_lines),
        cmocka_unit_test(one_long_step_equals_many_short_ones),
        cmocka_unit_test(transport_conserves_energy_to_rounding),
        cmocka_unit_test(a_full_turn_returns_to_its_start),
        cmocka_unit_test(placing_equals_arriving_from_upstream),
        cmocka_unit_test(placing_in_a_steady_bend_keeps_offsets_and_slope),
        cmocka_unit_test(a_kick_adds_force_times_time),
        cmocka_unit_test(rigid_motion_keeps_the_offsets_from_the_orbit),
        cmocka_unit_test(lost_particles_are_reported),
        cmocka_unit_test(transport_has_the_same_bits_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
