/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Projections: seen from further away than its own size, a slice is crossed by nearly straight
 * arcs, and the sum over a circle of radius r' depends on two numbers of the field point only: the
 * offset q = r' - |p - centre| by which the circle is ahead of the slice's centre, and the
 * direction from the centre to the point. For a radius common to all points this function of two
 * variables is tabulated once and interpolated at each point. This file has the geometry of such a
 * table. Circles of sources at other heights (kernels/math/height.h) see the beam at smaller
 * offsets: the mean over them is taken of the table. */
#ifndef AW_KERNELS_MATH_PROJECTION_H
#define AW_KERNELS_MATH_PROJECTION_H
#include <limits.h>
#include <math.h>

#include "kernels/math/height.h"
#include "kernels/math/retarded.h"
#include "src/base/units.h"

/* Largest number of intervals between tabulated directions, which are Chebyshev-Lobatto nodes. */
#define AW_PROJECTION_ORDER 16
/* Largest number of offsets of a table: sixteen per cell of a grid of 4096. */
#define AW_PROJECTION_OFFSETS 70000
/* Numbers per entry: AW_RESULTS and one for alignment. */
#define AW_PROJECTION_WIDTH 8
/* Entries along the offsets from which one value is interpolated. */
#define AW_PROJECTION_ENTRIES 6
/* Largest sine between the middle direction and that of a point for which there is a table. */
#define AW_PROJECTION_SINE 0.6
/* Largest lag of the smallest circle over r' for which there is a table: all circles have about the
 * curvature of the largest. */
#define AW_PROJECTION_LAG 0.05
/* Cells tabulated beyond either end of the range of offsets at which the circle meets the beam, */
#define AW_PROJECTION_MARGIN 4
/* and further ones for a bunch with a height: the mean over circles of other radii is not known for
 * the outermost three offsets, of which a point at the end of the range reads two. */
#define AW_PROJECTION_AVERAGED 2

/** Field points as seen from the centre of the beam at a retarded time, and the layout of their
 *  table: entry (i, m) belongs to the offset first + i h and to the m-th Chebyshev polynomial in
 *  (sine of the angle to the middle direction)/sine. */
typedef struct aw_projection {
    double r, z, x;   /* radius, and lab position of the centre [m] */
    double cz, cx;    /* unit vector of the middle direction, from the centre to the points */
    double sine;      /* largest sine of an angle between the middle direction and a point's, > 0 */
    double beam;      /* extent of the offsets at which one circle meets it [m] */
    double from, to;  /* range of offsets q at which a point's circle may meet the beam's box, those
                      * of all its circles included, but for images [m] */
    double low, high; /* range of the points' offsets if they see images or in a passage; else
                       * low = high [m] */
    double seen;      /* approximate fraction of the points whose circle meets it */
    double first, h;  /* first offset and spacing of the table [m] */
    int n;            /* offsets; 0: no circle meets the beam */
    int skip, read; /* the points are within so many of them, from number `skip` on; between plates
                     * and in passages that may be beyond the n at which the beam is */
    int order;      /* highest degree of the polynomials */
} aw_projection;

/** The rectangle of all points within the corners. */
AW_FN aw_span aw_projection_span(const aw_retarded *f, const aw_field_point corner[4])
{
    aw_span span = aw_span_of_none();
    for (int i = 0; i < 4; ++i) aw_span_add(f, corner[i].z, corner[i].x, &span);
    return span;
}

/** View of the beam from a rectangle of points, given by its corners (aw_grid_corners) in any
 *  order. Fills the geometry; `n` and `order` are set to 0.
 *  @param[in] passes  1: of a node of a passage, at whose r' any of the points may be
 *                     (aw_passage_range)
 *  @return 1 if the beam can be projected for these points: all lie outside its box, on one side,
 *  and near enough to the middle direction; 0 otherwise, and `p` is not to be used */
AW_FN int aw_projection_view(const aw_retarded *f, const aw_field_point corner[4], int passes,
                             aw_projection *p)
{
    double z = 0.0, x = 0.0, nearest = HUGE_VAL, furthest = 0.0, sine = 0.0;
    for (int i = 0; i < 4; ++i) {
        z += 0.25 * (corner[i].z - f->z);
        x += 0.25 * (corner[i].x - f->x);
    }
    const double d = sqrt(z * z + x * x), lag = aw_circles_lag(f);
    if (f->nt == 0 || !(d > 0.0) || !(lag <= AW_PROJECTION_LAG * f->delay)) return 0;
    p->r = f->radius;
    p->z = f->z;
    p->x = f->x;
    p->cz = z / d;
    p->cx = x / d;
    for (int i = 0; i < 4; ++i) {
        const double dz = corner[i].z - f->z, dx = corner[i].x - f->x;
        const double ahead = dz * p->cz + dx * p->cx, away = sqrt(dz * dz + dx * dx);
        sine = fmax(sine, fabs(dx * p->cz - dz * p->cx) / away);
        nearest = fmin(nearest, ahead); /* no point is closer: all are beyond this line */
        furthest = fmax(furthest, away);
    }
    if (!(nearest > 0.0) || !(sine < AW_PROJECTION_SINE)) return 0;
    p->sine = fmax(1.001 * sine, 1e-12);
    /* Upper limits of the half extents of the box along and across any of the directions. */
    const double c = fabs(p->cz * f->cg + p->cx * f->sg), s = fabs(p->cx * f->cg - p->cz * f->sg);
    const double c_max = fmin(1.0, c + p->sine), s_max = fmin(1.0, s + p->sine);
    const double along = c_max * f->half_s + s_max * f->half_x;
    const double across = s_max * f->half_s + c_max * f->half_x;
    if (!(nearest > 2.0 * along)) return 0;
    p->from = fmax(f->radius - furthest - lag, -along);
    p->to = fmin(f->radius - nearest, along + 0.5 * across * across / (nearest - along) + lag);
    p->beam = p->to - p->from;
    p->low = p->high = 0.0;
    p->seen = fmax(0.0, fmin(1.0, (p->to - p->from) / (furthest - nearest)));
    /* Between plates some image's circle may meet the beam wherever a point is; in a passage a
     * circle meets it somewhere else than at the node. */
    const aw_span span = aw_projection_span(f, corner);
    double near, far;
    aw_span_distances(f, &span, &near, &far);
    if (passes || aw_images_seen(f, near, far)) {
        p->from = -along;
        p->to = along + 0.5 * across * across / (nearest - along) + lag;
        p->beam = p->to - p->from;
        p->low = f->radius - furthest;
        p->high = f->radius - nearest;
        p->seen = 1.0;
    } else if (f->images_only) {
        p->to = p->from;
    }
    p->n = p->order = 0;
    return 1;
}

/** Extent along a line of sight of a unit length of one axis of the beam's grid.
 *  @param[in] z, x    along the line, of any length
 *  @param[in] across  1: of the axis across its rows, 0: along them */
AW_FN double aw_projection_extent(const aw_retarded *f, double z, double x, int across)
{
    return fabs(across ? x * f->cg - z * f->sg : z * f->cg + x * f->sg) / sqrt(z * z + x * x);
}

/** Weights of Lagrange's polynomial through -2, -1, 0, 1, 2, 3 at t in [0, 1]. */
AW_FN void aw_projection_lagrange(double t, double w[AW_PROJECTION_ENTRIES])
{
    const double a = t + 2.0, b = t + 1.0, c = t - 1.0, d = t - 2.0, e = t - 3.0;
    const double ab = a * b, de = d * e, tc = t * c;
    w[0] = b * tc * de * (-1.0 / 120.0);
    w[1] = a * tc * de * (1.0 / 24.0);
    w[2] = ab * c * de * (-1.0 / 12.0);
    w[3] = ab * t * de * (1.0 / 12.0);
    w[4] = ab * tc * e * (-1.0 / 24.0);
    w[5] = ab * tc * d * (1.0 / 120.0);
}

/** Range of the offsets through which the circles of points pass in a panel, in parts of the beam's
 *  extent along the line of sight, times that at the node.
 *  @param[in] r       r' of the node, and both ends of the panel [m]
 *  @param[in] across  axis along which the extent is taken, as for aw_projection_extent
 *  @param[out] range  [m] */
AW_FN void aw_passage_range(const aw_history_view *h, const aw_field_point corner[4],
                            const double r[3], int across, double range[2])
{
    double extent = 0.0;
    range[0] = HUGE_VAL;
    range[1] = -HUGE_VAL;
    for (int i = 0; i < 3; ++i) { /* the node comes first */
        const aw_retarded f = aw_retarded_at(h, r[i]);
        aw_projection view;
        if (!aw_projection_view(&f, corner, 1, &view)) continue;
        if (i == 0) extent = aw_projection_extent(&f, view.cz, view.cx, across);
        const double shrink = extent / aw_projection_extent(&f, view.cz, view.cx, across);
        range[0] = fmin(range[0], fmin(view.low * shrink, view.low));
        range[1] = fmax(range[1], fmax(view.high * shrink, view.high));
    }
}

/** Whether a cell, seen from the points, is longer across the rows of the beam's grid than along
 *  them: neighbouring offsets then lie in neighbouring cells of a column. */
AW_FN int aw_projection_across(const aw_retarded *f, const aw_projection *p)
{
    const double c = fabs(p->cz * f->cg + p->cx * f->sg), s = fabs(p->cx * f->cg - p->cz * f->sg);
    return s * f->hx > c * f->hs;
}

/** Choose the offsets, `per_cell` of them per cell of the beam's grid as seen along its rows, so
 *  that lanes of a tile can lie one cell apart along a row. Offsets for n per cell are a subset of
 *  those for 2 n.
 *  @return 0 if more than AW_PROJECTION_OFFSETS would be needed, else 1 */
AW_FN int aw_projection_offsets(const aw_retarded *f, int per_cell, aw_projection *p)
{
    const double cell = fabs(p->cz * f->cg + p->cx * f->sg) * f->hs;
    p->h = cell / per_cell;
    p->n = 0;
    if (!(p->to > p->from)) return 1;
    const int margin = AW_PROJECTION_MARGIN + (f->height2 > 0.0 ? AW_PROJECTION_AVERAGED : 0);
    const double cells = ceil((p->to - p->from) / cell) + 2.0 * margin;
    const double n = cells * per_cell + 1.0;
    if (!(n <= AW_PROJECTION_OFFSETS)) return 0;
    p->n = p->read = (int)n;
    p->skip = 0;
    p->first = p->from - margin * cell;
    if (!(p->high > p->low)) return 1;
    const double skip = floor((p->low - p->first) / p->h) - AW_PROJECTION_MARGIN;
    const double read = ceil((p->high - p->low) / p->h) + 2.0 * AW_PROJECTION_MARGIN + 2.0;
    if (!(fabs(skip) < INT_MAX && read <= AW_PROJECTION_OFFSETS)) return 0;
    p->skip = (int)skip;
    p->read = (int)read;
    return 1;
}

/** Point that sees the beam at offset i and in direction k of `order` + 1 Chebyshev-Lobatto nodes.
 *  @param[out] z, x  lab position [m] */
AW_FN void aw_projection_point(const aw_projection *p, double i, int k, int order, double *z,
                               double *x)
{
    const double s = -p->sine * cos(AW_PI * k / order), c = sqrt(1.0 - s * s);
    const double d = p->r - (p->first + i * p->h);
    *z = p->z + d * (c * p->cz - s * p->cx);
    *x = p->x + d * (c * p->cx + s * p->cz);
}

#endif
