/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points of a tile as lanes: vector sums against scalar sums, and the evaluation of a cluster
 * against the inner integral of each point by itself. */
#include <float.h>
#include <string.h>

#include "kernels/device/device.h"
#include "kernels/math/tile.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NS = 40, NX = 24, SLICES = 6, REGIONS = 12 };
#define H SLICES_CELL
#define CDT 2e-4

/* History in an arc of 1 m radius. With `mixed`, spacings change from slice to slice. */
static aw_history_view history_of(slices *s, const aw_orbit_piece *piece, double gamma, int mixed)
{
    slices_new(s, SLICES, NS, NX, 0, H, H);
    for (int i = 0; i < SLICES; ++i) {
        s->slice[i].S = -beta_of(gamma) * CDT * i;
        s->slice[i].tilt = 0.05 + 0.01 * i;
        if (mixed && i % 2) s->slice[i].hs = 1.19 * H;
        slices_fill(s, i, 0, slices_gaussian, NULL);
    }
    return slices_view(s, (aw_orbit_view){piece, 1}, CDT, gamma, 1e3);
}

/* Row `row` of the grid's nodes. */
static void row_of(const aw_history_view *h, int row, double gamma, aw_field_point *point)
{
    const double tilt = h->slice[0].tilt, w = (row - 0.5 * (NX - 1)) * H;
    for (int i = 0; i < NS; ++i) {
        const double u = (i - 0.5 * (NS - 1)) * H;
        point[i] = point_on(&h->orbit, u * cos(tilt) - w * sin(tilt), u * sin(tilt) + w * cos(tilt),
                            gamma);
    }
}

/* Fill lines with the same random numbers in double and in float. */
static void fill_lines(double *d, float *f, const aw_history_view *h)
{
    uint64_t random = 3;
    for (int j = 0; j < NX; ++j)
        for (int k = 0; k < AW_LINE_COMPONENTS; ++k)
            for (int i = 0; i < NS; ++i) {
                const size_t line = (size_t)(j + AW_PAD) * AW_LINE_COMPONENTS + (size_t)k;
                const size_t at = line * (size_t)aw_line_width(h) + (size_t)(i + AW_TILE_PAD);
                f[at] = (float)uniform(&random, -1.0, 1.0);
                d[at] = (double)f[at];
            }
}

/* Set the cells outside an ellipse to zero, and find the spans of windows that are not zero
 * (aw_interpolated_lines.span). */
static void blank(const aw_history_view *h, double *d, float *f, int (*span)[2])
{
    int own[NX + 2 * AW_PAD][2];
    const ptrdiff_t width = aw_line_width(h);
    for (int j = 0; j < NX + 2 * AW_PAD; ++j) {
        const double w = (j - AW_PAD - 0.5 * NX) / (0.4 * NX), left = 1.0 - w * w;
        const double half = left > 0.0 ? 0.35 * NS * sqrt(left) : -1.0;
        own[j][0] = (int)(AW_TILE_PAD + 0.5 * NS - half);
        own[j][1] = (int)(AW_TILE_PAD + 0.5 * NS + half);
        for (int k = 0; k < AW_LINE_COMPONENTS; ++k)
            for (ptrdiff_t i = 0; i < width; ++i)
                if (i < own[j][0] || i >= own[j][1]) {
                    f[(j * AW_LINE_COMPONENTS + k) * width + i] = 0.0F;
                    d[(j * AW_LINE_COMPONENTS + k) * width + i] = 0.0;
                }
    }
    for (int j = 0; j < NX + 2 * AW_PAD - (AW_SPLINE_NODES - 1); ++j) {
        span[j][0] = (int)width;
        span[j][1] = 0;
        for (int q = j; q < j + AW_SPLINE_NODES; ++q) {
            if (own[q][0] >= own[q][1]) continue;
            span[j][0] = own[q][0] < span[j][0] ? own[q][0] : span[j][0];
            span[j][1] = own[q][1] > span[j][1] ? own[q][1] : span[j][1];
        }
    }
}

/* Spacings of lanes that differ a little, or much, from one cell; arcs inside and half outside. */
static void vector_sums_agree_with_scalar_sums(void **state)
{
    const aw_variant *variant = *state;
    const aw_history_view h = {.ns = NS, .nx = NX};
    double *d = aw_alloc(aw_interpolated_lines_size(&h), sizeof *d);
    float *f = aw_alloc(aw_interpolated_lines_size(&h), sizeof *f);
    int span[NX + 2 * AW_PAD][2], empty = 0;
    uint64_t random = 5;
    fill_lines(d, f, &h);
    blank(&h, d, f, span);
    for (int trial = 0; trial < 60; ++trial) {
        const double stretch = trial % 3 == 0 ? 0.0 : trial % 3 == 1 ? 1e-3 : 0.3;
        const double range = trial % 2 ? 0.5 : 6.2;
        aw_tile_arc arc = {.n = 100 + trial, .first = uniform(&random, -3.0, 3.0)};
        double ours[AW_LINE_COMPONENTS][AW_TILE], ref[AW_LINE_COMPONENTS][AW_TILE],
            largest[AW_LINE_COMPONENTS] = {0.0};
        arc.step = range / arc.n;
        arc.a = uniform(&random, -10.0, NS);
        arc.b = uniform(&random, 0.0, NX);
        arc.r_s = uniform(&random, 1.0, 30.0);
        arc.r_x = arc.r_s * uniform(&random, 0.5, 2.0);
        arc.turn_s = uniform(&random, -0.1, 0.1);
        arc.turn_x = uniform(&random, -0.1, 0.1);
        for (int l = 0; l < AW_TILE; ++l) {
            arc.da[l] = stretch * (l - 7.5) + uniform(&random, -1e-3, 1e-3);
            arc.db[l] = 0.5 * stretch * (l - 7.5) + uniform(&random, -1e-3, 1e-3);
            arc.ud[l] = uniform(&random, -1.0, 1.0);
            arc.wd[l] = uniform(&random, -1.0, 1.0);
        }
        aw_tile_shift(range, arc.first + 0.5 * range, 0, HUGE_VAL, &arc);
        aw_tile_options options = {.rates = trial % 4 > 0, .batch = 1 + trial};
        aw_tile_sum_scalar(&h, &arc, d, NULL, &options, ref);
        for (int k = 0; k < AW_LINE_COMPONENTS; ++k)
            for (int l = 0; l < AW_TILE; ++l) largest[k] = fmax(largest[k], fabs(ref[k][l]));
        /* Some hundred terms of size 1 that partly cancel; in single precision each is rounded to
         * 6e-8, as are its weights and its position. */
        for (int single = 0; single < 2; ++single) {
            const double allowed = single ? 2e-5 : 1e-12;
            const int all = arc.n * AW_TILE;
            options.single = single;
            const int seen =
                variant->tile_sum(&h, &arc, single ? (const void *)f : (const void *)d,
                                  trial % 5 ? (const int(*)[2])span : NULL, &options, ours);
            assert_in_range(seen, 0, all);
            if (seen < all) empty++;
            for (int k = 0; k < AW_LINE_COMPONENTS; ++k)
                for (int l = 0; l < AW_TILE; ++l)
                    assert_close(ours[k][l], ref[k][l], 0.0, allowed * fmax(largest[k], 1.0));
        }
    }
    assert_true(empty > 60); /* of 96 with a span */
    aw_free(d);
    aw_free(f);
}

/* Sum over the regions of Simpson's extrapolated rule, from the inner integral of one point, which
 * reads the slices themselves and has its own nodes in angle. Unless `fine`, rates are integrated
 * by Simpson's plain rule on the ends and the middle. */
static void by_itself(const aw_variant *variant, const aw_history_view *h, const aw_field_point *p,
                      const double (*region)[2], const aw_scales *scales, int fine,
                      double I[AW_RESULTS])
{
    aw_work work = {0};
    memset(I, 0, AW_RESULTS * sizeof *I);
    for (int k = 0; k < REGIONS; ++k) {
        aw_region q = {.a = region[k][0], .b = region[k][1]};
        for (int m = 0; m < 5; ++m) variant->inner(h, p, aw_region_node(&q, m), 4.0, q.f[m], &work);
        aw_region_rule(&q, scales);
        for (unsigned j = fine ? AW_RESULTS : AW_DPHI; j < AW_RESULTS; ++j)
            q.I[j] = (q.b - q.a) / 6.0 * (q.f[0][j] + 4.0 * q.f[2][j] + q.f[4][j]);
        for (unsigned j = 0; j < AW_RESULTS; ++j) I[j] += q.I[j];
    }
}

static void check_cluster(const aw_variant *variant, int mixed, int single, int fine,
                          double allowed)
{
    const double gamma = 100.0;
    const aw_orbit_piece piece = {.kappa = 1.0};
    const aw_device_params params = {.variant = variant->name, .threads = 1, .inner_density = 1.0};
    const aw_scales scales = {1.0, 1.0, 1.0};
    aw_field_point point[3 * NS];
    double region[REGIONS][2], I[3 * NS][AW_RESULTS], error[3 * NS], largest[AW_RESULTS] = {0.0};
    double ref[3 * NS][AW_RESULTS], rest[3 * NS][AW_RESULTS], rest_error[3 * NS];
    aw_tile_ref tile[9];
    float worst[9 * REGIONS];
    float coarse[9];
    uint8_t refused[9 * REGIONS];
    slices s;
    aw_device device;
    aw_work work = {0};
    const aw_history_view h = history_of(&s, &piece, gamma, mixed);
    for (int j = 0; j < 3; ++j) {
        row_of(&h, 4 + 8 * j, gamma, &point[j * NS]);
        for (int i = 0; i < 3; ++i)
            tile[3 * j + i] =
                (aw_tile_ref){(uint32_t)(j * NS + i * AW_TILE), i < 2 ? AW_TILE : NS - 2 * AW_TILE};
    }
    for (int k = 0; k < REGIONS; ++k) { /* from the point itself far beyond the slices' box */
        region[k][0] = 1.2 * SLICES * CDT * k * k / (REGIONS * REGIONS);
        region[k][1] = 1.2 * SLICES * CDT * (k + 1) * (k + 1) / (REGIONS * REGIONS);
    }
    const aw_cluster cluster = {.tile = tile,
                                .tiles = 9,
                                .region = (const double(*)[2])region,
                                .regions = REGIONS,
                                .limit = HUGE_VAL,
                                .part = 1.0,
                                .fine = fine,
                                .begin = 1,
                                .worst = worst,
                                .coarse = coarse,
                                .refused = refused};
    const aw_cluster_call call = {&cluster, 1, &scales, single, {I, error, rest, rest_error}};
    assert_int_equal(aw_device_open("cpu", &params, &device), AW_OK);
    assert_int_equal(device.ops->upload(device.state, &h, point, 3 * NS), AW_OK);
    assert_int_equal(device.ops->evaluate(device.state, &call, &work), AW_OK);
    for (int i = 0; i < 9 * REGIONS; ++i) assert_int_equal(refused[i], 0);
    for (int p = 0; p < 3 * NS; ++p) {
        by_itself(variant, &h, &point[p], (const double(*)[2])region, &scales, fine, ref[p]);
        for (unsigned k = 0; k < AW_RESULTS; ++k) largest[k] = fmax(largest[k], fabs(ref[p][k]));
    }
    for (int p = 0; p < 3 * NS; ++p)
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            assert_close(I[p][k], ref[p][k], 0.0, allowed * largest[k]);
    aw_device_close(&device);
    slices_free(&s);
}

/* 1e-3: the inner rule with one node per cell has errors of about 1e-4 on a beam of three cells,
 * which depend on where the nodes lie; a wrong weight, lane or frame changes some per cent. */
static void a_cluster_agrees_with_its_points(void **state) { check_cluster(*state, 0, 0, 1, 1e-3); }

static void a_cluster_with_rates_at_every_other_node_agrees_with_its_points(void **state)
{
    check_cluster(*state, 0, 0, 0, 1e-3);
}

static void a_cluster_agrees_with_its_points_where_spacings_change(void **state)
{
    check_cluster(*state, 1, 0, 1, 1e-3);
}

static void a_cluster_in_single_precision_agrees_with_its_points(void **state)
{
    check_cluster(*state, 0, 1, 1, 1e-3);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(vector_sums_agree_with_scalar_sums, variant),
        cmocka_unit_test_prestate(a_cluster_agrees_with_its_points, variant),
        cmocka_unit_test_prestate(a_cluster_with_rates_at_every_other_node_agrees_with_its_points,
                                  variant),
        cmocka_unit_test_prestate(a_cluster_agrees_with_its_points_where_spacings_change, variant),
        cmocka_unit_test_prestate(a_cluster_in_single_precision_agrees_with_its_points, variant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
