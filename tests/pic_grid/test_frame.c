/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The moving grid: rungs and hysteresis, tilt without flips, all particles inside. */
#include <math.h>

#include "pic/deposit.h"
#include "pic/frame.h"
#include "pic/lattice.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { N = 2000, NODES = 32 };
#define SIGMA 1e-4

typedef struct stage {
    aw_orbit_piece piece[2];
    aw_orbit_view orbit;
    aw_particles *p;
    aw_frame frame;
} stage;

/* A straight orbit up to S = 0, then an arc of 10 m radius. */
static void stage_open(stage *g)
{
    uint64_t random = 17;
    g->piece[0] = (aw_orbit_piece){.S = 0.0};
    g->piece[1] = (aw_orbit_piece){.S = 0.0, .kappa = 0.1};
    g->orbit = (aw_orbit_view){g->piece, 2};
    assert_ok(aw_particles_new(N, 1e-13, &g->p));
    for (int i = 0; i < N; ++i) { /* pairs: the mean is zero to rounding */
        int odd = i % 2;
        g->p->s0[i] = odd ? -g->p->s0[i - 1] : uniform(&random, -3.0, 3.0) * SIGMA;
        g->p->x0[i] = odd ? -g->p->x0[i - 1] : uniform(&random, -3.0, 3.0) * SIGMA;
        g->p->pz[i] = 100.0;
    }
    aw_frame_init(&g->frame, NODES, NODES);
}

static void stage_close(stage *g) { aw_particles_free(g->p); }

/* Put the particles about the orbit's point at S, with offsets scaled by a and b and turned by
 * `turn`. */
static void place(stage *g, double S, double a, double b, double turn)
{
    aw_orbit_point at = aw_orbit_at(&g->orbit, S);
    double c = cos(at.theta + turn), s = sin(at.theta + turn);
    for (int i = 0; i < N; ++i) {
        double u = a * g->p->s0[i], w = b * g->p->x0[i];
        g->p->z[i] = at.z + u * c - w * s;
        g->p->x[i] = at.x + u * s + w * c;
    }
}

/* Deposition fails if a particle is off the grid. */
static void check_all_inside(const stage *g)
{
    aw_deposit *d = NULL;
    double charge, *cells = aw_alloc(1, aw_slice_bytes(NODES, NODES, 0));
    assert_non_null(cells);
    assert_ok(aw_deposit_new(NODES, NODES, &d));
    assert_ok(aw_deposit_run(d, g->p, &g->frame, 0, cells, &charge));
    aw_deposit_free(d);
    aw_free(cells);
}

static void rigid_grid_has_the_requested_extents(void **state)
{
    stage g;
    (void)state;
    stage_open(&g);
    aw_frame_rigid(&g.frame, &g.orbit, 0.7, 3.0 * SIGMA, 3.0 * SIGMA);
    aw_orbit_point at = aw_orbit_at(&g.orbit, 0.7);
    assert_close(g.frame.grid.z, at.z, 0.0, 0.0);
    assert_close(g.frame.grid.x, at.x, 0.0, 0.0);
    assert_close(g.frame.grid.theta, at.theta, 0.0, 0.0);
    assert_close(g.frame.grid.tilt, 0.0, 0.0, 0.0);
    place(&g, 0.7, 0.999999, 0.999999, 0.0);
    g.p->z[0] = at.z + 3.0 * SIGMA * at.ct; /* a particle on the border itself */
    g.p->x[0] = at.x + 3.0 * SIGMA * at.st;
    check_all_inside(&g);
    stage_close(&g);
}

static void grid_is_centred_on_the_mean_in_the_arc(void **state)
{
    stage g;
    (void)state;
    stage_open(&g);
    for (double S = -0.3; S < 1.0; S += 0.13) {
        place(&g, S, 1.0, 0.3, 0.0);
        assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, S + 2e-4)); /* the guess may be wrong */
        aw_orbit_point at = aw_orbit_at(&g.orbit, S);
        assert_close(g.frame.grid.S, S, 0.0, 1e-13);
        assert_close(g.frame.grid.offset, 0.0, 0.0, 1e-14);
        assert_close(g.frame.grid.z, at.z, 0.0, 1e-13);
        assert_close(g.frame.grid.x, at.x, 0.0, 1e-13);
        check_all_inside(&g);
    }
    stage_close(&g);
}

static void spacings_are_rungs_of_a_ladder(void **state)
{
    stage g;
    (void)state;
    stage_open(&g);
    for (int i = 0; i <= 60; ++i) { /* grows by a factor of 8, then shrinks */
        double size = exp2(0.1 * (i < 30 ? i : 60 - i));
        place(&g, 0.01 * i, size, 0.3 / size, 0.0);
        assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, 0.01 * i));
        double rung = 4.0 * log2(g.frame.grid.hs / g.frame.base_s);
        assert_close(rung, g.frame.rung_s, 0.0, 1e-12);
        check_all_inside(&g);
        /* never more than three rungs and the headroom of 2 % wider than needed: 2^(3/4) */
        double need = 3.0 * SIGMA * size / (0.5 * (NODES - 1) - AW_SHAPE_REACH);
        assert_true(g.frame.grid.hs < 1.03 * exp2(0.75) * need);
        if (i == 30) assert_int_equal(g.frame.rung_s, 12); /* 8 = 2^(12/4), less the headroom */
    }
    stage_close(&g);
}

static void a_breathing_bunch_keeps_its_rungs(void **state)
{
    int first = 0;
    stage g;
    (void)state;
    stage_open(&g);
    for (int i = 0; i < 200; ++i) { /* 10 % up and down: less than two rungs (41 %) */
        double size = 1.0 + 0.1 * sin(0.3 * i);
        place(&g, 0.01 * i, size, 0.3 * size, 0.0);
        assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, 0.01 * i));
        check_all_inside(&g);
        if (i == 30) first = g.frame.rung_s; /* after a whole period */
        if (i > 30) assert_int_equal(g.frame.rung_s, first);
    }
    stage_close(&g);
}

static void tilt_follows_a_turning_ellipse_beyond_ninety_degrees(void **state)
{
    double last = 0.0;
    stage g;
    (void)state;
    stage_open(&g);
    for (int i = 0; i <= 200; ++i) { /* 0.03 rad a step, to 6 rad */
        double turn = 0.03 * i, S = 0.01 * i;
        place(&g, S, 1.0, 0.4, turn);
        assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, S));
        /* The axes of the sample differ from those of the distribution by the correlation of 2000
         * particles over the difference of the axes: 1/sqrt(1000) 0.4/(1 - 0.16) = 0.015. */
        assert_close(g.frame.grid.tilt, turn, 0.0, 0.04);
        if (i > 0) assert_close(g.frame.grid.tilt - last, 0.03, 0.0, 1e-9); /* rigid turning */
        assert_close(g.frame.grid.theta - g.frame.theta_design, g.frame.grid.tilt, 0.0, 1e-12);
        last = g.frame.grid.tilt;
        check_all_inside(&g);
    }
    stage_close(&g);
}

static void tilt_turns_by_no_more_than_the_limit_per_step(void **state)
{
    stage g;
    (void)state;
    stage_open(&g);
    place(&g, 0.0, 1.0, 0.4, 0.0);
    assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, 0.0));
    double last = g.frame.grid.tilt;
    for (int i = 1; i <= 4; ++i) {
        place(&g, 0.0, 1.0, 0.4, 0.15); /* at once */
        assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, 0.0));
        assert_close(g.frame.grid.tilt - last, i <= 3 ? 0.05 : 0.0, 0.0, 1e-9);
        last = g.frame.grid.tilt;
        check_all_inside(&g);
    }
    stage_close(&g);
}

/* The axes of a round bunch have no meaning, so that the tilt stays. */
static void a_round_bunch_keeps_its_tilt(void **state)
{
    stage g;
    (void)state;
    stage_open(&g);
    place(&g, 0.0, 1.0, 0.4, 0.3);
    assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, 0.0));
    double kept = g.frame.grid.tilt;
    assert_close(kept, 0.3, 0.0, 0.04);
    for (int i = 0; i < 50; ++i) {
        place(&g, 0.0, 1.0, 0.95, 0.3 + 0.1 * i);
        assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, 0.0));
        assert_close(g.frame.grid.tilt, kept, 0.0, 0.0);
        check_all_inside(&g);
    }
    stage_close(&g);
}

/* Compressed from long to wide: the lengths of the axes change, their roles do not. */
static void tilt_stays_when_a_long_bunch_becomes_a_wide_one(void **state)
{
    stage g;
    (void)state;
    stage_open(&g);
    for (int i = 0; i <= 60; ++i) {
        place(&g, 0.0, 1.0 - 0.01 * i, 0.4 + 0.01 * i, 0.0);
        assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, 0.0));
        /* A correlation of 0.03 turns axes that differ by 20 % by 0.1; a flip is 1.6. */
        assert_close(g.frame.grid.tilt, 0.0, 0.0, 0.15);
        check_all_inside(&g);
    }
    stage_close(&g);
}

static void a_lone_particle_has_a_grid(void **state)
{
    stage g;
    (void)state;
    stage_open(&g);
    g.p->n = 1;
    g.p->z[0] = -0.1;
    g.p->x[0] = 1e-5;
    assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, -0.1));
    assert_true(g.frame.grid.hs > 0.0 && g.frame.grid.hx > 0.0);
    assert_close(g.frame.grid.offset, 1e-5, 0.0, 1e-16);
    check_all_inside(&g);
    stage_close(&g);
}

static void positions_that_are_not_finite_are_an_error(void **state)
{
    stage g;
    (void)state;
    stage_open(&g);
    place(&g, 0.0, 1.0, 0.4, 0.0);
    g.p->x[99] = NAN;
    assert_status(aw_frame_fit(&g.frame, &g.orbit, g.p, 0.0), AW_ERR_NONFINITE);
    stage_close(&g);
}

static void field_points_are_the_nodes_and_move_along_the_design_orbit(void **state)
{
    const double gamma = 30.0;
    aw_field_point *point = aw_alloc((size_t)NODES * NODES, sizeof *point);
    stage g;
    (void)state;
    stage_open(&g);
    assert_non_null(point);
    place(&g, 0.4, 1.0, 0.4, 0.3);
    assert_ok(aw_frame_fit(&g.frame, &g.orbit, g.p, 0.4));
    aw_frame_points(&g.frame.grid, &g.orbit, gamma, point);
    const aw_grid_view *grid = &g.frame.grid;
    for (int j = 0; j < NODES; j += 3)
        for (int i = 0; i < NODES; i += 5) {
            const aw_field_point *p = &point[j * NODES + i];
            double u = (i - 0.5 * (NODES - 1)) * grid->hs, w = (j - 0.5 * (NODES - 1)) * grid->hx;
            aw_orbit_point at = aw_orbit_at(&g.orbit, p->S);
            assert_close(p->z, grid->z + u * cos(grid->theta) - w * sin(grid->theta), 0.0, 1e-16);
            assert_close(p->x, grid->x + u * sin(grid->theta) + w * cos(grid->theta), 0.0, 1e-16);
            assert_close(at.z - p->offset * at.st, p->z, 0.0,
                         1e-15); /* S and offset are the node's own */
            assert_close(at.x + p->offset * at.ct, p->x, 0.0, 1e-15);
            assert_close(p->theta, at.theta, 0.0, 0.0);
            assert_close(p->kappa, 0.1, 0.0, 0.0);
            assert_close(p->beta, beta_of(gamma), 1e-16, 0.0);
            assert_close(p->one_minus_beta, 1.0 - beta_of(gamma), 1e-12, 0.0);
        }
    aw_free(point);
    stage_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_grid_has_the_requested_extents),
        cmocka_unit_test(grid_is_centred_on_the_mean_in_the_arc),
        cmocka_unit_test(spacings_are_rungs_of_a_ladder),
        cmocka_unit_test(a_breathing_bunch_keeps_its_rungs),
        cmocka_unit_test(tilt_follows_a_turning_ellipse_beyond_ninety_degrees),
        cmocka_unit_test(tilt_turns_by_no_more_than_the_limit_per_step),
        cmocka_unit_test(a_round_bunch_keeps_its_tilt),
        cmocka_unit_test(tilt_stays_when_a_long_bunch_becomes_a_wide_one),
        cmocka_unit_test(a_lone_particle_has_a_grid),
        cmocka_unit_test(positions_that_are_not_finite_are_an_error),
        cmocka_unit_test(field_points_are_the_nodes_and_move_along_the_design_orbit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
