/* SPDX-License-Identifier: GPL-3.0-or-later */
/* aw_at_one_time and aw_at_one_place by closed forms: straight lines and circles in complex
 * numbers, z + ix in the lab. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/api/arcwake.h"
#include "tests/assert_close.h"

#define LIGHT 299792458.0
#define P0 1e3
#define RADIUS 10.0
#define FACE 0.1
#define AHEAD 1.0

typedef double complex point;

enum { N = 500 };

/* A straight of 1 m, a bend towards -x with tilted faces, a straight. */
static const aw_section machine[] = {
    {AHEAD, 0.0, 0.0, 0.0}, {2.0, 1.0 / RADIUS, FACE, 0.05}, {3.0, 0.0, 0.0, 0.0}};

typedef struct beam {
    double t[N], s[N], x[N], ps[N], px[N];
} beam;

static aw_passage all(beam *b) { return (aw_passage){N, b->t, b->s, b->x, b->ps, b->px}; }

static double between(double low, double high)
{
    return low + (high - low) * rand() / (double)RAND_MAX;
}

/* Arrivals within `late` m of light, sizes of mm, angles of mrad, a tenth of momentum spread. */
static void draw(beam *b, double late)
{
    for (int i = 0; i < N; ++i) {
        const double p = P0 * between(0.95, 1.05), angle = between(-2e-3, 2e-3);
        b->t[i] = between(-late, late) / LIGHT;
        b->x[i] = between(-5e-3, 5e-3);
        b->ps[i] = p * cos(angle);
        b->px[i] = p * sin(angle);
    }
}

static double path_of(const beam *b, int i, double t)
{
    const double p = hypot(b->ps[i], b->px[i]);
    return p / sqrt(1.0 + p * p) * LIGHT * (t - b->t[i]);
}

/* A particle on the circle of its own momentum: where it is after a path. */
static point along_circle(point at, point direction, double p, double path, point *after)
{
    const double rho = RADIUS * p / P0;
    const point centre = at - I * direction * rho; /* a positive curvature bends towards -x */
    *after = direction * cexp(-I * path / rho);
    return centre + I * *after * rho;
}

/* Offset and arc length about the design circle, which begins at z = AHEAD, and the momentum. */
static void seen_from_bend(point at, point direction, double p, double out[4])
{
    const point from = at - (AHEAD - I * RADIUS);
    const double angle = -carg(from / I);
    const point momentum = p * direction * cexp(I * angle);
    out[0] = AHEAD + RADIUS * angle;
    out[1] = cabs(from) - RADIUS;
    out[2] = creal(momentum);
    out[3] = cimag(momentum);
}

/* Straight lines, 1 mm to 10 cm long: exact to rounding. */
static void straight_lines(void **state)
{
    (void)state;
    static beam b, was;
    const aw_plane plane = {machine, 3, 0.5, P0};
    const aw_passage p = all(&b);
    aw_text text;
    draw(&b, 0.1);
    was = b;
    assert_int_equal(aw_at_one_time(&plane, 1e-12, &p, &text), AW_DONE);
    assert_string_equal(text.line, "");
    for (int i = 0; i < N; ++i) {
        const double path = path_of(&was, i, 1e-12), q = hypot(was.ps[i], was.px[i]);
        assert_close(b.s[i], 0.5 + path * was.ps[i] / q, 0.0, 1e-15);
        assert_close(b.x[i], was.x[i] + path * was.px[i] / q, 0.0, 1e-17);
        assert_close(b.ps[i], was.ps[i], 1e-15, 0.0);
        assert_close(b.px[i], was.px[i], 0.0, 1e-12); /* of 1e3 */
    }
}

/* In the bend each particle is on the circle of its own momentum. Rounding of the lab's
 * coordinates, which are metres: 1e-14. */
static void circles_in_a_bend(void **state)
{
    (void)state;
    static beam b, was;
    const double S = 2.0, angle = (S - AHEAD) / RADIUS;
    const aw_plane plane = {machine, 3, S, P0};
    const aw_passage p = all(&b);
    draw(&b, 0.05);
    was = b;
    assert_int_equal(aw_at_one_time(&plane, 2e-11, &p, NULL), AW_DONE);
    for (int i = 0; i < N; ++i) {
        const double q = hypot(was.ps[i], was.px[i]);
        const point at = AHEAD - I * RADIUS + I * (RADIUS + was.x[i]) * cexp(-I * angle);
        const point direction = (was.ps[i] + I * was.px[i]) / q * cexp(-I * angle);
        double want[4];
        point after, there = along_circle(at, direction, q, path_of(&was, i, 2e-11), &after);
        seen_from_bend(there, after, q, want);
        assert_close(b.s[i], want[0], 0.0, 2e-14);
        assert_close(b.x[i], want[1], 0.0, 2e-14);
        assert_close(b.ps[i], want[2], 2e-14, 0.0);
        assert_close(b.px[i], want[3], 0.0, 2e-14 * P0);
    }
}

/* From a plane in the straight through the tilted face into the bend, and back to the plane. */
static void through_a_tilted_face_and_back(void **state)
{
    (void)state;
    static beam b, was;
    const aw_plane plane = {machine, 3, 0.9, P0};
    const aw_passage p = all(&b);
    const double t = 0.2 / LIGHT;
    draw(&b, 0.05);
    was = b;
    assert_int_equal(aw_at_one_time(&plane, t, &p, NULL), AW_DONE);
    for (int i = 0; i < N; ++i) {
        const double q = hypot(was.ps[i], was.px[i]);
        const point direction = (was.ps[i] + I * was.px[i]) / q, at = 0.9 + I * was.x[i];
        /* the face: (r - AHEAD) along its normal exp(-i FACE) vanishes */
        const double to_face =
            creal((AHEAD - at) * cexp(I * FACE)) / creal(direction * cexp(I * FACE));
        double want[4];
        point after, there = along_circle(at + to_face * direction, direction, q,
                                          path_of(&was, i, t) - to_face, &after);
        seen_from_bend(there, after, q, want);
        assert_close(b.s[i], want[0], 0.0, 2e-14);
        assert_close(b.x[i], want[1], 0.0, 2e-14);
        assert_close(b.px[i], want[3], 0.0, 2e-14 * P0);
    }
    assert_int_equal(aw_at_one_place(&plane, t, &p, NULL), AW_DONE);
    for (int i = 0; i < N; ++i) {
        assert_close(b.t[i] * LIGHT, was.t[i] * LIGHT, 0.0, 5e-14);
        assert_close(b.x[i], was.x[i], 0.0, 5e-14);
        assert_close(b.ps[i], was.ps[i], 1e-14, 0.0);
        assert_close(b.px[i], was.px[i], 0.0, 1e-13 * P0);
    }
}

static int one(double s, double x, double ps, double px, char words[512])
{
    const aw_plane plane = {machine, 3, s, P0};
    double t = 0.0, place = s;
    aw_text text;
    const int status =
        aw_at_one_time(&plane, 1e-9, &(aw_passage){1, &t, &place, &x, &ps, &px}, &text);
    strcpy(words, text.line);
    return status;
}

static void says_when_it_cannot(void **state)
{
    (void)state;
    char words[512];
    assert_int_equal(one(2.0, 0.0, -1.0, 0.0, words), AW_OUT_OF_RANGE);
    assert_non_null(strstr(words, "particle 0: cannot be followed to one time"));
    assert_null(strchr(words, '\n'));
    assert_int_equal(one(2.0, -RADIUS - 1.0, P0, 0.0, words), AW_OUT_OF_RANGE);
    assert_int_equal(one(2.0, NAN, P0, 0.0, words), AW_NOT_FINITE);
    assert_non_null(strstr(words, "particle 0 is not finite: t 0, x nan"));
    assert_int_equal(one(2.5, 0.0, 0.01 * P0, 0.0, words), AW_OUT_OF_RANGE); /* turns round */
    assert_int_equal(one(NAN, 0.0, P0, 0.0, words), AW_WRONG_ARGUMENT);
    double t = 0.0, s = 1e3, x = 0.0, ps = P0, px = 0.0;
    const aw_passage p = {1, &t, &s, &x, &ps, &px};
    aw_text text;
    assert_int_equal(aw_at_one_time(&(aw_plane){NULL, 0, 0.0, P0}, 0.0, &p, &text),
                     AW_WRONG_ARGUMENT);
    assert_non_null(strstr(text.line, "the design orbit has no sections"));
    assert_int_equal(aw_at_one_time(&(aw_plane){machine, 3, 0.0, -1.0}, 0.0, &p, &text),
                     AW_WRONG_ARGUMENT);
    assert_non_null(strstr(text.line, "p0: -1"));
    assert_int_equal(aw_at_one_time(NULL, 0.0, &p, NULL), AW_WRONG_ARGUMENT);
    /* straights reach as far as wanted */
    assert_int_equal(aw_at_one_place(&(aw_plane){machine, 3, 7.0, P0}, 0.0, &p, &text), AW_DONE);
    assert_close(-t * LIGHT, 993.0 * sqrt(1.0 + 1.0 / (P0 * P0)), 1e-13, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_lines),
        cmocka_unit_test(circles_in_a_bend),
        cmocka_unit_test(through_a_tilted_face_and_back),
        cmocka_unit_test(says_when_it_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
