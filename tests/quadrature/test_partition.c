/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initial partitions cover [0, R(p)] and break at slices and edges; R(p) is correct. */
#include <stdlib.h>

#include "kernels/math/retarded.h"
#include "quadrature/partition.h"
#include "quadrature/rules/circle.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NODES = 16, SLICES = 24, SIDE = 5 };
#define H 2e-5
#define CDT 0.02
#define GAMMA 1e3
#define R_CUT 1e4

/* Straight, a bend of 10 m radius over 0.25 m, straight; the beam is 0.1 m beyond the bend. */
typedef struct stage {
    aw_orbit_piece piece[3];
    slices s;
    aw_history_view h;
    aw_field_point centre;
    double half;
    aw_partition *partition;
    aw_region *region;
} stage;

static void stage_open(stage *g, double gamma)
{
    aw_orbit_view orbit = {g->piece, 1};
    aw_orbit_point at;
    g->piece[0] = (aw_orbit_piece){.S = 0.0};
    g->piece[1] = (aw_orbit_piece){.S = 0.0, .kappa = 0.1};
    orbit.n = 2;
    at = aw_orbit_at(&orbit, 0.25);
    g->piece[2] = (aw_orbit_piece){.S = 0.25, .z = at.z, .x = at.x, .theta = at.theta};
    orbit.n = 3;
    slices_new(&g->s, SLICES, NODES, NODES, 0, H, 1.5 * H);
    for (int i = 0; i < SLICES; ++i) {
        g->s.slice[i].S = 0.35 - beta_of(gamma) * CDT * i;
        g->s.slice[i].tilt = 0.1;
    }
    g->h = slices_view(&g->s, orbit, CDT, gamma, R_CUT);
    g->centre = point_on(&g->h.orbit, 0.35, 0.0, gamma);
    g->half = hypot(0.5 * (NODES - 1) * H, 0.5 * (NODES - 1) * 1.5 * H);
    g->region = NULL;
    assert_ok(aw_partition_new(&g->partition));
}

static void stage_make(stage *g)
{
    assert_ok(aw_partition_make(g->partition, &g->h, &g->centre, g->half));
    g->region = calloc(g->partition->n, sizeof *g->region);
    assert_non_null(g->region);
}

static void stage_close(stage *g)
{
    free(g->region);
    aw_partition_free(g->partition);
    slices_free(&g->s);
}

/* Point k of SIDE x SIDE points over the whole grid, including its corners. */
static aw_field_point grid_point(const stage *g, int k)
{
    const int column = k % SIDE, row = k / SIDE;
    double u = (column - 2) / 2.0 * 0.5 * (NODES - 1) * H;
    double w = (row - 2) / 2.0 * 0.5 * (NODES - 1) * 1.5 * H;
    return point_on(&g->h.orbit, 0.35 + u, w, 1.0 / sqrt(1.0 - g->h.beta * g->h.beta));
}

static int arcs_at(const stage *g, const aw_field_point *p, double r)
{
    aw_retarded f = aw_retarded_at(&g->h, r);
    double dz = p->z - f.z, dx = p->x - f.x;
    aw_arcs arcs =
        aw_circle_arcs(dz * f.cg + dx * f.sg, -dz * f.sg + dx * f.cg, r, f.half_s, f.half_x);
    return arcs.n;
}

/* Whether no circle between a and b meets the beam's box. */
static int nothing_between(const stage *g, const aw_field_point *p, double a, double b)
{
    for (int i = 0; i <= 200; ++i)
        if (arcs_at(g, p, a + (b - a) * i / 200.0) > 0) return 0;
    return 1;
}

static void regions_leave_out_only_circles_that_miss_the_box(void **state)
{
    int gaps = 0;
    stage g;
    (void)state;
    stage_open(&g, GAMMA);
    stage_make(&g);
    for (int k = 0; k < SIDE * SIDE; ++k) {
        aw_field_point p = grid_point(&g, k);
        size_t n = aw_partition_regions(g.partition, &g.h, &p, (uint32_t)k, g.region);
        double end = 0.0, limit = aw_partition_limit(g.partition, &g.h, &p);
        assert_true(n >= 1 && n < g.partition->n);
        assert_true(n < 200); /* 10 km of upstream need tens of regions, not thousands */
        assert_close(g.region[0].a, 0.0, 0.0, 0.0);
        for (size_t i = 0; i < n; ++i) {
            assert_true(g.region[i].a < g.region[i].b && g.region[i].b <= limit);
            assert_int_equal(g.region[i].point, k);
            assert_int_equal(g.region[i].known, 0);
            assert_true(g.region[i].a >= end);
            gaps += g.region[i].a > end;
            assert_true(g.region[i].a == end || nothing_between(&g, &p, end, g.region[i].a));
            end = g.region[i].b;
        }
        gaps += end < limit;
        assert_true(end == limit || nothing_between(&g, &p, end, limit));
    }
    assert_true(gaps > 0);
    stage_close(&g);
}

static void edges_are_break_points(void **state)
{
    stage g;
    (void)state;
    stage_open(&g, GAMMA);
    stage_make(&g);
    for (int e = 1; e < 3; ++e) {
        double edge = (0.35 - g.piece[e].S) / g.h.beta, nearest = HUGE_VAL;
        for (size_t i = 0; i < g.partition->n; ++i)
            nearest = fmin(nearest, fabs(g.partition->box[i].r - edge));
        assert_close(nearest, 0.0, 0.0, 1e-12); /* rounding of S/beta at 0.35 m */
    }
    stage_close(&g);
}

/* Where slices are stored, a region lies within one interval between slices, or spans a power of
 * two of them, so that halves end on slices; only a region that ends at an edge may differ. */
static void regions_respect_slices_where_they_are_stored(void **state)
{
    const double stored = (SLICES - 1) * CDT;
    int whole = 0, within = 0;
    stage g;
    (void)state;
    stage_open(&g, GAMMA);
    stage_make(&g);
    for (size_t i = 0; i + 1 < g.partition->n && g.partition->box[i].r < stored * 0.999; ++i) {
        double a = g.partition->box[i].r / CDT, b = g.partition->box[i + 1].r / CDT;
        double edge1 = 0.35 / g.h.beta / CDT, edge2 = 0.10 / g.h.beta / CDT;
        if (floor(a + 1e-6) >= ceil(b - 1e-6) - 1.0) {
            within++;
            continue;
        }
        if (fabs(b - edge1) < 1e-6 || fabs(b - edge2) < 1e-6 || b > SLICES - 1 - 1e-6) continue;
        assert_close(a, rint(a), 0.0, 1e-6);
        assert_close(log2(b - a), rint(log2(b - a)), 0.0, 1e-6);
        whole++;
    }
    assert_true(within > 10 && whole > 0);
    stage_close(&g);
}

static void circle_meets_the_box_before_r_and_never_beyond(void **state)
{
    stage g;
    (void)state;
    /* at gamma 100 the circle leaves within 100 m, at 1000 it takes kilometres */
    for (double gamma = 100.0; gamma < 1.1e3; gamma *= 10.0) {
        stage_open(&g, gamma);
        stage_make(&g);
        for (int k = 0; k < SIDE * SIDE; ++k) {
            aw_field_point p = grid_point(&g, k);
            double limit = aw_partition_limit(g.partition, &g.h, &p), farthest = 0.0;
            assert_true(limit < R_CUT);
            for (int i = 0; i < 20000; ++i) {
                double r = 1e-5 * pow(2.0 * R_CUT / 1e-5, i / 20000.0);
                if (arcs_at(&g, &p, r) > 0) farthest = r;
            }
            assert_true(farthest <= limit);
            /* At R(p) the circle leaves the circumscribed circle of the box, which extends beyond
             * the box by at most half diagonal + half side; the circle gains 1/(2 gamma^2) */
            double slack = 2.0 * gamma * gamma * (hypot(9.0, 13.5) - 9.0 * cos(0.1) + 2.0) * H;
            assert_true(limit < farthest + slack);
        }
        stage_close(&g);
    }
}

static void an_upstream_cut_at_a_distance_ends_there(void **state)
{
    stage g;
    (void)state;
    stage_open(&g, 1e5); /* the circle would leave after 10^7 m */
    stage_make(&g);
    for (int k = 0; k < SIDE * SIDE; ++k) {
        aw_field_point p = grid_point(&g, k);
        assert_close(aw_partition_limit(g.partition, &g.h, &p), R_CUT, 0.0, 0.0);
    }
    stage_close(&g);
}

static void a_history_too_short_for_the_circle_is_a_range_error(void **state)
{
    stage g;
    (void)state;
    stage_open(&g, GAMMA);
    g.h.upstream = 0; /* slices have been dropped, but the circle needs kilometres */
    assert_status(aw_partition_make(g.partition, &g.h, &g.centre, g.half), AW_ERR_RANGE);
    stage_close(&g);
}

/* A short history is not an error if the circle leaves the box early: a beam of low energy. */
static void a_history_as_long_as_the_circle_needs_is_enough(void **state)
{
    stage g;
    (void)state;
    stage_open(&g, 1.5);
    g.h.upstream = 0;
    stage_make(&g);
    assert_true(g.partition->box[g.partition->n - 1].r < (SLICES - 3) * CDT);
    stage_close(&g);
}

static void a_frame_that_is_not_finite_is_an_error(void **state)
{
    stage g;
    (void)state;
    for (int what = 0; what < 4; ++what) {
        stage_open(&g, GAMMA);
        aw_slice *bad = &g.s.slice[7];
        *(what == 0 ? &bad->S : what == 1 ? &bad->x : what == 2 ? &bad->hs : &bad->tilt) = NAN;
        assert_status(aw_partition_make(g.partition, &g.h, &g.centre, g.half), AW_ERR_NONFINITE);
        stage_close(&g);
    }
}

/* Break points between plates, with or without the bunch itself. */
static size_t breaks_between_plates(int images_only)
{
    stage g;
    stage_open(&g, GAMMA);
    g.h.gap = 2e-3;
    g.h.images = 16;
    g.h.images_only = images_only;
    stage_make(&g);
    const size_t n = g.partition->n;
    stage_close(&g);
    return n;
}

static void images_alone_have_fewer_breaks(void **state)
{
    (void)state;
    assert_true(4 * breaks_between_plates(1) < 3 * breaks_between_plates(0));
}

/* A thin beam lies at the angle t to the line across its motion. The n-th image touches its long
 * side where r' = n g/t, n g from its middle, as far as beam and points are long enough for it. */
static void images_touch_a_thin_tilted_beam_where_its_angle_says(void **state)
{
    static const struct {
        double r; /* over g/t */
        int touch;
    } row[] = {{0.7, 0}, {1.0, 1}, {1.25, 0}, {2.0, 1}, {2.5, 0}, {3.0, 1}, {8.0, 0}};
    const double t = 0.05, gap = 5e-4;
    const aw_orbit_piece straight = {.S = 0.0};
    slices s;
    (void)state;
    slices_new(&s, SLICES, NODES, NODES, 0, 2e-4, 1e-7);
    for (int i = 0; i < SLICES; ++i) {
        s.slice[i].S = -beta_of(GAMMA) * CDT * i;
        s.slice[i].tilt = 0.5 * AW_PI - t;
    }
    aw_history_view h = slices_view(&s, (aw_orbit_view){&straight, 1}, CDT, GAMMA, R_CUT);
    h.gap = gap;
    h.images = 16;
    for (size_t i = 0; i < sizeof row / sizeof *row; ++i) {
        const double r = row[i].r * gap / t;
        int tangent = -1;
        assert_true(aw_images_sweep(&h, 0.99 * r, 1.01 * r, &tangent) >= 0.0);
        assert_int_equal(tangent, row[i].touch);
    }
    slices_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_leave_out_only_circles_that_miss_the_box),
        cmocka_unit_test(edges_are_break_points),
        cmocka_unit_test(regions_respect_slices_where_they_are_stored),
        cmocka_unit_test(circle_meets_the_box_before_r_and_never_beyond),
        cmocka_unit_test(an_upstream_cut_at_a_distance_ends_there),
        cmocka_unit_test(a_history_too_short_for_the_circle_is_a_range_error),
        cmocka_unit_test(a_history_as_long_as_the_circle_needs_is_enough),
        cmocka_unit_test(a_frame_that_is_not_finite_is_an_error),
        cmocka_unit_test(images_alone_have_fewer_breaks),
        cmocka_unit_test(images_touch_a_thin_tilted_beam_where_its_angle_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
