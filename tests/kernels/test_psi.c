/* SPDX-License-Identifier: GPL-3.0-or-later */
/* psi = phi - v.A of the inner integral: the difference at low gamma, accurate at high gamma. */
#include <string.h>

#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NODES = 24, SLICES = 5 };
#define H 1e-5
#define CDT 2e-4

typedef struct beam {
    double gamma;
} beam;

/* A tilted Gaussian of 3 by 2 cells whose current deviates from the design direction by 1/gamma. */
static void gaussian(const void *context, double age, double u, double w, double m[3])
{
    const beam *b = context;
    double a = u / (3.0 * H), c = w / (2.0 * H);
    double slope = (0.7 + 1e4 * u - 2e4 * w) / b->gamma, beta = beta_of(b->gamma);
    m[0] = exp(-0.5 * (a * a + c * c + a * c)) * (1.0 + 0.02 * age);
    /* 1 - beta cos(angle) for a small angle, without cancellation */
    m[1] = m[0] * (1.0 / (b->gamma * b->gamma * (1.0 + beta)) +
                   2.0 * beta * sin(0.5 * slope) * sin(0.5 * slope));
    m[2] = m[0] * beta * sin(slope);
}

/* History in an arc of 1 m radius, with a tilted grid. */
static aw_history_view history_of(slices *s, const aw_orbit_piece *piece, double gamma)
{
    const beam b = {gamma};
    slices_new(s, SLICES, NODES, NODES, 0, H, H);
    for (int i = 0; i < SLICES; ++i) {
        s->slice[i].S = -beta_of(gamma) * CDT * i;
        s->slice[i].tilt = 0.3 + 0.01 * i;
        slices_fill(s, i, 0, gaussian, &b);
    }
    return slices_view(s, (aw_orbit_view){piece, 1}, CDT, gamma, 1e3);
}

/* The same inner integral with the scalar sum, and psi as a difference in long double. */
static long double psi_by_difference(const aw_history_view *h, const aw_field_point *p, double r,
                                     double gamma)
{
    aw_retarded f = aw_retarded_at(h, r);
    aw_arc arc;
    long double total = 0.0L, g = gamma, beta = sqrtl((1.0L - 1.0L / g) * (1.0L + 1.0L / g));
    aw_arc_place(&f, p, &arc);
    aw_arcs arcs = aw_circle_arcs(arc.u, arc.w, arc.r, f.half_s, f.half_x);
    for (int i = 0; i < arcs.n; ++i) {
        aw_arc_slice read[3];
        double sum[3][8];
        long double v[3] = {0.0L, 0.0L, 0.0L}, a = (long double)p->theta - f.theta;
        for (int t = 0; t < f.nt; ++t) read[t] = aw_arc_slice_of(h, f.slice[t]);
        aw_arc_nodes(&f, &arcs, i, 1.0, &arc);
        aw_arc_sum_scalar(&arc, f.nt, read, 0, sum);
        for (int t = 0; t < f.nt; ++t)
            for (int k = 0; k < 3; ++k) v[k] += (long double)f.w[t] * sum[t][k];
        /* phi - beta (t.A), with A in the frame of the retarded time, which is rotated by a */
        total += arc.step * (v[0] - beta * ((v[0] - v[1]) * cosl(a) + v[2] * sinl(a)));
    }
    return total;
}

static void psi_is_phi_minus_v_dot_a_where_that_is_well_conditioned(void **state)
{
    const aw_variant *variant = *state;
    const double gamma = 3.0;
    const aw_orbit_piece piece = {.kappa = 1.0};
    slices s;
    aw_history_view h = history_of(&s, &piece, gamma);
    int nonzero = 0;
    (void)state;
    for (int i = 0; i < 60; ++i) {
        aw_field_point p = point_on(&h.orbit, H * (i % 7 - 3), H * (i % 5 - 2), gamma);
        double f[AW_RESULTS], r = 2e-6 * (i + 1) * (i + 1) / 10.0;
        aw_work work = {0};
        variant->inner(&h, &p, r, 1.0, f, &work);
        /* terms of the size of phi: a few roundings each */
        assert_close(f[AW_PSI], f[AW_PHI] - p.beta * (p.ct * f[AW_AZ] + p.st * f[AW_AX]), 0.0,
                     4e-15 * fabs(f[AW_PHI]) + 1e-300);
        nonzero += f[AW_PHI] > 1e-3;
    }
    assert_true(nonzero > 30);
    slices_free(&s);
}

static void psi_keeps_ten_digits_at_gamma_1e4(void **state)
{
    const aw_variant *variant = *state;
    const double gamma = 1e4;
    const aw_orbit_piece piece = {.kappa = 1.0};
    slices s;
    aw_history_view h = history_of(&s, &piece, gamma);
    int nonzero = 0;
    (void)state;
    for (int i = 0; i < 60; ++i) {
        aw_field_point p = point_on(&h.orbit, H * (i % 7 - 3), H * (i % 5 - 2), gamma);
        double f[AW_RESULTS], r = 2e-6 * (i + 1);
        aw_work work = {0};
        variant->inner(&h, &p, r, 1.0, f, &work);
        long double want = psi_by_difference(&h, &p, r, gamma);
        /* psi is as small as 1e-8 phi: a difference in double has an error of 1e-8 psi, in long
         * double of 1e-11 psi; the sums over nodes of the variants differ by 1e-13 */
        assert_close(f[AW_PSI], (double)want, 1e-10, 1e-300);
        nonzero += f[AW_PHI] > 1e-3 && f[AW_PSI] < 1e-6 * f[AW_PHI];
    }
    assert_true(nonzero > 20);
    slices_free(&s);
}

static void single_precision_history_keeps_psi_to_rounding_of_its_cells(void **state)
{
    const aw_variant *variant = *state;
    const double gamma = 1e4;
    const beam b = {gamma};
    const aw_orbit_piece piece = {.kappa = 1.0};
    slices s, single;
    aw_history_view h = history_of(&s, &piece, gamma), k;
    (void)state;
    slices_new(&single, SLICES, NODES, NODES, 1, H, H);
    for (int i = 0; i < SLICES; ++i) {
        const void *cells = single.slice[i].cells;
        single.slice[i] = s.slice[i];
        single.slice[i].cells = cells;
        slices_fill(&single, i, 0, gaussian, &b);
    }
    k = slices_view(&single, h.orbit, CDT, gamma, 1e3);
    for (int i = 0; i < 40; ++i) {
        aw_field_point p = point_on(&h.orbit, H * (i % 7 - 3), H * (i % 5 - 2), gamma);
        double exact[AW_RESULTS], f[AW_RESULTS], r = 2e-6 * (i + 1);
        aw_work work = {0};
        variant->inner(&h, &p, r, 1.0, exact, &work);
        variant->inner(&k, &p, r, 1.0, f, &work);
        /* cells are rounded to 6e-8; D is stored, not K, so psi has no further error, except in its
         * perp part, which is of the size of psi/slope here */
        assert_close(f[AW_PSI], exact[AW_PSI], 3e-7, 1e-300);
        assert_close(f[AW_PHI], exact[AW_PHI], 1.2e-7, 1e-300);
    }
    slices_free(&s);
    slices_free(&single);
}

static void a_history_that_does_not_reach_back_gives_nan(void **state)
{
    const aw_variant *variant = *state;
    const aw_orbit_piece piece = {.kappa = 1.0};
    slices s;
    aw_history_view h = history_of(&s, &piece, 3.0);
    aw_field_point p = point_on(&h.orbit, 0.0, 0.0, 3.0);
    double f[AW_RESULTS];
    aw_work work = {0};
    h.upstream = 0;
    variant->inner(&h, &p, 10.0, 1.0, f, &work);
    for (unsigned k = 0; k < AW_RESULTS; ++k) assert_true(isnan(f[k]));
    slices_free(&s);
}

/* At r = 0 the circle is a point: 2 pi times the moments there. */
static void at_zero_radius_the_integral_is_two_pi_times_the_density(void **state)
{
    const aw_variant *variant = *state;
    const double gamma = 3.0;
    const aw_orbit_piece piece = {.kappa = 1.0};
    slices s;
    aw_history_view h = history_of(&s, &piece, gamma);
    aw_field_point p = point_on(&h.orbit, 0.0, 0.0, gamma);
    double f[AW_RESULTS], sigma = 0.0, w[3];
    aw_work work = {0};
    aw_spline(-0.5, w); /* the centre lies between four nodes */
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i)
            sigma += w[i] * w[j] * slices_get(&s, 0, NODES / 2 - 1 + i, NODES / 2 - 1 + j, 0);
    variant->inner(&h, &p, 0.0, 1.0, f, &work);
    /* the circle's actual radius is 1e-6 of a cell, which enters in second order */
    assert_close(f[AW_PHI], 2.0 * AW_PI * sigma, 1e-11, 0.0);
    slices_free(&s);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(psi_is_phi_minus_v_dot_a_where_that_is_well_conditioned, variant),
        cmocka_unit_test_prestate(psi_keeps_ten_digits_at_gamma_1e4, variant),
        cmocka_unit_test_prestate(single_precision_history_keeps_psi_to_rounding_of_its_cells,
                                  variant),
        cmocka_unit_test_prestate(a_history_that_does_not_reach_back_gives_nan, variant),
        cmocka_unit_test_prestate(at_zero_radius_the_integral_is_two_pi_times_the_density, variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
