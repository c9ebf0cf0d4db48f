/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Near field by convolution against direct evaluation of the same nodes: rotated beams of varying
 * size, curved orbits, cells that are not square, noise; its range; NaN. */
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

static void nodes_of(aw_common_node node[NODES])
{
    static const double r[NODES] = {3e-6, 2.2e-5, 1e-4, 4e-4, 1.3e-3};
    for (int i = 0; i < NODES; ++i)
        node[i] = (aw_common_node){.r = r[i], .weight = 1.0 + i, .rate = 1.0 + i, .density = 3.0};
}

/* Sums at all points, by convolution or point by point. */
static void sum_up(stage *g, aw_device *device, int convolve, double (*I)[AW_RESULTS])
{
    const aw_scales scales = {1.0, 1.0, 1.0};
    aw_common_node node[NODES];
    aw_work work = {0};
    nodes_of(node);
    aw_common_rule rule = {
        .node = node, .nodes = NODES, .columns = NS, .moves_as = &g->centre, .I = I};
    memset(I, 0, POINTS * sizeof *I);
    assert_ok(device->ops->upload(device->state, &g->h, g->point, POINTS));
    if (convolve)
        assert_ok(device->ops->convolve(device->state, &rule));
    else
        assert_ok(device->ops->integrate(device->state, &rule, &scales, &work));
    assert_ok(device->ops->wait(device->state));
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

/* @param[in] within  tolerance relative to the largest phi and to the largest psi */
static void compare(moments_fn f, double kappa, double tilt, double turn, double within)
{
    static double got[POINTS][AW_RESULTS], want[POINTS][AW_RESULTS];
    aw_device device = open_with(0);
    stage g;
    stage_open(&g, f, kappa, tilt, turn);
    assert_true(aw_convolution_fits(&g.h, g.point, NS, POINTS));
    sum_up(&g, &device, 0, want);
    sum_up(&g, &device, 1, got);
    /* The largest rate is that of the beam's size. For the rates the convolution neglects the angle
     * D, and the motion across in those of A. */
    const double phi = largest(want, AW_PHI), psi = largest(want, AW_PSI);
    const double rate = largest(want, AW_DPHI);
    assert_true(phi > 0.0 && psi > 0.0 && rate > 0.0);
    for (int i = 0; i < POINTS; ++i) {
        for (unsigned k = AW_PHI; k <= AW_AX; ++k)
            assert_close(got[i][k], want[i][k], 0.0, within * phi);
        assert_close(got[i][AW_PSI], want[i][AW_PSI], 0.0, within * psi);
        for (unsigned k = AW_DPHI; k < AW_RESULTS; ++k)
            assert_close(got[i][k], want[i][k], 0.0, fmax(1e-4, 10.0 * within) * rate);
    }
    aw_device_close(&device);
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

static void reach_is_limited_by_spacings_and_rotation_of_the_slices(void **state)
{
    stage g;
    (void)state;
    stage_open(&g, slices_gaussian, 0.1, 0.0, 0.0);
    assert_close(aw_convolution_reach(&g.h, 1.0, 0.1), CDT, 1e-12, 0.0);
    assert_close(aw_convolution_reach(&g.h, 3e-4, 0.1), 3e-4, 1e-12, 0.0);
    /* rotation by 0.1/m at the largest distance across, in units of the spacing along */
    const double r = aw_convolution_reach(&g.h, 1.0, 1e-4);
    const double reach = (0.5 * (NX - 1) + AW_SPLINE_REACH) * 1.3;
    assert_close(0.1 * r * reach, 1e-4, 0.11, 0.0);
    assert_true(0.1 * r * reach <= 1.001e-4);
    g.s.slice[1].hs *= 1.01;
    assert_close(aw_convolution_reach(&g.h, 1.0, 0.1), 0.0, 0.0, 0.0);
    g.s.slice[1].hs = g.s.slice[0].hs;
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
        cmocka_unit_test(reach_is_limited_by_spacings_and_rotation_of_the_slices),
        cmocka_unit_test(a_nan_in_a_slice_makes_all_results_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
