/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entrance, steady and exit forces against a direct sum of the retarded fields of a line bunch.
 *
 * With y the arc length back to the emitting point, rho the straight distance, rho^ the unit vector
 * from that point and t' the tangent there, the field along the tangent t is (Jefimenko)
 *   E_s/(Q/4 pi eps0) = int dy { lambda (rho^.t)/rho^2 + lambda' (beta^2 t'.t - beta rho^.t)/rho }
 * with lambda at s - (y - rho) - (1 - beta) rho. The same integrand for a straight line, which is
 * the field of uniform motion and contains everything singular at y = 0, is subtracted. There is no
 * paraxial expansion, so the sum shares nothing with the closed forms but the physics. */
#include <gsl/gsl_errno.h>
#include <math.h>

#include "kernels/math/orbit.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "validation/analytic.h"

static const aw_line_bunch lcls = {.charge = 1e-9, .sigma = 50e-6};
static const double R = 25.13, PHI = 0.198968;
static const double S = 50e-6, GAMMA = 1e5; /* (R/sigma)^(1/3) = 80 is far below */

/* The integrand at y, less that of the straight line. */
static double density(const aw_orbit_view *orbit, const aw_orbit_point *at, double s, double y)
{
    const double omb = 0.5 / (GAMMA * GAMMA), beta = 1.0 - omb;
    aw_orbit_point p = aw_orbit_at(orbit, at->S - y);
    double dz = at->z - p.z, dx = at->x - p.x, rho = hypot(dz, dx);
    double along = (dz * at->ct + dx * at->st) / rho, turn = p.ct * at->ct + p.st * at->st;
    double u = s - (y - rho) - omb * rho, v = s - omb * y;
    double bent = aw_line_density(&lcls, u) * along / (rho * rho) +
                  aw_line_slope(&lcls, u) * (beta * beta * turn - beta * along) / rho;
    double straight =
        aw_line_density(&lcls, v) / (y * y) - aw_line_slope(&lcls, v) * beta * omb / y;
    return bent - straight;
}

/* Force [eV/m] on the particle at arc length place + s, in a bunch centred at `place`. */
static double direct(const aw_orbit_view *orbit, double place, double s)
{
    /* 5-point Gauss-Legendre on panels of equal ratio from 0.1 mm to 2 gamma^2 * 40 sigma */
    static const double node[5] = {-0.906179845938664, -0.538469310105683, 0.0, 0.538469310105683,
                                   0.906179845938664};
    static const double weight[5] = {0.236926885056189, 0.478628670499366, 0.568888888888889,
                                     0.478628670499366, 0.236926885056189};
    const int panels = 8000;
    const double first = 1e-4, last = 80.0 * GAMMA * GAMMA * S;
    const double ratio = pow(last / first, 1.0 / panels);
    const aw_orbit_point at = aw_orbit_at(orbit, place + s);
    double sum = 0.0, a = first;
    for (int i = 0; i < panels; ++i, a *= ratio) {
        double half = 0.5 * a * (ratio - 1.0);
        for (int k = 0; k < 5; ++k)
            sum += half * weight[k] * density(orbit, &at, s, a + half * (1.0 + node[k]));
    }
    return AW_K_COULOMB * lcls.charge * sum;
}

/* A drift, the LCLS bend from S = 0, and a drift. */
static void lcls_line(aw_orbit_piece piece[3], aw_orbit_view *orbit)
{
    piece[0] = (aw_orbit_piece){.S = 0.0};
    piece[1] = (aw_orbit_piece){.S = 0.0, .kappa = 1.0 / R};
    orbit->piece = piece;
    orbit->n = 2;
    aw_orbit_point end = aw_orbit_at(orbit, R * PHI);
    piece[2] = (aw_orbit_piece){.S = R * PHI, .z = end.z, .x = end.x, .theta = end.theta};
    orbit->n = 3;
}

/* Tolerance, in units of k: the closed forms are paraxial, with a relative error of the square of
 * an angle, 1e-3 and less; the sum has 1e-5 (doubling the panels changes it by less). */
#define PARAXIAL 5e-4

static void entrance_force_agrees_with_the_sum_of_retarded_fields(void **state)
{
    static const double d[5] = {0.2, 0.5, 0.8, 1.2, 2.0};
    aw_orbit_piece piece[3];
    aw_orbit_view orbit;
    (void)state;
    lcls_line(piece, &orbit);
    for (int i = 0; i < 5; ++i)
        for (int j = -1; j <= 1;
             ++j) /* distances from the edge to the particle, not to the centre */
            assert_close(aw_entrance_force(&lcls, R, d[i] + j * S, j * S),
                         direct(&orbit, d[i], j * S), 0.0, PARAXIAL * aw_line_unit(&lcls, R));
}

static void steady_force_agrees_with_the_sum_of_retarded_fields(void **state)
{
    aw_orbit_piece piece[3];
    aw_orbit_view orbit;
    (void)state;
    lcls_line(piece, &orbit);
    for (int j = -3; j <= 3; ++j)
        assert_close(aw_steady_force(&lcls, R, j * S), direct(&orbit, 4.0, j * S), 0.0,
                     PARAXIAL * aw_line_unit(&lcls, R));
}

static void exit_force_agrees_with_the_sum_of_retarded_fields(void **state)
{
    static const double d[4] = {0.05, 0.2, 0.5, 0.9};
    aw_orbit_piece piece[3];
    aw_orbit_view orbit;
    (void)state;
    lcls_line(piece, &orbit);
    for (int i = 0; i < 4; ++i)
        for (int j = -2; j <= 2; ++j)
            assert_close(aw_exit_force(&lcls, R, PHI, d[i] + j * S, j * S),
                         direct(&orbit, R * PHI + d[i], j * S), 0.0,
                         PARAXIAL * aw_line_unit(&lcls, R));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entrance_force_agrees_with_the_sum_of_retarded_fields),
        cmocka_unit_test(steady_force_agrees_with_the_sum_of_retarded_fields),
        cmocka_unit_test(exit_force_agrees_with_the_sum_of_retarded_fields),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
