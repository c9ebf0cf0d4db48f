/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The vector part of the inner integral against closed forms and against the scalar sum. */
#include <float.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NS = 24, NX = 18, NT = 3 };
#define HS 0.01
#define HX 0.02

/* c0 + c1 u + c2 w + c3 u^2 + c4 w^2 + c5 u w, for each component. */
typedef struct quadric {
    double c[3][6];
} quadric;

static void quadric_at(const void *context, double age, double u, double w, double m[3])
{
    const quadric *q = context;
    (void)age;
    for (int k = 0; k < 3; ++k)
        m[k] = q->c[k][0] + q->c[k][1] * u + q->c[k][2] * w + q->c[k][3] * u * u +
               q->c[k][4] * w * w + q->c[k][5] * u * w;
}

/* Sums over the nodes of 1, u, w, u^2, w^2, u w, from closed forms of sums of cosines. */
static void node_sums(const aw_arc *arc, double sum[6])
{
    double n = arc->n, half = 0.5 * arc->step, middle = arc->first + (n - 1.0) * half;
    double one = sin(n * half) / sin(half), two = sin(2.0 * n * half) / sin(2.0 * half);
    double c = one * cos(middle), s = one * sin(middle);
    double cc = 0.5 * (n + two * cos(2.0 * middle)), ss = n - cc;
    double cs = 0.5 * two * sin(2.0 * middle), u = arc->u, w = arc->w, r = arc->r;
    sum[0] = n;
    sum[1] = n * u + r * c;
    sum[2] = n * w + r * s;
    sum[3] = n * u * u + 2.0 * u * r * c + r * r * cc;
    sum[4] = n * w * w + 2.0 * w * r * s + r * r * ss;
    sum[5] = n * u * w + r * (u * s + w * c) + r * r * cs;
}

static double dot6(const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < 6; ++k) sum += a[k] * b[k];
    return sum;
}

/* Sums over the nodes of a quadratic and of its rate. Read through the quadratic B-spline, u^2 is
 * higher by h^2/4; slopes are exact. */
static void expected(const aw_arc *arc, const double *c, const aw_slice *s, double out[2])
{
    double sums[6];
    double widened = c[3] * s->hs * s->hs / 4.0 + c[4] * s->hx * s->hx / 4.0;
    double du = arc->du, dw = arc->dw, turn = arc->dgrid;
    /* (du + turn w)(c1 + 2 c3 u + c5 w) + (dw - turn u)(c2 + 2 c4 w + c5 u) */
    const double rate[6] = {du * c[1] + dw * c[2],
                            2.0 * c[3] * du + c[5] * dw - turn * c[2],
                            c[5] * du + 2.0 * c[4] * dw + turn * c[1],
                            -turn * c[5],
                            turn * c[5],
                            2.0 * turn * (c[3] - c[4])};
    node_sums(arc, sums);
    out[0] = dot6(c, sums) + widened * sums[0];
    out[1] = dot6(rate, sums);
}

typedef struct fixture {
    const aw_variant *variant;
    uint64_t random;
    quadric q[NT];
    slices s;
    aw_arc_slice read[NT];
} fixture;

/* Three slices of quadratic densities; spacings differ unless `same`. */
static void fixture_open(fixture *b, void **state, int single, int same)
{
    b->variant = *state;
    b->random = 5;
    slices_new(&b->s, NT, NS, NX, single, HS, HX);
    for (int t = 0; t < NT; ++t) {
        aw_slice *slice = &b->s.slice[t];
        if (!same) {
            slice->hs *= 1.0 + 0.19 * t;
            slice->hx *= 1.0 + 0.41 * t;
        }
        for (int k = 0; k < 3; ++k)
            for (int i = 0; i < 6; ++i)
                b->q[t].c[k][i] = uniform(&b->random, -1.0, 1.0) * (i < 1   ? 1.0
                                                                    : i < 3 ? 5.0
                                                                            : 40.0);
        slices_fill(&b->s, t, 1, quadric_at, &b->q[t]);
        b->read[t] = (aw_arc_slice){slice->cells, NS, NX, 1.0 / slice->hs, 1.0 / slice->hx};
    }
}

/* An arc whose nodes all lie on the grid, with small or large steps and rates of either sign. */
static aw_arc arc_on_grid(uint64_t *random, int n)
{
    aw_arc arc = {.u = uniform(random, -0.03, 0.03), .w = uniform(random, -0.05, 0.05)};
    arc.r = uniform(random, 0.001, 0.07);
    arc.first = uniform(random, -AW_PI, AW_PI);
    arc.step = uniform(random, 0.1, 2.0) * AW_PI / n;
    arc.n = n;
    arc.du = uniform(random, -1.0, 1.0);
    arc.dw = uniform(random, -1.0, 1.0);
    arc.dgrid = uniform(random, -5.0, 5.0);
    return arc;
}

static void check_closed_form(void **state, int single, int nt, int same)
{
    static const int nodes[] = {1, 2, 7, 8, 15, 16, 17, 31, 33, 100};
    /* double: rounding of coordinates (1e-16) and of the recurrence of node angles (some 1e-16 per
     * batch), slopes up to 10 per metre over cells of 0.01 m; float: rounding of the cells */
    const double level = single ? 4e-7 : 2e-13;
    fixture b;
    fixture_open(&b, state, single, same);
    for (int i = 0; i < 200; ++i) {
        aw_arc arc = arc_on_grid(&b.random, nodes[i % 10]);
        double sum[3][8], want[2];
        b.variant->arc_sum(&arc, nt, same, b.read, single, sum);
        for (int t = 0; t < nt; ++t)
            for (int k = 0; k < 3; ++k) {
                expected(&arc, b.q[t].c[k], &b.s.slice[t], want);
                assert_close(sum[t][k], want[0], 0.0, level * arc.n);
                /* differences of cells over a cell of 0.01 m: 1/h times the rounding */
                assert_close(sum[t][4 + k], want[1], 0.0, level * arc.n * 2.0 / HS);
            }
    }
    slices_free(&b.s);
}

static void quadratic_density_sums_to_its_closed_form_one_slice(void **state)
{
    check_closed_form(state, 0, 1, 1);
}
static void quadratic_density_sums_to_its_closed_form_three_slices(void **state)
{
    check_closed_form(state, 0, 3, 1);
}
static void quadratic_density_sums_to_its_closed_form_unequal_spacings(void **state)
{
    check_closed_form(state, 0, 3, 0);
}
static void quadratic_density_in_float_sums_to_its_closed_form(void **state)
{
    check_closed_form(state, 1, 1, 1);
    check_closed_form(state, 1, 3, 1);
    check_closed_form(state, 1, 3, 0);
}

/* Noise on every node, zeros in the padding, as after a deposition. */
static void fill_with_noise(fixture *b)
{
    for (int t = 0; t < NT; ++t)
        for (int j = -AW_PAD; j < NX + AW_PAD; ++j)
            for (int i = -AW_PAD; i < NS + AW_PAD; ++i)
                for (int k = 0; k < AW_COMPONENTS; ++k) {
                    int inside = i >= 0 && i < NS && j >= 0 && j < NX;
                    double noise = uniform(&b->random, -1.0, 1.0);
                    slices_set(&b->s, t, i, j, k, inside ? noise : 0.0);
                }
}

/* Arcs of any radius up to 1e6 cells through or past the box, some nodes far off the grid. */
static aw_arc arc_anywhere(uint64_t *random, int n)
{
    aw_arc arc = arc_on_grid(random, n);
    double towards = uniform(random, -AW_PI, AW_PI);
    arc.r = HS * exp(uniform(random, log(0.1), log(1e6)));
    arc.u = uniform(random, -0.1, 0.1) - arc.r * cos(towards);
    arc.w = uniform(random, -0.1, 0.1) - arc.r * sin(towards);
    arc.step = uniform(random, 0.2, 2.0) * fmin(HS / arc.r, 2.0 * AW_PI / n);
    arc.first = towards - 0.5 * n * arc.step;
    return arc;
}

static void check_against_scalar(void **state, int single, int nt, int same)
{
    static const int nodes[] = {1, 1, 1, 3, 8, 16, 17, 40, 129}; /* most of them: a single node */
    int nonzero = 0;
    fixture b;
    fixture_open(&b, state, single, same);
    fill_with_noise(&b);
    for (int i = 0; i < 3000; ++i) {
        aw_arc arc = arc_anywhere(&b.random, nodes[i % 9]);
        double sum[3][8], want[3][8];
        /* A node may be misplaced by rounding of its angle (up to 2 pi, and up to once per step of
         * the rotation) times r; cells differ by up to 2 from one to the next, slopes by 4. */
        double misplaced = DBL_EPSILON * (8.0 + arc.n) * (arc.r + 1.0) / HS;
        double rounding = arc.n * (1e-14 + 4.0 * misplaced);
        double speed = (fabs(arc.du) + fabs(arc.dw) + 0.3 * fabs(arc.dgrid)) / HS;
        aw_arc_sum_scalar(&arc, nt, b.read, single, want);
        b.variant->arc_sum(&arc, nt, same, b.read, single, sum);
        for (int t = 0; t < nt; ++t)
            for (int k = 0; k < 3; ++k) {
                assert_close(sum[t][k], want[t][k], 0.0, rounding);
                assert_close(sum[t][4 + k], want[t][4 + k], 0.0, 4.0 * rounding * speed);
                nonzero += want[t][k] != 0.0;
            }
    }
    assert_true(nonzero > 3000); /* most arcs met the grid */
    slices_free(&b.s);
}

static void nodes_agree_with_the_scalar_sum_in_double(void **state)
{
    check_against_scalar(state, 0, 1, 1);
    check_against_scalar(state, 0, 3, 1);
    check_against_scalar(state, 0, 3, 0);
}

static void nodes_agree_with_the_scalar_sum_in_float(void **state)
{
    check_against_scalar(state, 1, 1, 1);
    check_against_scalar(state, 1, 3, 1);
    check_against_scalar(state, 1, 3, 0);
}

/* Interpolating in time first and then summing gives the same as the reverse. */
static void check_interpolated(void **state, int single, int same, int parts)
{
    const aw_history_view view = {.ns = NS, .nx = NX, .single = single};
    fixture b;
    fixture_open(&b, state, single, same);
    fill_with_noise(&b);
    if (parts == 2) { /* equal spacings in the first and the last slice */
        b.s.slice[2].hs = b.s.slice[0].hs;
        b.s.slice[2].hx = b.s.slice[0].hx;
    }
    aw_retarded f = {.nt = NT, .w = {0.4, 0.9, -0.3}, .wd = {70.0, -20.0, -50.0}};
    for (int t = 0; t < NT; ++t) {
        f.slice[t] = &b.s.slice[t];
        b.read[t] = aw_arc_slice_of(&view, f.slice[t]);
    }
    aw_interpolated_cells blend;
    double *room = aw_alloc(aw_interpolated_cells_size(&view), sizeof *room);
    assert_non_null(room);
    b.variant->interpolate_cells(&view, &f, room, &blend);
    assert_int_equal(blend.n, parts);
    for (int i = 0; i < 1000; ++i) {
        static const int nodes[] = {1, 3, 16, 17, 40};
        aw_arc arc = arc_anywhere(&b.random, nodes[i % 5]);
        double each[3][8], got[8] = {0.0};
        /* as in check_against_scalar, with time weights up to 1, and up to 70 per metre */
        double misplaced = DBL_EPSILON * (8.0 + arc.n) * (arc.r + 1.0) / HS;
        double rounding = arc.n * (1e-14 + 4.0 * misplaced);
        double speed = (fabs(arc.du) + fabs(arc.dw) + 0.3 * fabs(arc.dgrid)) / HS;
        aw_arc_sum_scalar(&arc, NT, b.read, single, each);
        for (int p = 0; p < blend.n; ++p) {
            const aw_arc_slice shape = aw_arc_slice_of(&view, blend.shape[p]);
            double sum[8];
            b.variant->interpolated_sum(&arc, &shape, blend.cells[p], sum);
            for (int k = 0; k < 8; ++k) got[k] += sum[k];
        }
        for (int k = 0; k < 3; ++k) {
            double moment = 0.0, rate = 0.0;
            for (int t = 0; t < NT; ++t) {
                moment += f.w[t] * each[t][k];
                rate += f.w[t] * each[t][4 + k] + f.wd[t] * each[t][k];
            }
            assert_close(got[k], moment, 0.0, 2.0 * rounding);
            assert_close(got[4 + k], rate, 0.0, rounding * (8.0 * speed + 140.0));
        }
    }
    aw_free(room);
    slices_free(&b.s);
}

static void sums_over_interpolated_cells_agree_with_those_over_slices_in_double(void **state)
{
    check_interpolated(state, 0, 1, 1);
}

static void sums_over_interpolated_cells_agree_with_those_over_slices_in_float(void **state)
{
    check_interpolated(state, 1, 1, 1);
}

static void interpolated_cells_have_one_part_per_spacing(void **state)
{
    check_interpolated(state, 0, 0, 3);
    check_interpolated(state, 0, 0, 2);
}

static void nodes_off_the_grid_read_zero(void **state)
{
    fixture b;
    fixture_open(&b, state, 0, 1);
    fill_with_noise(&b);
    for (int i = 0; i < 100; ++i) {
        aw_arc arc = arc_on_grid(&b.random, 5);
        double sum[3][8], side = i % 2 ? 1.0 : -1.0;
        arc.r = 1e-4;
        /* from just beyond the reach of the shape up to kilometres away */
        const double beyond = AW_SPLINE_REACH + 0.01;
        if (i % 4 < 2)
            arc.u = side * (0.5 * (NS - 1) * HS + beyond * HS + arc.r) * exp2(i % 23);
        else
            arc.w = side * (0.5 * (NX - 1) * HX + beyond * HX + arc.r) * exp2(i % 23);
        b.variant->arc_sum(&arc, 3, 1, b.read, 0, sum);
        for (int t = 0; t < 3; ++t)
            for (int k = 0; k < 3; ++k) {
                assert_close(sum[t][k], 0.0, 0.0, 0.0);
                assert_close(sum[t][4 + k], 0.0, 0.0, 0.0);
            }
    }
    slices_free(&b.s);
}

/* How an arc crosses cells, from 2000 points on it. */
typedef struct crossing {
    double rate;  /* largest number of cells crossed per metre along an axis */
    double slant; /* largest ratio of the rates along the slower and the faster axis */
    int turns;    /* 1: each axis is the faster one somewhere */
} crossing;

static crossing crossing_of(const aw_retarded *f, double lo, double hi)
{
    crossing c = {0.0, 0.0, 0};
    int along = 0, across = 0;
    for (int k = 0; k <= 2000; ++k) {
        double a = lo + (hi - lo) * k / 2000.0, s = fabs(sin(a)) / f->hs, x = fabs(cos(a)) / f->hx;
        c.rate = fmax(c.rate, fmax(s, x));
        c.slant = fmax(c.slant, fmin(s, x) / fmax(s, x));
        along = along || s > x;
        across = across || x > s;
    }
    c.turns = along && across;
    return c;
}

/* Nodes that are not equidistant in angle: they cover the arc, their weights add up to its angle,
 * and from one to the next it crosses one cell of either axis over the density, but for what
 * AW_EVEN_RANGE allows. */
static void covers_in_place(const aw_retarded *f, const aw_arc *arc, double lo, double hi,
                            double density)
{
    double sum = 0.0, before[2] = {0.0}, beyond = 0.0, most = 0.0;
    for (int m = 0; m < arc->n; ++m) {
        double c, s;
        sum += arc->step * aw_arc_turned(&arc->even, arc->first + m * arc->step, &c, &s);
        const double away = remainder(atan2(s, c) - 0.5 * (lo + hi), 2.0 * AW_PI);
        assert_close(hypot(c, s), 1.0, 1e-15, 0.0);
        beyond = fmax(beyond, fabs(away) - 0.5 * (hi - lo));
        if (m > 0)
            most = fmax(most,
                        f->radius * fmax(fabs(c - before[0]) / f->hs, fabs(s - before[1]) / f->hx));
        before[0] = c;
        before[1] = s;
    }
    assert_true(beyond <= (hi - lo) / 4.0);
    if (arc->n > 20) assert_true(fabs(sum / (hi - lo) - 1.0) < 0.2);
    if (arc->n > 4) assert_true(most * density <= AW_EVEN_RANGE);
}

static void nodes_cover_an_arc_with_at_least_the_requested_density(void **state)
{
    uint64_t random = 1;
    int few = 0, slanted = 0, turning = 0, in_place = 0;
    (void)state;
    for (int i = 0; i < 3000; ++i) {
        aw_retarded f = {.hs = 1e-3, .half_s = 0.02, .half_x = 0.03};
        f.hx = f.hs * exp(uniform(&random, -6.0, 6.0)); /* aspect ratios of cells up to 400 */
        aw_arcs arcs = {.n = 1};
        aw_arc arc = {.r = 0.0};
        double density = uniform(&random, 0.5, 4.0);
        f.radius = arc.r = exp(uniform(&random, -9.0, 3.0));
        arcs.whole = i % 2 && f.radius < f.half_s; /* the circle must fit into the box */
        arcs.lo[0] = arcs.whole ? -AW_PI : uniform(&random, -AW_PI, AW_PI);
        /* an open arc with r larger than the box is limited by its diagonal */
        double longest = 2.0 * asin(fmin(1.0, hypot(f.half_s, f.half_x) / f.radius));
        arcs.hi[0] = arcs.whole ? AW_PI : arcs.lo[0] + uniform(&random, 1e-3, 1.0) * longest;
        aw_arc_nodes(&f, &arcs, 0, density, &arc);
        double range = arcs.hi[0] - arcs.lo[0];
        crossing c = crossing_of(&f, arcs.lo[0], arcs.hi[0]);
        double wanted = density * (c.slant <= 0.1 ? 1.0 : c.turns ? 3.0 : 2.0);
        slanted += c.slant > 0.1 && !c.turns;
        turning += c.turns;
        if (arc.even.in != AW_EVEN_ANGLE) {
            covers_in_place(&f, &arc, arcs.lo[0], arcs.hi[0],
                            density * (c.slant <= 0.1 ? 1.0 : 2.0));
            in_place++;
            continue;
        }
        assert_true(c.rate * arc.step * f.radius * wanted <= 1.0 + 1e-12);
        if (arc.n > 20 && !arcs.whole &&
            c.slant < 0.09) /* and no denser where the arc is along an axis */
            few += c.rate * arc.step * f.radius * density > 0.99;
        assert_close(arc.first, arcs.lo[0] + 0.5 * arc.step, 1e-15, 1e-15);
        if (arcs.whole)
            assert_close(arc.n * arc.step, range, 1e-14, 0.0);
        else /* an open arc is covered, with at most one node too many */
            assert_true(arc.n * arc.step >= range * (1.0 - 1e-12) &&
                        (arc.n - 1) * arc.step < range);
    }
    assert_true(few > 10 && slanted > 100 && turning > 100 && in_place > 100);
}

/* Cells of a sheet behind a chicane's third bend: long and thin, so that a circle of a metre turns
 * from one axis to the other within the sheet. */
#define THIN_HS 4e-4
#define THIN_HX 2e-6

/* A sheet of 0.8 by 2.5 cells (rms) at a slant of one row per two columns. */
static void sheet_at(const void *context, double age, double u, double w, double m[3])
{
    const double across = (w / THIN_HX - 0.5 * u / THIN_HS) / hypot(1.0, 0.5) / 0.8;
    const double along = (u / THIN_HS + 0.5 * w / THIN_HX) / hypot(1.0, 0.5) / 2.5;
    (void)context;
    (void)age;
    m[0] = exp(-0.5 * (across * across + along * along));
    m[1] = m[2] = 0.0;
}

/* Integral over the circle of a radius in direction `angle`, of the sheet. */
static double through_sheet(const fixture *b, const aw_retarded *f, double angle, double density)
{
    aw_arc arc = {.u = -f->radius * cos(angle), .w = -f->radius * sin(angle), .r = f->radius};
    const aw_arcs arcs = aw_circle_arcs(arc.u, arc.w, arc.r, f->half_s, f->half_x);
    double total = 0.0;
    for (int i = 0; i < arcs.n; ++i) {
        double sum[3][8];
        aw_arc_nodes(f, &arcs, i, density, &arc);
        b->variant->arc_sum(&arc, 1, 1, b->read, 0, sum);
        total += arc.step * sum[0][0];
    }
    return total;
}

/* A thin sheet is integrated to so much of itself (rms over arcs of all slants but those along the
 * sheet; measured 0.7 of it) with one, two and four nodes per cell. */
static void slanted_sheets_are_integrated_with_few_nodes(void **state)
{
    const double density[3] = {0.25, 1.0, 2.0}, allowed[3] = {2e-3, 3e-4, 4.5e-5};
    slices s;
    fixture b = {.variant = *state, .random = 5};
    slices_new(&s, 1, NS, NX, 0, THIN_HS, THIN_HX);
    slices_fill(&s, 0, 1, sheet_at, NULL);
    b.read[0] = (aw_arc_slice){s.slice[0].cells, NS, NX, 1.0 / THIN_HS, 1.0 / THIN_HX};
    aw_retarded f = {.hs = THIN_HS,
                     .hx = THIN_HX,
                     .half_s = (0.5 * (NS - 1) + AW_SPLINE_REACH) * THIN_HS,
                     .half_x = (0.5 * (NX - 1) + AW_SPLINE_REACH) * THIN_HX};
    double square[3] = {0.0};
    int n = 0;
    for (int i = 0; i < 1000; ++i) {
        f.radius = aw_near_radius(&f) * exp(uniform(&b.random, 0.0, 5.0));
        const double slope = uniform(&b.random, -3.0, 3.0); /* rows per column */
        const double angle = atan2(THIN_HS, -slope * THIN_HX) + (i % 2 ? AW_PI : 0.0);
        if (fabs(slope - 0.5) < 0.5) continue;
        const double exact = through_sheet(&b, &f, angle, 32.0);
        n++;
        for (int k = 0; k < 3; ++k)
            square[k] += pow(through_sheet(&b, &f, angle, density[k]) / exact - 1.0, 2.0);
    }
    for (int k = 0; k < 3; ++k) assert_true(sqrt(square[k] / n) <= allowed[k]);
    slices_free(&s);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(slanted_sheets_are_integrated_with_few_nodes, variant),
        cmocka_unit_test_prestate(quadratic_density_sums_to_its_closed_form_one_slice, variant),
        cmocka_unit_test_prestate(quadratic_density_sums_to_its_closed_form_three_slices, variant),
        cmocka_unit_test_prestate(quadratic_density_sums_to_its_closed_form_unequal_spacings,
                                  variant),
        cmocka_unit_test_prestate(quadratic_density_in_float_sums_to_its_closed_form, variant),
        cmocka_unit_test_prestate(nodes_agree_with_the_scalar_sum_in_double, variant),
        cmocka_unit_test_prestate(nodes_agree_with_the_scalar_sum_in_float, variant),
        cmocka_unit_test_prestate(
            sums_over_interpolated_cells_agree_with_those_over_slices_in_double, variant),
        cmocka_unit_test_prestate(
            sums_over_interpolated_cells_agree_with_those_over_slices_in_float, variant),
        cmocka_unit_test_prestate(interpolated_cells_have_one_part_per_spacing, variant),
        cmocka_unit_test_prestate(nodes_off_the_grid_read_zero, variant),
        cmocka_unit_test(nodes_cover_an_arc_with_at_least_the_requested_density),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
