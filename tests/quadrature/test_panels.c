/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Panels of common nodes: exactness, breaks, checks, caps and refused arguments. */
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

/* A beam in a bend of 10 m radius that begins at S = 0. */
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

static const aw_panels_options usual = {.order = 9,
                                        .ratio = 2.0,
                                        .sweep = 0.25,
                                        .first = 1e-4,
                                        .spacing = {HUGE_VAL, HUGE_VAL},
                                        .bunch = {1e-4, 1e-4},
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
/* a kink at r' = 0.13/beta, where the bend begins */
static double kink(double r) { return fabs(r - 0.13 / beta_of(GAMMA)); }

static void smooth_functions_and_a_kink_at_an_edge_are_integrated_exactly(void **state)
{
    const double to = 0.3;
    aw_panels p = {.node = NULL};
    stage g;
    (void)state;
    stage_open(&g, 0.13);
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.0, to, &usual));
    /* nine nodes in ln r' integrate e^3y over an octave to 1e-15 */
    assert_close(sum_of(&p, one, 0), to, 1e-12, 0.0);
    assert_close(sum_of(&p, square, 0), to * to * to / 3.0, 1e-12, 0.0);
    assert_close(sum_of(&p, one, 1), to, 1e-12, 0.0);
    const double edge = 0.13 / beta_of(GAMMA), rest = to - edge;
    assert_close(sum_of(&p, kink, 0), 0.5 * (edge * edge + rest * rest), 1e-10, 0.0);
    aw_panels_free(&p);
    slices_free(&g.s);
}

/* Corners of a square of points of 0.3 mm about the centre. */
static void corners_of(const stage *g, double S, aw_field_point corner[4])
{
    for (int i = 0; i < 4; ++i)
        corner[i] =
            point_on(&g->h.orbit, S + (i % 2 ? 1.5e-4 : -1.5e-4), i / 2 ? 1.5e-4 : -1.5e-4, GAMMA);
}

/* Passages follow each other without a gap, are fewer than other panels, and integrate what is
 * smooth in r' as those do. Panels of few rates, and those near the beam, are none. */
static void passages_take_the_place_of_many_panels(void **state)
{
    aw_panels_options options = usual;
    aw_panels many = {.node = NULL}, few = many;
    aw_field_point corner[4];
    stage g;
    (void)state;
    stage_open(&g, 2.0);
    corners_of(&g, 2.0, corner);
    options.order = 3;
    options.sweep = 0.8; /* 4.3 cells from node to node */
    assert_ok(aw_panels_add(&many, &g.h, &g.centre, 0.1, 1.5, &options));
    options.corner = corner;
    assert_ok(aw_panels_add(&few, &g.h, &g.centre, 0.1, 1.5, &options));
    assert_true(2 * few.panels < many.panels);
    assert_close(sum_of(&few, one, 0), 1.4, 1e-3, 0.0); /* three nodes of an octave */
    size_t passages = 0;
    for (size_t i = 0; i < few.n; i += 3) {
        const aw_common_node *node = &few.node[i];
        if (!aw_is_passage(node)) {
            assert_int_equal(passages, 0); /* those are the nearest */
            continue;
        }
        passages++;
        assert_int_equal(node->nodes, 3);
        assert_true(node->from < node->r && node[2].r < node->to);
        assert_close(i + 3 < few.n ? node[3].from : 1.5, node->to, 1e-14, 0.0);
    }
    assert_true(passages > 0);
    options.few_rates = 1;
    few.n = few.panels = 0;
    assert_ok(aw_panels_add(&few, &g.h, &g.centre, 0.1, 1.5, &options));
    assert_int_equal(few.panels, many.panels);
    aw_panels_free(&few);
    aw_panels_free(&many);
    slices_free(&g.s);
}

/* The three nodes of a panel for the rates are exact to third order in ln r'; the fourth order of
 * r'^2 leaves an error of at most (log 2/2)^5/60 of a panel. */
static void rates_at_three_nodes_of_a_panel_are_integrated(void **state)
{
    aw_panels_options options = usual;
    aw_panels p = {.node = NULL};
    size_t rated = 0;
    stage g;
    (void)state;
    stage_open(&g, 0.13);
    options.few_rates = 1;
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.0, 0.3, &options));
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

/* With y proportional to ln r', a panel's checks vanish for polynomials of y of low degree, and not
 * for the highest degree that the nodes resolve: y^8 for nine nodes, y^2 for the rates' three. */
static void checks_measure_the_finest_component_that_nodes_resolve(void **state)
{
    aw_panels_options options = usual;
    aw_panels p = {.node = NULL};
    stage g;
    (void)state;
    stage_open(&g, 2.0);
    options.few_rates = 1;
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 1e-3, 2e-3, &options));
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
        /* y^8 is 128/6435 P_8 plus lower degrees, the integral of P_8^2 is 2/17, half the width is
         * log 2/2, and nine Gauss nodes are exact to degree 17. */
        if (k == 8) assert_close(check, 128.0 / 6435.0 * 2.0 / 17.0 * log(2.0) / 2.0, 1e-9, 0.0);
        if (k == 2) assert_true(fabs(rates) > 0.1);
    }
    aw_panels_free(&p);
    slices_free(&g.s);
}

static void panels_are_finer_where_the_circle_sweeps_through_the_beam(void **state)
{
    aw_panels_options options = usual;
    aw_panels p = {.node = NULL}, fine = {.node = NULL};
    stage g;
    (void)state;
    stage_open(&g, 2.0);
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.0, 1.5, &options));
    options.sweep = 0.05;
    assert_ok(aw_panels_add(&fine, &g.h, &g.centre, 0.0, 1.5, &options));
    assert_true(fine.n > p.n);
    /* In no panel the circle sweeps through more than this fraction of the box. */
    for (size_t i = 0; i + 8 < fine.n; i += 9) {
        const aw_view_geometry a = aw_view_geometry_at(&g.h, &g.centre, fine.node[i].r);
        const aw_view_geometry b = aw_view_geometry_at(&g.h, &g.centre, fine.node[i + 8].r);
        if (fine.node[i].r > 1e-4) assert_true(b.lead - a.lead <= 0.05 * 2.0 * b.extent);
    }
    /* The spacing is observed near the points, and grows away from them. */
    options = usual;
    options.spacing[0] = options.spacing[1] = 1e-5;
    p.n = 0;
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.0, 1e-3, &options));
    for (size_t i = 0; i + 1 < p.n && p.node[i + 1].r < 1e-4; ++i)
        assert_true(p.node[i + 1].r - p.node[i].r < 1.7e-5); /* Gauss's widest, over the mean */
    /* In a bunch that is ten times as long, with cells three times as long, up to that length. */
    options.spacing[1] = 3e-5;
    options.bunch[1] = 1e-3;
    p.n = 0;
    assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.0, 1e-3, &options));
    assert_true(p.n > 34);
    for (size_t i = 0; i + 1 < p.n; ++i)
        assert_true(p.node[i + 1].r - p.node[i].r < (p.node[i].r < 1e-4 ? 1.7e-5 : 5.1e-5));
    aw_panels_free(&p);
    aw_panels_free(&fine);
    slices_free(&g.s);
}

static void even_too_small_and_too_large_orders_are_refused(void **state)
{
    static const int order[] = {0, 1, 2, 4, 33};
    stage g;
    (void)state;
    stage_open(&g, 0.13);
    for (size_t i = 0; i < sizeof order / sizeof *order; ++i) {
        aw_panels_options options = usual;
        aw_panels p = {.node = NULL};
        options.order = order[i];
        assert_status(aw_panels_add(&p, &g.h, &g.centre, 0.0, 0.3, &options), AW_ERR_ARG);
        aw_panels_free(&p);
    }
    slices_free(&g.s);
}

/* Largest length in ln r' (sum of weights over r') of a panel that begins between a and b. */
static double longest(const aw_panels *p, int order, double a, double b)
{
    double result = 0.0;
    for (size_t i = 0; i < p->n; i += (size_t)order) {
        double length = 0.0;
        for (size_t j = i; j < i + (size_t)order; ++j) length += p->node[j].weight / p->node[j].r;
        if (p->node[i].r > a && p->node[i].r < b) result = fmax(result, length);
    }
    return result;
}

static void assert_between(double value, double lo, double hi)
{
    assert_true(value >= lo && value <= hi);
}

static void caps_shorten_panels_in_their_range_until_they_are_removed(void **state)
{
    const aw_panel_cap tight = {0.02, 0.03, 0.001}, loose = {0.025, 0.04, 0.004};
    aw_panel_caps caps = {.n = 0};
    aw_panels_options options = usual;
    aw_panels p = {.node = NULL};
    stage g;
    (void)state;
    stage_open(&g, 0.13);
    options.sweep = HUGE_VAL;
    options.caps = &caps;
    aw_panel_caps_add(&caps, &tight);
    aw_panel_caps_add(&caps, &loose); /* does not raise lower caps */
    for (int i = 0; i < 2; ++i) {
        p.n = 0;
        assert_ok(aw_panels_add(&p, &g.h, &g.centre, 0.001, 0.1, &options));
        assert_close(sum_of(&p, one, 0), 0.099, 1e-12, 0.0);
        if (i == 0) {
            assert_between(longest(&p, options.order, 0.02, 0.03), 0.025, 0.05 + 1e-9);
            assert_between(longest(&p, options.order, 0.031, 0.04), 0.1,
                           log1p(0.004 / 0.03) + 1e-9);
        } else {
            assert_between(longest(&p, options.order, 0.001, 0.04), 0.5, 0.7);
        }
        aw_panel_caps_forget(&caps, 100.0); /* longer than their ranges: removed */
    }
    aw_panels_free(&p);
    slices_free(&g.s);
}

static void caps_stay_in_the_magnet_of_the_bunch_and_move_with_places_upstream_of_it(void **state)
{
    const aw_panel_cap here = {0.02, 0.03, 0.001}, upstream = {0.2, 0.21, 0.001};
    aw_panel_caps caps = {.n = 0};
    stage g;
    (void)state;
    stage_open(&g, 0.13);
    aw_panel_caps_follow(&caps, &g.h);
    aw_panel_caps_add(&caps, &here);
    aw_panel_caps_add(&caps, &upstream);
    g.s.slice[0].ct += 0.05;
    g.s.slice[0].S += 0.05 * beta_of(GAMMA);
    aw_panel_caps_follow(&caps, &g.h);
    assert_int_equal(caps.n, 2);
    assert_close(caps.cap[0].from, 0.02, 0.0, 0.0);
    assert_close(caps.cap[0].to, 0.03, 0.0, 0.0);
    assert_close(caps.cap[1].from, 0.25, 1e-14, 0.0);
    assert_close(caps.cap[1].to, 0.26, 1e-14, 0.0);
    slices_free(&g.s);
}

static void shorter_caps_supersede_longer_ones_and_the_loosest_is_forgotten_first(void **state)
{
    const aw_panel_cap loose = {1.0, 2.0, 0.5}, other = {2.0, 3.0, 0.1}, tight = {0.9, 2.1, 0.2};
    aw_panel_caps caps = {.n = 0};
    (void)state;
    aw_panel_caps_add(&caps, &loose);
    aw_panel_caps_add(&caps, &other);
    aw_panel_caps_add(&caps, &tight);
    assert_int_equal(caps.n, 2);
    assert_close(aw_panel_caps_end(&caps, 1.0, 2.0), 1.2, 1e-14, 0.0);
    for (int i = 2; i < AW_CAPS_MAX; ++i) {
        const aw_panel_cap more = {10.0 + i, 11.0 + i, 0.1};
        aw_panel_caps_add(&caps, &more);
    }
    assert_int_equal(caps.n, AW_CAPS_MAX);
    aw_panel_caps_add(&caps, &(aw_panel_cap){5.0, 6.0, 0.1}); /* in place of `tight` */
    assert_int_equal(caps.n, AW_CAPS_MAX);
    assert_close(aw_panel_caps_end(&caps, 1.0, 2.0), 2.0, 0.0, 0.0);
    assert_close(aw_panel_caps_end(&caps, 5.0, 6.0), 5.1, 1e-14, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_functions_and_a_kink_at_an_edge_are_integrated_exactly),
        cmocka_unit_test(passages_take_the_place_of_many_panels),
        cmocka_unit_test(rates_at_three_nodes_of_a_panel_are_integrated),
        cmocka_unit_test(checks_measure_the_finest_component_that_nodes_resolve),
        cmocka_unit_test(panels_are_finer_where_the_circle_sweeps_through_the_beam),
        cmocka_unit_test(caps_shorten_panels_in_their_range_until_they_are_removed),
        cmocka_unit_test(caps_stay_in_the_magnet_of_the_bunch_and_move_with_places_upstream_of_it),
        cmocka_unit_test(shorter_caps_supersede_longer_ones_and_the_loosest_is_forgotten_first),
        cmocka_unit_test(even_too_small_and_too_large_orders_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
