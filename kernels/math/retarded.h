/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The beam at a retarded time: the slices that contribute, their weights, and the frame. */
#ifndef AW_KERNELS_MATH_RETARDED_H
#define AW_KERNELS_MATH_RETARDED_H
#include "kernels/math/view.h"

/** The smallest delay of a source [m]: 0 for sources in the plane of the points, |Y| for sources at
 *  another height Y. The outer variable r' of the quadrature begins at 0 and is the delay less
 *  this. */
AW_FN double aw_first_delay(const aw_history_view *h)
{
    (void)h;
    return 0.0;
}

/** Radius of the circle, in the plane of the points, on which the sources of one r' lie [m]. For
 *  sources in that plane it is r' itself; for those at another height Y it would be
 *  sqrt(delay^2 - Y^2). Geometry uses the radius, time the delay. */
AW_FN double aw_circle_radius(const aw_history_view *h, double r)
{
    (void)h;
    return r;
}

/** Frame and time weights at t' = t - delay/c.
 *  Three slices are interpolated quadratically in time (ages m, m+1, m+2 for delays in
 *  [m, m+1] cdt); in the rigid upstream one slice suffices. Centre and tilt are interpolated
 *  relative to the design orbit, whose closed form gives the lab frame (source: dissertation 3.1.2;
 *  interpolating lab positions would cost (c dt)^2/8R at magnet edges). */
typedef struct aw_retarded {
    double delay;  /* c (t - t') [m] */
    double radius; /* of the circle on which the sources lie (aw_circle_radius) [m] */
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
} aw_retarded;

/** Arc length of the beam's centre `age` slices ago, also in the rigid upstream [m]. */
AW_FN double aw_slice_S(const aw_history_view *h, int age)
{
    int last = h->n - 1;
    return age <= last ? h->slice[age].S : h->slice[last].S - h->beta * h->cdt * (age - last);
}

/** The slice of that age, the oldest where there is none; borrowed. */
AW_FN const aw_slice *aw_slice_at(const aw_history_view *h, int age)
{
    return &h->slice[age < h->n ? age : h->n - 1];
}

/** Frame and weights at r' = r [m], >= 0. */
AW_FN aw_retarded aw_retarded_at(const aw_history_view *h, double r)
{
    aw_retarded f;
    const double delay = r + aw_first_delay(h);
    double q = delay / h->cdt;
    int last = h->n - 1, rigid = h->upstream && q >= last;
    int m = rigid ? last : (int)q;
    double xi = q - (m + 1); /* age relative to the middle slice, in steps: -1 .. 0 */
    double S, x, tilt, dS, dx = 0.0, dtilt = 0.0;

    f.delay = delay;
    f.radius = aw_circle_radius(h, r);
    f.nt = rigid ? 1 : 3;
    if (!h->upstream && m + 2 > last) f.nt = 0;
    f.w[0] = 0.5 * xi * (xi - 1.0);
    f.w[1] = 1.0 - xi * xi;
    f.w[2] = 0.5 * xi * (xi + 1.0);
    f.wd[0] = -(xi - 0.5) / h->cdt; /* age increases as t' decreases */
    f.wd[1] = 2.0 * xi / h->cdt;
    f.wd[2] = -(xi + 0.5) / h->cdt;
    f.slice[0] = aw_slice_at(h, m);
    f.slice[1] = aw_slice_at(h, m + 1);
    f.slice[2] = aw_slice_at(h, m + 2);
    if (rigid) {
        S = h->slice[last].S - h->beta * (delay - last * h->cdt);
        x = h->slice[last].x;
        tilt = h->slice[last].tilt;
        dS = h->beta;
        f.w[0] = 1.0;
        f.w[1] = f.w[2] = f.wd[0] = f.wd[1] = f.wd[2] = 0.0;
    } else {
        double S1 = aw_slice_S(h, m + 1);
        double d0 = aw_slice_S(h, m) - S1, d2 = aw_slice_S(h, m + 2) - S1;
        S = S1 + f.w[0] * d0 + f.w[2] * d2;
        dS = f.wd[0] * d0 + f.wd[2] * d2;
        x = tilt = 0.0;
        for (int i = 0; i < 3; ++i) {
            x += f.w[i] * f.slice[i]->x;
            dx += f.wd[i] * f.slice[i]->x;
            tilt += f.w[i] * f.slice[i]->tilt;
            dtilt += f.wd[i] * f.slice[i]->tilt;
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
    f.cg = cos(at.theta + tilt);
    f.sg = sin(at.theta + tilt);
    f.dgrid = f.dtheta + dtilt;
    f.hs = f.slice[0]->hs;
    f.hx = f.slice[0]->hx;
    f.half_s = f.half_x = 0.0;
    f.same = 1;
    for (int i = 0; i < (rigid ? 1 : 3); ++i) {
        const aw_slice *slice = f.slice[i];
        f.same = f.same && slice->hs == f.slice[0]->hs && slice->hx == f.slice[0]->hx;
        f.hs = slice->hs < f.hs ? slice->hs : f.hs;
        f.hx = slice->hx < f.hx ? slice->hx : f.hx;
        const double reach = AW_SPLINE_REACH;
        double a = (0.5 * (h->ns - 1) + reach) * slice->hs;
        double b = (0.5 * (h->nx - 1) + reach) * slice->hx;
        f.half_s = a > f.half_s ? a : f.half_s;
        f.half_x = b > f.half_x ? b : f.half_x;
    }
    return f;
}

#endif
