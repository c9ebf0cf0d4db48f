/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiles: up to 16 neighbouring points of a row of the grid, or of a column where the axes of the
 * beam are exchanged (kernels/cpu/interpolated_lines.c). The points share the nodes of both
 * integrals and are the lanes of a vector. Where the spacing of the beam is that of the grid,
 * neighbours read neighbouring cells, without gathers. This file has the geometry and the scalar
 * reference of the sums; kernels/cpu/simd/tile.h is the vector form. */
#ifndef AW_KERNELS_MATH_TILE_H
#define AW_KERNELS_MATH_TILE_H
#include "kernels/math/height.h"
#include "kernels/math/integrand.h"
#include "quadrature/rules/simpson.h"

/* Points of a tile. */
#define AW_TILE 16
/* Zero columns at either end of a line: the window of a tile may extend beyond the slice. */
#define AW_TILE_PAD 24
/* Lines per row of interpolated lines: three moments, then their rates at a fixed cell. */
#define AW_LINE_COMPONENTS 6

/** The points of a tile, as far as a node needs them. Lanes from n on extrapolate the row. */
typedef struct aw_tile {
    int n;                                   /* points, 1 .. AW_TILE */
    double z[AW_TILE], x[AW_TILE];           /* lab position [m] */
    double vz[AW_TILE], vx[AW_TILE];         /* velocity in c */
    double half_c[AW_TILE], half_s[AW_TILE]; /* cosine and sine of half the direction's angle */
    double beta[AW_TILE], one_minus_beta[AW_TILE];
} aw_tile;

/** Position of a tile in the grid frame of a retarded time, and the arcs that contain the nodes of
 *  all lanes. */
typedef struct aw_tile_place {
    double u[AW_TILE], w[AW_TILE];   /* positions of the lanes [m] */
    double du[AW_TILE], dw[AW_TILE]; /* as in aw_arc */
    double u_mid, w_mid;             /* middle of the lanes [m] */
    double u_half, w_half;           /* their half extents [m] */
    int lined_up;   /* 1: every lane's nodes are shifted along the arc until all lanes have the
                     * same w (aw_tile_line_up) */
    double slack;   /* largest displacement along u by a shift (aw_tile_shift) [m] */
    double wide[2]; /* widening of the beam's box for all lanes, along and across [m] */
    double r;       /* radius of the circles [m] */
    aw_arcs arcs;   /* about the middle, in the widened box */
} aw_tile_place;

/** Slices interpolated at one retarded time (as aw_interpolated_cells), stored as lines: nx + 2
 *  AW_PAD rows, each of AW_LINE_COMPONENTS lines of aw_line_width numbers, float or double. */
typedef struct aw_interpolated_lines {
    int n;                    /* parts of equal spacings, 1 .. 3 */
    const void *cells[3];     /* [n], borrowed; line 0 of the first padding row of each part */
    const aw_slice *shape[3]; /* [n]: a slice with the spacings of the part */
    /* [n], borrowed: rows j .. j + AW_SPLINE_NODES - 1 of a part are zero outside the columns
     * span[j][0] .. span[j][1] - 1; windows outside are not read. NULL: zeros are not known. */
    const int (*span[3])[2];
} aw_interpolated_lines;

/** Nodes of one arc for all lanes, in cells of one part, counted from its first node. At angle t,
 *  with cosine c and sine s, the node of lane l lies at
 *    a + l + da[l] + r_s c - qa[l] s - pa[l] c  along and
 *    b     + db[l] + r_x s + qb[l] c - pb[l] s  across,
 *  that is, at the angle t + (shift of the lane): the nodes of each lane may be shifted a little
 *  along the arc so that all lanes read the same cells (aw_tile_shift). */
typedef struct aw_tile_arc {
    int n;              /* nodes */
    double first, step; /* as in aw_arc */
    aw_arc_even even;
    double a, b, r_s, r_x;                                     /* [cells] */
    double da[AW_TILE], db[AW_TILE];                           /* [cells] */
    double pa[AW_TILE], qa[AW_TILE], pb[AW_TILE], qb[AW_TILE]; /* [cells] */
    double ud[AW_TILE], wd[AW_TILE]; /* velocity of the circle's centre [cells/m] ... */
    double turn_s, turn_x;           /* ... to which turn_s s and -turn_x c are added */
} aw_tile_arc;

/** Options of the sums over the nodes of a tile. */
typedef struct aw_tile_options {
    double density; /* as in aw_arc_nodes */
    int single;     /* 1: lines are float */
    int rates;      /* 1: rates are summed, too; 0: their sums are 0 */
    int batch;      /* nodes after which the vector form adds its sums to double sums, >= 1 */
} aw_tile_options;

/** Lanes first .. end - 1 of a tile. */
typedef struct aw_lanes {
    int first, end;
} aw_lanes;

/** Integral over one region for the lanes of a tile. */
typedef struct aw_tile_estimate {
    double I[AW_RESULTS][AW_TILE];
    double error[AW_TILE];  /* in scales */
    double coarse[AW_TILE]; /* excess of the error of rates at every other node (aw_tile_rule) */
} aw_tile_estimate;

/* Largest angle of an arc whose lanes are shifted [rad]: no one shift suits a longer arc. */
#define AW_SHIFT_RANGE 1.0
/* Limits for lining up lanes: the angle by which arcs turn within the beam, times their slant, and
 * the shift [rad]. */
#define AW_LINE_UP_TURN 0.5
#define AW_LINE_UP_SHIFT 0.1
/* Uncertainty factor of an arc's direction before it is known: arc and box differ in the middle. */
#define AW_SHIFT_MARGIN 1.2

/** Numbers of one line. */
AW_FN int aw_line_width(const aw_history_view *h)
{
    return (h->ns + 2 * AW_TILE_PAD + 15) / 16 * 16;
}

/** Numbers of one part. */
AW_FN size_t aw_interpolated_lines_size(const aw_history_view *h)
{
    return (size_t)aw_line_width(h) * AW_LINE_COMPONENTS * (size_t)(h->nx + 2 * AW_PAD);
}

/** Make a tile of n consecutive points of a row, 1 <= n <= AW_TILE. */
AW_FN void aw_tile_take(const aw_field_point *p, int n, aw_tile *tile)
{
    tile->n = n;
    for (int l = 0; l < AW_TILE; ++l) {
        const aw_field_point *q = &p[l < n ? l : n - 1], *before = &p[n > 1 ? n - 2 : 0];
        const double beyond = l < n ? 0.0 : (double)(l - n + 1);
        tile->z[l] = q->z + beyond * (q->z - before->z);
        tile->x[l] = q->x + beyond * (q->x - before->x);
        tile->vz[l] = q->beta * q->ct;
        tile->vx[l] = q->beta * q->st;
        tile->half_c[l] = cos(0.5 * q->theta);
        tile->half_s[l] = sin(0.5 * q->theta);
        tile->beta[l] = q->beta;
        tile->one_minus_beta[l] = q->one_minus_beta;
    }
}

/** Largest displacement of lanes along the row by a shift (aw_tile_shift) [m]: one cell, of which
 *  half a cell is used; or, where the shift removes the offsets across, the distance that the arc
 *  covers along the row meanwhile. A displacement by more than the length of a tile would leave
 *  lanes further apart than cells and is not used. */
AW_FN double aw_tile_slack(const aw_history_view *h, const aw_retarded *f,
                           const aw_tile_place *place)
{
    const double cell = f->half_s / (0.5 * (h->ns - 1) + AW_SPLINE_REACH);
    const double u = fabs(place->u_mid), w = fabs(place->w_mid);
    const double along = AW_SHIFT_MARGIN * place->w_half * w / u;
    const int across = !place->lined_up && u * f->hs > w * f->hx;
    return across && along > cell && along <= AW_TILE * f->hs ? along : cell;
}

/** Whether the lanes are shifted along the arc until they form a row, for a beam that is far away:
 *  the box then need not be widened by their offsets across, only by the turn of an arc within the
 *  beam.
 *  @param[in,out] wide  widening of the beam's box, along and across [m]; changed if lined up */
AW_FN int aw_tile_line_up(const aw_retarded *f, const aw_tile_place *place, double wide[2])
{
    const double slope = place->w_mid / place->u_mid, steep = 1.0 + fabs(slope);
    const double half = place->w_half;
    const double box = sqrt(f->half_s * f->half_s + f->half_x * f->half_x);
    const double angle = (box + place->u_half + half) / place->r;
    if (!(half > f->hx) || !(fabs(slope) * f->hx < f->hs)) return 0;
    if (!(angle * steep <= AW_LINE_UP_TURN) || !(half * steep <= AW_LINE_UP_SHIFT * place->r))
        return 0;
    wide[0] = 0.0;
    for (int l = 0; l < AW_TILE; ++l) {
        const double du = place->u[l] - place->u_mid, dw = place->w[l] - place->w_mid;
        wide[0] = fmax(wide[0], fabs(du + slope * dw));
    }
    wide[0] += half * angle * steep * steep;
    wide[1] = half * angle * steep;
    return 1;
}

/** Add the integrals over circle c, for some lanes of a tile, to the mean (aw_circle_add). */
AW_FN void aw_tile_circle_add_lanes(const aw_circles *circles, int c, aw_lanes lanes,
                                    const double one[AW_RESULTS][AW_TILE],
                                    double f_in[AW_RESULTS][AW_TILE])
{
    const double weight = aw_circle_weight(circles, c), growth = aw_circle_growth(circles, c);
    for (unsigned k = 0; k < AW_RESULTS; ++k)
        for (int l = lanes.first; l < lanes.end; ++l) f_in[k][l] += weight * one[k][l];
    if (growth == 0.0) return;
    for (unsigned k = 0; k < AW_PSI; ++k)
        for (int l = lanes.first; l < lanes.end; ++l)
            f_in[AW_DPHI + k][l] += growth * one[AW_PHI + k][l];
}

/** The same for all lanes. */
AW_FN void aw_tile_circle_add(const aw_circles *circles, int c,
                              const double one[AW_RESULTS][AW_TILE],
                              double f_in[AW_RESULTS][AW_TILE])
{
    const aw_lanes all = {0, AW_TILE};
    aw_tile_circle_add_lanes(circles, c, all, one, f_in);
}

/** Extend a rectangle by the points of a tile. */
AW_FN void aw_tile_span_add(const aw_retarded *f, const aw_tile *tile, aw_span *span)
{
    if (!(f->gap > 0.0)) return; /* nobody asks */
    for (int l = 0; l < AW_TILE; ++l) aw_span_add(f, tile->z[l], tile->x[l], span);
}

/** Position of the tile in the frame of a retarded time. */
AW_FN void aw_tile_at(const aw_history_view *h, const aw_retarded *f, const aw_tile *tile,
                      aw_tile_place *place)
{
    double u_lo = HUGE_VAL, u_hi = -HUGE_VAL, w_lo = HUGE_VAL, w_hi = -HUGE_VAL;
    for (int l = 0; l < AW_TILE; ++l) {
        const double dz = tile->z[l] - f->z, dx = tile->x[l] - f->x;
        const double vz = tile->vz[l] - f->vz, vx = tile->vx[l] - f->vx;
        place->u[l] = dz * f->cg + dx * f->sg;
        place->w[l] = -dz * f->sg + dx * f->cg;
        place->du[l] = vz * f->cg + vx * f->sg;
        place->dw[l] = -vz * f->sg + vx * f->cg;
    }
    for (int l = 0; l < AW_TILE; ++l) {
        u_lo = place->u[l] < u_lo ? place->u[l] : u_lo;
        u_hi = place->u[l] > u_hi ? place->u[l] : u_hi;
        w_lo = place->w[l] < w_lo ? place->w[l] : w_lo;
        w_hi = place->w[l] > w_hi ? place->w[l] : w_hi;
    }
    place->u_mid = 0.5 * (u_lo + u_hi);
    place->w_mid = 0.5 * (w_lo + w_hi);
    place->u_half = 0.5 * (u_hi - u_lo);
    place->w_half = 0.5 * (w_hi - w_lo);
    /* At r' = 0 a tiny radius stands for the limit 2 pi M(p, t). */
    place->r = f->radius > 0.0 ? f->radius : 1e-6 * (f->hs < f->hx ? f->hs : f->hx);
    place->wide[0] = place->u_half;
    place->wide[1] = place->w_half;
    place->lined_up = aw_tile_line_up(f, place, place->wide);
    place->slack = aw_tile_slack(h, f, place);
    place->wide[0] += place->slack;
    place->arcs = aw_circle_arcs(place->u_mid, place->w_mid, place->r, f->half_s + place->wide[0],
                                 f->half_x + place->wide[1]);
}

/** Extend [lo, hi] to contain centre + r cos(angle) for the angles from `from` to `to`. */
AW_FN void aw_cosine_span(double centre, double r, double from, double to, double *lo, double *hi)
{
    const double ends[2] = {cos(from), cos(to)};
    double min = ends[0] < ends[1] ? ends[0] : ends[1];
    double max = ends[0] < ends[1] ? ends[1] : ends[0];
    if (ceil(from / (2.0 * AW_PI)) * 2.0 * AW_PI <= to) max = 1.0;
    if ((ceil(from / (2.0 * AW_PI) - 0.5) + 0.5) * 2.0 * AW_PI <= to) min = -1.0;
    if (centre + r * min < *lo) *lo = centre + r * min;
    if (centre + r * max > *hi) *hi = centre + r * max;
}

/** Extend box[u_lo, u_hi, w_lo, w_hi] [m] to contain all nodes of a placed tile. */
AW_FN void aw_tile_span(const aw_tile_place *place, double box[4])
{
    for (int i = 0; i < place->arcs.n; ++i) {
        const double lo = place->arcs.lo[i], hi = place->arcs.hi[i];
        double span[4] = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL};
        aw_cosine_span(place->u_mid, place->r, lo, hi, &span[0], &span[1]);
        aw_cosine_span(place->w_mid, place->r, lo - 0.5 * AW_PI, hi - 0.5 * AW_PI, &span[2],
                       &span[3]);
        box[0] = fmin(box[0], span[0] - place->u_half);
        box[1] = fmax(box[1], span[1] + place->u_half);
        box[2] = fmin(box[2], span[2] - place->w_half);
        box[3] = fmax(box[3], span[3] + place->w_half);
    }
}

/* Largest shift of a lane along its arc [rad]. */
#define AW_SHIFT_MAX 0.5

/** sin(a) to 2e-13 for |a| <= AW_SHIFT_MAX, as a polynomial, which vectorises. */
AW_FN double aw_small_sine(double a)
{
    const double q = a * a;
    const double tail = 1.0 / 362880.0 - q * (1.0 / 39916800.0);
    return a * (1.0 + q * (-1.0 / 6.0 + q * (1.0 / 120.0 + q * (-1.0 / 5040.0 + q * tail))));
}

/** Shift the nodes of each lane along the arc so that the offsets of the lanes in one direction
 *  vanish at the middle of the arc; otherwise rows of points at an angle to the rows of the slice
 *  would fall into different cells. The midpoint rule is equally accurate wherever its nodes lie,
 *  and the arc is long enough: the box was widened by the offsets across and by the slack, which
 *  limits the displacement along.
 *  @param[in] range, middle  angle of the arc, and of its middle [rad]
 *  @param[in] slack          as in aw_tile_place, in cells */
AW_FN void aw_tile_shift(double range, double middle, int lined_up, double slack, aw_tile_arc *arc)
{
    const double c = cos(middle), s = sin(middle);
    const double tangent_a = -arc->r_s * s, tangent_b = arc->r_x * c;
    const int across = lined_up || fabs(tangent_b) >= fabs(tangent_a);
    int wanted = range <= AW_SHIFT_RANGE;
    const double inverse = across ? -1.0 / tangent_b : -1.0 / tangent_a;
    const double *offset = across ? arc->db : arc->da;
    double furthest = 0.0;
    for (int l = 0; l < AW_TILE; ++l)
        furthest = fabs(offset[l]) <= furthest ? furthest : fabs(offset[l]);
    if (!(furthest * fabs(inverse) <= AW_SHIFT_MAX)) wanted = 0;
    if (!(furthest <= (across ? slack * fabs(tangent_b / tangent_a) : 0.5))) wanted = 0;
    wanted = wanted || lined_up;
    const double scale = wanted ? inverse : 0.0;
#pragma omp simd
    for (int l = 0; l < AW_TILE; ++l) {
        const double shift = scale * offset[l];
        const double half = aw_small_sine(0.5 * shift), turned = aw_small_sine(shift);
        arc->pa[l] = arc->r_s * 2.0 * half * half;
        arc->qa[l] = arc->r_s * turned;
        arc->pb[l] = arc->r_x * 2.0 * half * half;
        arc->qb[l] = arc->r_x * turned;
        arc->ud[l] += arc->turn_s * turned * c; /* taken at the middle: correct to five digits */
        arc->wd[l] += arc->turn_x * turned * s;
    }
}

/** Nodes of arc i of a placed tile.
 *  @param[in] density  as in aw_arc_nodes
 *  @param[in] s        geometry of the slice or part that is read; its cells are not */
AW_FN void aw_tile_arc_of(const aw_retarded *f, const aw_tile_place *place, int i, double density,
                          const aw_arc_slice *s, aw_tile_arc *arc)
{
    const double inv_s = s->inv_hs, inv_x = s->inv_hx;
    aw_arc nodes;
    nodes.r = place->r;
    aw_arc_nodes(f, &place->arcs, i, density, &nodes);
    arc->n = nodes.n;
    arc->first = nodes.first;
    arc->step = nodes.step;
    arc->even = nodes.even;
    arc->a = place->u_mid * inv_s + 0.5 * (s->ns - 1) - 0.5 * (AW_TILE - 1);
    arc->b = place->w_mid * inv_x + 0.5 * (s->nx - 1);
    arc->r_s = place->r * inv_s;
    arc->r_x = place->r * inv_x;
    arc->turn_s = f->dgrid * place->r * inv_s;
    arc->turn_x = f->dgrid * place->r * inv_x;
    for (int l = 0; l < AW_TILE; ++l) {
        arc->da[l] = (place->u[l] - place->u_mid) * inv_s - (l - 0.5 * (AW_TILE - 1));
        arc->db[l] = (place->w[l] - place->w_mid) * inv_x;
        arc->ud[l] = (place->du[l] + f->dgrid * place->w[l]) * inv_s;
        arc->wd[l] = (place->dw[l] - f->dgrid * place->u[l]) * inv_x;
    }
    aw_tile_shift(place->arcs.hi[i] - place->arcs.lo[i],
                  0.5 * (place->arcs.hi[i] + place->arcs.lo[i]), place->lined_up,
                  place->slack * inv_s, arc);
}

/** Whether the `columns` columns from `column` on are known to be zero in the AW_SPLINE_NODES rows
 *  from `row` on. */
AW_FN int aw_window_is_empty(const int (*span)[2], int row, int column, int columns)
{
    return span && (column + columns <= span[row][0] || column >= span[row][1]);
}

/** Sum over the nodes of an arc for every lane, scalar and in double, the reference of the vector
 *  form: sum[0..2] the moments, sum[3..5] their rates along the path; overwritten.
 *  @param[in] lines  of one part (aw_interpolated_lines.cells)
 *  @param[in] span   of that part, or NULL
 *  @return number of evaluations, without those whose cells are known to be zero */
AW_FN int aw_tile_sum_scalar(const aw_history_view *h, const aw_tile_arc *arc, const void *lines,
                             const int (*span)[2], const aw_tile_options *options,
                             double sum[AW_LINE_COMPONENTS][AW_TILE])
{
    const ptrdiff_t width = aw_line_width(h);
    int evaluations = 0;
    for (int l = 0; l < AW_TILE; ++l) {
        double total[AW_LINE_COMPONENTS] = {0.0};
        for (int m = 0; m < arc->n; ++m) {
            double c, s;
            const double weight = aw_arc_turned(&arc->even, arc->first + m * arc->step, &c, &s);
            const double a =
                arc->a + l + arc->da[l] + arc->r_s * c - arc->qa[l] * s - arc->pa[l] * c;
            const double b = arc->b + arc->db[l] + arc->r_x * s + arc->qb[l] * c - arc->pb[l] * s;
            const double ud = arc->ud[l] + arc->turn_s * s, wd = arc->wd[l] - arc->turn_x * c;
            const int i = aw_nearest(a, h->ns), j = aw_nearest(b, h->nx);
            const int row = j + AW_SPLINE_FIRST + AW_PAD;
            const int column = i + AW_SPLINE_FIRST + AW_TILE_PAD;
            double wu[AW_SPLINE_NODES], wv[AW_SPLINE_NODES];
            double du[AW_SPLINE_NODES], dv[AW_SPLINE_NODES];
            if (aw_window_is_empty(span, row, column, AW_SPLINE_NODES)) continue;
            evaluations++;
            aw_spline(a - i, wu);
            aw_spline(b - j, wv);
            aw_spline_slope(a - i, du);
            aw_spline_slope(b - j, dv);
            for (int q = 0; q < AW_SPLINE_NODES; ++q) {
                wv[q] *= weight;
                dv[q] *= weight;
            }
            for (int q = 0; q < AW_SPLINE_NODES; ++q)
                for (int p = 0; p < AW_SPLINE_NODES; ++p)
                    for (int k = 0; k < 3; ++k) {
                        const ptrdiff_t line = (ptrdiff_t)(row + q) * AW_LINE_COMPONENTS + k;
                        const ptrdiff_t at = line * width + column + p;
                        const double g = aw_cell_get(lines, options->single, at);
                        total[k] += wv[q] * wu[p] * g;
                        if (!options->rates) continue;
                        const double rate = aw_cell_get(lines, options->single, at + 3 * width);
                        total[3 + k] +=
                            (wv[q] * du[p] * ud + dv[q] * wd * wu[p]) * g + wv[q] * wu[p] * rate;
                    }
        }
        for (int k = 0; k < AW_LINE_COMPONENTS; ++k) sum[k][l] = total[k];
    }
    return evaluations;
}

/** aw_arc_turn for some lanes: adds to f_in.
 *  @param[in] sum  as in aw_tile_sum_scalar */
AW_FN void aw_tile_turn_lanes(const aw_retarded *f, const aw_tile *tile, aw_lanes lanes,
                              double step, const double sum[AW_LINE_COMPONENTS][AW_TILE],
                              double f_in[AW_RESULTS][AW_TILE])
{
    const double half_c = cos(0.5 * f->theta), half_s = sin(0.5 * f->theta);
    const double c = step * f->ct, s = step * f->st, dtheta = f->dtheta;
#pragma omp simd
    for (int l = lanes.first; l < lanes.end; ++l) {
        const double sh = tile->half_s[l] * half_c - tile->half_c[l] * half_s;
        const double ch = tile->half_c[l] * half_c + tile->half_s[l] * half_s;
        const double sa = 2.0 * sh * ch, ca = 1.0 - 2.0 * sh * sh, beta = tile->beta[l];
        const double v0 = sum[0][l], v1 = sum[1][l], perp = sum[2][l], par = v0 - v1;
        const double dpar = sum[3][l] - sum[4][l] - dtheta * perp, dperp = sum[5][l] + dtheta * par;
        const double ahead = tile->one_minus_beta[l] + 2.0 * beta * sh * sh;
        f_in[AW_PHI][l] += step * v0;
        f_in[AW_AZ][l] += par * c - perp * s;
        f_in[AW_AX][l] += par * s + perp * c;
        f_in[AW_PSI][l] += step * (v0 * ahead + beta * (v1 * ca - perp * sa));
        f_in[AW_DPHI][l] += step * sum[3][l];
        f_in[AW_DAZ][l] += dpar * c - dperp * s;
        f_in[AW_DAX][l] += dpar * s + dperp * c;
    }
}

/** The same for all lanes. */
AW_FN void aw_tile_turn(const aw_retarded *f, const aw_tile *tile, double step,
                        const double sum[AW_LINE_COMPONENTS][AW_TILE],
                        double f_in[AW_RESULTS][AW_TILE])
{
    const aw_lanes all = {0, AW_TILE};
    aw_tile_turn_lanes(f, tile, all, step, sum, f_in);
}

/** Whether node k of the five of a region has rates. */
AW_FN int aw_tile_rated(int k, int fine) { return fine || k % 2 == 0; }

/** aw_region_rule for some lanes, from the values at the five nodes of a region of length h [m].
 *  Unless `fine`, rates are known at the ends and in the middle only (aw_tile_rated) and are
 *  integrated by Simpson's rule on these. Their error is taken to be its difference from the
 *  trapezoidal rule on the same nodes, |f0 - 2 f2 + f4| h/12, which is the error of that rule: far
 *  too large where rates are smooth, and large enough where they are noise from node to node.
 *  `coarse` is the amount by which this error exceeds all others, whether `fine` or not.
 *  @param[out] out  these lanes are overwritten */
AW_FN void aw_tile_rule_lanes(const double f[5][AW_RESULTS][AW_TILE], aw_lanes lanes, double h,
                              const aw_scales *scales, int fine, aw_tile_estimate *out)
{
    const int first = lanes.first, end = lanes.end;
    double bad[AW_TILE]; /* a maximum would lose a NaN */
    double(*I)[AW_TILE] = out->I, *error = out->error, *coarse = out->coarse;
    for (int l = first; l < end; ++l) bad[l] = error[l] = coarse[l] = 0.0;
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        const double share = h / 84.0 / aw_scale_of(scales, k);
        if (k >= AW_DPHI) {
            const double simple = h / 12.0 / aw_scale_of(scales, k);
#pragma omp simd
            for (int l = first; l < end; ++l) {
                const double f0 = f[0][k][l], f2 = f[2][k][l], f4 = f[4][k][l];
                const double e = simple * fabs(f0 - 2.0 * f2 + f4);
                I[k][l] = h / 6.0 * (f0 + 4.0 * f2 + f4);
                bad[l] += e - e;
                coarse[l] = e > coarse[l] ? e : coarse[l];
            }
            if (!fine) continue;
        }
#pragma omp simd
        for (int l = first; l < end; ++l) {
            const double f0 = f[0][k][l], f1 = f[1][k][l], f2 = f[2][k][l], f3 = f[3][k][l];
            const double f4 = f[4][k][l], ends = f0 + f4;
            const double s1 = h / 6.0 * (ends + 4.0 * f2);
            const double s2 = h / 12.0 * (ends + 4.0 * (f1 + f3) + 2.0 * f2);
            const double e = share * aw_fourth_difference(f0, f1, f2, f3, f4);
            I[k][l] = s2 + (s2 - s1) / 15.0;
            bad[l] += e - e;
            error[l] = e > error[l] ? e : error[l];
        }
    }
    for (int l = first; l < end; ++l) {
        const double all = fine || error[l] > coarse[l] ? error[l] : coarse[l];
        coarse[l] = coarse[l] > error[l] ? coarse[l] - error[l] : 0.0;
        error[l] = all + bad[l];
    }
}

/** The same for all lanes. */
AW_FN void aw_tile_rule(const double f[5][AW_RESULTS][AW_TILE], double h, const aw_scales *scales,
                        int fine, aw_tile_estimate *out)
{
    const aw_lanes all = {0, AW_TILE};
    aw_tile_rule_lanes(f, all, h, scales, fine, out);
}

#endif
