/* SPDX-License-Identifier: GPL-3.0-or-later */
/* More particles than a file has: what is kept, and what becomes smoother. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pic/particle/philox.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/beam/refine.h"
#include "tests/assert_close.h"

#define SIZE 1e-4   /* rms length [m] */
#define CHIRP 1e-2  /* change of delta in an rms length */
#define SPREAD 1e-5 /* of delta beside the chirp */
#define GAMMA0 1000.0

enum { OLD = 4000, NEW = 60000, WIDTH = 6, SLICES = 20 };

static double normal(size_t i, uint32_t stream)
{
    double u[4];
    aw_philox_units(7, i, 1000 + stream, u);
    return sqrt(-2.0 * log(u[0] + 1e-18)) * cos(2.0 * AW_PI * u[1]);
}

/* A bunch with a chirp, its curvature, a tilt, a tilt in p_x and unequal charges; `unequal` 0:
 * equal ones. */
static void make(aw_columns *c, size_t n, double curvature, int unequal)
{
    memset(c, 0, sizeof *c);
    assert_ok(aw_columns_new(n, c));
    for (size_t i = 0; i < n; ++i) {
        const double u = normal(i, 0);
        const double delta = CHIRP * u + curvature * u * u + SPREAD * normal(i, 1);
        const double slope = 1e-5 * normal(i, 2) - 2e-5 * u;
        const double pz = GAMMA0 * (1.0 + delta);
        c->column[AW_COLUMN_Z][i] = 3.0 + SIZE * u;
        c->column[AW_COLUMN_X][i] = 5e-5 * normal(i, 3) + 8e-5 * u + 0.4 * slope;
        c->column[AW_COLUMN_Y][i] = 3e-5 * normal(i, 4);
        c->column[AW_COLUMN_PX][i] = slope * pz;
        c->column[AW_COLUMN_PY][i] = 1e-5 * pz * normal(i, 5);
        c->column[AW_COLUMN_PZ][i] = pz;
        c->column[AW_COLUMN_CHARGE][i] =
            1e-10 / (double)n * (unequal ? 0.05 + fabs(normal(i, 6)) : 1.0);
    }
}

static void refine(aw_columns *c, size_t n, uint64_t seed)
{
    aw_refined how;
    const size_t old = c->n;
    assert_ok(aw_columns_refine(c, n, seed, &how));
    assert_int_equal(c->n, n);
    assert_int_equal(how.from, old);
}

static void coordinates(const aw_columns *c, size_t i, double v[WIDTH])
{
    const double px = c->column[AW_COLUMN_PX][i], py = c->column[AW_COLUMN_PY][i];
    const double pz = c->column[AW_COLUMN_PZ][i];
    v[0] = c->column[AW_COLUMN_Z][i];
    v[1] = sqrt(1.0 + px * px + py * py + pz * pz);
    v[2] = c->column[AW_COLUMN_X][i];
    v[3] = px / pz;
    v[4] = c->column[AW_COLUMN_Y][i];
    v[5] = py / pz;
}

typedef struct moments {
    double charge, mean[WIDTH], product[WIDTH][WIDTH];
} moments;

static moments moments_of(const aw_columns *c)
{
    moments m = {.charge = 0.0};
    double v[WIDTH], from[WIDTH];
    coordinates(c, 0, from);
    for (size_t i = 0; i < c->n; ++i) {
        const double q = c->column[AW_COLUMN_CHARGE][i];
        coordinates(c, i, v);
        m.charge += q;
        for (int a = 0; a < WIDTH; ++a) m.mean[a] += q * (v[a] - from[a]);
    }
    for (int a = 0; a < WIDTH; ++a) m.mean[a] = from[a] + m.mean[a] / m.charge;
    for (size_t i = 0; i < c->n; ++i) {
        coordinates(c, i, v);
        for (int a = 0; a < WIDTH; ++a)
            for (int b = 0; b < WIDTH; ++b)
                m.product[a][b] += c->column[AW_COLUMN_CHARGE][i] / m.charge * (v[a] - m.mean[a]) *
                                   (v[b] - m.mean[b]);
    }
    return m;
}

/* 1e-9 of the rms sizes: rounding of 60000 terms, and of s, 3 m, over 1e-4 m. */
static void charge_means_and_second_moments_are_kept(void **state)
{
    (void)state;
    for (int unequal = 0; unequal < 2; ++unequal) {
        aw_columns c;
        make(&c, OLD, 1e-3, unequal);
        const moments old = moments_of(&c);
        refine(&c, NEW, 1);
        const moments new = moments_of(&c);
        assert_close(new.charge, old.charge, 7e-12, 0.0); /* 60000 roundings of 1.1e-16 */
        for (int a = 0; a < WIDTH; ++a) {
            const double size = sqrt(old.product[a][a]);
            assert_close(new.mean[a], old.mean[a], 0.0, 1e-9 * size);
            for (int b = 0; b < WIDTH; ++b)
                assert_close(new.product[a][b], old.product[a][b], 0.0,
                             1e-9 * size * sqrt(old.product[b][b]));
        }
        for (size_t i = 0; i < c.n; ++i)
            assert_true(c.column[AW_COLUMN_CHARGE][i] == c.column[AW_COLUMN_CHARGE][0]);
        aw_columns_free(&c);
    }
}

/* Rms of delta about its straight line in the slice of u from low to high. */
static double slice_spread(const aw_columns *c, double low, double high)
{
    double n = 0.0, u1 = 0.0, d1 = 0.0, uu = 0.0, ud = 0.0, dd = 0.0;
    for (size_t i = 0; i < c->n; ++i) {
        const double u = (c->column[AW_COLUMN_Z][i] - 3.0) / SIZE,
                     q = c->column[AW_COLUMN_CHARGE][i];
        if (u < low || u >= high) continue;
        double v[WIDTH];
        coordinates(c, i, v);
        const double x = u - low, d = v[1] / GAMMA0 - 1.0 - CHIRP * u;
        n += q;
        u1 += q * x;
        d1 += q * d;
        uu += q * x * x;
        ud += q * x * d;
        dd += q * d * d;
    }
    const double var_u = uu / n - u1 * u1 / n / n, cov = ud / n - u1 * d1 / n / n;
    return sqrt(dd / n - d1 * d1 / n / n - cov * cov / var_u);
}

/* A chirp of 1e-2 and 1e-5 beside it: the spread of slices, from 100 old particles each and more,
 * stays within 10 %. Without curvature, and with one of a tenth of the chirp, which within a slice
 * of a fifth of sigma makes 0.6e-6 rms. */
static void the_spread_of_slices_is_not_inflated(void **state)
{
    static const double curvature[] = {0.0, 1e-3};
    (void)state;
    for (int k = 0; k < 4; ++k) {
        aw_columns old, new;
        make(&old, OLD, curvature[k / 2], k % 2);
        make(&new, OLD, curvature[k / 2], k % 2);
        refine(&new, NEW, 1);
        double all[2] = {0.0, 0.0};
        for (int slice = 0; slice < SLICES; ++slice) {
            const double u = -2.0 + 0.2 * slice;
            const double before = slice_spread(&old, u, u + 0.2);
            const double after = slice_spread(&new, u, u + 0.2);
            assert_true(before > 0.5 * SPREAD && before < 1.5 * SPREAD);
            /* the old slices scatter: by 1/sqrt(2 n) = 7 % for n = 100 equal charges, and the new
             * ones are means over their window */
            assert_true(after < 1.1 * SPREAD || after < 1.1 * before);
            assert_true(after > 0.8 * SPREAD);
            all[0] += before * before;
            all[1] += after * after;
        }
        print_message("slice spread: %.4g before, %.4g after\n", sqrt(all[0] / SLICES),
                      sqrt(all[1] / SLICES));
        assert_close(all[1], all[0], 0.1, 0.0);
        aw_columns_free(&old);
        aw_columns_free(&new);
    }
}

/* Rms of the density over the Gaussian's, less 1, in bins of a tenth of sigma within 2 sigma. */
static double noise(const aw_columns *c)
{
    enum { BINS = 40 };
    double bin[BINS] = {0.0}, all = 0.0, sum = 0.0;
    for (size_t i = 0; i < c->n; ++i) {
        const double u = (c->column[AW_COLUMN_Z][i] - 3.0) / SIZE;
        const double at = floor((u + 2.0) / 0.1);
        all += c->column[AW_COLUMN_CHARGE][i];
        if (at >= 0.0 && at < BINS) bin[(int)at] += c->column[AW_COLUMN_CHARGE][i];
    }
    for (int k = 0; k < BINS; ++k) {
        const double a = (-2.0 + 0.1 * k) / sqrt(2.0), b = a + 0.1 / sqrt(2.0);
        sum += pow(bin[k] / all / (0.5 * (erf(b) - erf(a))) - 1.0, 2);
    }
    return sqrt(sum / BINS);
}

/* 4000 particles have 160 in a bin at the centre and 22 at 2 sigma: 10 % of noise. A Gaussian of
 * h = 0.17 sigma leaves sqrt(0.1/(2 sqrt(pi) h)) = 0.41 of the noise of bins of 0.1 sigma. Mean and
 * rms length of the sample, which are kept, are off by 1.6 and 1.1 %, which makes 2.4 % in the
 * density: together a half, or a little more. */
static void the_line_density_is_smoother(void **state)
{
    aw_columns c;
    (void)state;
    for (int unequal = 0; unequal < 2; ++unequal) {
        make(&c, OLD, 0.0, unequal);
        const double before = noise(&c);
        refine(&c, NEW, 1);
        const double after = noise(&c);
        print_message("noise of the line density: %.3g before, %.3g after\n", before, after);
        assert_true(before > 0.08);
        assert_true(after < 0.65 * before);
        aw_columns_free(&c);
    }
}

/* Structure within slices: x of a particle is +1 or -1 times 1e-4 m about the tilt, in no slice
 * between the two. */
static void distributions_within_slices_are_kept(void **state)
{
    aw_columns c;
    size_t up = 0, off = 0;
    (void)state;
    make(&c, OLD, 0.0, 0);
    for (size_t i = 0; i < OLD; ++i)
        c.column[AW_COLUMN_X][i] =
            (i % 4 ? 1e-4 : -1e-4) + 8e-5 * (c.column[AW_COLUMN_Z][i] - 3.0) / SIZE;
    refine(&c, NEW, 1);
    for (size_t i = 0; i < NEW; ++i) {
        const double x = c.column[AW_COLUMN_X][i] - 8e-5 * (c.column[AW_COLUMN_Z][i] - 3.0) / SIZE;
        /* means are off by 3e-4/sqrt(380) = 1.5e-5 m at worst, but for the outermost particles */
        off += !(fabs(fabs(x) - 1e-4) <= 4e-5);
        up += x > 0.0;
    }
    assert_true(off < NEW / 200);
    assert_close((double)up / NEW, 0.75, 0.0, 0.01);
    aw_columns_free(&c);
}

/* A witness of a tenth of the charge, and of fewer particles, 10 sigma behind the driver. */
static void a_gap_between_two_bunches_stays(void **state)
{
    aw_columns c;
    aw_refined how;
    double behind = 0.0, all = 0.0, least = HUGE_VAL, most = -HUGE_VAL;
    (void)state;
    make(&c, OLD, 0.0, 1);
    for (size_t i = 0; i < 400; ++i) {
        c.column[AW_COLUMN_Z][i] = 3.0 - 10.0 * SIZE + 0.1 * (c.column[AW_COLUMN_Z][i] - 3.0);
        c.column[AW_COLUMN_CHARGE][i] *= 0.5;
    }
    const double gap[2] = {3.0 - 9.3 * SIZE, 3.0 - 5.5 * SIZE};
    double before = 0.0;
    for (size_t i = 0; i < OLD; ++i)
        if (c.column[AW_COLUMN_Z][i] < gap[0]) before += c.column[AW_COLUMN_CHARGE][i];
    assert_ok(aw_columns_refine(&c, NEW, 1, &how));
    assert_int_equal(how.bunches, 2);
    for (size_t i = 0; i < NEW; ++i) {
        const double s = c.column[AW_COLUMN_Z][i], q = c.column[AW_COLUMN_CHARGE][i];
        assert_true(s < gap[0] || s > gap[1]);
        all += q;
        if (s > gap[0]) continue;
        behind += q;
        least = fmin(least, s);
        most = fmax(most, s);
    }
    assert_close(behind, before, 0.0, 1.01 * all / NEW);
    assert_true(most - least < SIZE);
    aw_columns_free(&c);
}

static void the_seed_decides(void **state)
{
    aw_columns one, same, other;
    (void)state;
    make(&one, OLD, 1e-3, 1);
    make(&same, OLD, 1e-3, 1);
    make(&other, OLD, 1e-3, 1);
    refine(&one, 5000, 1);
    refine(&same, 5000, 1);
    refine(&other, 5000, 2);
    for (int k = 0; k < AW_COLUMNS; ++k)
        assert_memory_equal(one.column[k], same.column[k], 5000 * sizeof(double));
    assert_memory_not_equal(one.column[AW_COLUMN_X], other.column[AW_COLUMN_X],
                            5000 * sizeof(double));
    aw_columns_free(&one);
    aw_columns_free(&same);
    aw_columns_free(&other);
}

/* Sheets, lines, equal energies and equal places: coordinates that do not vary stay as they are. */
static void flat_coordinates_stay_flat(void **state)
{
    aw_columns c;
    (void)state;
    make(&c, 200, 0.0, 1);
    for (size_t i = 0; i < 200; ++i) {
        c.column[AW_COLUMN_Y][i] = c.column[AW_COLUMN_PY][i] = c.column[AW_COLUMN_PX][i] = 0.0;
        c.column[AW_COLUMN_PZ][i] = GAMMA0;
        c.column[AW_COLUMN_Z][i] = 3.0 + 1e-6 * (double)(i % 10);
    }
    refine(&c, 1000, 1);
    for (size_t i = 0; i < 1000; ++i) {
        assert_true(c.column[AW_COLUMN_Y][i] == 0.0 && c.column[AW_COLUMN_PX][i] == 0.0);
        assert_close(c.column[AW_COLUMN_PZ][i], GAMMA0, 1e-14, 0.0);
        assert_true(isfinite(c.column[AW_COLUMN_Z][i]) && isfinite(c.column[AW_COLUMN_X][i]));
    }
    aw_columns_free(&c);
}

static void what_cannot_be_is_refused(void **state)
{
    aw_columns c;
    aw_refined how;
    (void)state;
    make(&c, AW_REFINE_LEAST - 1, 0.0, 1);
    assert_int_equal(aw_columns_refine(&c, 1000, 1, &how), AW_ERR_INPUT);
    assert_non_null(strstr(c.why, "too few"));
    aw_columns_free(&c);
    make(&c, 200, 0.0, 1);
    memset(c.column[AW_COLUMN_CHARGE], 0, 200 * sizeof(double));
    assert_int_equal(aw_columns_refine(&c, 1000, 1, &how), AW_ERR_INPUT);
    assert_non_null(strstr(c.why, "no charge"));
    assert_int_equal(aw_columns_refine(&c, (size_t)1e15, 1, &how), AW_ERR_INPUT);
    assert_non_null(strstr(c.why, "GiB"));
    aw_columns_free(&c);
    make(&c, 20000, 0.0, 1); /* a gun's beam with dark current */
    for (size_t i = 0; i < 20000; ++i) c.column[AW_COLUMN_PZ][i] = i % 100 ? 12.0 : 0.3;
    assert_int_equal(aw_columns_refine(&c, 100000, 1, &how), AW_ERR_INPUT);
    assert_non_null(strstr(c.why, "energies are too far apart"));
    aw_columns_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(charge_means_and_second_moments_are_kept),
        cmocka_unit_test(the_spread_of_slices_is_not_inflated),
        cmocka_unit_test(the_line_density_is_smoother),
        cmocka_unit_test(distributions_within_slices_are_kept),
        cmocka_unit_test(a_gap_between_two_bunches_stays),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(flat_coordinates_stay_flat),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
