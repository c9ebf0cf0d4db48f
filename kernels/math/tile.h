/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiles: up to 16 neighbouring points of a row of the grid, or of a column where the beam is viewed
 * with its axes exchanged (cpu/planes.c), that share the nodes of both integrals, so that they are
 * the lanes of a vector. Where the beam's spacing is the grid's, neighbours read neighbouring
 * cells: no gathers. One source of the geometry, and the scalar reference of the sums (cpu/tile.h
 * is the vector form). */
#ifndef AW_KERNELS_MATH_TILE_H
#define AW_KERNELS_MATH_TILE_H
#include "kernels/math/integrand.h"
#include "quadrature/rules/simpson.h"

/* Points of a tile. */
#define AW_TILE 16
/* Zero columns at either end of a row of planes: a tile's window may hang out of the slice. */
#define AW_TILE_PAD 24
/* Numbers per cell of combined planes: three moments, then their rates at a fixed cell. */
#define AW_LINE_COMPONENTS 6

/** The points of a tile, as far as a node needs them. Lanes from n on continue the row. */
typedef struct aw_tile {
    int n;                                   /* points, 1 .. AW_TILE */
    double z[AW_TILE], x[AW_TILE];           /* lab position [m] */
    double vz[AW_TILE], vx[AW_TILE];         /* velocity in c */
    double half_c[AW_TILE], half_s[AW_TILE]; /* cosine and sine of half the direction */
    double beta[AW_TILE], one_minus_beta[AW_TILE];
} aw_tile;

/** A tile in the grid frame of a retarded time, and the arcs that hold every lane's nodes. */
typedef struct aw_tile_place {
    double u[AW_TILE], w[AW_TILE];   /* [m] */
    double du[AW_TILE], dw[AW_TILE]; /* as in aw_arc, but for the turn of the grid */
    double u_mid, w_mid;             /* middle of the lanes */
    double u_half, w_half;           /* their half extents */
    int lined_up;                    /* 1: lanes are shifted along arcs until w is the same ... */
    double slack;   /* ... 0: and this is by how much they may be so, along u [m] */
    double wide[2]; /* by which the box is widened for them, along and across */
    double r;
    aw_arcs arcs; /* about the middle, in the widened box */
} aw_tile_place;

/** Slices combined at one retarded time (aw_interpolated_cells), as planes: row by row (nx + 2
 *  AW_PAD of them), in each row AW_LINE_COMPONENTS lines of aw_line_width numbers, float or double
 *  as the user knows. */
typedef struct aw_interpolated_lines {
    int n;                    /* parts of equal spacing, 1 .. 3 */
    const void *cells[3];     /* borrowed; line 0 of the first padding row */
    const aw_slice *shape[3]; /* a slice with the part's spacings */
    /* Where there may be something else than zeros, or NULL (anywhere): in rows j .. j + 2 of a
     * part only in the columns span[j][0] .. span[j][1] - 1. Windows beyond are not read. */
    const int (*span[3])[2];
} aw_interpolated_lines;

/** Nodes of one arc for all lanes, in cells of one part, from its first node. At angle t, of which
 *  c and s are cosine and sine, lane l stands at
 *    a + l + da[l] + r_s c - qa[l] s - pa[l] c  along and
 *    b     + db[l] + r_x s + qb[l] c - pb[l] s  across,
 *  which is the node at t + shift of the lane: every lane may have its nodes a little further on
 *  along the arc, so that all read the same cells (aw_tile_shift). */
typedef struct aw_tile_arc {
    int n;
    double first, step;
    double a, b, r_s, r_x;
    double da[AW_TILE], db[AW_TILE];
    double pa[AW_TILE], qa[AW_TILE], pb[AW_TILE], qb[AW_TILE];
    double ud[AW_TILE], wd[AW_TILE]; /* rates of the circle's centre [cells/m] ... */
    double turn_s, turn_x;           /* ... to which turn_s s and -turn_x c are added */
} aw_tile_arc;

/** How the sums of a tile are made. */
typedef struct aw_tile_how {
    double density; /* as in aw_arc_nodes */
    int single;     /* 1: planes are float */
    int rates;      /* 1: rates are summed, too; 0: their sums are 0 */
    int batch;      /* nodes after which the vector form hands sums over to double, at least 1 */
} aw_tile_how;

/* Arcs up to this angle have their lanes shifted: over longer ones no shift serves. */
#define AW_SHIFT_RANGE 1.0
/* Lanes are lined up where arcs turn by no more than this within the beam, times how slanted they
 * are, and for that are shifted by no more than this. */
#define AW_LINE_UP_TURN 0.5
#define AW_LINE_UP_SHIFT 0.1
/* An arc's direction is known beforehand but for this factor: the middle of the box is not its. */
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

/** Take n consecutive points of a row. */
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

/** By how much lanes may be shifted along the row (aw_tile_shift): half a cell, for which there is
 *  a cell; or, where what is to vanish are offsets across, by what the arc goes along meanwhile. A
 *  shift by more than a tile is long leaves lanes further apart than cells, and is not wanted. */
AW_FN double aw_tile_slack(const aw_history_view *h, const aw_retarded *f,
                           const aw_tile_place *place)
{
    const double cell = f->half_s / (0.5 * (h->ns - 1) + 1.5);
    const double u = fabs(place->u_mid), w = fabs(place->w_mid);
    const double along = AW_SHIFT_MARGIN * place->w_half * w / u;
    const int across = !place->lined_up && u * f->hs > w * f->hx;
    return across && along > cell && along <= AW_TILE * f->hs ? along : cell;
}

/** Whether lanes are shifted along the arc until they stand in a row, as seen from a beam that is
 *  far away: then there are no nodes for their offsets across, but only for what an arc turns
 *  by within the beam.
 *  @param[in, out] wide  by what the beam's box is widened, along and across [m] */
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

/** Where the tile stands in the frame of a retarded time. */
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
    /* At r' = 0 stands the limit, 2 pi M(p, t). */
    place->r = f->radius > 0.0 ? f->radius : 1e-6 * (f->hs < f->hx ? f->hs : f->hx);
    place->wide[0] = place->u_half;
    place->wide[1] = place->w_half;
    place->lined_up = aw_tile_line_up(f, place, place->wide);
    place->slack = aw_tile_slack(h, f, place);
    place->wide[0] += place->slack;
    place->arcs = aw_circle_arcs(place->u_mid, place->w_mid, place->r, f->half_s + place->wide[0],
                                 f->half_x + place->wide[1]);
}

/** Grow [lo, hi] so that it holds centre + r cos(angle) for the angles from `from` to `to`. */
AW_FN void aw_cosine_span(double centre, double r, double from, double to, double *lo, double *hi)
{
    const double ends[2] = {cos(from), cos(to)};
    double least = ends[0] < ends[1] ? ends[0] : ends[1];
    double most = ends[0] < ends[1] ? ends[1] : ends[0];
    if (ceil(from / (2.0 * AW_PI)) * 2.0 * AW_PI <= to) most = 1.0;
    if ((ceil(from / (2.0 * AW_PI) - 0.5) + 0.5) * 2.0 * AW_PI <= to) least = -1.0;
    if (centre + r * least < *lo) *lo = centre + r * least;
    if (centre + r * most > *hi) *hi = centre + r * most;
}

/** Grow box[u_lo, u_hi, w_lo, w_hi] [m] so that it holds all nodes of a placed tile. */
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

/* Largest shift of a lane along its arc: a small part of the shortest circle that has lanes. */
#define AW_SHIFT_MOST 0.5

/** sin(a), to 2e-13 for |a| <= AW_SHIFT_MOST, as a polynomial that vectors can do. */
AW_FN double aw_small_sine(double a)
{
    const double q = a * a;
    const double tail = 1.0 / 362880.0 - q * (1.0 / 39916800.0);
    return a * (1.0 + q * (-1.0 / 6.0 + q * (1.0 / 120.0 + q * (-1.0 / 5040.0 + q * tail))));
}

/** Shift every lane's nodes along the arc so that at its middle the lanes' offsets in one direction
 *  vanish: rows of points that are turned against the rows of the slice would else fall into
 *  different cells. The midpoint rule is as good with its nodes anywhere, and the arc is long
 *  enough: offsets across are those by which the box was widened, offsets along are within the
 *  slack, in cells, by which it was widened, too. */
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
    if (!(furthest * fabs(inverse) <= AW_SHIFT_MOST)) wanted = 0;
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
        arc->ud[l] += arc->turn_s * turned * c; /* as at the middle: a change in the fifth digit */
        arc->wd[l] += arc->turn_x * turned * s;
    }
}

/** Nodes of arc i of a placed tile in one part of the planes. */
AW_FN void aw_tile_arc_of(const aw_history_view *h, const aw_retarded *f,
                          const aw_tile_place *place, int i, double density, const aw_slice *shape,
                          aw_tile_arc *arc)
{
    const double inv_s = 1.0 / shape->hs, inv_x = 1.0 / shape->hx;
    aw_arc nodes;
    nodes.r = place->r;
    aw_arc_nodes(f, &place->arcs, i, density, &nodes);
    arc->n = nodes.n;
    arc->first = nodes.first;
    arc->step = nodes.step;
    arc->a = place->u_mid * inv_s + 0.5 * (h->ns - 1) - 0.5 * (AW_TILE - 1);
    arc->b = place->w_mid * inv_x + 0.5 * (h->nx - 1);
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

/** Whether the `columns` columns from `column` on are zero in the three rows from `row` on. */
AW_FN int aw_window_is_empty(const int (*span)[2], int row, int column, int columns)
{
    return span && (column + columns <= span[row][0] || column >= span[row][1]);
}

/** Scalar sum over the nodes of an arc for every lane, in double: sum[0..2] the moments, sum[3..5]
 *  their rates along the path; overwritten. The reference of the vector form.
 *  @param[in] span  of the planes, or NULL
 *  @return how many evaluations there were: a lane whose nine cells are empty has none */
AW_FN int aw_tile_sum_scalar(const aw_history_view *h, const aw_tile_arc *arc, const void *planes,
                             const int (*span)[2], const aw_tile_how *how,
                             double sum[AW_LINE_COMPONENTS][AW_TILE])
{
    const ptrdiff_t width = aw_line_width(h);
    int evaluations = 0;
    for (int l = 0; l < AW_TILE; ++l) {
        double total[AW_LINE_COMPONENTS] = {0.0};
        for (int m = 0; m < arc->n; ++m) {
            const double t = arc->first + m * arc->step, c = cos(t), s = sin(t);
            const double a =
                arc->a + l + arc->da[l] + arc->r_s * c - arc->qa[l] * s - arc->pa[l] * c;
            const double b = arc->b + arc->db[l] + arc->r_x * s + arc->qb[l] * c - arc->pb[l] * s;
            const double ud = arc->ud[l] + arc->turn_s * s, wd = arc->wd[l] - arc->turn_x * c;
            const int i = aw_nearest(a, h->ns), j = aw_nearest(b, h->nx);
            double wu[3], wv[3], du[3], dv[3];
            if (aw_window_is_empty(span, j - 1 + AW_PAD, i - 1 + AW_TILE_PAD, 3)) continue;
            evaluations++;
            aw_spline(a - i, wu);
            aw_spline(b - j, wv);
            aw_spline_slope(a - i, du);
            aw_spline_slope(b - j, dv);
            for (int q = 0; q < 3; ++q)
                for (int p = 0; p < 3; ++p)
                    for (int k = 0; k < 3; ++k) {
                        const ptrdiff_t line =
                            (ptrdiff_t)(j + q - 1 + AW_PAD) * AW_LINE_COMPONENTS + k;
                        const ptrdiff_t at = line * width + i + p - 1 + AW_TILE_PAD;
                        const double g = aw_cell_get(planes, how->single, at);
                        total[k] += wv[q] * wu[p] * g;
                        if (!how->rates) continue;
                        const double rate = aw_cell_get(planes, how->single, at + 3 * width);
                        total[3 + k] +=
                            (wv[q] * du[p] * ud + dv[q] * wd * wu[p]) * g + wv[q] * wu[p] * rate;
                    }
        }
        for (int k = 0; k < AW_LINE_COMPONENTS; ++k) sum[k][l] = total[k];
    }
    return evaluations;
}

/** aw_arc_turn for the lanes from `first` to `end` - 1: adds to f_in. */
AW_FN void aw_tile_turn_lanes(const aw_retarded *f, const aw_tile *tile, int first, int end,
                              double step, const double sum[AW_LINE_COMPONENTS][AW_TILE],
                              double f_in[AW_RESULTS][AW_TILE])
{
    const double half_c = cos(0.5 * f->theta), half_s = sin(0.5 * f->theta);
    const double c = step * f->ct, s = step * f->st, dtheta = f->dtheta;
#pragma omp simd
    for (int l = first; l < end; ++l) {
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

/** The same for every lane. */
AW_FN void aw_tile_turn(const aw_retarded *f, const aw_tile *tile, double step,
                        const double sum[AW_LINE_COMPONENTS][AW_TILE],
                        double f_in[AW_RESULTS][AW_TILE])
{
    aw_tile_turn_lanes(f, tile, 0, AW_TILE, step, sum, f_in);
}

/** Whether node k of a region's five has rates. */
AW_FN int aw_tile_rated(int k, int fine) { return fine || k % 2 == 0; }

/** aw_region_rule for the lanes from `first` to `end` - 1: five nodes of a region of length h [m].
 *  Overwrites I, error.
 *  Unless `fine`, rates are there at the ends and in the middle only (aw_tile_rated) and are
 *  integrated by Simpson's rule on these. Their error is taken to be its difference from the
 *  trapezoidal rule on the same nodes, |f0 - 2 f2 + f4| h/12, which is that rule's own: far too
 *  much where rates are smooth, and enough where they are noise from node to node.
 *  @param[out] coarse  by how much this error exceeds all others, whether `fine` or not */
AW_FN void aw_tile_rule_lanes(const double f[5][AW_RESULTS][AW_TILE], int first, int end, double h,
                              const aw_scales *scales, int fine, double I[AW_RESULTS][AW_TILE],
                              double error[AW_TILE], double coarse[AW_TILE])
{
    double bad[AW_TILE]; /* a maximum would lose a NaN */
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

/** The same for every lane. */
AW_FN void aw_tile_rule(const double f[5][AW_RESULTS][AW_TILE], double h, const aw_scales *scales,
                        int fine, double I[AW_RESULTS][AW_TILE], double error[AW_TILE],
                        double coarse[AW_TILE])
{
    aw_tile_rule_lanes(f, 0, AW_TILE, h, scales, fine, I, error, coarse);
}

#endif
