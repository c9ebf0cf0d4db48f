/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of the inner integral against brute force: sampled points of the circle. */
#include "quadrature/rules/circle.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { SAMPLES = 100000, FAR_SAMPLES = 5000, CASES = 3000 };

typedef struct circle {
    double u, w, r, a, b;
} circle;

static double total_angle(const aw_arcs *arcs)
{
    double sum = 0.0;
    for (int i = 0; i < arcs->n; ++i) sum += arcs->hi[i] - arcs->lo[i];
    return sum;
}

/* Signed distance of the circle's point at an angle from the rectangle: > 0 outside. */
static double outside_by(const circle *c, double angle)
{
    return fmax(fabs(c->u + c->r * cos(angle)) - c->a, fabs(c->w + c->r * sin(angle)) - c->b);
}

/* Every arc lies inside, ends on the border, and is followed by a gap. */
static void check_arcs(const circle *c, const aw_arcs *arcs)
{
    /* rounding of the angle (up to 2 pi) times r, and of the coordinates */
    const double rounding = 1e-15 * (8.0 * c->r + fabs(c->u) + fabs(c->w) + c->a + c->b);
    assert_true(arcs->n >= 0 && arcs->n <= AW_ARCS_MAX);
    for (int i = 0; i < arcs->n; ++i) {
        double lo = arcs->lo[i], hi = arcs->hi[i];
        assert_true(lo < hi && hi <= lo + 2.0 * AW_PI * (1.0 + 1e-15));
        for (int k = 1; k < 8; ++k)
            assert_true(outside_by(c, lo + 0.125 * k * (hi - lo)) <= rounding);
        if (arcs->whole) continue;
        assert_close(outside_by(c, lo), 0.0, 0.0, rounding);
        assert_close(outside_by(c, hi), 0.0, 0.0, rounding);
        if (i + 1 < arcs->n) assert_true(hi <= arcs->lo[i + 1]);
        double next = i + 1 < arcs->n ? arcs->lo[i + 1] : arcs->lo[0] + 2.0 * AW_PI;
        assert_true(outside_by(c, 0.5 * (hi + next)) >= -rounding);
    }
}

/* Total angle inside the box, from equally spaced points on the circle. */
static double sampled_angle(const circle *c)
{
    double step = 2.0 * AW_PI / SAMPLES, cd = cos(step), sd = sin(step);
    double cs = cos(0.5 * step), sn = sin(0.5 * step);
    long inside = 0;
    for (int i = 0; i < SAMPLES; ++i) { /* rounding sums to 1e-11 rad, far less than a step */
        double next = cs * cd - sn * sd;
        inside += fabs(c->u + c->r * cs) <= c->a && fabs(c->w + c->r * sn) <= c->b;
        sn = sn * cd + cs * sd;
        cs = next;
    }
    return step * (double)inside;
}

static void total_angle_equals_that_of_sampled_points(void **state)
{
    uint64_t random = 7;
    int met[AW_ARCS_MAX + 1] = {0}, whole = 0;
    (void)state;
    for (int i = 0; i < CASES; ++i) {
        circle c = {.a = exp(uniform(&random, -2.0, 2.0)), .b = exp(uniform(&random, -2.0, 2.0))};
        c.u = uniform(&random, -2.0, 2.0) * c.a;
        c.w = uniform(&random, -2.0, 2.0) * c.b;
        c.r = exp(uniform(&random, -3.0, 1.5)) * fmax(c.a, c.b);
        if (i % 4 == 0) /* about the middle of a squarish box: up to four arcs */
            c = (circle){0.1 * c.u, 0.1 * c.w, uniform(&random, 0.9, 1.5) * c.a, c.a,
                         uniform(&random, 0.8, 1.25) * c.a};
        aw_arcs arcs = aw_circle_arcs(c.u, c.w, c.r, c.a, c.b);
        check_arcs(&c, &arcs);
        /* each end of an arc may lie anywhere between two samples, ends of grazing arcs in pairs */
        assert_close(total_angle(&arcs), sampled_angle(&c), 0.0, 10.0 * 2.0 * AW_PI / SAMPLES);
        met[arcs.n]++;
        whole += arcs.whole;
    }
    for (int n = 0; n <= AW_ARCS_MAX; ++n) assert_true(met[n] > 0); /* every number occurred */
    assert_true(whole > 0);
}

/* r up to 10 km and a box of millimetres: sample only the window that contains the box; check_arcs
 * holds the ends themselves to rounding. */
static void arcs_of_far_circles_equal_sampled_ones(void **state)
{
    uint64_t random = 11;
    int met = 0;
    (void)state;
    for (int i = 0; i < CASES / 10; ++i) {
        circle c = {.a = 1e-3 * exp(uniform(&random, -3.0, 0.0)),
                    .b = 1e-3 * exp(uniform(&random, -3.0, 0.0))};
        double direction = uniform(&random, -AW_PI, AW_PI), reach = hypot(c.a, c.b);
        c.r = exp(uniform(&random, log(0.1), log(1e4)));
        double distance = c.r + uniform(&random, -1.0, 1.0) * reach;
        c.u = -distance * cos(direction);
        c.w = -distance * sin(direction);
        aw_arcs arcs = aw_circle_arcs(c.u, c.w, c.r, c.a, c.b);
        double window = 2.2 * reach / c.r, step = window / FAR_SAMPLES, sampled = 0.0;
        check_arcs(&c, &arcs);
        for (int k = 0; k < FAR_SAMPLES; ++k)
            if (outside_by(&c, direction + (k + 0.5) * step - 0.5 * window) <= 0.0) sampled += step;
        assert_close(total_angle(&arcs), sampled, 0.0, 10.0 * step + 1e-14);
        met += arcs.n > 0;
    }
    assert_true(met > CASES / 40); /* many of them meet the box */
}

static void circle_inside_is_whole_and_circle_around_or_beside_is_none(void **state)
{
    aw_arcs arcs = aw_circle_arcs(0.3, -0.2, 0.1, 1.0, 0.5);
    (void)state;
    assert_true(arcs.n == 1 && arcs.whole);
    assert_close(total_angle(&arcs), 2.0 * AW_PI, 1e-15, 0.0);
    assert_int_equal(aw_circle_arcs(0.3, -0.2, 5.0, 1.0, 0.5).n, 0); /* around it */
    assert_int_equal(aw_circle_arcs(9.0, 0.0, 1.0, 1.0, 0.5).n, 0);  /* beside it */
    assert_int_equal(aw_circle_arcs(0.0, -9.0, 1.0, 1.0, 0.5).n, 0);
}

static void centred_circle_through_four_sides_gives_four_equal_arcs(void **state)
{
    const double r = 1.2; /* between the half side 1 and the half diagonal sqrt 2 */
    aw_arcs arcs = aw_circle_arcs(0.0, 0.0, r, 1.0, 1.0);
    (void)state;
    assert_int_equal(arcs.n, 4);
    for (int i = 0; i < 4; ++i) /* closed form: 90 degrees minus twice acos(1/r) */
        assert_close(arcs.hi[i] - arcs.lo[i], 0.5 * AW_PI - 2.0 * acos(1.0 / r), 0.0, 1e-15 * 8);
}

static void grazing_circles_lose_no_angle(void **state)
{
    (void)state;
    for (int i = -3; i <= 3; ++i) {
        double slip = i * 1e-12; /* just inside, touching, just outside */
        circle inner = {0.25, 0.1, 0.75 + slip, 1.0, 2.0};
        aw_arcs arcs = aw_circle_arcs(inner.u, inner.w, inner.r, inner.a, inner.b);
        /* the part beyond a side touched to within d is 2 sqrt(2 d/r) */
        assert_close(total_angle(&arcs), 2.0 * AW_PI, 0.0, 2.0 * sqrt(2.0 * 3.1e-12 / 0.75));
        circle outer = {1.5, 0.1, 0.5 + slip, 1.0, 2.0};
        arcs = aw_circle_arcs(outer.u, outer.w, outer.r, outer.a, outer.b);
        assert_close(total_angle(&arcs), 0.0, 0.0, 2.0 * sqrt(2.0 * 3.1e-12 / 0.5));
    }
}

/* Exactly through a corner (a 3-4-5 triangle), which rounding assigns to both sides or to none. */
static void circle_through_a_corner_keeps_its_arc(void **state)
{
    const circle c = {-2.0, -3.0, 5.0, 1.0, 1.0}; /* meets the corner (1, 1) from (-2, -3) */
    aw_arcs arcs = aw_circle_arcs(c.u, c.w, c.r, c.a, c.b);
    (void)state;
    assert_close(total_angle(&arcs), sampled_angle(&c), 0.0, 10.0 * 2.0 * AW_PI / SAMPLES);
    const circle d = {0.0, 0.0, sqrt(2.0), 1.0, 1.0}; /* meets all four corners, and nothing else */
    arcs = aw_circle_arcs(d.u, d.w, d.r, d.a, d.b);
    assert_close(total_angle(&arcs), 0.0, 0.0, 1e-7);
}

/* Through points of the border 1e-6 to 1e-15 (relative) from a corner, on either side of it. */
static void circles_near_a_corner_lose_no_crossing(void **state)
{
    uint64_t random = 23;
    (void)state;
    for (int i = 0; i < CASES / 10; ++i) {
        double off = exp(uniform(&random, log(1e-15), log(1e-6)));
        double pu = i % 2 ? 1.0 - off : 1.0, pw = i % 2 ? 0.5 : 0.5 * (1.0 - off);
        circle c = {uniform(&random, -3.0, 3.0), uniform(&random, -2.0, 2.0), 0.0, 1.0, 0.5};
        c.r = hypot(pu - c.u, pw - c.w);
        aw_arcs arcs = aw_circle_arcs(c.u, c.w, c.r, c.a, c.b);
        double seen = sampled_angle(&c);
        /* a corner that is cut off may hide up to one more sample at each end */
        assert_close(total_angle(&arcs), seen, 0.0, 10.0 * 2.0 * AW_PI / SAMPLES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(total_angle_equals_that_of_sampled_points),
        cmocka_unit_test(arcs_of_far_circles_equal_sampled_ones),
        cmocka_unit_test(circle_inside_is_whole_and_circle_around_or_beside_is_none),
        cmocka_unit_test(centred_circle_through_four_sides_gives_four_equal_arcs),
        cmocka_unit_test(grazing_circles_lose_no_angle),
        cmocka_unit_test(circle_through_a_corner_keeps_its_arc),
        cmocka_unit_test(circles_near_a_corner_lose_no_crossing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
