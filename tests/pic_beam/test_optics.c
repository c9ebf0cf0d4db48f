/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transfer matrices of single elements compared with their textbook forms. */
#include <gsl/gsl_sf_elljac.h>
#include <math.h>

#include "pic/push.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

/* Map of (x, x') from S = 0 to the end of the lattice, for a particle of p = (1 + delta) p_ref. */
static void track(const aw_lattice *lat, double x, double slope, double delta, double *x_out,
                  double *slope_out)
{
    double p0 = lat->p_ref * (1.0 + delta);
    aw_particles *p = particle_at(lat, -0.5, x, slope, p0);
    assert_ok(aw_push_transport(lat, p, lat->length + 1.5));
    line_at(lat, p, lat->length, x_out, slope_out);
    aw_particles_free(p);
}

/* R11, R12, R21, R22 by central differences of size h (metres and radians). */
static void matrix_of(const aw_element *e, size_t n, double h, double R[4])
{
    aw_lattice *lat = machine_of(e, n, 1000.0, AW_UPSTREAM_DRIFT);
    double xp, xm, sp, sm;
    track(lat, h, 0.0, 0.0, &xp, &sp);
    track(lat, -h, 0.0, 0.0, &xm, &sm);
    R[0] = (xp - xm) / (2.0 * h);
    R[2] = (sp - sm) / (2.0 * h);
    track(lat, 0.0, h, 0.0, &xp, &sp);
    track(lat, 0.0, -h, 0.0, &xm, &sm);
    R[1] = (xp - xm) / (2.0 * h);
    R[3] = (sp - sm) / (2.0 * h);
    aw_lattice_free(lat);
}

static void the_matrix_of_a_quadrupole_is_cosine_and_sine(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double k1 = 6.0 * sign, L = 0.9, w = sqrt(6.0);
        const aw_element e[] = {drift_of(0.0), quadrupole_of(L, k1)};
        double c = sign > 0 ? cos(w * L) : cosh(w * L), s = sign > 0 ? sin(w * L) : sinh(w * L);
        double R[4];
        matrix_of(e, 2, 1e-6, R);
        /* 1e-9: terms beyond the paraxial form are of order x'^2, 1e-10 for slopes of 1e-5 (seen:
         * 9e-11, and 9e-9 from a start ten times wider); rounding 1e-16/1e-6; integrator 1e-11 */
        assert_close(R[0], c, 0.0, 1e-9 * cosh(w * L));
        assert_close(R[1], s / w, 0.0, 1e-9 * cosh(w * L));
        assert_close(R[2], -sign * w * s, 0.0, 1e-9 * w * cosh(w * L)); /* k1 > 0 focuses */
        assert_close(R[3], c, 0.0, 1e-9 * cosh(w * L));
    }
}

/* The exact motion in a quadrupole is that of a pendulum (theta'' = -k1 sin theta along the path,
 * x = -theta'/k1): from (A, 0) it is x = A cn(sqrt(k1) path | k1 A^2/4). */
static void motion_in_a_quadrupole_is_a_pendulum_for_many_periods(void **state)
{
    const double k1 = 6.0, flown = 90.0, amplitude = 1e-2;
    const aw_element e[] = {quadrupole_of(100.0, k1)};
    aw_lattice *lat = machine_of(e, 1, 1000.0, AW_UPSTREAM_DRIFT);
    aw_particles *p = particle_at(lat, 0.0, amplitude, 0.0, lat->p_ref);
    double beta = lat->p_ref / 1000.0, phase = sqrt(k1) * flown, sn, cn, dn;
    (void)state;
    assert_ok(aw_push_transport(lat, p, flown / beta));
    assert_int_equal(gsl_sf_elljac_e(phase, 0.25 * k1 * amplitude * amplitude, &sn, &cn, &dn), 0);
    print_message("error %.2g of the amplitude a radian, over %.0f rad\n",
                  fabs(p->x[0] / amplitude - cn) / phase, phase);
    assert_close(p->x[0], amplitude * cn, 0.0,
                 1e-11 * phase * amplitude); /* twice the error in push.h */
    aw_particles_free(p);
    aw_lattice_free(lat);
}

static void the_matrix_of_a_sector_bend_is_cosine_and_sine(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double angle = 0.6 * sign, L = 1.5, rho = 2.5;
        const aw_element e[] = {bend_of(L, angle, 0.0, 0.0)};
        double R[4];
        matrix_of(e, 1, 1e-5, R);
        /* third order of central differences: x^2/rho^2 = 2e-11 and x'^2 = 1e-10 */
        assert_close(R[0], cos(0.6), 0.0, 1e-9);
        assert_close(R[1], rho * sin(0.6), 0.0, 1e-9);
        assert_close(R[2], -sin(0.6) / rho, 0.0, 1e-9);
        assert_close(R[3], cos(0.6), 0.0, 1e-9);
    }
}

/* An edge angle of the same sign as the bend defocuses: R21 = tan(e)/rho, at either end. */
static void an_edge_defocuses_by_the_tangent_of_its_angle(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double angle = 0.3 * sign, rho = 1.0 / angle, edge = 0.2 * sign;
        const aw_element in[] = {bend_of(1.0, angle, edge, 0.0)};
        const aw_element out[] = {bend_of(1.0, angle, 0.0, edge)};
        const aw_element none[] = {bend_of(1.0, angle, 0.0, 0.0)};
        double A[4], B[4], M[4];
        matrix_of(in, 1, 1e-5, A);
        matrix_of(out, 1, 1e-5, B);
        matrix_of(none, 1, 1e-5, M);
        /* A = M E and B = E M, so E21 = -M21 A11 + M11 A21 and B21 M22 - B22 M21 */
        assert_true(tan(edge) / rho > 0.0);
        assert_close(M[0] * A[2] - M[2] * A[0], tan(edge) / rho, 0.0, 1e-9);
        assert_close(B[2] * M[3] - B[3] * M[2], tan(edge) / rho, 0.0, 1e-9);
    }
}

static void a_bend_disperses_higher_energy_to_the_outside(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double L = 1.0, rho = 5.0, h = 1e-4;
        const aw_element e[] = {bend_of(L, sign * L / rho, 0.0, 0.0)};
        aw_lattice *lat = machine_of(e, 1, 1000.0, AW_UPSTREAM_DRIFT);
        double xp, xm, sp, sm;
        track(lat, 0.0, 0.0, h, &xp, &sp);
        track(lat, 0.0, 0.0, -h, &xm, &sm);
        /* higher energy is bent less, so towards +x in a bend to -x; third order h^2 = 1e-8 */
        assert_close((xp - xm) / (2.0 * h), sign * rho * (1.0 - cos(L / rho)), 0.0, 1e-8);
        assert_close((sp - sm) / (2.0 * h), sign * sin(L / rho), 0.0, 1e-8);
        aw_lattice_free(lat);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_matrix_of_a_quadrupole_is_cosine_and_sine),
        cmocka_unit_test(motion_in_a_quadrupole_is_a_pendulum_for_many_periods),
        cmocka_unit_test(the_matrix_of_a_sector_bend_is_cosine_and_sine),
        cmocka_unit_test(an_edge_defocuses_by_the_tangent_of_its_angle),
        cmocka_unit_test(a_bend_disperses_higher_energy_to_the_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
