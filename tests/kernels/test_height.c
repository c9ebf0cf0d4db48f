/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The circles of a height: a sheet has one, as it is; the others have the moments of the normal
 * density within r' = D, and the rates of its weights. */
#include "kernels/math/height.h"

#include <math.h>
#include <string.h>

#include "tests/assert_close.h"

#define RMS 50e-6
#define GROWS 1e-9 /* d(height2)/d(ct) [m] */

/* Errors of the sum of the weights, of the variance, and of the rate of the sum, over 1, the square
 * of the rms and its inverse. */
typedef struct errors {
    double weight, variance, rate;
} errors;

/* The rules of Gauss and Hermite have these moments. That of Gauss and Legendre has eight nodes for
 * a Gaussian of 4.5 rms (with ten they would be ten times better): it is worst where it ends at a
 * right angle, and beyond lacks what is beyond its reach, 1.5e-4 of the variance. */
static errors allowed(double D, int n)
{
    if (n < AW_CIRCLES) return (errors){1e-10, 1e-6, 1e-6}; /* Y from a difference: 1e10 epsilon */
    if (D < 2.1) return (errors){2e-6, 5e-5, 2e-5};
    if (D > 4.7) return (errors){2e-4, 8e-4, 5e-4};
    return (errors){6e-4, 5e-3, 3e-3};
}

/* A retarded time of a bunch of the rms height RMS, on cells of `cell` rms. */
static aw_retarded time_at(double D, double cell)
{
    return (aw_retarded){.delay = D * RMS,
                         .radius = D * RMS,
                         .hs = cell * RMS,
                         .hx = 2.0 * cell * RMS,
                         .height2 = RMS * RMS,
                         .dheight2 = GROWS};
}

/* Sums over the circles of the weights, the weights times Y^2, and the same of the rates. */
typedef struct sums {
    double one, two, rate, rate_two;
} sums;

static sums sums_of(const aw_circles *c, double delay)
{
    sums s = {0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < c->n; ++i) {
        const double Y2 = (delay - c->radius[i]) * (delay + c->radius[i]);
        s.one += c->weight[i];
        s.two += c->weight[i] * Y2;
        s.rate += c->growth[i];
        s.rate_two += c->growth[i] * Y2;
    }
    return s;
}

static void a_sheet_has_one_circle_as_it_is(void **state)
{
    static const double radius[] = {0.0, 1e-9, 3.3333333333333333e-5, 0.7, 12345.678};
    const double one[AW_RESULTS] = {0.1, -0.2, 0.3, -4e-7, 5e9, 0.6, -0.7};
    (void)state;
    for (size_t i = 0; i < sizeof radius / sizeof radius[0]; ++i) {
        const aw_retarded f = {.delay = radius[i], .radius = radius[i], .hs = 1e-6, .hx = 1e-6};
        const aw_circles c = aw_circles_at(&f);
        const aw_retarded only = aw_circle_of(&f, &c, 0);
        double sum[AW_RESULTS] = {0.0};
        assert_int_equal(c.n, 1);
        assert_true(c.radius[0] == radius[i] && c.weight[0] == 1.0 && c.growth[0] == 0.0);
        assert_true(only.radius == f.radius && only.delay == f.delay);
        assert_true(aw_circles_lag(&f) == 0.0);
        aw_circle_add(&c, 0, one, sum);
        assert_memory_equal(sum, one, sizeof sum);
    }
}

/* At D = 0 there are no sources at another height, and those in the plane have no weight. */
static void nothing_is_seen_at_no_distance(void **state)
{
    const aw_retarded f = time_at(0.0, 1.0);
    const aw_circles c = aw_circles_at(&f);
    (void)state;
    assert_int_equal(c.n, 1);
    assert_true(c.radius[0] == 0.0 && c.weight[0] == 0.0 && c.growth[0] == 0.0);
}

static void circles_have_the_moments_of_the_density(void **state)
{
    static const double D[] = {0.01, 0.3, 1.0, 2.0, 4.4, 4.6, 6.9, 7.1, 20.0, 300.0, 1e5};
    static const double cell[] = {0.02, 0.3, 1.0, 20.0};
    (void)state;
    for (size_t i = 0; i < sizeof D / sizeof D[0]; ++i)
        for (size_t k = 0; k < sizeof cell / sizeof cell[0]; ++k) {
            const aw_retarded f = time_at(D[i], cell[k]);
            const aw_circles c = aw_circles_at(&f);
            const sums s = sums_of(&c, f.delay);
            const double all = erf(D[i] / sqrt(2.0));
            const double density = sqrt(2.0 / AW_PI) * exp(-0.5 * D[i] * D[i]);
            assert_in_range(c.n, 1, AW_CIRCLES);
            for (int j = 1; j < c.n; ++j) assert_true(c.radius[j] < c.radius[j - 1]);
            assert_true(aw_circles_lag(&f) == f.delay - c.radius[c.n - 1]);
            const errors error = allowed(D[i], c.n);
            assert_close(s.one, all, 0.0, error.weight);
            assert_close(s.two / f.height2, all - D[i] * density, 0.0, error.variance);
            if (c.n == 1) continue; /* one circle has no fourth moment, of which rates are made */
            /* d/d(variance) of erf(D/rms sqrt(2)), and of the second moment */
            assert_close(s.rate * f.height2 / f.dheight2, -0.5 * D[i] * density, 0.0, error.rate);
            if (D[i] > AW_HEIGHT_FAR && c.n < AW_CIRCLES)
                assert_close(s.rate_two / f.dheight2, 1.0, 0.0, error.variance);
        }
}

/* A Gauss-Hermite rule has all moments that it can have: up to Y^(4n - 2), (2m - 1)!! of them. Its
 * constants have 16 digits. */
static void far_rules_have_all_their_moments(void **state)
{
    (void)state;
    for (int n = 1; n <= AW_HEIGHT_RULES; ++n) {
        const double *rule = aw_height_hermite(n);
        double want = 1.0;
        for (int m = 0; m <= 2 * n - 1; ++m) {
            double sum = 0.0;
            for (int i = 0; i < n; ++i) sum += rule[n + i] * pow(rule[i], 2.0 * m);
            assert_close(sum, want, 1e-11, 0.0); /* last digits of the smallest weight: 6e-12 */
            want *= 2.0 * m + 1.0;
        }
    }
}

/* Where a rule of few circles is used at its largest lag: the mean of a wave whose phase changes by
 * a half per cell, as strong as structure of an rms of two cells has. */
static void few_circles_do_at_a_distance(void **state)
{
    (void)state;
    for (int few = 1; few <= AW_HEIGHT_RULES; ++few) {
        const double most[] = {0.02, 0.15, 0.3, 0.45, 0.6}, cell = 0.01;
        const double error[] = {1e-4, 3e-5, 2e-5, 1e-5, 1e-5}; /* kernels/math/height.h */
        const double lag = 0.999 * most[few - 1], D = 1.0 / (2.0 * lag * cell), k = 0.5;
        const aw_retarded f = time_at(D, cell);
        const aw_circles c = aw_circles_at(&f);
        double re = 0.0, im = 0.0;
        assert_int_equal(c.n, few);
        assert_true(D > AW_HEIGHT_FAR);
        for (int i = 0; i < few; ++i) {
            const double behind = (f.delay - c.radius[i]) / f.hs;
            re += c.weight[i] * cos(k * behind);
            im += c.weight[i] * sin(k * behind);
        }
        /* mean of exp(i k a Y^2), Y normal: (1 - 2 i k a)^(-1/2), a = lag; its terms beyond Y^2/2D
         * are (Y/2D)^2 of the lag */
        const double size = pow(1.0 + 4.0 * k * k * lag * lag, -0.25);
        const double phase = 0.5 * atan(2.0 * k * lag);
        const double beyond = 3.0 * k * lag / (4.0 * D * D);
        assert_close(re, size * cos(phase), 0.0, error[few - 1] + beyond);
        assert_close(im, size * sin(phase), 0.0, error[few - 1] + beyond);
    }
}

/* The nearest and the furthest part of a turned beam's box, from a rectangle of points beside it,
 * ahead of it, at a corner, and within it: against all pairs of a lattice on both. */
static void a_span_is_as_far_as_its_points(void **state)
{
    (void)state;
    const double cases[4][4] = {/* u and w, from .. to */
                                {-0.5, 1.5, 3.0, 4.0},
                                {2.5, 7.0, -0.25, 0.5},
                                {-6.0, -3.0, 1.0, 2.0},
                                {-1.0, 0.5, -0.25, 0.125}};
    enum { N = 24 }; /* intervals: half extents and corners are on the lattice */
    aw_retarded f = time_at(10.0, 0.1);
    f.z = 0.75;
    f.x = -0.5;
    f.cg = 0.6;
    f.sg = 0.8;
    f.half_s = 2.0;
    f.half_x = 0.5;
    for (int c = 0; c < 4; ++c) {
        aw_span span = aw_span_of_none();
        double near, far, least = HUGE_VAL, most = 0.0;
        for (int i = 0; i < 4; ++i) {
            const double u = cases[c][i % 2], w = cases[c][2 + i / 2];
            aw_span_add(&f, f.z + u * f.cg - w * f.sg, f.x + u * f.sg + w * f.cg, &span);
        }
        aw_span_distances(&f, &span, &near, &far);
        for (int k = 0; k <= N; ++k)
            for (int m = 0; m <= N; ++m)
                for (int i = 0; i <= N; ++i)
                    for (int j = 0; j <= N; ++j) {
                        const double *q = cases[c];
                        const double u = q[0] + (q[1] - q[0]) * k / N;
                        const double w = q[2] + (q[3] - q[2]) * m / N;
                        const double d = hypot(u - f.half_s * (2.0 * i / N - 1.0),
                                               w - f.half_x * (2.0 * j / N - 1.0));
                        least = fmin(least, d);
                        most = fmax(most, d);
                    }
        assert_close(far, most, 1e-12, 0.0);
        /* Nodes of both lattices are within half a spacing of each other: 2.25/24 and 0.5/24. */
        assert_true(near <= least + 1e-12);
        assert_close(near, least, 0.0, 0.12);
    }
}

/* A sheet keeps its nodes in angle. A circle never has more than a sheet would, at least one per
 * cell, and heavier ones not fewer; a rule that relies on many radii has half as many, and near the
 * bunch less than one per cell. */
static void light_circles_have_fewer_nodes(void **state)
{
    const aw_circles sheet = {.n = 1, .weight = {1.0}};
    const aw_circles c = {.n = 4, .weight = {0.1, 0.3, 0.6, 1.0}};
    const aw_circles near = {.n = AW_CIRCLES, .weight = {0.1, 0.3, 0.6}};
    (void)state;
    for (int whole = 1; whole <= 8; ++whole) {
        const double density = whole;
        double before = 0.25; /* one node per cell */
        assert_true(aw_circle_density(&sheet, 0, density) == density);
        for (int i = 0; i < c.n; ++i) {
            const double nodes = aw_circle_density(&c, i, density);
            assert_true(nodes >= before && nodes <= density);
            assert_true(nodes == 0.25 || nodes == 0.5 || nodes == ceil(nodes));
            before = nodes;
        }
        assert_true(before == density && aw_circle_density(&c, 4, density) == density);
    }
    assert_true(aw_circle_density(&sheet, 0, 0.2) == 0.2);
    assert_true(aw_circle_density(&c, 0, 0.2) == 0.2);   /* none has less than one per cell .. */
    assert_true(aw_circle_density(&c, 2, 0.25) == 0.25); /* .. for having a height */
    assert_true(aw_circle_density(&c, 2, 0.75) == 0.375);
    assert_true(aw_circle_density(&near, 2, 0.25) == 0.125); /* many radii */
}

/* Behind an entrance images are seen from inside the bend up to the height d^2/(12^(1/2) R), at d:
 * (d^2 - chord^2)^(1/2), to the order (d/R)^2/40. */
static void images_reach_as_far_as_edges_are_seen(void **state)
{
    const double R = 25.0, d = 3.0, gap = 1e-3;
    const aw_orbit_piece piece[] = {{.S = 0.0}, {.S = 1.0, .z = 1.0, .kappa = 1.0 / R}};
    const aw_orbit_view orbit = {piece, 2};
    const double point[2] = {0.0, 0.0}, bunch[2] = {1e-3, 1e-5}, upright = 0.5 * AW_PI;
    (void)state;
    assert_int_equal(aw_images_of(&orbit, 1.0, gap, point, 0.0), AW_IMAGES_LEAST);
    const double reached = aw_images_of(&orbit, 1.0 + d, gap, point, 0.0) - AW_IMAGES_BEYOND;
    const double height = d * d / (sqrt(12.0) * R);
    assert_close(reached * gap, height, gap, d * d / (R * R) / 40.0); /* a whole number of images */
    assert_int_equal(aw_images_of(&orbit, 1.0 + d, 0.1 * gap, point, 0.0), AW_IMAGES_MOST + 1);
    /* What lies ahead is not seen, and a bunch of the size L sees edges in images further away. */
    assert_int_equal(aw_images_of(&orbit, 0.5, gap, point, 0.0), AW_IMAGES_LEAST);
    const double seen = aw_images_of(&orbit, 1.0 + d, gap, bunch, 0.0) - AW_IMAGES_BEYOND;
    assert_close(seen * gap, sqrt(height * height + 2.0 * d * bunch[0]), gap, 0.01);
    /* Across the line of sight a length adds little. */
    assert_true(aw_images_of(&orbit, 1.0 + d, gap, bunch, upright) - AW_IMAGES_BEYOND < seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_reach_as_far_as_edges_are_seen),
        cmocka_unit_test(a_sheet_has_one_circle_as_it_is),
        cmocka_unit_test(nothing_is_seen_at_no_distance),
        cmocka_unit_test(circles_have_the_moments_of_the_density),
        cmocka_unit_test(far_rules_have_all_their_moments),
        cmocka_unit_test(few_circles_do_at_a_distance),
        cmocka_unit_test(a_span_is_as_far_as_its_points),
        cmocka_unit_test(light_circles_have_fewer_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
