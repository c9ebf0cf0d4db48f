/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Near field by convolution against direct evaluation of the same nodes: rotated beams of varying
 * size, curved orbits, cells that are not square, noise; blocks that turn, that reach over several
 * slices, and whose slices differ in their spacings; its range; NaN. */
#include <string.h>

#include "kernels/device/device.h"
#include "kernels/math/convolution.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NS = 24, NX = 18, SLICES = 6, POINTS = NS * NX, NODES = 5 };
#define H SLICES_CELL
#define CDT 2e-3
#define GAMMA 2000.0
#define AT 3.0 /* position of the beam on the orbit [m] */

/* slices_gaussian with 20 % of noise from cell to cell. */
static void noisy(const void *context, double age, double u, double w, double m[3])
{
    uint64_t seed = (uint64_t)(1e9 + 1e8 * u / H) * 2654435761U + (uint64_t)(1e9 + 1e8 * w / H) +
                    (uint64_t)age * 7919U;
    slices_gaussian(context, age, u, w, m);
    for (int k = 0; k < 3; ++k) m[k] *= 1.0 + 0.2 * uniform(&seed, -1.0, 1.0);
}

typedef struct stage {
    slices s;
    aw_orbit_piece piece;
    aw_history_view h;
    aw_field_point point[POINTS], centre;
} stage;

/* Slices along an arc, whose grid rotates relative to the orbit by `turn` [rad/m], and points on
 * the nodes of the newest slice. */
static void stage_open(stage *g, moments_fn f, double kappa, double tilt, double turn)
{
    g->piece = (aw_orbit_piece){.kappa = kappa};
    slices_new(&g->s, SLICES, NS, NX, 0, H, 1.3 * H);
    for (int i = 0; i < SLICES; ++i) {
        g->s.slice[i].S = AT - beta_of(GAMMA) * CDT * i;
        g->s.slice[i].tilt = tilt + turn * CDT * i;
        g->s.slice[i].id = (uint64_t)i + 1;
        slices_fill(&g->s, i, 0, f, NULL);
    }
    g->h = slices_view(&g->s, (aw_orbit_view){&g->piece, 1}, CDT, GAMMA, 1e3);
    g->centre = point_on(&g->h.orbit, AT, 0.0, GAMMA);
    const aw_retarded now = aw_retarded_at(&g->h, 0.0);
    for (int j = 0; j < NX; ++j)
        for (int i = 0; i < NS; ++i) {
            const double u = (i - 0.5 * (NS - 1)) * now.hs, w = (j - 0.5 * (NX - 1)) * now.hx;
            aw_field_point *p = &g->point[j * NS + i];
            *p = g->centre;
            p->z = now.z + u * now.cg - w * now.sg;
            p->x = now.x + u * now.sg + w * now.cg;
        }
}

/* From the third on, slices have other spacings. */
static void stage_open_mixed(stage *g)
{
    stage_open(g, slices_gaussian, 0.1, 0.3, 0.5);
    for (int i = 2; i < SLICES; ++i) {
        g->s.slice[i].hs *= 0.9;
        g->s.slice[i].hx *= 1.07;
        slices_fill(&g->s, i, 0, slices_gaussian, NULL);
    }
}

/* The near nodes in one block, as long as the last node; and nodes in blocks over three slices. */
typedef struct node_set {
    double r[NODES], end[NODES];
    size_t blocks;
    int joins[NODES];
} node_set;
static const node_set near_nodes = {{3e-6, 2.2e-5, 1e-4, 4e-4, 1.3e-3}, {1.3e-3}, 1, {0}};
static const node_set block_nodes = {
    {1e-4, 9e-4, 2.6e-3, 3.7e-3, 5.1e-3}, {1e-3, CDT, 3e-3, 2.0 * CDT, 5.5e-3}, 5, {0}};

/* Sums at all points, by convolution or point by point. */
static void sum_up_nodes(stage *g, aw_device *device, const node_set *set, int convolve,
                         double (*I)[AW_RESULTS])
{
    const aw_scales scales = {1.0, 1.0, 1.0};
    aw_common_node node[NODES];
    aw_work work = {0};
    for (int i = 0; i < NODES; ++i)
        node[i] =
            (aw_common_node){.r = set->r[i], .weight = 1.0 + i, .rate = 1.0 + i, .density = 3.0};
    aw_common_rule rule = {.node = node,
                           .nodes = NODES,
                           .block_end = set->end,
                           .block_joins = set->joins,
                           .blocks = set->blocks,
                           .columns = NS,
                           .moves_as = &g->centre,
                           .I = I};
    memset(I, 0, POINTS * sizeof *I);
    assert_ok(device->ops->upload(device->state, &g->h, g->point, POINTS));
    if (convolve)
        assert_ok(device->ops->convolve(device->state, &rule));
    else
        assert_ok(device->ops->integrate(device->state, &rule, &scales, &work));
    assert_ok(device->ops->wait(device->state));
}

static void sum_up(stage *g, aw_device *device, int convolve, double (*I)[AW_RESULTS])
{
    sum_up_nodes(g, device, &near_nodes, convolve, I);
}

static aw_device open_with(int threads)
{
    const aw_device_params params = {.inner_density = 1.0, .threads = threads};
    aw_device device;
    assert_ok(aw_device_open("cpu", &params, &device));
    return device;
}

static double largest(double (*I)[AW_RESULTS], unsigned k)
{
    double result = 0.0;
    for (int i = 0; i < POINTS; ++i) result = fmax(result, fabs(I[i][k]));
    return result;
}

/* Compare all results with direct evaluation.
 * @param[in] within  tolerance relative to the largest phi and to the largest psi
 * @param[in] rates   tolerance relative to the largest rate of phi */
static void compare_nodes(stage *g, const node_set *set, double within, double rates)
{
    static double got[POINTS][AW_RESULTS], want[POINTS][AW_RESULTS];
    aw_device device = open_with(0);
    sum_up_nodes(g, &device, set, 0, want);
    sum_up_nodes(g, &device, set, 1, got);
    const double phi = largest(want, AW_PHI), psi = largest(want, AW_PSI);
    const double rate = largest(want, AW_DPHI);
    assert_true(phi > 0.0 && psi > 0.0 && rate > 0.0);
    for (int i = 0; i < POINTS; ++i) {
        for (unsigned k = AW_PHI; k <= AW_AX; ++k)
            assert_close(got[i][k], want[i][k], 0.0, within * phi);
        assert_close(got[i][AW_PSI], want[i][AW_PSI], 0.0, within * psi);
        for (unsigned k = AW_DPHI; k < AW_RESULTS; ++k)
            assert_close(got[i][k], want[i][k], 0.0, rates * rate);
    }
    aw_device_close(&device);
}

/* In place the rates neglect the angle D, and the motion across in those of A. */
static void compare(moments_fn f, double kappa, double tilt, double turn, double within)
{
    stage g;
    stage_open(&g, f, kappa, tilt, turn);
    assert_true(aw_convolution_fits(&g.h, g.point, NS, POINTS));
    compare_nodes(&g, &near_nodes, within, fmax(1e-4, 10.0 * within));
    slices_free(&g.s);
}

/* Direct evaluation is in single precision: 1e-6. */
static void convolution_agrees_with_direct_evaluation(void **state)
{
    (void)state;
    compare(slices_gaussian, 0.0, 0.0, 0.0, 1e-6);
    compare(slices_gaussian, 0.0, 0.4, 0.0, 1e-6);
    /* Rotation by 4e-4 at the last node, 5e-3 cells at the edge, whose square is neglected. */
    compare(slices_gaussian, -0.3, 0.12, 0.0, 2e-6);
    compare(slices_gaussian, 0.1, -0.5, 0.0, 2e-6);
    /* Rotation by 1.3e-3, 0.016 cells: 2e-6 times the weight of the last node. */
    compare(slices_gaussian, 0.1, 1.2, 1.0, 1e-5);
}

/* The nodes in angle differ, and on noise three nodes per cell leave 1e-3. */
static void convolution_agrees_with_direct_evaluation_on_noise(void **state)
{
    (void)state;
    compare(noisy, 0.1, 0.3, 0.0, 1e-3);
}

static void convolution_is_bit_identical_for_any_number_of_threads(void **state)
{
    static double one[POINTS][AW_RESULTS], more[POINTS][AW_RESULTS];
    stage g;
    (void)state;
    stage_open(&g, noisy, 0.1, 0.3, 0.0);
    aw_device device = open_with(1);
    sum_up(&g, &device, 1, one);
    aw_device_close(&device);
    for (int threads = 2; threads <= 3; ++threads) {
        device = open_with(threads);
        sum_up(&g, &device, 1, more);
        assert_memory_equal(one, more, sizeof one);
        aw_device_close(&device);
    }
    slices_free(&g.s);
}

/* Blocks over several slices, in a bend: the slices turn by up to 1e-3 within a block, 0.01 cells
 * at the edge, and by 5e-3 altogether, to which lattices are turned. Beyond the first block A is
 * phi times the tangent in the terms of the turn only. */
static void blocks_agree_with_direct_evaluation(void **state)
{
    stage g;
    (void)state;
    stage_open(&g, slices_gaussian, 0.3, 0.4, 1.0);
    compare_nodes(&g, &block_nodes, 1e-5, 1e-3);
    slices_free(&g.s);
    stage_open(&g, slices_gaussian, 0.0, 0.0, 0.0);
    compare_nodes(&g, &block_nodes, 2e-6, 1e-4);
    slices_free(&g.s);
}

/* Three blocks that share their lattices, with slices of other spacings among them or not: each
 * turn is against the middle of the three, 0.03 cells at the edge. */
static void blocks_that_share_their_lattices_agree_with_direct_evaluation(void **state)
{
    node_set joined = block_nodes;
    stage g;
    (void)state;
    joined.joins[2] = joined.joins[3] = 1;
    stage_open(&g, slices_gaussian, 0.3, 0.4, 1.0);
    compare_nodes(&g, &joined, 1e-5, 1e-3);
    slices_free(&g.s);
    stage_open_mixed(&g);
    compare_nodes(&g, &joined, 5e-5, 2e-2);
    slices_free(&g.s);
}

/* A fast turn: 0.08 rad over the nodes, 1.3 cells at the edge, 0.13 of them on either side of the
 * middle of a block. Terms beyond the square of it are (0.13/2)^3/6 = 5e-5 of a block's
 * contribution where the moments vary over two cells, and the rates lack (0.13/2)^2/2 = 2e-3 and as
 * much from the rate of the cube. */
static void blocks_follow_a_fast_turn(void **state)
{
    stage g;
    (void)state;
    stage_open(&g, slices_gaussian, 0.0, 0.2, 16.0);
    compare_nodes(&g, &block_nodes, 1e-4, 1e-2);
    slices_free(&g.s);
}

/* Slices of another size are convolved on their own lattice and interpolated at the points, which
 * loses the kinks of the B-spline within a cell, 2e-5 of phi. In the rates the differences of
 * slices over a step of 2 mm multiply that by the bunch's size over 2 mm. */
static void slices_with_other_spacings_have_lattices_of_their_own(void **state)
{
    stage g;
    aw_block_lattice lattice;
    double pad[2];
    (void)state;
    stage_open_mixed(&g);
    /* Also if an older slice is finer, as after the grid has grown. */
    assert_true(aw_convolution_fits(&g.h, g.point, NS, POINTS));
    compare_nodes(&g, &block_nodes, 5e-5, 2e-2);
    const aw_block_range first = {0.0, 1e-3, 0.0, 1e-3};
    lattice = aw_lattice_of(&g.h, &first, 0);
    assert_true(lattice.in_place && lattice.member[0] && lattice.member[1] && !lattice.member[2]);
    aw_lattice_pad(&g.h, &lattice, pad);
    assert_true(pad[0] == 0.0 && pad[1] == 0.0);
    lattice = aw_lattice_of(&g.h, &first, 2);
    assert_true(!lattice.in_place && !lattice.member[0] && lattice.member[2]);
    aw_lattice_pad(&g.h, &lattice, pad);
    /* The points lie (NS - 1)/2 (1/0.9 - 1) = 1.3 cells further out than its nodes, and inside
     * across. */
    assert_true(pad[0] == 2.0 + AW_LATTICE_MARGIN && pad[1] <= AW_LATTICE_MARGIN);
    slices_free(&g.s);
}

/* The spline through values at the nodes: its coefficients of a wave are the values over the
 * spectrum; between nodes it is off by (k/(2 pi - k))^6 = 2e-5 for 8 cells a wave. */
static void splines_reproduce_a_wave(void **state)
{
    const double k = 2.0 * AW_PI / 8.0;
    const int below = AW_LATTICE_NODES / 2 - 1;
    (void)state;
    for (int n = 0; n < 8; ++n) {
        const double t = n / 8.0;
        aw_lattice_weights w;
        double value = 0.0, slope = 0.0, bend = 0.0, sum = 0.0;
        aw_lattice_spline(t, &w);
        for (int i = 0; i < AW_LATTICE_NODES; ++i) {
            const double c = cos(k * (i - below) + 0.3) / aw_lattice_spectrum(k);
            value += w.value[i] * c;
            slope += w.slope[i] * c;
            bend += w.bend[i] * c;
            sum += w.value[i];
        }
        assert_close(sum, 1.0, 1e-14, 0.0);
        assert_close(value, cos(k * t + 0.3), 0.0, n == 0 ? 1e-14 : 4e-5);
        assert_close(slope, -k * sin(k * t + 0.3), 0.0, 2e-4);
        assert_close(bend, -k * k * cos(k * t + 0.3), 0.0, 2e-3);
    }
}

/* Slices stay in the cache of the device while they move on in the history. */
static void cached_slices_are_found_by_their_id(void **state)
{
    static double fresh[POINTS][AW_RESULTS], again[POINTS][AW_RESULTS];
    aw_device device = open_with(0);
    stage g, later;
    (void)state;
    stage_open(&g, slices_gaussian, 0.1, 0.0, 0.0);
    sum_up(&g, &device, 1, again);
    stage_open(&later, noisy, 0.1, 0.0, 0.0);
    /* Only the newest slice is new. */
    later.s.slice[0].id = 99;
    for (int i = 1; i < SLICES; ++i) {
        later.s.slice[i].cells = g.s.slice[i - 1].cells;
        later.s.slice[i].id = g.s.slice[i - 1].id;
    }
    sum_up(&later, &device, 1, again);
    aw_device other = open_with(0);
    sum_up(&later, &other, 1, fresh);
    assert_memory_equal(fresh, again, sizeof fresh);
    /* A slice whose cells have changed under the same id is not read again; with id 0 it is. */
    slices_set(&later.s, 0, 12, 9, 0, 50.0);
    sum_up(&later, &device, 1, again);
    assert_memory_equal(fresh, again, sizeof fresh);
    later.s.slice[0].id = 0;
    sum_up(&later, &device, 1, again);
    assert_true(again[POINTS / 2 + NS / 2][AW_PHI] > 1.1 * fresh[POINTS / 2 + NS / 2][AW_PHI]);
    aw_device_close(&device);
    aw_device_close(&other);
    slices_free(&later.s);
    slices_free(&g.s);
}

static void blocks_end_at_slices_and_where_the_slices_have_turned(void **state)
{
    stage g;
    (void)state;
    stage_open(&g, slices_gaussian, 0.1, 0.0, 0.0);
    assert_close(aw_convolution_end(&g.h, 0.0, 1.0, 0.1), CDT, 1e-12, 0.0);
    assert_close(aw_convolution_end(&g.h, 0.0, 3e-4, 0.1), 3e-4, 1e-12, 0.0);
    assert_close(aw_convolution_end(&g.h, CDT, 1.0, 0.1), 2.0 * CDT, 1e-12, 0.0);
    assert_close(aw_convolution_end(&g.h, 1.5 * CDT, 1.0, 0.1), 2.0 * CDT, 1e-12, 0.0);
    /* rotation by 0.1/m at the largest distance across, in units of the spacing along; a block
     * turns by as much on either side of its middle */
    const double r = aw_convolution_end(&g.h, 0.0, 1.0, 0.5e-4);
    const double reach = (0.5 * (NX - 1) + AW_SPLINE_REACH) * 1.3;
    assert_close(0.1 * r * reach, 1e-4, 0.11, 0.0);
    assert_true(0.1 * r * reach <= 1.001e-4);
    g.h.upstream = 0; /* the history ends */
    assert_close(aw_convolution_end(&g.h, (SLICES - 1) * CDT, 1.0, 0.1), (SLICES - 1) * CDT, 0.0,
                 0.0);
    g.point[POINTS - 1].x += 1e-4 * H;
    assert_false(aw_convolution_fits(&g.h, g.point, NS, POINTS));
    assert_false(aw_convolution_fits(&g.h, g.point, NX, POINTS));
    slices_free(&g.s);
}

static void a_nan_in_a_slice_makes_all_results_nan(void **state)
{
    static double I[POINTS][AW_RESULTS];
    aw_device device = open_with(0);
    stage g;
    (void)state;
    stage_open(&g, slices_gaussian, 0.1, 0.0, 0.0);
    slices_set(&g.s, 1, 3, 4, 0, NAN);
    sum_up(&g, &device, 1, I);
    for (int i = 0; i < POINTS; ++i) assert_true(isnan(I[i][AW_PHI]));
    aw_device_close(&device);
    slices_free(&g.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution_agrees_with_direct_evaluation),
        cmocka_unit_test(convolution_agrees_with_direct_evaluation_on_noise),
        cmocka_unit_test(convolution_is_bit_identical_for_any_number_of_threads),
        cmocka_unit_test(cached_slices_are_found_by_their_id),
        cmocka_unit_test(blocks_agree_with_direct_evaluation),
        cmocka_unit_test(blocks_that_share_their_lattices_agree_with_direct_evaluation),
        cmocka_unit_test(blocks_follow_a_fast_turn),
        cmocka_unit_test(slices_with_other_spacings_have_lattices_of_their_own),
        cmocka_unit_test(splines_reproduce_a_wave),
        cmocka_unit_test(blocks_end_at_slices_and_where_the_slices_have_turned),
        cmocka_unit_test(a_nan_in_a_slice_makes_all_results_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
