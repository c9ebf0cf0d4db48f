/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Common nodes: tables against direct evaluation of the same nodes and against closed forms of a
 * Gaussian and of a single cell; where there are no tables; grids whose columns lie along the
 * motion against the same grids with rows and columns exchanged. */
#include "kernels/device/device.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NS = 40, NX = 24, SLICES = 8, COLUMNS = 80, ROWS = 40, POINTS = COLUMNS * ROWS };
#define H SLICES_CELL
#define CDT 2e-2
#define GAMMA 2000.0

/* A Gaussian of 4 by 3 cells along the axes. */
static void upright(const void *context, double age, double u, double w, double m[3])
{
    const double a = u / (4.0 * H), b = w / (3.0 * H);
    (void)context;
    (void)age;
    m[0] = exp(-0.5 * (a * a + b * b));
    m[1] = m[2] = 0.0;
}

/* Wide, and modulated at 6 cells. */
static void stripes(const void *context, double age, double u, double w, double m[3])
{
    const double a = u / (5.0 * H), b = w / (4.0 * H);
    (void)context;
    (void)age;
    m[0] = exp(-0.5 * (a * a + b * b)) * (1.0 + 0.5 * cos(2.0 * AW_PI * u / (6.0 * H)));
    m[1] = m[0] * (1e-4 + 0.3 * u);
    m[2] = m[0] * (2e-3 - 5.0 * w);
}

/* So long that it reaches beyond the points. */
static void long_beam(const void *context, double age, double u, double w, double m[3])
{
    const double a = u / (60.0 * H), b = w / (3.0 * H);
    (void)context;
    (void)age;
    m[0] = exp(-0.5 * (a * a + b * b));
    m[1] = m[2] = 0.0;
}

static void one_cell(const void *context, double age, double u, double w, double m[3])
{
    (void)context;
    (void)age;
    /* node (20, 12) of 40 by 24 */
    m[0] = fabs(u - 0.5 * H) < 0.1 * H && fabs(w - 0.5 * H) < 0.1 * H ? 1.0 : 0.0;
    m[1] = m[2] = 0.0;
}

typedef struct stage {
    slices s;
    aw_orbit_piece piece;
    aw_history_view h;
    int columns;
    aw_field_point point[POINTS], centre;
    double apart_error; /* as in aw_common_rule */
    aw_device device;
} stage;

/* Grids of slices and points. */
typedef struct shape {
    int ns, nx, columns, rows;
    double hs, hx;
    double tilt, turn; /* of the newest slice, and its increase from slice to older slice */
    int swapped;       /* 1: rows and columns are exchanged (swap) */
} shape;

/* The same grids with axes exchanged: the new s is the old -x, the new x the old s. */
static shape swap(const shape *g)
{
    return (shape){.ns = g->nx,
                   .nx = g->ns,
                   .columns = g->rows,
                   .rows = g->columns,
                   .hs = g->hx,
                   .hx = g->hs,
                   .tilt = g->tilt - 0.5 * AW_PI,
                   .turn = g->turn,
                   .swapped = 1};
}

/* slices_gaussian in cells of these grids; context: a shape. */
static void in_cells(const void *context, double age, double u, double w, double m[3])
{
    const shape *g = context;
    if (g->swapped)
        slices_gaussian(NULL, age, w / g->hx * H, -u / g->hs * H, m);
    else
        slices_gaussian(NULL, age, u / g->hs * H, w / g->hx * H, m);
}

/* A beam on an arc of curvature kappa with a long upstream, and a grid of points over it with the
 * spacing of the slices. With `mixed`, every other slice has another spacing. */
static void stage_open_on(stage *g, const aw_variant *variant, moments_fn f, double kappa,
                          const shape *on, int mixed)
{
    const aw_device_params params = {.variant = variant->name, .inner_density = 1.0};
    const double c = cos(on->tilt), s = sin(on->tilt);
    g->piece = (aw_orbit_piece){.kappa = kappa};
    g->columns = on->columns;
    g->apart_error = 0.0;
    slices_new(&g->s, SLICES, on->ns, on->nx, 0, on->hs, on->hx);
    for (int i = 0; i < SLICES; ++i) {
        aw_slice *slice = &g->s.slice[i];
        slice->S = -beta_of(GAMMA) * CDT * i;
        slice->tilt = on->tilt + on->turn * i;
        slice->id = (uint64_t)i + 1;
        if (mixed && i % 2) *(on->swapped ? &slice->hx : &slice->hs) *= 1.19;
        slices_fill(&g->s, i, 0, f, on);
    }
    g->h = slices_view(&g->s, (aw_orbit_view){&g->piece, 1}, CDT, GAMMA, 1e3);
    for (int j = 0; j < on->rows; ++j)
        for (int i = 0; i < on->columns; ++i) {
            const double u = (i - 0.5 * (on->columns - 1)) * on->hs;
            const double w = (j - 0.5 * (on->rows - 1)) * on->hx;
            g->point[j * on->columns + i] =
                point_on(&g->h.orbit, u * c - w * s, u * s + w * c, GAMMA);
        }
    g->centre = point_on(&g->h.orbit, 0.0, 0.0, GAMMA);
    assert_ok(aw_device_open("cpu", &params, &g->device));
    assert_ok(g->device.ops->upload(g->device.state, &g->h, g->point, POINTS));
}

/* The same on square cells. */
static void stage_open(stage *g, const aw_variant *variant, moments_fn f, double kappa, double tilt,
                       int mixed)
{
    const shape on = {
        .ns = NS, .nx = NX, .columns = COLUMNS, .rows = ROWS, .hs = H, .hx = H, .tilt = tilt};
    stage_open_on(g, variant, f, kappa, &on, mixed);
}

static void stage_close(stage *g)
{
    aw_device_close(&g->device);
    slices_free(&g->s);
}

/* f_in(r') at all points, from one node; without tables if table_error is 0.
 * @return the number of tables */
static size_t evaluate_node(stage *g, const aw_common_node *node, double table_error,
                            const aw_scales *scales, double (*I)[AW_RESULTS], aw_work *work)
{
    aw_common_rule rule = {.node = node,
                           .nodes = 1,
                           .columns = (size_t)g->columns,
                           .moves_as = &g->centre,
                           .table_error = table_error,
                           .apart_error = g->apart_error,
                           .I = I};
    for (int i = 0; i < POINTS; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k) I[i][k] = 0.0;
    assert_ok(g->device.ops->integrate(g->device.state, &rule, scales, work));
    assert_ok(g->device.ops->wait(g->device.state));
    return rule.tables;
}

static size_t evaluate_at(stage *g, double r, double table_error, const aw_scales *scales,
                          double (*I)[AW_RESULTS])
{
    const aw_common_node node = {.r = r, .weight = 1.0, .rate = 1.0, .density = 1.0};
    aw_work work = {0};
    return evaluate_node(g, &node, table_error, scales, I, &work);
}

/* The same without tables, with a density of inner nodes. @return evaluations */
static uint64_t evaluate_with(stage *g, double r, double density, const aw_scales *scales,
                              double (*I)[AW_RESULTS])
{
    const aw_common_node node = {.r = r, .weight = 1.0, .rate = 1.0, .density = density};
    aw_work work = {0};
    evaluate_node(g, &node, 0.0, scales, I, &work);
    return work.evaluations;
}

static aw_scales scales_of(double (*I)[AW_RESULTS])
{
    double largest[AW_RESULTS] = {0.0};
    for (int i = 0; i < POINTS; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k) largest[k] = fmax(largest[k], fabs(I[i][k]));
    /* The upstream has no rates; psi/H takes their place. 1/30 of the scale in the solver. */
    const double rate = fmax(largest[AW_DPHI], fmax(largest[AW_DAZ], largest[AW_DAX]));
    return (aw_scales){largest[AW_PHI], largest[AW_PSI], 10.0 * fmax(rate, largest[AW_PSI] / H)};
}

/* Tables with a permitted error of 5e-4 against direct evaluation, at one radius. */
static void compare(stage *g, double r)
{
    double table[POINTS][AW_RESULTS], direct[POINTS][AW_RESULTS];
    const aw_scales one = {1.0, 1.0, 1.0};
    assert_int_equal(evaluate_at(g, r, 0.0, &one, direct), 0);
    const aw_scales scales = scales_of(direct);
    assert_true(scales.phi > 0.0 && scales.psi > 0.0 && scales.rate > 0.0);
    assert_int_equal(evaluate_at(g, r, 5e-4, &scales, table), 1);
    /* The errors of offsets and of directions are 5e-4 each; rounding is 1e-6. */
    for (int i = 0; i < POINTS; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            assert_close(table[i][k], direct[i][k], 0.0, 1e-3 * aw_scale_of(&scales, k));
}

static void tables_agree_with_direct_evaluation(void **state)
{
    static const double kappa[] = {0.0, 0.1, -0.3};
    static const double tilt[] = {0.0, 0.12, -0.5};
    for (int i = 0; i < 3; ++i)
        for (int mixed = 0; mixed <= 1; ++mixed) {
            stage g;
            stage_open(&g, *state, slices_gaussian, kappa[i], tilt[i], mixed);
            compare(&g, 4e-3);
            compare(&g, 2.5e-2);
            compare(&g, 4.7e-2); /* between slices of different ages and spacings */
            if (kappa[i] == 0.0) compare(&g, 5.0); /* upstream */
            stage_close(&g);
        }
}

/* A table of a bunch with a height is the mean over circles that lag behind each other by up to
 * some cells; here the outermost points still meet the bunch. Without further offsets beyond theirs
 * the last of 80 columns were off by up to a hundredth. */
static void a_height_is_tabulated_up_to_the_outermost_points(void **state)
{
    static const double lag[] = {1e-4, 0.2, 1.0}; /* of a circle at one rms height [cells] */
    const shape on = {.ns = 180, .nx = NX, .columns = COLUMNS, .rows = ROWS, .hs = H, .hx = H};
    const double r = 2.5e-2;
    for (size_t i = 0; i < sizeof lag / sizeof *lag; ++i) {
        stage g;
        stage_open_on(&g, *state, long_beam, 0.0, &on, 0);
        for (int k = 0; k < SLICES; ++k) g.s.slice[k].height2 = 2.0 * r * lag[i] * H;
        assert_ok(g.device.ops->upload(g.device.state, &g.h, g.point, POINTS));
        compare(&g, r);
        stage_close(&g);
    }
}

/* Seen head on, stripes look the same from either side: the first coefficient of the directions
 * vanishes, but the next ones do not. */
static void directions_suffice_where_their_first_coefficient_vanishes(void **state)
{
    stage g;
    stage_open(&g, *state, stripes, 0.0, 0.0, 0);
    compare(&g, 4e-3);
    compare(&g, 8e-3);
    stage_close(&g);
}

/* For a Gaussian of charge Q seen from 5 m, r' f_in = Q exp(-q^2/(2 sigma^2))/(sqrt(2 pi) sigma).
 * The B-spline adds h^2/4 to the variance and deviates from a Gaussian by 0.008 of its third
 * difference, 1.7e-4 of the peak. The table adds 1e-4. The sagitta over the bunch is 1e-10 m. */
static void a_gaussian_projects_to_a_gaussian(void **state)
{
    const double r = 5.0, s2 = 16.25 * H * H, charge = 2.0 * AW_PI * 12.0 * H * H;
    const aw_scales scales = {charge / sqrt(2.0 * AW_PI * s2) / r, 1.0, 1.0};
    double I[POINTS][AW_RESULTS];
    stage g;
    stage_open(&g, *state, upright, 0.0, 0.0, 0);
    assert_int_equal(evaluate_at(&g, r, 1e-4, &scales, I), 1);
    for (int i = 0; i < POINTS; ++i) {
        const double q = r - hypot(g.point[i].z + beta_of(GAMMA) * r, g.point[i].x);
        const double want = scales.phi * exp(-0.5 * q * q / s2);
        assert_close(I[i][AW_PHI], want, 0.0, 3e-4 * scales.phi);
    }
    stage_close(&g);
}

/* Quadratic B-spline at t cells from its centre. */
static double spline(double t)
{
    t = fabs(t);
    return t < 0.5 ? 0.75 - t * t : (t < 1.5 ? 0.5 * (1.5 - t) * (1.5 - t) : 0.0);
}

/* Cells by which a point that sees the only cell of one_cell from the radius r is behind it. */
static double cells_behind(const aw_field_point *point, double r)
{
    const double z = point->z + beta_of(GAMMA) * r - 0.5 * H;
    return (r - hypot(z, point->x - 0.5 * H)) / H;
}

/* One cell seen along the rows: the sum over a line across is the B-spline along, times h. */
static void a_single_cell_projects_to_its_spline(void **state)
{
    const double r = 5.0;
    const aw_scales scales = {0.75 * H / r, 1.0, 1.0};
    double I[POINTS][AW_RESULTS];
    stage g;
    stage_open(&g, *state, one_cell, 0.0, 0.0, 0);
    for (int tables = 0; tables <= 1; ++tables) {
        /* The discontinuities of the spline: an error of 2e-3 with 8 entries per cell. */
        const double within = tables ? 4e-3 : 1e-5;
        assert_int_equal(evaluate_at(&g, r, tables ? 4e-3 : 0.0, &scales, I), tables);
        for (int i = 0; i < POINTS; ++i) {
            const double want = spline(cells_behind(&g.point[i], r)) * H / r;
            assert_close(I[i][AW_PHI], want, 0.0, within * scales.phi);
        }
    }
    stage_close(&g);
}

/* One cell has all wavelengths: kinks are filtered out of it by 1 - (-d^2/4)^4, d^2 the second
 * difference over half a cell, where nodes are far apart, and where they sweep a tenth of a cell
 * and the kinks (0.02 of the largest value) are small against what they may leave. */
static void kinks_are_filtered_where_nodes_alias_them_or_they_are_small(void **state)
{
    static const double tap[] = {186.0, 56.0, -28.0, 8.0, -1.0};
    static const struct {
        double step, kink_error; /* [cells], [scales] */
        int filtered;
    } row[] = {{0.05, 1.0, 0}, {0.3, 0.0, 0}, {0.3, 0.01, 0}, {0.3, 1.0, 1}, {0.6, 0.0, 1}};
    const double r = 5.0;
    const aw_scales scales = {0.75 * H / r, 1.0, 1.0};
    stage g;
    stage_open(&g, *state, one_cell, 0.0, 0.0, 0);
    for (size_t c = 0; c < sizeof row / sizeof *row; ++c) {
        const aw_common_node node = {
            .r = r, .weight = 1.0, .density = 1.0, .step = row[c].step * H};
        double I[POINTS][AW_RESULTS] = {{0.0}};
        aw_common_rule rule = {.node = &node,
                               .nodes = 1,
                               .columns = COLUMNS,
                               .moves_as = &g.centre,
                               .table_error = 4e-3,
                               .kink_error = row[c].kink_error,
                               .I = I};
        aw_work work = {0};
        assert_ok(g.device.ops->integrate(g.device.state, &rule, &scales, &work));
        assert_ok(g.device.ops->wait(g.device.state));
        assert_int_equal(rule.tables, 1);
        for (int i = 0; i < POINTS; ++i) {
            const double t = cells_behind(&g.point[i], r);
            double want = row[c].filtered ? tap[0] / 256.0 * spline(t) : spline(t);
            for (int k = 1; row[c].filtered && k <= 4; ++k)
                want += tap[k] / 256.0 * (spline(t + 0.5 * k) + spline(t - 0.5 * k));
            assert_close(I[i][AW_PHI], want * H / r, 0.0, 4e-3 * scales.phi);
        }
    }
    stage_close(&g);
}

/* f_in of one node that sweeps `step` cells. @return the evaluations of its table */
static uint64_t tabulate(stage *g, double step, double table_error, double apart_error,
                         double (*I)[AW_RESULTS])
{
    const double r = 5.0;
    const aw_scales scales = {0.75 * H / r, 1.0, 1.0};
    const aw_common_node node = {.r = r, .weight = 1.0, .density = 1.0, .step = step * H};
    aw_work work = {0};
    g->apart_error = apart_error;
    assert_int_equal(evaluate_node(g, &node, table_error, &scales, I, &work), 1);
    return work.evaluations;
}

/* The table of a circle at rest keeps to the smaller of the permitted errors; if it sweeps 0.4 of a
 * cell from node to node, the larger one will do. */
static void tables_may_be_further_off_where_circles_sweep(void **state)
{
    static const double fine = 4e-3, coarse = 5e-2;
    double I[POINTS][AW_RESULTS], want[POINTS][AW_RESULTS];
    stage g;
    stage_open(&g, *state, one_cell, 0.0, 0.0, 0);
    const uint64_t all = tabulate(&g, 0.0, fine, coarse, I);
    assert_int_equal(all, tabulate(&g, 0.0, fine, 0.0, want));
    assert_memory_equal(I, want, sizeof I);
    assert_true(tabulate(&g, 0.0, coarse, 0.0, want) < all);
    tabulate(&g, 0.4, coarse, 0.0, want);
    tabulate(&g, 0.4, fine, coarse, I);
    assert_memory_equal(I, want, sizeof I);
    tabulate(&g, 0.4, coarse, fine, I); /* the larger one, whichever it is */
    assert_memory_equal(I, want, sizeof I);
    stage_close(&g);
}

/* The kinks of a Gaussian three cells wide are 1.7e-4 of its peak. Where its table may be off by
 * much more, one offset per cell will do also where circles sweep through cells from node to node;
 * where it may not, they need two, to be filtered with. */
static void small_kinks_need_no_filter(void **state)
{
    static const struct {
        double table_error;
        int filtered;
    } row[] = {{4e-3, 0}, {5e-4, 1}};
    const aw_scales one = {1.0, 1.0, 1.0};
    double direct[POINTS][AW_RESULTS], rest[POINTS][AW_RESULTS], swept[POINTS][AW_RESULTS];
    stage g;
    stage_open(&g, *state, slices_gaussian, 0.0, 0.0, 0);
    assert_int_equal(evaluate_at(&g, 5.0, 0.0, &one, direct), 0);
    const aw_scales scales = scales_of(direct);
    for (size_t i = 0; i < sizeof row / sizeof *row; ++i) {
        aw_common_node node = {.r = 5.0, .weight = 1.0, .density = 1.0};
        aw_work work[2] = {{0}, {0}};
        const double error = row[i].table_error;
        assert_int_equal(evaluate_node(&g, &node, error, &scales, rest, &work[0]), 1);
        node.step = 0.6 * H;
        assert_int_equal(evaluate_node(&g, &node, error, &scales, swept, &work[1]), 1);
        if (row[i].filtered)
            assert_true(4 * work[1].evaluations > 5 * work[0].evaluations);
        else
            assert_memory_equal(swept, rest, sizeof rest);
        for (int k = 0; k < POINTS; ++k)
            assert_close(swept[k][AW_PHI], direct[k][AW_PHI], 0.0, error * scales.phi);
    }
    stage_close(&g);
}

/* The Gaussian is smooth, 3 cells wide: one node per two cells is as accurate as three per cell. */
static void fewer_nodes_in_angle_suffice_for_a_smooth_beam(void **state)
{
    const aw_scales scales = {1.0, 1.0, 1.0};
    double fine[POINTS][AW_RESULTS], few[POINTS][AW_RESULTS], largest = 0.0;
    stage g;
    stage_open(&g, *state, slices_gaussian, 0.1, 0.1, 1);
    const uint64_t all = evaluate_with(&g, 1e-4, 1.0, &scales, fine);
    const uint64_t some = evaluate_with(&g, 1e-4, 0.17, &scales, few);
    assert_true(some < all / 2);
    for (int i = 0; i < POINTS; ++i) largest = fmax(largest, fabs(fine[i][AW_PHI]));
    for (int i = 0; i < POINTS; ++i)
        assert_close(few[i][AW_PHI], fine[i][AW_PHI], 0.0, 1e-3 * largest);
    stage_close(&g);
}

/* Sums at the points of one description of a beam, with tables if table_error is not 0, against
 * direct sums with rows and columns exchanged. The nodes lie elsewhere on the arcs, but so densely
 * that phi and psi differ by single precision, and rates by the shift of nodes along an arc
 * (aw_tile_shift), 1e-4 of this scale. */
static void compare_swapped(stage *g, stage *swapped, double r, double table_error)
{
    const aw_common_node node = {.r = r, .weight = 1.0, .rate = 1.0, .density = 4.0};
    const int columns = g->columns, rows = POINTS / columns;
    double a[POINTS][AW_RESULTS], b[POINTS][AW_RESULTS];
    aw_scales scales = {1.0, 1.0, 1.0};
    aw_work work = {0};
    assert_int_equal(evaluate_node(swapped, &node, 0.0, &scales, b, &work), 0);
    scales = scales_of(b);
    assert_int_equal(evaluate_node(g, &node, table_error, &scales, a, &work), table_error > 0.0);
    for (int j = 0; j < rows; ++j)
        for (int i = 0; i < columns; ++i)
            for (unsigned k = 0; k < AW_RESULTS; ++k) {
                const double exact = k < AW_DPHI ? 2e-6 : 2e-4;
                const double within = 2.0 * table_error + exact;
                assert_close(a[j * columns + i][k], b[i * rows + rows - 1 - j][k], 0.0,
                             within * aw_scale_of(&scales, k));
            }
}

/* The beam moves along either axis of the grid, in either direction. Cells of the third grid are so
 * long that tables follow rows while tiles follow columns; in the last grid it is the reverse. */
static void results_do_not_depend_on_which_grid_axis_is_along_the_motion(void **state)
{
    static const double tilt[] = {1.3, -1.0, 1.45, 2.0, 0.4};
    static const double hx[] = {0.5 * H, 2.0 * H, 0.1 * H, 0.7 * H, 4.0 * H};
    for (int i = 0; i < 5; ++i)
        for (int mixed = 0; mixed <= 1; ++mixed) {
            const shape on = {.ns = NS,
                              .nx = NX,
                              .columns = COLUMNS,
                              .rows = ROWS,
                              .hs = H,
                              .hx = hx[i],
                              .tilt = tilt[i],
                              .turn = 0.002};
            const shape other = swap(&on);
            stage g, swapped;
            stage_open_on(&g, *state, in_cells, 0.1, &on, mixed);
            stage_open_on(&swapped, *state, in_cells, 0.1, &other, mixed);
            compare_swapped(&g, &swapped, 0.0, 0.0);
            compare_swapped(&g, &swapped, 1e-4, 0.0);
            compare_swapped(&g, &swapped, 4e-3, 0.0);
            compare_swapped(&g, &swapped, 2.5e-2, 0.0);
            compare_swapped(&g, &swapped, 2.5e-2, 2.5e-4);
            compare_swapped(&g, &swapped, 4.7e-2, 2.5e-4);
            stage_close(&swapped);
            stage_close(&g);
        }
}

static void checks_are_summed_with_and_without_tables(void **state)
{
    const aw_scales scales = {2.0, 0.5, 4.0};
    stage g;
    stage_open(&g, *state, slices_gaussian, 0.1, 0.0, 0);
    for (int i = 0; i < 4; ++i) {
        const int rates = i % 2, tables = i / 2;
        double I[POINTS][AW_RESULTS] = {{0.0}}, check[POINTS] = {0.0};
        const aw_common_node node = {.r = 2.0 * CDT,
                                     .weight = 1.0,
                                     .rate = 1.0,
                                     .check = 3.0,
                                     .check_rate = 5.0,
                                     .density = 1.0};
        aw_work work = {0};
        aw_common_rule rule = {.node = &node,
                               .nodes = 1,
                               .columns = COLUMNS,
                               .moves_as = &g.centre,
                               .table_error = tables ? 1e-2 : 0.0,
                               .I = I,
                               .check = check,
                               .check_rates = rates};
        assert_ok(g.device.ops->integrate(g.device.state, &rule, &scales, &work));
        assert_ok(g.device.ops->wait(g.device.state));
        assert_int_equal(rule.tables, tables);
        for (int k = 0; k < POINTS; ++k) {
            const double want = rates
                                    ? 5.0 * I[k][AW_DPHI] / scales.rate
                                    : 3.0 * (I[k][AW_PHI] / scales.phi + I[k][AW_PSI] / scales.psi);
            assert_close(check[k], want, 1e-5, 1e-12); /* tables are in single precision */
        }
    }
    stage_close(&g);
}

static void there_are_no_tables_near_the_beam_or_for_a_slice_with_a_nan(void **state)
{
    const aw_scales scales = {1.0, 1.0, 1.0};
    double I[POINTS][AW_RESULTS];
    stage g;
    stage_open(&g, *state, slices_gaussian, 0.1, 0.0, 0);
    assert_int_equal(evaluate_at(&g, 1e-4, 1e-3, &scales, I), 0);
    slices_set(&g.s, 2, 20, 12, 0, NAN);
    g.s.slice[2].id = 99;
    assert_ok(g.device.ops->upload(g.device.state, &g.h, g.point, POINTS));
    assert_int_equal(evaluate_at(&g, 2.0 * CDT, 1e-3, &scales, I), 0);
    int bad = 0;
    for (int i = 0; i < POINTS; ++i) bad += isnan(I[i][AW_PHI]);
    assert_true(bad > 0);
    stage_close(&g);
}

/* Of the weights and entries, as numbers of two irrational rotations. */
static double spread(int i, int j) { return fmod(0.618034 * i + 0.414214 * j, 1.0) - 0.5; }

static void sums_of_neighbouring_offsets_are_those_of_one_after_the_other(void **state)
{
    enum { WEIGHTS = 11, ENTRIES = WEIGHTS + AW_MEANS - 1, ZEROS = AW_MEANS - 1 };
    const aw_variant *variant = *state;
    double weight[WEIGHTS + 2 * ZEROS] = {0.0}, sum[AW_MEANS][AW_PROJECTION_WIDTH];
    double in[ENTRIES][AW_PROJECTION_WIDTH];
    for (int i = 0; i < WEIGHTS; ++i) weight[ZEROS + i] = spread(i, 0);
    for (int i = 0; i < ENTRIES; ++i)
        for (int j = 0; j < AW_PROJECTION_WIDTH; ++j) in[i][j] = spread(i, j + 1);
    variant->entry_sums(weight + ZEROS, (const double(*)[AW_PROJECTION_WIDTH])in, ENTRIES, sum);
    for (int r = 0; r < AW_MEANS; ++r)
        for (int j = 0; j < AW_PROJECTION_WIDTH; ++j) {
            double expected = 0.0;
            for (int i = 0; i < WEIGHTS; ++i) expected += weight[ZEROS + i] * in[r + i][j];
            assert_close(sum[r][j], expected, 0.0, 1e-14); /* rounding of eleven products */
        }
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(tables_agree_with_direct_evaluation, variant),
        cmocka_unit_test_prestate(a_height_is_tabulated_up_to_the_outermost_points, variant),
        cmocka_unit_test_prestate(a_gaussian_projects_to_a_gaussian, variant),
        cmocka_unit_test_prestate(a_single_cell_projects_to_its_spline, variant),
        cmocka_unit_test_prestate(kinks_are_filtered_where_nodes_alias_them_or_they_are_small,
                                  variant),
        cmocka_unit_test_prestate(tables_may_be_further_off_where_circles_sweep, variant),
        cmocka_unit_test_prestate(small_kinks_need_no_filter, variant),
        cmocka_unit_test_prestate(fewer_nodes_in_angle_suffice_for_a_smooth_beam, variant),
        cmocka_unit_test_prestate(results_do_not_depend_on_which_grid_axis_is_along_the_motion,
                                  variant),
        cmocka_unit_test_prestate(checks_are_summed_with_and_without_tables, variant),
        cmocka_unit_test_prestate(directions_suffice_where_their_first_coefficient_vanishes,
                                  variant),
        cmocka_unit_test_prestate(there_are_no_tables_near_the_beam_or_for_a_slice_with_a_nan,
                                  variant),
        cmocka_unit_test_prestate(sums_of_neighbouring_offsets_are_those_of_one_after_the_other,
                                  variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
