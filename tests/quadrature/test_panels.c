/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Panels of shared nodes: what they integrate exactly, where they break, and what they refuse. */
#include <math.h>
#include <string.h>

#include "quadrature/panels.h"
#include "quadrature/partition.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NODES = 16, SLICES = 24 };
#define H 2e-5
#define CDT 0.02
#define GAMMA 1e3

/* A bend of 10 m radius that began at S = 0, seen from further on. */
typedef struct stage {
    aw_orbit_piece piece[2];
    slices s;
    aw_history_view h;
    aw_field_point centre;
} stage;

static void stage_open(stage *g, double S)
{
    g->piece[0] = (aw_orbit_piece){.S = 0.0};
    g->piece[1] = (aw_orbit_piece){.S = 0.0, .kappa = 0.1};
    slices_new(&g->s, SLICES, NODES, NODES, 0, H, H);
    for (int i = 0; i < SLICES; ++i) g->s.slice[i].S = S - beta_of(GAMMA) * CDT * i;
    g->h = slices_view(&g->s, (aw_orbit_view){g->piece, 2}, CDT, GAMMA, 1e4);
    g->centre = point_on(&g->h.orbit, S, 0.0, GAMMA);
}

static const aw_panels_how usual = {.order = 9,
                                    .ratio = 2.0,
                                    .sweep = 0.25,
                                    .first = 1e-4,
                                    .spacing = HUGE_VAL,
                                    .bunch = 1e-4,
                                    .density = 1.0};

static double sum_of(const aw_panels *p, double (*f)(double r), int rates)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n; ++i)
        sum += (rates ? p->node[i].rate : p->node[i].weight) * f(p->node[i].r);
    return sum;
}

static double one(double r) { return r * 0.0 + 1.0; }
static double square(double r) { return r * r; }
/* kink where the bend begins, at r' = 0.13/beta */
static double kink(double r) { return fabs(r - 0.13 / beta_of(GAMMA)); }

static void smooth_functions_are_integrated(void **state)
{
    const double to = 0.3;
    aw_panels p = {.node = NULL};
    stage g;
    (void)state;
    stage_open(&g, 0.13);
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.0, to, &usual));
    /* in the logarithm an octave of e^3y with nine nodes is exact to 1e-15 */
    assert_close(sum_of(&p, one, 0), to, 1e-12, 0.0);
    assert_close(sum_of(&p, square, 0), to * to * to / 3.0, 1e-12, 0.0);
    assert_close(sum_of(&p, one, 1), to, 1e-12, 0.0);
    const double edge = 0.13 / beta_of(GAMMA), rest = to - edge;
    assert_close(sum_of(&p, kink, 0), 0.5 * (edge * edge + rest * rest), 1e-10, 0.0);
    aw_panels_free(&p);
    slices_free(&g.s);
}

/* Three nodes of a panel, for the rates: exact to the third order in the logarithm, so off by the
 * fourth, (log 2/2)^5/60 or less of a panel of r'^2. */
static void few_rates_are_integrated(void **state)
{
    aw_panels_how how = usual;
    aw_panels p = {.node = NULL};
    size_t rated = 0;
    stage g;
    (void)state;
    stage_open(&g, 0.13);
    how.few_rates = 1;
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.0, 0.3, &how));
    for (size_t i = 0; i < p.n; ++i) {
        assert_true(p.node[i].rate >= 0.0 && p.node[i].weight > 0.0);
        rated += p.node[i].rate > 0.0;
    }
    assert_int_equal(rated, 3 * p.panels);
    assert_close(sum_of(&p, one, 1), 0.3, 1e-3, 0.0);
    assert_close(sum_of(&p, square, 1), 0.009, 5e-3, 0.0);
    aw_panels_free(&p);
    slices_free(&g.s);
}

/* In the logarithm y a panel's checks are zero of polynomials that its nodes see through, and of
 * the first that they only just see they are not: y^8 of nine nodes, y^2 of the rates' three. */
static void checks_see_what_is_hard_to_see(void **state)
{
    aw_panels_how how = usual;
    aw_panels p = {.node = NULL};
    stage g;
    (void)state;
    stage_open(&g, 2.0);
    how.few_rates = 1;
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 1e-3, 2e-3, &how));
    assert_int_equal(p.n, 9);
    for (int k = 0; k <= 8; ++k) {
        double check = 0.0, rates = 0.0;
        for (size_t i = 0; i < p.n; ++i) {
            const double y = (log(p.node[i].r / 1e-3) / log(2.0) - 0.5) * 2.0; /* -1 .. 1 */
            const double f = pow(y, k) / p.node[i].r;
            check += p.node[i].check * f;
            rates += p.node[i].check_rate * f;
        }
        if (k < 8) assert_close(check, 0.0, 0.0, 1e-14);
        if (k < 2) assert_close(rates, 0.0, 0.0, 1e-14);
        /* y^8 is 128/6435 P_8 and lower ones, P_8^2 has the integral 2/17; half the width is
         * log 2/2, and nine Gauss nodes are exact to the order 17. */
        if (k == 8) assert_close(check, 128.0 / 6435.0 * 2.0 / 17.0 * log(2.0) / 2.0, 1e-9, 0.0);
        if (k == 2) assert_true(fabs(rates) > 0.1);
    }
    aw_panels_free(&p);
    slices_free(&g.s);
}

/* Finer where the beam is swept. */
static void panels_follow_the_beam(void **state)
{
    aw_panels_how how = usual;
    aw_panels p = {.node = NULL}, fine = {.node = NULL};
    stage g;
    (void)state;
    stage_open(&g, 2.0);
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.0, 1.5, &how));
    how.sweep = 0.05;
    assert_ok(aw_panels_add(&fine, &g.h, &g.centre, 0.0, 1.5, &how));
    assert_true(fine.n > p.n);
    /* No panel sweeps through more than that part of the box. */
    for (size_t i = 0; i + 8 < fine.n; i += 9) {
        const aw_view_geometry a = aw_view_geometry_at(&g.h, &g.centre, fine.node[i].r);
        const aw_view_geometry b = aw_view_geometry_at(&g.h, &g.centre, fine.node[i + 8].r);
        if (fine.node[i].r > 1e-4) assert_true(b.lead - a.lead <= 0.05 * 2.0 * b.extent);
    }
    /* The spacing holds near the points, and grows away from them. */
    how = usual;
    how.spacing = 1e-5;
    p.n = 0;
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.0, 1e-3, &how));
    for (size_t i = 0; i + 1 < p.n && p.node[i + 1].r < 1e-4; ++i)
        assert_true(p.node[i + 1].r - p.node[i].r < 1.7e-5); /* Gauss's widest, over the mean */
    aw_panels_free(&p);
    aw_panels_free(&fine);
    slices_free(&g.s);
}

static void orders_that_cannot_be_are_refused(void **state)
{
    static const int order[] = {0, 1, 2, 4, 33};
    stage g;
    (void)state;
    stage_open(&g, 0.13);
    for (size_t i = 0; i < sizeof order / sizeof *order; ++i) {
        aw_panels_how how = usual;
        aw_panels p = {.node = NULL};
        how.order = order[i];
        assert_status(aw_panels_add(&p, &g.h, &g.centre, 0.0, 0.3, &how), AW_ERR_ARG);
        aw_panels_free(&p);
    }
    slices_free(&g.s);
}

/* Longest panel that begins between a and b, in ln r'; its weights over r' add up to that. */
static double longest(const aw_panels *p, int order, double a, double b)
{
    double most = 0.0;
    for (size_t i = 0; i < p->n; i += (size_t)order) {
        double length = 0.0;
        for (size_t j = i; j < i + (size_t)order; ++j) length += p->node[j].weight / p->node[j].r;
        if (p->node[i].r > a && p->node[i].r < b) most = fmax(most, length);
    }
    return most;
}

static void assert_between(double value, double least, double most)
{
    assert_true(value >= least && value <= most);
}

static void caps_shorten_panels_where_they_are_until_they_are_forgotten(void **state)
{
    aw_panel_caps caps = {{0.0}};
    aw_panels_how how = usual;
    aw_panels p = {.node = NULL};
    stage g;
    (void)state;
    stage_open(&g, 0.13);
    how.sweep = HUGE_VAL;
    how.caps = &caps;
    aw_panel_caps_lower(&caps, 0.02, 0.03, 0.05);
    aw_panel_caps_lower(&caps, 0.025, 0.04, 0.2); /* which does not raise the others */
    for (int i = 0; i < 2; ++i) {
        p.n = 0;
        assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.001, 0.1, &how));
        assert_close(sum_of(&p, one, 0), 0.099, 1e-12, 0.0);
        if (i == 0) {
            assert_between(longest(&p, how.order, 0.02, 0.03), 0.025, 0.05 + 1e-9);
            assert_between(longest(&p, how.order, 0.031, 0.04), 0.1, 0.2 + 1e-9);
        } else {
            assert_between(longest(&p, how.order, 0.001, 0.04), 0.5, 0.7);
        }
        aw_panel_caps_forget(&caps, 100.0); /* above 1: none */
    }
    aw_panels_free(&p);
    slices_free(&g.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_functions_are_integrated),
        cmocka_unit_test(few_rates_are_integrated),
        cmocka_unit_test(checks_see_what_is_hard_to_see),
        cmocka_unit_test(panels_follow_the_beam),
        cmocka_unit_test(caps_shorten_panels_where_they_are_until_they_are_forgotten),
        cmocka_unit_test(orders_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
