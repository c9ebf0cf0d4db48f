/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The beam at a retarded time: the slices that contribute, their weights, and the frame. */
#ifndef AW_KERNELS_MATH_RETARDED_H
#define AW_KERNELS_MATH_RETARDED_H
#include "kernels/math/view.h"

/** Frame and time weights at t' = t - r'/c.
 *  Three slices are interpolated quadratically in time (m, m+1 and m+2 for delays from the age of m
 *  to that of m+1); in the rigid upstream one slice suffices. Centre and tilt are interpolated
 *  relative to the design orbit, whose closed form gives the lab frame (source: dissertation 3.1.2;
 *  interpolating lab positions would cost (c dt)^2/8R at magnet edges), the tilt across an edge
 *  only if it is smooth there (aw_smooth_angles). */
typedef struct aw_retarded {
    double delay;  /* c (t - t') = r' [m] */
    double radius; /* of the circle on which the sources lie: r' for those in the plane of the
                    * points (kernels/math/height.h: for others) [m] */
    int nt;        /* slices that contribute: 3 or 1; 0: the history does not reach back so far */
    const aw_slice *slice[3]; /* borrowed */
    double w[3], wd[3];       /* weights, and their derivatives d/d(ct') [1/m] */
    double z, x, vz, vx;      /* centre [m] and its velocity in c */
    double theta, dtheta;     /* component axes: design tangent, and d theta/d(ct) [1/m] */
    double ct, st;            /* cosine and sine of theta */
    double cg, sg, dgrid;     /* grid axes: cosine, sine, and rate of the angle [1/m] */
    double half_s, half_x;    /* half extents of the box in which moments may be non-zero [m] */
    double hs, hx;            /* finest spacings [m] */
    int same;                 /* 1: all slices have the same spacings */
    /* Variance of the height of a source over that of a point, both Gaussian, and its derivative
     * d/d(ct) as both times advance; 0: all lie in the plane. */
    double height2, dheight2; /* [m^2], [m] */
    double gap;               /* of the view [m], images, and whether there is nothing else */
    int images, images_only;
} aw_retarded;

/** Age of slice i [m], c times the time since; beyond the oldest, of slices every cdt. */
AW_FN double aw_slice_age(const aw_history_view *h, int i)
{
    const int last = h->n - 1;
    if (i <= last) return h->slice[0].ct - h->slice[i].ct;
    return h->slice[0].ct - h->slice[last].ct + (i - last) * h->cdt;
}

/** The oldest slice whose age is at most `delay` [m], >= 0. Cheap if most slices are as far apart
 *  as the newest two, and never more than a bisection. */
AW_FN int aw_slice_before(const aw_history_view *h, double delay)
{
    const double now = h->slice[0].ct, guess = delay / aw_slice_age(h, 1);
    const int i = guess < h->n - 1 ? (int)guess : h->n - 1;
    int from = 0, to = h->n; /* the age of `from` is at most `delay`, that of `to` is more */
    if (now - h->slice[i].ct <= delay) {
        from = i;
        if (i + 1 < to && now - h->slice[i + 1].ct > delay) to = i + 1;
    } else {
        to = i;
        if (now - h->slice[i - 1].ct <= delay) from = i - 1;
    }
    while (to - from > 1) {
        const int half = from + (to - from) / 2;
        if (now - h->slice[half].ct <= delay)
            from = half;
        else
            to = half;
    }
    return from;
}

/** Arc length of the beam's centre at the time of slice i, also in the rigid upstream [m]. */
AW_FN double aw_slice_S(const aw_history_view *h, int i)
{
    int last = h->n - 1;
    return i <= last ? h->slice[i].S : h->slice[last].S - h->beta * h->cdt * (i - last);
}

/** Slice i, the oldest where there is none; borrowed. */
AW_FN const aw_slice *aw_slice_at(const aw_history_view *h, int i)
{
    return &h->slice[i < h->n ? i : h->n - 1];
}

/** Angles of the grids of slices m .. m+2 that are smooth in time. Where the design tangent begins
 *  or ceases to turn, a bunch that lies along it turns with it; one that lies across the motion
 *  keeps its direction in the lab, and its tilt against the tangent has a kink, by which F_s behind
 *  an exit was 3 % off (validation/ridge). The smaller second difference tells which.
 *  @param[in] a, b    differences of the slices' ages, m+1 less m and m+2 less m+1 [m]
 *  @param[out] angle  [3] to the design tangent, or in the lab [rad]
 *  @return 1: in the lab */
AW_FN int aw_smooth_angles(const aw_history_view *h, int m, double a, double b, double angle[3])
{
    double lab[3];
    for (int i = 0; i < 3; ++i) angle[i] = aw_slice_at(h, m + i)->tilt;
    const int now = aw_orbit_find(&h->orbit, aw_slice_S(h, m));
    if (aw_orbit_find(&h->orbit, aw_slice_S(h, m + 2)) == now) return 0; /* no edge */
    for (int i = 0; i < 3; ++i)
        lab[i] = angle[i] + aw_orbit_direction(&h->orbit, aw_slice_S(h, m + i));
    const double kink = (angle[2] - angle[1]) * a - (angle[1] - angle[0]) * b;
    const double kink_lab = (lab[2] - lab[1]) * a - (lab[1] - lab[0]) * b;
    if (fabs(kink) <= fabs(kink_lab)) return 0;
    for (int i = 0; i < 3; ++i) angle[i] = lab[i];
    return 1;
}

/** Rate of the square of the rms height at the newest slice, d/d(ct) [m]: to the second order in
 *  the steps, as the moments are; 0 before the first three slices are known. */
AW_FN double aw_height_rate(const aw_history_view *h)
{
    if (h->n < 3) return 0.0;
    const double a = aw_slice_age(h, 1), b = aw_slice_age(h, 2) - a;
    const double first = (h->slice[0].height2 - h->slice[1].height2) / a;
    const double second = (h->slice[1].height2 - h->slice[2].height2) / b;
    return first + (first - second) * a / (a + b);
}

/** Frame and weights at r' = r [m], >= 0. */
AW_FN aw_retarded aw_retarded_at(const aw_history_view *h, double r)
{
    aw_retarded f;
    const double delay = r;
    const int last = h->n - 1, m = aw_slice_before(h, delay), rigid = h->upstream && m == last;
    const double middle = aw_slice_age(h, m + 1), a = middle - aw_slice_age(h, m);
    const double b = aw_slice_age(h, m + 2) - middle;
    const double xi = delay - middle; /* age relative to the middle slice: -a .. 0 */
    double S, x, turn, dS, dx = 0.0, dturn = 0.0;
    int in_lab = 0;

    f.delay = delay;
    f.radius = r;
    f.nt = rigid ? 1 : 3;
    if (!h->upstream && m + 2 > last) f.nt = 0;
    f.w[0] = xi * (xi - b) / (a * (a + b));
    f.w[1] = (xi + a) * (b - xi) / (a * b);
    f.w[2] = xi * (xi + a) / (b * (a + b));
    f.wd[0] = (b - 2.0 * xi) / (a * (a + b)); /* age increases as t' decreases */
    f.wd[1] = (2.0 * xi + a - b) / (a * b);
    f.wd[2] = -(2.0 * xi + a) / (b * (a + b));
    f.slice[0] = aw_slice_at(h, m);
    f.slice[1] = aw_slice_at(h, m + 1);
    f.slice[2] = aw_slice_at(h, m + 2);
    if (rigid) {
        S = h->slice[last].S - h->beta * (delay - aw_slice_age(h, last));
        x = h->slice[last].x;
        turn = h->slice[last].tilt;
        dS = h->beta;
        f.w[0] = 1.0;
        f.w[1] = f.w[2] = f.wd[0] = f.wd[1] = f.wd[2] = 0.0;
    } else {
        double S1 = aw_slice_S(h, m + 1), angle[3];
        double d0 = aw_slice_S(h, m) - S1, d2 = aw_slice_S(h, m + 2) - S1;
        S = S1 + f.w[0] * d0 + f.w[2] * d2;
        dS = f.wd[0] * d0 + f.wd[2] * d2;
        in_lab = aw_smooth_angles(h, m, a, b, angle);
        x = turn = 0.0;
        for (int i = 0; i < 3; ++i) {
            x += f.w[i] * f.slice[i]->x;
            dx += f.wd[i] * f.slice[i]->x;
            turn += f.w[i] * angle[i];
            dturn += f.wd[i] * angle[i];
        }
    }
    aw_orbit_point at = aw_orbit_at(&h->orbit, S);
    f.z = at.z - x * at.st;
    f.x = at.x + x * at.ct;
    double along = dS * (1.0 + at.kappa * x); /* d n/dS = kappa t */
    f.vz = along * at.ct - dx * at.st;
    f.vx = along * at.st + dx * at.ct;
    f.theta = at.theta;
    f.ct = at.ct;
    f.st = at.st;
    f.dtheta = -at.kappa * dS;
    const double direction = in_lab ? turn : at.theta + turn;
    f.cg = cos(direction);
    f.sg = sin(direction);
    f.dgrid = in_lab ? dturn : f.dtheta + dturn;
    f.hs = f.slice[0]->hs;
    f.hx = f.slice[0]->hx;
    f.gap = h->gap;
    f.images = h->images;
    f.images_only = h->images_only;
    f.height2 = f.dheight2 = 0.0;
    if (h->slice[0].height2 > 0.0) {
        f.height2 = h->slice[0].height2;
        f.dheight2 = aw_height_rate(h);
        for (int i = 0; i < (rigid ? 1 : 3); ++i) {
            f.height2 += f.w[i] * f.slice[i]->height2;
            f.dheight2 += f.wd[i] * f.slice[i]->height2;
        }
    }
    f.half_s = f.half_x = 0.0;
    f.same = 1;
    for (int i = 0; i < (rigid ? 1 : 3); ++i) {
        const aw_slice *slice = f.slice[i];
        f.same = f.same && slice->hs == f.slice[0]->hs && slice->hx == f.slice[0]->hx;
        f.hs = slice->hs < f.hs ? slice->hs : f.hs;
        f.hx = slice->hx < f.hx ? slice->hx : f.hx;
        const double reach = AW_SPLINE_REACH;
        const double half_s = (0.5 * (h->ns - 1) + reach) * slice->hs;
        const double half_x = (0.5 * (h->nx - 1) + reach) * slice->hx;
        f.half_s = half_s > f.half_s ? half_s : f.half_s;
        f.half_x = half_x > f.half_x ? half_x : f.half_x;
    }
    return f;
}

/** Lab position of corner i, 0 .. 3, of a rectangle about the centre of the grid's frame, with rows
 *  along its axis: the order is that of aw_grid_corners. */
AW_FN void aw_frame_corner(const aw_retarded *f, double half_s, double half_x, int i, double *z,
                           double *x)
{
    const double u = i % 2 ? half_s : -half_s, w = i / 2 ? half_x : -half_x;
    *z = f->z + u * f->cg - w * f->sg;
    *x = f->x + u * f->sg + w * f->cg;
}

#endif
