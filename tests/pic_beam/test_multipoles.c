/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Multipoles and bends with a gradient: kicks and invariants in closed form, the equation of motion
 * integrated by other means, the order of the composition, and a magnet cut in two. */
#include <gsl/gsl_odeiv2.h>
#include <math.h>
#include <string.h>

#include "pic/push.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

#define GAMMA 1000.0

static aw_element multipole_of(double length, double k0, double k1, double k2, double k3)
{
    return (aw_element){
        .kind = AW_MULTIPOLE, .name = "multipole", .length = length, .strength = {k0, k1, k2, k3}};
}

static aw_element gradient_of(double length, double angle, double k1, double k2,
                              aw_multipole_geometry geometry)
{
    aw_element e = bend_of(length, angle, 0.0, 0.0);
    e.strength[1] = k1;
    e.strength[2] = k2;
    e.geometry = geometry;
    return e;
}

/* Curvature of a particle of the reference momentum at (z, x) in an element that begins at (0, 0)
 * along z: in closed form, and from the point itself. */
static double curvature_at(const aw_element *e, double z, double x)
{
    const double h = e->kind == AW_BEND ? e->angle / e->length : 0.0;
    const double *K = e->strength;
    if (h == 0.0) return K[0] + x * (K[1] + x * (K[2] / 2.0 + x * K[3] / 6.0));
    const double rho = 1.0 / h, r = hypot(z, x + rho) / fabs(rho), off = rho * (r - 1.0);
    if (e->geometry == AW_HORIZONTALLY_PURE) return h + off * (K[1] + off * K[2] / 2.0);
    /* B_y(x, 0) of vertically pure components: rho ln r, and rho^2 ((r^2 - 1)/2 - ln r) */
    return h + K[1] * rho * log(r) +
           K[2] / 2.0 * rho * rho * (0.5 * (r - 1.0) * (r + 1.0) - log(r));
}

typedef struct motion {
    const aw_element *element;
    double scale; /* p_ref/p */
} motion;

/* d/d(path) of z, x and the direction to the z axis */
static int slopes(double path, const double y[], double f[], void *of)
{
    const motion *m = of;
    (void)path;
    f[0] = cos(y[2]);
    f[1] = sin(y[2]);
    f[2] = -m->scale * curvature_at(m->element, y[0], y[1]);
    return 0;
}

/* Integrate from the entrance for a path by an eighth-order Runge-Kutta method. */
static void integrate(const aw_element *e, double scale, double path, double y[3])
{
    motion m = {e, scale};
    gsl_odeiv2_system system = {slopes, NULL, 3, &m};
    gsl_odeiv2_driver *driver =
        gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_rk8pd, 1e-3, 1e-15, 1e-14);
    double t = 0.0;
    assert_non_null(driver);
    assert_int_equal(gsl_odeiv2_driver_apply(driver, &t, path, y), 0);
    gsl_odeiv2_driver_free(driver);
}

static const aw_element *examples(size_t *n)
{
    static aw_element e[8];
    e[0] = multipole_of(0.8, 0.0, 0.0, 60.0, 0.0);
    e[1] = multipole_of(0.8, 0.0, 0.0, 0.0, -4e3);
    e[2] = multipole_of(0.8, 0.01, -1.5, 30.0, 2e3);
    e[3] = gradient_of(0.8, 0.3, 1.2, 0.0, AW_VERTICALLY_PURE);
    e[4] = gradient_of(0.8, -0.3, -0.8, 25.0, AW_VERTICALLY_PURE);
    e[5] = gradient_of(0.8, 0.45, -2.0, 0.0, AW_HORIZONTALLY_PURE);
    e[6] = gradient_of(0.8, -0.45, 2.0, -40.0, AW_HORIZONTALLY_PURE);
    e[7] = gradient_of(0.8, 0.0, 2.0, -40.0, AW_VERTICALLY_PURE);
    *n = 8;
    return e;
}

/* A particle in the middle of each magnet, where the equation of motion puts it. */
static void the_motion_is_that_of_the_equation_of_motion(void **state)
{
    const double before = 0.1, inside = 0.6, x0 = 4e-3, slope = -3e-3;
    size_t n = 0;
    const aw_element *e = examples(&n);
    double worst = 0.0;
    (void)state;
    for (size_t i = 0; i < n; ++i)
        for (int k = -1; k <= 1; ++k) {
            aw_lattice *lat = machine_of(&e[i], 1, GAMMA, AW_UPSTREAM_DRIFT);
            const double p0 = lat->p_ref * (1.0 + 0.03 * k), beta = p0 / sqrt(1.0 + p0 * p0);
            const double straight = before * sqrt(1.0 + slope * slope);
            aw_particles *p = particle_at(lat, -before, x0, slope, p0);
            double y[3] = {0.0, x0, atan(slope)};
            integrate(&e[i], lat->p_ref / p0, inside, y);
            assert_ok(aw_push_transport(lat, p, (straight + inside) / beta));
            assert_int_equal(lat->region[p->element[0]].kind, AW_REGION_MULTIPOLE);
            worst = fmax(worst, fmax(fabs(p->x[0] - y[1]), fabs(p->px[0] / p0 - sin(y[2]))));
            /* the errors at eight substeps in the next test, 5e-9, times the fourth power of the
             * ratio of substeps, 0.013 to 0.075 m */
            assert_close(p->z[0], y[0], 0.0, 4e-12);
            assert_close(p->x[0], y[1], 0.0, 4e-12);
            assert_close(p->px[0] / p0, sin(y[2]), 0.0, 4e-12);
            assert_close(momentum_of(p, 0), p0, 2e-15, 0.0);
            aw_particles_free(p);
            aw_lattice_free(lat);
        }
    print_message("worst difference %.2g\n", worst);
}

/* Error of n steps of the composition over a path in region r, against many more. */
static double error_of(const aw_field_region *r, double scale, int n)
{
    const double path = 0.6;
    aw_track coarse = {.x = 8e-3, .uz = 1.0, .p = 1.0}, fine = coarse;
    for (int i = 0; i < n; ++i) aw_track_multipole_step(r, &coarse, scale, path / n);
    for (int i = 0; i < 1024; ++i) aw_track_multipole_step(r, &fine, scale, path / 1024);
    return fmax(hypot(coarse.z - fine.z, coarse.x - fine.x), fabs(coarse.ux - fine.ux));
}

static void the_composition_is_of_fourth_order(void **state)
{
    size_t n = 0;
    const aw_element *e = examples(&n);
    (void)state;
    for (size_t i = 0; i < n; ++i) {
        aw_lattice *lat = machine_of(&e[i], 1, GAMMA, AW_UPSTREAM_DRIFT);
        const aw_field_region *r = &lat->region[1];
        const double a = error_of(r, 0.9, 2), b = error_of(r, 0.9, 4), c = error_of(r, 0.9, 8);
        print_message("example %zu: errors %.2g %.2g %.2g, orders %.2f %.2f\n", i, a, b, c,
                      log2(a / b), log2(b / c));
        /* 4; the next term, of relative size h^2, adds to it at the longest steps */
        assert_close(log2(b / c), 4.0, 0.0, 0.3);
        assert_true(a > 8.0 * b);
        aw_lattice_free(lat);
    }
}

/* Integral of the curvature over x from the axis of a straight multipole. */
static double potential_of(const aw_element *e, double x)
{
    double sum = 0.0, power = x;
    for (int n = 0; n < AW_ORDERS; ++n, power *= x / (n + 1)) sum += e->strength[n] * power;
    return sum;
}

/* In a straight magnet p_z - p_ref (integral of B_y dx) is the canonical momentum along it. */
static void the_momentum_along_a_straight_magnet_is_conserved(void **state)
{
    aw_element e = multipole_of(3.0, 1e-3, 0.5, 40.0, -2e3);
    e.strength[5] = 1e7;
    aw_lattice *lat = machine_of(&e, 1, GAMMA, AW_UPSTREAM_DRIFT);
    (void)state;
    for (int k = -2; k <= 2; ++k) {
        aw_particles *p = particle_at(lat, 0.0, 5e-3, 1e-3 * k, lat->p_ref * (1.0 - 0.02 * k));
        const double before = p->pz[0] / lat->p_ref - potential_of(&e, p->x[0]);
        for (int i = 0; i < 28; ++i) {
            assert_ok(aw_push_transport(lat, p, 0.1));
            /* the composition keeps it to 3e-10 of the potential, 1e-5 of p, and rounding */
            assert_close(p->pz[0] / lat->p_ref - potential_of(&e, p->x[0]), before, 0.0, 3e-15);
        }
        assert_true(p->z[0] > 2.7 && p->element[0] == 1);
        aw_particles_free(p);
    }
    aw_lattice_free(lat);
}

/* In a bend R p_theta - p_ref (integral of B_y R dR) is, about its centre; Kn1 vertically pure. */
static void the_angular_momentum_in_a_bend_with_gradient_is_conserved(void **state)
{
    const double h = 0.4, k1 = 1.7, rho = 1.0 / h;
    const aw_element e = gradient_of(4.0, 1.6, k1, 0.0, AW_VERTICALLY_PURE); /* four regions */
    aw_lattice *lat = machine_of(&e, 1, GAMMA, AW_UPSTREAM_DRIFT);
    (void)state;
    assert_int_equal(lat->regions, 6);
    for (int k = -1; k <= 1; ++k) {
        aw_particles *p = particle_at(lat, 0.0, 5e-3, 2e-3 * k, lat->p_ref * (1.0 + 0.005 * k));
        double begin = 0.0;
        for (int i = 0; i < 37; ++i) {
            const double z = p->z[0], x = p->x[0] + rho, R = hypot(z, x);
            const double momentum = (x * p->pz[0] - z * p->px[0]) / lat->p_ref; /* clockwise */
            const double flux = h * R * R / 2.0 + k1 * rho * R * R / 2.0 * (log(R * h) - 0.5);
            if (i == 0) begin = momentum - flux;
            /* as above, and 37 roundings of 8 */
            assert_close(momentum - flux, begin, 0.0, 1e-13);
            assert_ok(aw_push_transport(lat, p, 0.1));
        }
        assert_int_equal(p->element[0], 4);
        aw_particles_free(p);
    }
    aw_lattice_free(lat);
}

/* Kn0L .. Kn4L where the particle meets the plane; once, for any steps, also where a step ends on
 * the plane. |p| and the place stay. */
static void a_kick_of_no_length_is_exact_and_given_once(void **state)
{
    aw_element thin = multipole_of(0.0, 1e-4, -0.02, 3.0, 50.0);
    thin.strength[4] = 2e4;
    const aw_element e[] = {drift_of(1.0), thin, drift_of(1.0)};
    aw_lattice *lat = machine_of(e, 3, GAMMA, AW_UPSTREAM_DRIFT);
    (void)state;
    assert_int_equal(lat->regions, 3);
    for (int k = -1; k <= 1; ++k)
        for (int steps = 1; steps <= 64; steps *= 4) {
            const double slope = 2e-3 * k, p0 = lat->p_ref * (1.0 - 0.04 * k);
            const double norm = sqrt(1.0 + slope * slope), beta = p0 / sqrt(1.0 + p0 * p0);
            const double x = 6e-3 + slope; /* at S = 1 m */
            const double across =
                slope / norm - lat->p_ref / p0 *
                                   (1e-4 - 0.02 * x + 3.0 * pow(x, 2) / 2.0 +
                                    50.0 * pow(x, 3) / 6.0 + 2e4 * pow(x, 4) / 24.0);
            const double onward = sqrt(1.0 - across * across);
            aw_particles *p = particle_at(lat, 0.0, 6e-3, slope, p0);
            for (int i = 0; i < steps; ++i)
                assert_ok(aw_push_transport(lat, p, 2.0 * norm / beta / steps));
            /* rounding of metres, 64 times */
            assert_close(p->px[0], p0 * across, 0.0, 1e-15 * p0);
            assert_close(p->x[0], x + norm * across, 0.0, 5e-15);
            assert_close(p->z[0], 1.0 + norm * onward, 0.0, 2e-14);
            assert_close(momentum_of(p, 0), p0, 2e-15, 0.0);
            aw_particles_free(p);
        }
    aw_lattice_free(lat);
}

/* Behind a slanted edge the kick acts where the particle's line meets the plane perpendicular to
 * the orbit: in `line_at` of that plane x is unchanged and the sine of the slope changes. */
static void a_kick_at_a_slanted_edge_acts_on_the_line_behind_it(void **state)
{
    const aw_element thin = multipole_of(0.0, 0.0, 0.3, 20.0, 0.0);
    const aw_element with[] = {bend_of(1.0, 0.2, 0.0, 0.25), thin, thin, drift_of(1.0)};
    const aw_element without[] = {with[0], with[3]};
    aw_lattice *a = machine_of(with, 4, GAMMA, AW_UPSTREAM_DRIFT);
    aw_lattice *b = machine_of(without, 2, GAMMA, AW_UPSTREAM_DRIFT);
    (void)state;
    assert_int_equal(a->orbit.n, b->orbit.n);
    for (int k = -2; k <= 2; ++k) {
        aw_particles *p = particle_at(a, -0.1, 1e-3 * k, 1e-3, a->p_ref);
        aw_particles *q = particle_at(b, -0.1, 1e-3 * k, 1e-3, a->p_ref);
        double x, y, slope, other;
        assert_ok(aw_push_transport(a, p, 1.5));
        assert_ok(aw_push_transport(b, q, 1.5));
        line_at(a, p, 1.0, &x, &slope);
        line_at(b, q, 1.0, &y, &other);
        assert_close(x, y, 0.0, 1e-15);
        assert_close(sin(atan(slope)), sin(atan(other)) - 2.0 * (0.3 * y + 10.0 * y * y), 0.0,
                     1e-15);
        aw_particles_free(p);
        aw_particles_free(q);
    }
    aw_lattice_free(a);
    aw_lattice_free(b);
}

/* Slanted faces, kicks between and at the ends, drifts, a magnet that follows another. */
static void steps_and_cuts_change_nothing(void **state)
{
    aw_element g = gradient_of(0.4, 0.12, -1.5, 10.0, AW_VERTICALLY_PURE), half = g, rest = g;
    const aw_element thin = multipole_of(0.0, 0.0, 0.0, 5.0, 0.0), drift = drift_of(0.3);
    const aw_element s = multipole_of(0.3, 0.0, 0.0, 80.0, 0.0);
    aw_element s1 = s, s2 = s;
    g.e1 = half.e1 = 0.1;
    g.e2 = rest.e2 = -0.15;
    half.length *= 0.25;
    half.angle *= 0.25;
    rest.length *= 0.75;
    rest.angle *= 0.75;
    s1.length = 0.1;
    s2.length = 0.2;
    const aw_element whole[] = {thin, drift, g, thin, drift, s, drift};
    const aw_element parts[] = {thin, drift, half, rest, thin, drift, s1, s2, drift};
    aw_lattice *one = machine_of(whole, 7, GAMMA, AW_UPSTREAM_DRIFT);
    aw_lattice *cut = machine_of(parts, 9, GAMMA, AW_UPSTREAM_DRIFT);
    (void)state;
    assert_int_equal(one->regions, 8);
    assert_int_equal(cut->regions, one->regions);
    assert_int_equal(cut->orbit.n, one->orbit.n);
    for (int k = -2; k <= 2; ++k) {
        const double p0 = one->p_ref * (1.0 + 0.02 * k);
        aw_particles *p = particle_at(one, -0.1, 2e-3 * k, 2e-3, p0);
        aw_particles *q = particle_at(cut, -0.1, 2e-3 * k, 2e-3, p0);
        aw_particles *many = particle_at(one, -0.1, 2e-3 * k, 2e-3, p0);
        assert_ok(aw_push_transport(one, p, 1.8));
        assert_ok(aw_push_transport(cut, q, 1.8));
        for (int i = 0; i < 900; ++i) assert_ok(aw_push_transport(one, many, 2e-3));
        assert_int_equal(p->element[0], one->regions - 1);
        assert_close(q->x[0], p->x[0], 0.0, 1e-14); /* lengths and angles of the parts round */
        assert_close(q->px[0], p->px[0], 0.0, 1e-14 * p0);
        /* substeps differ: as above; 900 roundings of 1 m */
        assert_close(many->x[0], p->x[0], 0.0, 2e-12);
        assert_close(many->z[0], p->z[0], 0.0, 2e-12);
        assert_close(many->px[0], p->px[0], 0.0, 2e-12 * p0);
        aw_particles_free(p);
        aw_particles_free(q);
        aw_particles_free(many);
    }
    aw_lattice_free(one);
    aw_lattice_free(cut);
}

/* Field of the reference momentum: the design orbit is one, whatever the gradients. */
static void the_design_orbit_is_a_trajectory(void **state)
{
    const aw_element e[] = {gradient_of(1.0, 0.7, 1.5, 30.0, AW_VERTICALLY_PURE),
                            multipole_of(0.0, 0.0, 1.0, 30.0, 5.0),
                            gradient_of(1.0, -0.7, -1.5, 30.0, AW_HORIZONTALLY_PURE),
                            multipole_of(0.5, 0.0, 2.0, 90.0, 5e3)};
    aw_lattice *lat = machine_of(e, 4, GAMMA, AW_UPSTREAM_DRIFT);
    aw_particles *p = particle_at(lat, 0.0, 0.0, 0.0, lat->p_ref);
    const double beta = lat->p_ref / GAMMA;
    (void)state;
    for (int i = 1; i <= 60; ++i) {
        const aw_orbit_point at = aw_orbit_at(&lat->orbit, 0.05 * i);
        assert_ok(aw_push_transport(lat, p, 0.05 / beta));
        assert_close(p->z[0], at.z, 0.0, 3e-15 * i); /* rounding of metres in each step */
        assert_close(p->x[0], at.x, 0.0, 3e-15 * i);
    }
    aw_particles_free(p);
    aw_lattice_free(lat);
}

/* Far outside the field turns a particle back, or would need ever shorter steps. */
static void particles_far_outside_are_reported(void **state)
{
    aw_element thick = multipole_of(0.5, 0.0, 0.0, 0.0, 0.0);
    const aw_element thin = multipole_of(0.0, 0.0, 0.0, 0.0, 500.0);
    const aw_element e[] = {drift_of(0.1), thin};
    thick.strength[19] = 1e56;
    aw_lattice *a = machine_of(e, 2, GAMMA, AW_UPSTREAM_DRIFT);
    aw_lattice *b = machine_of(&thick, 1, GAMMA, AW_UPSTREAM_DRIFT);
    aw_particles *p = particle_at(a, 0.0, 0.3, 0.0, a->p_ref);
    aw_particles *q = particle_at(b, 0.0, 0.5, 0.0, b->p_ref);
    aw_particles *r = particle_at(b, 0.0, 1e-3, 0.0, b->p_ref);
    (void)state;
    assert_status(aw_push_transport(a, p, 0.2), AW_ERR_RANGE);
    assert_status(aw_push_transport(b, q, 0.2), AW_ERR_RANGE);
    assert_ok(aw_push_transport(b, r, 0.2));
    aw_particles_free(p);
    aw_particles_free(q);
    aw_particles_free(r);
    aw_lattice_free(a);
    aw_lattice_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_motion_is_that_of_the_equation_of_motion),
        cmocka_unit_test(the_composition_is_of_fourth_order),
        cmocka_unit_test(the_momentum_along_a_straight_magnet_is_conserved),
        cmocka_unit_test(the_angular_momentum_in_a_bend_with_gradient_is_conserved),
        cmocka_unit_test(a_kick_of_no_length_is_exact_and_given_once),
        cmocka_unit_test(a_kick_at_a_slanted_edge_acts_on_the_line_behind_it),
        cmocka_unit_test(steps_and_cuts_change_nothing),
        cmocka_unit_test(the_design_orbit_is_a_trajectory),
        cmocka_unit_test(particles_far_outside_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
