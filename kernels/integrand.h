/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The integrand of the rp-integral at one node, and what turns sums over an arc into results.
 * One source for every processor; the SIMD variants (cpu_arc.h) are tested against it. */
#ifndef AW_KERNELS_INTEGRAND_H
#define AW_KERNELS_INTEGRAND_H
#include "kernels/circle.h"
#include "kernels/retarded.h"

/** Nodes of one arc, in the grid frame of a retarded time: the node at angle
 *  first + m step, m = 0 .. n-1, lies at (u + r cos, w + r sin). */
typedef struct aw_arc {
    double u, w, r;
    double first, step;
    int n;
    double du, dw,
        dgrid; /* d(u)/d(ct) = du + dgrid w, d(w)/d(ct) = dw - dgrid u along the point's path */
} aw_arc;

/** What an arc reads of one slice. */
typedef struct aw_arc_slice {
    const void *cells;
    int ns, nx;
    double inv_hs, inv_hx;
} aw_arc_slice;

/** Quadratic B-spline (TSC) weights of the three nodes about a coordinate, f in [-1/2, 1/2]. */
AW_FN void aw_spline(double f, double w[3])
{
    w[0] = 0.5 * (0.5 - f) * (0.5 - f);
    w[1] = 0.75 - f * f;
    w[2] = 0.5 * (0.5 + f) * (0.5 + f);
}

/** Their derivatives with respect to the coordinate. */
AW_FN void aw_spline_slope(double f, double d[3])
{
    d[0] = f - 0.5;
    d[1] = -2.0 * f;
    d[2] = f + 0.5;
}

/** Nearest node, clamped so that the three nodes about it lie in the padded slice. */
AW_FN int aw_nearest(double a, int n)
{
    double lo = -(AW_PAD - 1), hi = n + AW_PAD - 2;
    a = a < lo ? lo : a;
    a = a > hi ? hi : a;
    return (int)(a + 0.5 + AW_PAD) - AW_PAD; /* the shift keeps truncation a floor */
}

AW_FN double aw_cell_get(const void *cells, int single, ptrdiff_t i)
{
    return single ? (double)((const float *)cells)[i] : ((const double *)cells)[i];
}

/** Add one node of one slice: sum[0..2] the moments, sum[4..6] their rate by motion through the
 *  slice, d(u)/d(ct) d/du + d(w)/d(ct) d/dw. */
AW_FN void aw_node_add(const aw_arc_slice *s, int single, double u, double w, double ud, double wd,
                       double sum[8])
{
    double a = u * s->inv_hs + 0.5 * (s->ns - 1), b = w * s->inv_hx + 0.5 * (s->nx - 1);
    int i = aw_nearest(a, s->ns), j = aw_nearest(b, s->nx);
    double wu[3], wv[3], du[3], dv[3];
    ptrdiff_t row = s->ns + 2 * AW_PAD;
    aw_spline(a - i, wu);
    aw_spline(b - j, wv);
    aw_spline_slope(a - i, du);
    aw_spline_slope(b - j, dv);
    for (int q = 0; q < 3; ++q)
        for (int p = 0; p < 3; ++p) {
            ptrdiff_t cell = ((j + AW_PAD - 1 + q) * row + i + AW_PAD - 1 + p) * AW_COMPONENTS;
            double value = wv[q] * wu[p];
            double rate = wv[q] * du[p] * ud * s->inv_hs + dv[q] * wu[p] * wd * s->inv_hx;
            for (int k = 0; k < 3; ++k) {
                double g = aw_cell_get(s->cells, single, cell + k);
                sum[k] += value * g;
                sum[4 + k] += rate * g;
            }
        }
}

/** Scalar sum over the nodes of an arc for nt slices; sum[t][8] as in aw_node_add, overwritten. */
AW_FN void aw_arc_sum_scalar(const aw_arc *arc, int nt, const aw_arc_slice *s, int single,
                             double sum[3][8])
{
    for (int t = 0; t < nt; ++t)
        for (int k = 0; k < 8; ++k) sum[t][k] = 0.0;
    for (int m = 0; m < arc->n; ++m) {
        double angle = arc->first + m * arc->step;
        double u = arc->u + arc->r * cos(angle), w = arc->w + arc->r * sin(angle);
        double ud = arc->du + arc->dgrid * w, wd = arc->dw - arc->dgrid * u;
        for (int t = 0; t < nt; ++t) aw_node_add(&s[t], single, u, w, ud, wd, sum[t]);
    }
}

/** Field point in the frame of a retarded time; fills everything of the arc but its nodes. */
AW_FN void aw_arc_place(const aw_retarded *f, const aw_field_point *p, aw_arc *arc)
{
    double dz = p->z - f->z, dx = p->x - f->x;
    double vz = p->beta * p->ct - f->vz, vx = p->beta * p->st - f->vx;
    arc->u = dz * f->cg + dx * f->sg;
    arc->w = -dz * f->sg + dx * f->cg;
    arc->r = f->r;
    arc->du = vz * f->cg + vx * f->sg;
    arc->dw = -vz * f->sg + vx * f->cg;
    arc->dgrid = f->dgrid;
}

/** Radius below which arcs are strongly curved in the box of the beam. */
AW_FN double aw_near_radius(const aw_retarded *f)
{
    return 2.0 * sqrt(f->half_s * f->half_s + f->half_x * f->half_x);
}

/** Nodes per metre of an arc from angle lo to hi that put one into every cell of the axis along
 *  which it crosses cells fastest: then the error of the midpoint rule, which comes from the
 *  B-spline's spectrum at whole numbers of waves per cell, vanishes to third order. (1.5 nodes
 *  a cell are far worse than one.) An arc that is slanted crosses cells diagonally and takes two;
 *  one that is strongly curved does so at every slant, and takes three. */
AW_FN double aw_arc_rate(const aw_retarded *f, double lo, double hi)
{
    double most = 0.0, slant = 0.0;
    for (int k = 0; k < 2; ++k) {
        double s = fabs(sin(k ? hi : lo)) / f->hs, c = fabs(cos(k ? hi : lo)) / f->hx;
        double fast = s > c ? s : c, slow = s > c ? c : s;
        most = fast > most ? fast : most;
        slant = slow > slant * fast ? slow / fast : slant;
    }
    if (f->r < aw_near_radius(f)) return 3.0 / (f->hs < f->hx ? f->hs : f->hx);
    return slant > 0.1 ? 2.0 * most : most;
}

/** Choose the nodes of an arc: uniform in angle, `density` (a whole number) times aw_arc_rate. The
 *  moments vanish smoothly at both ends, or the arc closes, so the midpoint rule has no error of
 *  ends. The outer integrand must not jump with r', or no outer rule converges: the step of an open
 *  arc is not rounded (its last node may lie in the empty cells beyond the box), and the number of
 *  nodes of a whole circle grows at a few radii. */
AW_FN void aw_arc_nodes(const aw_retarded *f, const aw_arcs *arcs, int i, double density,
                        aw_arc *arc)
{
    double lo = arcs->lo[i], range = arcs->hi[i] - lo;
    double wanted = density * aw_arc_rate(f, lo, arcs->hi[i]) * f->r * range;
    if (arcs->whole) {
        arc->n = 16; /* 16, 20, 25, 31 .. */
        while (arc->n < wanted) arc->n += arc->n / 4;
        arc->step = range / arc->n;
    } else {
        if (wanted < 4.0) wanted = 4.0;
        arc->n = (int)ceil(wanted);
        arc->step = range / wanted;
    }
    arc->first = lo + 0.5 * arc->step;
}

/** Sums over the arcs, combined in time and turned to the lab: adds to f_in[AW_RESULTS].
 *  psi is formed from sigma and D, never as a difference of phi and v.A (docs/theory.md). */
AW_FN void aw_arc_combine(const aw_retarded *f, const aw_field_point *p, double step,
                          double sum[3][8], double f_in[AW_RESULTS])
{
    double v[3] = {0.0, 0.0, 0.0}, rate[3] = {0.0, 0.0, 0.0};
    for (int t = 0; t < f->nt; ++t)
        for (int k = 0; k < 3; ++k) {
            v[k] += f->w[t] * sum[t][k];
            rate[k] += f->w[t] * sum[t][4 + k] + f->wd[t] * sum[t][k];
        }
    double c = f->ct, s = f->st;
    double a = p->theta - f->theta, ca = cos(a), sa = sin(a), sh = sin(0.5 * a);
    double par = v[0] - v[1], perp = v[2];
    double dpar = rate[0] - rate[1] - f->dtheta * perp, dperp = rate[2] + f->dtheta * par;
    double ahead = p->one_minus_beta + 2.0 * p->beta * sh * sh; /* 1 - beta cos a */
    f_in[AW_PHI] += step * v[0];
    f_in[AW_AZ] += step * (par * c - perp * s);
    f_in[AW_AX] += step * (par * s + perp * c);
    f_in[AW_PSI] += step * (v[0] * ahead + p->beta * (v[1] * ca - perp * sa));
    f_in[AW_DPHI] += step * rate[0];
    f_in[AW_DAZ] += step * (dpar * c - dperp * s);
    f_in[AW_DAX] += step * (dpar * s + dperp * c);
}

#endif
