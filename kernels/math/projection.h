/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Projections: from further away than its own size a slice is seen along nearly straight arcs, and
 * what a circle of radius r' gathers from it depends on two numbers of the field point only: how
 * far the circle has run ahead of the slice's centre, q = r' - |p - centre|, and the direction from
 * the centre to the point. That function of two variables is tabulated once for a radius that all
 * points share, and interpolated for each. The geometry of such a table. */
#ifndef AW_KERNELS_MATH_PROJECTION_H
#define AW_KERNELS_MATH_PROJECTION_H
#include <math.h>

#include "kernels/math/retarded.h"
#include "src/base/units.h"

/* Most intervals between tabulated directions, which are Chebyshev-Lobatto nodes. */
#define AW_PROJECTION_ORDER 16
/* Most offsets of a table. */
#define AW_PROJECTION_OFFSETS 8192
/* Numbers of an entry: AW_RESULTS and one that keeps entries aligned. */
#define AW_PROJECTION_WIDTH 8
/* Points are seen within this sine of the middle direction, or not projected for. */
#define AW_PROJECTION_SINE 0.6
/* Cells beyond either end of the offsets at which something is seen. */
#define AW_PROJECTION_MARGIN 4

/** Field points as seen from the centre of the beam at a retarded time, and the table for them:
 *  entry (i, m) is of the offset first + i h and of the m-th Chebyshev polynomial of
 *  sine(direction against the middle)/sine. */
typedef struct aw_projection {
    double r, z, x;  /* radius, and lab position of the centre [m] */
    double cz, cx;   /* unit vector of the middle direction, from the centre to the points */
    double sine;     /* directions are within this sine of it, > 0 */
    double from, to; /* offsets q at which the circle of some point may meet the beam's box [m] */
    double seen;     /* part of the points that see something, about */
    double first, h; /* [m] */
    int n;           /* offsets; 0: nothing is seen */
    int order;       /* polynomials less one */
} aw_projection;

/** Look at a rectangle of points, given by its corners (aw_grid_corners) in any order.
 *  @return 1 if the beam can be projected for them: all are outside of its box, on one side, and
 *  near enough to the middle direction */
AW_FN int aw_projection_view(const aw_retarded *f, const aw_field_point corner[4], aw_projection *p)
{
    double z = 0.0, x = 0.0, least = HUGE_VAL, most = 0.0, sine = 0.0;
    for (int i = 0; i < 4; ++i) {
        z += 0.25 * (corner[i].z - f->z);
        x += 0.25 * (corner[i].x - f->x);
    }
    const double d = sqrt(z * z + x * x);
    if (f->nt == 0 || !(d > 0.0)) return 0;
    p->r = f->radius;
    p->z = f->z;
    p->x = f->x;
    p->cz = z / d;
    p->cx = x / d;
    for (int i = 0; i < 4; ++i) {
        const double dz = corner[i].z - f->z, dx = corner[i].x - f->x;
        const double ahead = dz * p->cz + dx * p->cx, away = sqrt(dz * dz + dx * dx);
        sine = fmax(sine, fabs(dx * p->cz - dz * p->cx) / away);
        least = fmin(least, ahead); /* no point is closer: all are beyond this line */
        most = fmax(most, away);
    }
    if (!(least > 0.0) || !(sine < AW_PROJECTION_SINE)) return 0;
    p->sine = fmax(1.001 * sine, 1e-12);
    /* Half extents of the box along and across any of the directions. */
    const double c = fabs(p->cz * f->cg + p->cx * f->sg), s = fabs(p->cx * f->cg - p->cz * f->sg);
    const double c_most = fmin(1.0, c + p->sine), s_most = fmin(1.0, s + p->sine);
    const double along = c_most * f->half_s + s_most * f->half_x;
    const double across = s_most * f->half_s + c_most * f->half_x;
    if (!(least > 2.0 * along)) return 0;
    p->from = fmax(f->radius - most, -along);
    p->to = fmin(f->radius - least, along + 0.5 * across * across / (least - along));
    p->seen = fmax(0.0, fmin(1.0, (p->to - p->from) / (most - least)));
    p->n = p->order = 0;
    return 1;
}

/** Whether a cell is seen longer across the beam's rows than along them: neighbouring offsets are
 *  in neighbouring cells of a column then, and follow them best. */
AW_FN int aw_projection_across(const aw_retarded *f, const aw_projection *p)
{
    const double c = fabs(p->cz * f->cg + p->cx * f->sg), s = fabs(p->cx * f->cg - p->cz * f->sg);
    return s * f->hx > c * f->hs;
}

/** Choose the offsets, `per_cell` to a cell of the beam's grid as it is seen: lanes of a tile that
 *  lie one cell apart along its rows. Those of a cell are among those of half a cell.
 *  @return 0 if there would be too many */
AW_FN int aw_projection_offsets(const aw_retarded *f, int per_cell, aw_projection *p)
{
    const double cell = fabs(p->cz * f->cg + p->cx * f->sg) * f->hs;
    p->h = cell / per_cell;
    p->n = 0;
    if (!(p->to > p->from)) return 1;
    const double cells = ceil((p->to - p->from) / cell) + 2.0 * AW_PROJECTION_MARGIN;
    const double n = cells * per_cell + 1.0;
    if (!(n <= AW_PROJECTION_OFFSETS)) return 0;
    p->n = (int)n;
    p->first = p->from - AW_PROJECTION_MARGIN * cell;
    return 1;
}

/** Point from which the beam is seen at offset i in direction k of `order` + 1 Chebyshev-Lobatto
 *  nodes; the others as in k. @param[out] z, x [m] */
AW_FN void aw_projection_point(const aw_projection *p, double i, int k, int order, double *z,
                               double *x)
{
    const double s = -p->sine * cos(AW_PI * k / order), c = sqrt(1.0 - s * s);
    const double d = p->r - (p->first + i * p->h);
    *z = p->z + d * (c * p->cz - s * p->cx);
    *x = p->x + d * (c * p->cx + s * p->cz);
}

#endif
