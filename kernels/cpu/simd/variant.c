/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inner integral with short vectors; CMake compiles this file once per AW_VARIANT. */
#include <string.h>

#include "kernels/cpu/simd/simd.h"
#include "kernels/cpu/simd/turned.h"
#include "kernels/cpu/simd/wide.h"

#if defined __AVX512F__
#define AW_VECTOR_BYTES 64
#define AW_FORM_ACROSS 4 /* 24 sums, of 32 registers */
#elif defined __AVX2__
#define AW_VECTOR_BYTES 32
#define AW_FORM_ACROSS 2 /* 12 sums, of 16 registers */
#else
#define AW_VECTOR_BYTES 16
#define AW_FORM_ACROSS 2
#endif

/* Coordinates and weights of a batch of nodes. */
typedef struct aw_batch {
    aw_turned at;
    double ct, st; /* rotation by a whole batch */
    int m;         /* first node of the next batch, where they are not equidistant in angle */
    double wu[AW_SPLINE_NODES][AW_BATCH], wv[AW_SPLINE_NODES][AW_BATCH];
    double du[AW_SPLINE_NODES][AW_BATCH]; /* slope of wu, times d(u)/d(ct) */
    double dv[AW_SPLINE_NODES][AW_BATCH]; /* slope of wv */
    double cu[AW_SPLINE_NODES][AW_BATCH]; /* wu, times d(w)/d(ct) */
    int cell[AW_BATCH];                   /* index of the first number of the nine cells */
} aw_batch;

static void aw_batch_begin(const aw_arc *arc, aw_batch *b)
{
    b->m = 0;
    for (int l = 0; l < AW_BATCH; ++l) b->at.by[l] = 1.0;
    if (arc->even.in != AW_EVEN_ANGLE) {
        b->ct = 1.0;
        b->st = 0.0;
        return;
    }
    double cd = cos(arc->step), sd = sin(arc->step);
    double c = cos(arc->first), s = sin(arc->first);
    for (int l = 0; l < AW_BATCH; ++l) {
        b->at.c[l] = c;
        b->at.s[l] = s;
        double next = c * cd - s * sd;
        s = s * cd + c * sd;
        c = next;
    }
    for (int n = 1; n < AW_BATCH; n *= 2) { /* the step, doubled until it spans the batch */
        double twice = cd * cd - sd * sd;
        sd = 2.0 * cd * sd;
        cd = twice;
    }
    b->ct = cd;
    b->st = sd;
}

/* Compute the weights of the batch's nodes, and advance the angles to the next batch. */
static inline void aw_batch_fill(const aw_arc *arc, const aw_arc_slice *s, aw_batch *b)
{
    const double u0 = arc->u, w0 = arc->w, r = arc->r, du0 = arc->du, dw0 = arc->dw;
    const double turn = arc->dgrid, ihs = s->inv_hs, ihx = s->inv_hx, ct = b->ct, st = b->st;
    const double half_s = 0.5 * (s->ns - 1), half_x = 0.5 * (s->nx - 1);
    const double lo = -(AW_PAD - 1), hi_s = s->ns + AW_PAD - 2, hi_x = s->nx + AW_PAD - 2;
    const int row = s->ns + 2 * AW_PAD;
    if (arc->even.in != AW_EVEN_ANGLE) {
        aw_turn_batch(&arc->even, arc->first + b->m * arc->step, arc->step, &b->at);
        b->m += AW_BATCH;
    }
#pragma omp simd
    for (int l = 0; l < AW_BATCH; ++l) {
        double c = b->at.c[l], q = b->at.s[l];
        double u = u0 + r * c, w = w0 + r * q;
        b->at.c[l] = c * ct - q * st;
        b->at.s[l] = q * ct + c * st;
        double ud = (du0 + turn * w) * ihs;
        double wd = (dw0 - turn * u) * ihx;
        double x = u * ihs + half_s, y = w * ihx + half_x;
        double xc = x < lo ? lo : x, yc = y < lo ? lo : y;
        xc = xc > hi_s ? hi_s : xc;
        yc = yc > hi_x ? hi_x : yc;
        int i = (int)(xc + (0.5 + AW_PAD)), j = (int)(yc + (0.5 + AW_PAD)); /* padded index */
        double f = x - (i - AW_PAD), g = y - (j - AW_PAD);
        b->cell[l] = ((j - 1) * row + (i - 1)) * AW_COMPONENTS; /* fits: sides are at most 4096 */
        double w0u = 0.5 * (0.5 - f) * (0.5 - f), w1u = 0.75 - f * f;
        double w2u = 0.5 * (0.5 + f) * (0.5 + f);
        b->wu[0][l] = w0u;
        b->wu[1][l] = w1u;
        b->wu[2][l] = w2u;
        b->cu[0][l] = w0u * wd;
        b->cu[1][l] = w1u * wd;
        b->cu[2][l] = w2u * wd;
        const double by = b->at.by[l];
        b->wv[0][l] = by * 0.5 * (0.5 - g) * (0.5 - g);
        b->wv[1][l] = by * (0.75 - g * g);
        b->wv[2][l] = by * 0.5 * (0.5 + g) * (0.5 + g);
        b->du[0][l] = (f - 0.5) * ud;
        b->du[1][l] = -2.0 * f * ud;
        b->du[2][l] = (f + 0.5) * ud;
        b->dv[0][l] = by * (g - 0.5);
        b->dv[1][l] = by * (-2.0 * g);
        b->dv[2][l] = by * (g + 0.5);
    }
}

#define AW_CELL double
#define AW_SUFFIX AW_CAT(double_, AW_VARIANT)
#include "kernels/cpu/simd/arc.h"
#undef AW_CELL
#undef AW_SUFFIX
#define AW_CELL float
#define AW_SUFFIX AW_CAT(float_, AW_VARIANT)
#include "kernels/cpu/simd/arc.h"

#include "kernels/cpu/simd/interpolated_cells.h"

#define AW_REAL double
#define AW_LETTER d
#define AW_ROUND 0x1.8p52
#include "kernels/cpu/simd/form_factor.h"
#include "kernels/cpu/simd/tile.h"
#undef AW_REAL
#undef AW_LETTER
#undef AW_ROUND
#define AW_REAL float
#define AW_LETTER f
#define AW_ROUND 0x1.8p23F
#include "kernels/cpu/simd/form_factor.h"
#include "kernels/cpu/simd/tile.h"

static void arc_sum(const aw_arc *arc, int nt, int same, const aw_arc_slice *s, int single,
                    double sum[3][8])
{
#ifdef AW_VARIANT_SCALAR
    (void)same;
    aw_arc_sum_scalar(arc, nt, s, single, sum);
#else
    if (single)
        AW_CAT(aw_arc_sum_, AW_CAT(float_, AW_VARIANT))(arc, nt, same, s, sum);
    else
        AW_CAT(aw_arc_sum_, AW_CAT(double_, AW_VARIANT))(arc, nt, same, s, sum);
#endif
}

static void interpolated_sum(const aw_arc *arc, const aw_arc_slice *s, const double *cells,
                             double sum[8])
{
#ifdef AW_VARIANT_SCALAR
    aw_interpolated_cells_sum_scalar(arc, s, cells, sum);
#else
    aw_interpolated_cells_run(arc, s, cells, sum);
#endif
}

/* Add the integral over the circle of radius f->radius about p to f_in. */
static void circle_at(const aw_retarded_beam *beam, const aw_retarded *f, const aw_field_point *p,
                      double density, double f_in[AW_RESULTS], aw_work *work)
{
    const aw_history_view *h = beam->history;
    const aw_interpolated_cells *cells = beam->cells;
    aw_arc_slice s[3];
    aw_arc arc;
    aw_arc_place(f, p, &arc);
    aw_arcs arcs = aw_circle_arcs(arc.u, arc.w, arc.r, f->half_s, f->half_x);
    if (arcs.n == 0) return;
    const int parts = cells ? cells->n : f->nt;
    for (int t = 0; t < parts; ++t)
        s[t] = aw_arc_slice_of(h, cells ? cells->shape[t] : f->slice[t]);
    for (int i = 0; i < arcs.n; ++i) {
        double sum[3][8];
        aw_arc_nodes(f, &arcs, i, density, &arc);
        if (cells) {
            for (int t = 0; t < parts; ++t) {
                interpolated_sum(&arc, &s[t], cells->cells[t], sum[t]);
                for (int k = 0; t > 0 && k < 8; ++k) sum[0][k] += sum[t][k];
            }
            aw_arc_turn(f, p, arc.step, &sum[0][0], &sum[0][4], f_in);
        } else {
            arc_sum(&arc, f->nt, f->same, s, h->single, sum);
            aw_arc_interpolate(f, p, arc.step, sum, f_in);
        }
        work->evaluations += (uint64_t)arc.n;
        work->rated += (uint64_t)arc.n;
    }
}

static void inner_at(const aw_retarded_beam *beam, const aw_field_point *p, double density,
                     double f_in[AW_RESULTS], aw_work *work)
{
    aw_circles circles = *beam->circles;
    aw_retarded f = *beam->f;
    aw_circles_see_from(&f, p->z, p->x, &circles);
    const int n = aw_circles_count(&circles);
    for (unsigned k = 0; k < AW_RESULTS; ++k) f_in[k] = f.nt ? 0.0 : (double)NAN;
    work->nodes++;
    for (int c = 0; f.nt > 0 && c < n; ++c) {
        double one[AW_RESULTS] = {0.0};
        f.radius = aw_circle_radius(beam->f, &circles, c);
        circle_at(beam, &f, p, aw_circle_density(&circles, c, density), one, work);
        aw_circle_add(&circles, c, one, f_in);
    }
}

static void inner(const aw_history_view *h, const aw_field_point *p, double r, double density,
                  double f_in[AW_RESULTS], aw_work *work)
{
    const aw_retarded f = aw_retarded_at(h, r);
    const aw_circles circles = aw_circles_at(&f);
    const aw_retarded_beam beam = {.history = h, .f = &f, .circles = &circles};
    inner_at(&beam, p, density, f_in, work);
}

static int tile_sum(const aw_history_view *h, const aw_tile_arc *arc, const void *cells,
                    const int (*span)[2], const aw_tile_options *options,
                    double sum[AW_LINE_COMPONENTS][AW_TILE])
{
#ifdef AW_VARIANT_SCALAR
    return aw_tile_sum_scalar(h, arc, cells, span, options, sum);
#else
    return options->single ? aw_tile_sum_f(h, arc, cells, span, options, sum)
                           : aw_tile_sum_d(h, arc, cells, span, options, sum);
#endif
}

static void tile(const aw_retarded_beam *beam, const aw_tile_options *options, const aw_tile *lanes,
                 const aw_tile_place *place, double f_in[AW_RESULTS][AW_TILE], aw_work *work)
{
    const aw_history_view *h = beam->history;
    const aw_retarded *f = beam->f;
    const aw_interpolated_lines *lines = beam->lines;
    for (unsigned k = 0; k < AW_RESULTS; ++k)
        for (int l = 0; l < AW_TILE; ++l) f_in[k][l] = f->nt ? 0.0 : (double)NAN;
    work->nodes += (uint64_t)lanes->n;
    if (f->nt == 0) return;
    for (int i = 0; i < place->arcs.n; ++i)
        for (int t = 0; t < lines->n; ++t) {
            double sum[AW_LINE_COMPONENTS][AW_TILE];
            aw_tile_arc arc;
            const aw_arc_slice part = aw_arc_slice_of(h, lines->shape[t]);
            aw_tile_arc_of(f, place, i, options->density, &part, &arc);
            const uint64_t done =
                (uint64_t)tile_sum(h, &arc, lines->cells[t], lines->span[t], options, sum);
            aw_tile_turn(f, lanes, arc.step, sum, f_in);
            if (t > 0) continue;
            const uint64_t evaluations = done * (uint64_t)lanes->n / AW_TILE;
            work->evaluations += evaluations;
            work->rated += options->rates ? evaluations : 0;
        }
}

static void interpolate_lines(const aw_line_interpolation *lines)
{
    if (lines->single)
        aw_interpolate_lines_f(lines);
    else
        aw_interpolate_lines_d(lines);
}

static void tile_rule(const double f[5][AW_RESULTS][AW_TILE], double h, const aw_scales *scales,
                      int fine, aw_tile_estimate *out)
{
    aw_tile_rule(f, h, scales, fine, out);
}

static void interpolate_cells(const aw_history_view *h, const aw_retarded *f, double *buffer,
                              aw_interpolated_cells *out)
{
    aw_interpolated_cells_make(h, f, buffer, out);
}

#include "kernels/cpu/simd/convolution.h"
#include "kernels/cpu/simd/look_up.h"
#include "kernels/cpu/simd/passage.h"

#define AW_TEXT_(name) #name
#define AW_TEXT(name) AW_TEXT_(name)

extern const aw_variant AW_CAT(aw_variant_, AW_VARIANT);
const aw_variant AW_CAT(aw_variant_,
                        AW_VARIANT) = {.name = AW_TEXT(AW_VARIANT),
                                       .inner = inner,
                                       .inner_at = inner_at,
                                       .interpolate_cells = interpolate_cells,
                                       .arc_sum = arc_sum,
                                       .interpolated_sum = interpolated_sum,
                                       .tile = tile,
                                       .tile_sum = tile_sum,
                                       .tile_rule = tile_rule,
                                       .look_up = aw_look_up,
                                       .entry_sums = aw_entry_sums_run,
                                       .interpolate_lines = interpolate_lines,
                                       .convolution_ring = aw_convolution_ring,
                                       .spectral_sum = aw_spectral_sum_run,
                                       .lattice_sum = aw_lattice_sum_run,
                                       .form_sum = {aw_form_sum_d, aw_form_sum_f},
                                       .form_row = {aw_form_row_d, aw_form_row_f},
                                       .form_columns = {aw_form_columns_d, aw_form_columns_f},
                                       .form_tile = {aw_form_tile_d, aw_form_tile_f}};
