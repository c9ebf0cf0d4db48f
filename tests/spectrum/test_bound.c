/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy of the field that a bunch carries along, and what of it is missing behind a bend,
 * against closed forms and a quadrature over pairs. */
#include <math.h>

#include "src/base/units.h"
#include "src/spectrum/balance.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"
#include "validation/analytic.h"
#include "validation/radiation.h"

#define CHARGE 1e-9

/* A Gaussian with its axes along those of the grid, as deposition leaves it: (kh)^2/8 is what
 * spline and compensation add to its waves (docs/theory.md, "Moments"). */
typedef struct gaussian {
    double u, w, hs, hx; /* rms sizes and spacings [m] */
} gaussian;

static double deposited(double x, double sigma, double h)
{
    const double a = x / sigma, b = h / sigma, f = exp(-0.5 * a * a) / (sqrt(2.0 * AW_PI) * sigma);
    return f * (1.0 - b * b / 8.0 * (a * a - 1.0));
}

static void fill(const void *context, double age, double u, double w, double m[3])
{
    const gaussian *g = context;
    (void)age;
    m[0] = CHARGE * deposited(u, g->u, g->hs) * deposited(w, g->w, g->hx);
    m[1] = m[2] = 0.0;
}

/* Energies of a Gaussian on 64 x 64 nodes, 6 cells per rms size. What deposition adds beyond the
 * term above is 3 (kh)^4/100, 2e-5 of a wave of k sigma = 1. */
static aw_bound of_slice(double u, double w, double tilt, double height, aw_bound_params params)
{
    const gaussian g = {u, w, u / 6.0, w / 6.0};
    slices s;
    aw_bound out;
    slices_new(&s, 1, 64, 64, 0, g.hs, g.hx);
    slices_fill(&s, 0, 0, fill, &g);
    s.slice[0].tilt = tilt;
    s.slice[0].height2 = height * height;
    params.slice = &s.slice[0];
    params.ns = params.nx = 64;
    assert_ok(aw_bound_of(&params, &out));
    slices_free(&s);
    return out;
}

static aw_bound energies(double u, double w, double tilt, double height, double gamma,
                         double distance)
{
    return of_slice(u, w, tilt, height, (aw_bound_params){.gamma = gamma, .distance = distance});
}

static void sheet_has_the_energy_of_the_closed_form(void **state)
{
    (void)state;
    for (double gamma = 3.0; gamma < 2e4; gamma *= 10.0) {
        const double along = aw_bound_energy(CHARGE, gamma, 2e-4, 5e-5);
        const double across = aw_bound_energy(CHARGE, gamma, 5e-5, 2e-4);
        const double round = aw_bound_energy(CHARGE, gamma, 1e-4, 1e-4);
        /* the bunch ends at 5.25 sigma: 1e-6 of it; quadrature and interpolation 3e-4 */
        assert_close(energies(2e-4, 5e-5, 0.0, 0.0, gamma, 0.0).whole, along, 5e-4, 0.0);
        assert_close(energies(2e-4, 5e-5, -0.5 * AW_PI, 0.0, gamma, 0.0).whole, across, 5e-4, 0.0);
        assert_close(energies(1e-4, 1e-4, 0.7, 0.0, gamma, 0.0).whole, round, 5e-4, 0.0);
    }
}

/* At rest a round Gaussian of any dimension has Q^2/(4 pi eps0)/(2 sqrt(pi) sigma) times 1 in
 * three, and in two pi/2. */
static void ball_at_rest_has_its_electrostatic_energy(void **state)
{
    const double known = AW_K_COULOMB * CHARGE * CHARGE / (2.0 * sqrt(AW_PI) * 1e-4);
    (void)state;
    const double ball = energies(1e-4, 1e-4, 0.3, 1e-4, 1.0 + 1e-9, 0.0).whole;
    const double disc = energies(1e-4, 1e-4, 0.3, 0.0, 1.0 + 1e-9, 0.0).whole;
    assert_close(ball, known, 5e-4, 0.0);
    assert_close(disc, 0.5 * AW_PI * known, 5e-4, 0.0);
    /* a small height is continuous with none: -h/(sqrt(pi) sigma) .. to first order */
    assert_close(energies(1e-4, 1e-4, 0.3, 1e-7, 1.0 + 1e-9, 0.0).whole, disc, 2e-3, 0.0);
}

static void rest_of_a_narrow_bunch_is_that_of_a_line(void **state)
{
    (void)state;
    /* gamma sigma_x = 1e-3 m and 1e-2 m, far below the distances */
    assert_close(energies(1e-4, 1e-6, 0.0, 0.0, 1000.0, 1.0).missing,
                 aw_bound_rest(CHARGE, 1000.0, 1e-4, 1.0), 5e-4, 0.0);
    assert_close(energies(1e-4, 1e-6, 0.0, 0.0, 1000.0, 50.0).missing,
                 aw_bound_rest(CHARGE, 1000.0, 1e-4, 50.0), 5e-4, 0.0);
    assert_close(energies(1e-4, 1e-6, 0.0, 1e-6, 1000.0, 1.0).missing,
                 aw_bound_rest(CHARGE, 1000.0, 1e-4, 1.0), 5e-4, 0.0);
}

/* Work of the mean force at one distance between two, over pairs at the same place along the
 * motion, whose distances across have rms sizes of sqrt(2) sigma_x and sqrt(2) sigma_y. */
static double work(double sigma_x, double sigma_y, double gamma, double from, double to)
{
    enum { STEPS = 200, PAIRS = 80 };
    const double density = CHARGE * CHARGE / (2.0 * sqrt(AW_PI) * 1e-4), ratio = log(to / from);
    double sum = 0.0;
    for (int i = 0; i < STEPS; ++i) {
        const double d = from * exp(ratio * (i + 0.5) / STEPS);
        double mean = 0.0, all = 0.0;
        for (int j = -PAIRS; j <= PAIRS; ++j)
            for (int k = -PAIRS; k <= PAIRS; ++k) {
                const double x = 6.0 * j / PAIRS, y = 6.0 * k / PAIRS;
                const double w = exp(-0.5 * (x * x + y * y));
                const double r = gamma * sqrt(2.0) * hypot(x * sigma_x, y * sigma_y) / d;
                mean += w / (1.0 + r * r);
                all += w;
            }
        sum += 2.0 * mean / all * ratio / STEPS; /* (2/d) dd = 2 d ln d */
    }
    return AW_K_COULOMB * density * sum;
}

static void wide_bunches_lack_less(void **state)
{
    (void)state;
    /* u = d/(2 gamma^2) up to 2e-6 m and sigma 1e-4 m: L(u) is L(0) to 1e-4, and linear terms in
     * u/sigma cancel in a difference to 2e-2 of it; gamma sigma_x = 0.1 m to 1 m */
    for (int high = 0; high < 2; ++high)
        for (double x = 1e-4; x < 2e-3; x *= 10.0) {
            const double y = high ? 0.5 * x : 0.0;
            const double a = energies(1e-4, x, 0.0, y, 1000.0, 0.3).missing;
            const double b = energies(1e-4, x, 0.0, y, 1000.0, 3.0).missing;
            const double known = work(x, y, 1000.0, 0.3, 3.0);
            assert_close(a - b, known, 2e-2, 0.0);
            /* without the width it would be 2 ln(10) of the density: another number altogether */
            assert_true(known < 0.97 * work(0.0, 0.0, 1000.0, 0.3, 3.0));
        }
}

/* The derivative of what is missing is the mean force of Stupakov and Emma on a line bunch. */
static void mean_force_behind_a_bend_is_the_known_one(void **state)
{
    const double R = 5.0, angle = 0.2, gamma = 1e5, step = 1e-3;
    const aw_line_bunch bunch = {.charge = CHARGE, .sigma = 1e-4};
    (void)state;
    for (double d = 0.3; d < 4.0; d *= 3.0) {
        double mean = 0.0, all = 0.0, missing[2];
        for (int i = -200; i <= 200; ++i) {
            const double s = 0.03 * i, w = exp(-0.5 * s * s);
            mean += w * aw_exit_force(&bunch, R, angle, d, s * bunch.sigma);
            all += w;
        }
        for (int i = 0; i < 2; ++i) {
            aw_bound_params p = {.radius = R, .angle = angle, .gamma = gamma};
            p.distance = d * (1.0 + (i - 0.5) * step);
            missing[i] = of_slice(1e-4, 1e-9, 0.0, 0.0, p).missing;
        }
        /* [eV/m] on each of Q/e electrons; quadratures of ours 1e-3 of the whole, of which the
         * arc's part is a tenth to a third; and u = d/(2 gamma^2) is not 0 */
        assert_close((missing[1] - missing[0]) / (step * d), CHARGE * mean / all, 3e-3, 0.0);
    }
}

static void balance_says_why_it_stays_open(void **state)
{
    const gaussian g = {1e-4, 1e-4, 2e-5, 2e-5};
    const aw_orbit_piece piece[3] = {
        {0.0, 0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 1.0}, {0.5, 0.479, -0.122, -0.5, 0.0}};
    const aw_orbit_view orbit = {piece, 3};
    aw_balance balance = {.open = NULL};
    slices s;
    (void)state;
    slices_new(&s, 1, 64, 64, 0, g.hs, g.hx);
    slices_fill(&s, 0, 0, fill, &g);
    const aw_bound_params at = {.slice = &s.slice[0], .ns = 64, .nx = 64, .gamma = 100.0};
    s.slice[0].S = 1.0;
    assert_ok(aw_balance_begin(&balance, &orbit, at));
    assert_ok(aw_balance_end(&balance, &orbit, at));
    assert_null(balance.open);
    assert_close(balance.bound[0], balance.bound[1], 0.0, 0.0);
    assert_true(balance.missing > 0.0);
    s.slice[0].S = 0.2;
    assert_ok(aw_balance_end(&balance, &orbit, at));
    assert_non_null(balance.open); /* within the bend */
    /* directions of 1/gamma to either side */
    balance.open = NULL;
    s.slice[0].S = 1.0;
    for (int j = 0; j < 64; ++j)
        for (int i = 0; i < 64; ++i)
            slices_set(&s, 0, i, j, 2, (i < 32 ? 0.01 : -0.01) * slices_get(&s, 0, i, j, 0));
    assert_ok(aw_balance_end(&balance, &orbit, at));
    assert_non_null(balance.open);
    slices_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sheet_has_the_energy_of_the_closed_form),
                                       cmocka_unit_test(ball_at_rest_has_its_electrostatic_energy),
                                       cmocka_unit_test(rest_of_a_narrow_bunch_is_that_of_a_line),
                                       cmocka_unit_test(wide_bunches_lack_less),
                                       cmocka_unit_test(mean_force_behind_a_bend_is_the_known_one),
                                       cmocka_unit_test(balance_says_why_it_stays_open)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
