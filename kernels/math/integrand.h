/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The integrand of the rp-integral at one node, and the conversion of sums over an arc to results.
 * One source for all devices; the SIMD variants (kernels/cpu/simd/arc.h) are tested against it. */
#ifndef AW_KERNELS_MATH_INTEGRAND_H
#define AW_KERNELS_MATH_INTEGRAND_H
#include "kernels/math/retarded.h"
#include "quadrature/rules/circle.h"

/** What is equidistant from node to node of an arc. */
enum { AW_EVEN_ANGLE, AW_EVEN_ALONG, AW_EVEN_ACROSS };

/** What is equidistant from node to node of an arc: the angle, or a place y that grows with the
 *  cells that the arc crosses. With p the cosine (AW_EVEN_ALONG) or the sine (AW_EVEN_ACROSS) of
 *  the angle, p = y/sqrt((1 + sqrt(1 + (slope y)^2))/2), or y = p sqrt(1 + (slope p)^2/4). A step
 *  dy covers r dy cells of that axis where the arc runs along it (slope p << 1), r dy of the other
 *  one where it is steep, and up to a quarter less of both in between. */
typedef struct aw_arc_even {
    int in;   /* AW_EVEN_* */
    int sign; /* of the sine (AW_EVEN_ALONG) or cosine (AW_EVEN_ACROSS), the same at all nodes */
    double slope; /* of the arc, in cells of the other axis per cell, over p */
} aw_arc_even;

/** Nodes of one arc, in the grid frame of a retarded time: node m = 0 .. n-1, at the angle or place
 *  first + m step, lies at (u + r cos, w + r sin). */
typedef struct aw_arc {
    double u, w, r;     /* centre and radius of the circle [m] */
    double first, step; /* [rad], or of y [1] */
    int n;
    aw_arc_even even;
    /* Along the path of the point d(u)/d(ct) = du + dgrid w and d(w)/d(ct) = dw - dgrid u. */
    double du, dw; /* [1] */
    double dgrid;  /* [1/m] */
} aw_arc;

/** Cosine and sine of the angle of the node at the angle or place `at`.
 *  @return its weight [rad], over the step */
AW_FN double aw_arc_turned(const aw_arc_even *even, double at, double *c, double *s)
{
    if (even->in == AW_EVEN_ANGLE) {
        *c = cos(at);
        *s = sin(at);
        return 1.0;
    }
    double p = at, stretch = 1.0;
    if (even->slope > 0.0) {
        const double y = even->slope * at, root = sqrt(1.0 + y * y), g = sqrt(0.5 + 0.5 * root);
        p = at / g;
        stretch = g / root;
    }
    const double other = sqrt(fmax(1.0 - p * p, 0.0));
    *(even->in == AW_EVEN_ALONG ? c : s) = p;
    *(even->in == AW_EVEN_ALONG ? s : c) = even->sign * other;
    return stretch / other;
}

/** The part of a slice that the sum over an arc needs. */
typedef struct aw_arc_slice {
    const void *cells;     /* borrowed */
    int ns, nx;            /* nodes */
    double inv_hs, inv_hx; /* nodes per metre */
} aw_arc_slice;

AW_FN double aw_cell_get(const void *cells, int single, ptrdiff_t i)
{
    return single ? (double)((const float *)cells)[i] : ((const double *)cells)[i];
}

/** The cells that a quadrature node reads from a slice, and their weights. */
typedef struct aw_node {
    ptrdiff_t first;                                 /* index of the first cell */
    double wu[AW_SPLINE_NODES], wv[AW_SPLINE_NODES]; /* weights along and across */
    double du[AW_SPLINE_NODES], dv[AW_SPLINE_NODES]; /* their rates as the node moves through the
                                                    * slice [1/m] */
} aw_node;

/** The node at (a, b), in cells from the first node of a slice of ns x nx nodes, moving by (ud, wd)
 *  cells per metre. */
AW_FN aw_node aw_node_in(int ns, int nx, double a, double b, double ud, double wd)
{
    int i = aw_nearest(a, ns), j = aw_nearest(b, nx);
    aw_node node;
    node.first = (ptrdiff_t)(j + AW_PAD + AW_SPLINE_FIRST) * (ns + 2 * AW_PAD) + i + AW_PAD +
                 AW_SPLINE_FIRST;
    aw_spline(a - i, node.wu);
    aw_spline(b - j, node.wv);
    aw_spline_slope(a - i, node.du);
    aw_spline_slope(b - j, node.dv);
    for (int q = 0; q < AW_SPLINE_NODES; ++q) {
        node.du[q] *= ud;
        node.dv[q] *= wd;
    }
    return node;
}

/** The node of an arc at (u, w) [m] in the frame of the grid. */
AW_FN aw_node aw_node_at(const aw_arc_slice *s, const aw_arc *arc, double u, double w)
{
    return aw_node_in(s->ns, s->nx, u * s->inv_hs + 0.5 * (s->ns - 1),
                      w * s->inv_hx + 0.5 * (s->nx - 1), (arc->du + arc->dgrid * w) * s->inv_hs,
                      (arc->dw - arc->dgrid * u) * s->inv_hx);
}

/** Multiply the weights of a node. */
AW_FN void aw_node_weigh(aw_node *node, double by)
{
    for (int q = 0; q < AW_SPLINE_NODES; ++q) {
        node->wv[q] *= by;
        node->dv[q] *= by;
    }
}

/** Add one node of one slice: to sum[0..2] the moments, to sum[4..6] their rates caused by the
 *  motion through the slice, d(u)/d(ct) d/du + d(w)/d(ct) d/dw. */
AW_FN void aw_node_add(const aw_arc_slice *s, int single, const aw_node *node, double sum[8])
{
    ptrdiff_t row = s->ns + 2 * AW_PAD;
    for (int q = 0; q < AW_SPLINE_NODES; ++q)
        for (int p = 0; p < AW_SPLINE_NODES; ++p) {
            ptrdiff_t cell = (node->first + q * row + p) * AW_COMPONENTS;
            double value = node->wv[q] * node->wu[p];
            double rate = node->wv[q] * node->du[p] + node->dv[q] * node->wu[p];
            for (int k = 0; k < 3; ++k) {
                double g = aw_cell_get(s->cells, single, cell + k);
                sum[k] += value * g;
                sum[4 + k] += rate * g;
            }
        }
}

/** Sum over the nodes of an arc for each of nt slices, scalar; sum[t] as in aw_node_add,
 *  overwritten. */
AW_FN void aw_arc_sum_scalar(const aw_arc *arc, int nt, const aw_arc_slice *s, int single,
                             double sum[3][8])
{
    for (int t = 0; t < nt; ++t)
        for (int k = 0; k < 8; ++k) sum[t][k] = 0.0;
    for (int m = 0; m < arc->n; ++m) {
        double c, q;
        const double weight = aw_arc_turned(&arc->even, arc->first + m * arc->step, &c, &q);
        for (int t = 0; t < nt; ++t) {
            aw_node node = aw_node_at(&s[t], arc, arc->u + arc->r * c, arc->w + arc->r * q);
            aw_node_weigh(&node, weight);
            aw_node_add(&s[t], single, &node, sum[t]);
        }
    }
}

/** Field point in the frame of a retarded time: fills the arc except for its nodes. At r' = 0 a
 *  tiny radius stands for the limit 2 pi M(p, t). */
AW_FN void aw_arc_place(const aw_retarded *f, const aw_field_point *p, aw_arc *arc)
{
    double dz = p->z - f->z, dx = p->x - f->x;
    double vz = p->beta * p->ct - f->vz, vx = p->beta * p->st - f->vx;
    arc->u = dz * f->cg + dx * f->sg;
    arc->w = -dz * f->sg + dx * f->cg;
    arc->r = f->radius > 0.0 ? f->radius : 1e-6 * (f->hs < f->hx ? f->hs : f->hx);
    arc->du = vz * f->cg + vx * f->sg;
    arc->dw = -vz * f->sg + vx * f->cg;
    arc->dgrid = f->dgrid;
}

/** Radius below which arcs are strongly curved within the box of the beam [m]. */
AW_FN double aw_near_radius(const aw_retarded *f)
{
    return 2.0 * sqrt(f->half_s * f->half_s + f->half_x * f->half_x);
}

/** Range of |sin| over the angles lo .. hi; `a` and `b` are |sin lo| and |sin hi|. */
AW_FN void aw_sine_range(double lo, double hi, double a, double b, double *min, double *max)
{
    int zero = ceil(lo / AW_PI) * AW_PI <= hi;
    int peak = (ceil(lo / AW_PI - 0.5) + 0.5) * AW_PI <= hi;
    *min = zero ? 0.0 : (a < b ? a : b);
    *max = peak ? 1.0 : (a > b ? a : b);
}

/** How fast an arc crosses cells along the grid and across it [cells/m]: the least and the most. */
typedef struct aw_arc_crossing {
    double least[2], most[2];
    double slant; /* the most along one axis over the least along the other, where that is faster on
                   * the whole arc; otherwise 1 */
} aw_arc_crossing;

/** The crossing of cells by an arc from angle lo to hi. */
AW_FN aw_arc_crossing aw_arc_crosses(const aw_retarded *f, double lo, double hi)
{
    aw_arc_crossing x = {.slant = 1.0};
    double s_lo = fabs(sin(lo)), c_lo = fabs(cos(lo)), s_hi = fabs(sin(hi)), c_hi = fabs(cos(hi));
    aw_sine_range(lo, hi, s_lo, s_hi, &x.least[0], &x.most[0]);
    aw_sine_range(lo + 0.5 * AW_PI, hi + 0.5 * AW_PI, c_lo, c_hi, &x.least[1], &x.most[1]);
    for (int i = 0; i < 2; ++i) {
        x.least[i] /= i ? f->hx : f->hs;
        x.most[i] /= i ? f->hx : f->hs;
    }
    for (int i = 0; i < 2; ++i)
        if (x.most[i] < x.least[!i]) x.slant = x.most[i] / x.least[!i];
    return x;
}

/** Nodes of an arc per cell that it crosses, which is one of the axis along which it crosses most,
 *  or, of an arc that turns from one axis to the other, a step of y. The error of the midpoint
 *  rule comes from the spectrum of the B-spline at whole numbers of waves per cell, and vanishes
 *  to third order where there is a whole number of nodes per cell; there may be less than one
 *  where the moments are smooth, but 1.5 are far worse than one. An arc at a slant crosses cells
 *  diagonally and gets two nodes per cell, one whose nodes are equidistant in angle and that is
 *  curved, and has every slant, four. Slants are measured in cells: where cells are long and thin,
 *  an arc turns from one axis to the other over a tiny angle. All this is multiplied by `density`:
 *  a density below one first reduces slanted arcs to one node per cell; below 1/4, where curved
 *  arcs have one node per cell, it reduces all arcs. */
AW_FN double aw_arc_per_cell(const aw_arc_crossing *x, int curved, double density)
{
    const double slanted = curved ? 4.0 : 2.0;
    return fmax(density * (x->slant <= 0.1 && !curved ? 1.0 : slanted), fmin(1.0, 4.0 * density));
}

/* Largest ratio of sines (AW_EVEN_ALONG) or cosines (AW_EVEN_ACROSS) on an arc whose nodes are not
 * equidistant in angle: their distance in cells of the steeper axis changes with it. */
#define AW_EVEN_RANGE 1.25
/* Largest change of slope, in cells, per cell on such an arc. */
#define AW_EVEN_BEND 0.5

/** Choose what is equidistant on an arc from angle lo to hi. Where an arc is open and hardly
 *  curved, not the angle: its slant changes all the same, by a tenth or more over the beam, so that
 *  equal angles are a whole part of a cell nowhere, and a sheet of a cell was 4e-3 of itself off
 *  with one to two nodes per cell. */
AW_FN aw_arc_even aw_arc_even_of(const aw_retarded *f, const aw_arc_crossing *x, double lo,
                                 double hi)
{
    const double c = cos(0.5 * (lo + hi)), s = sin(0.5 * (lo + hi)), aspect = f->hs / f->hx;
    const int fastest = x->most[1] * x->least[1] > x->most[0] * x->least[0];
    const int steady = x->most[1] * x->least[0] < x->most[0] * x->least[1];
    const int on_axis = x->slant < 1.0 && x->most[fastest] <= AW_EVEN_RANGE * x->least[fastest];
    const int across = on_axis ? fastest : steady;
    const double slope = across ? 1.0 / (aspect * fabs(c)) : aspect / fabs(s);
    const double bend = slope * (across ? f->hx : f->hs) / f->radius; /* per cell */
    const int hardly_bent = x->most[across] <= AW_EVEN_RANGE * x->least[across];
    if (f->radius < aw_near_radius(f) || !hardly_bent || !(on_axis || bend <= AW_EVEN_BEND))
        return (aw_arc_even){.in = AW_EVEN_ANGLE};
    return (aw_arc_even){.in = across ? AW_EVEN_ACROSS : AW_EVEN_ALONG,
                         .sign = (across ? c : s) > 0.0 ? 1 : -1,
                         .slope = on_axis ? 0.0 : slope};
}

/** The place y, or the angle itself, at an angle. */
AW_FN double aw_arc_place_at(const aw_arc_even *even, double angle)
{
    if (even->in == AW_EVEN_ANGLE) return angle;
    const double p = even->in == AW_EVEN_ALONG ? cos(angle) : sin(angle), y = even->slope * p;
    return p * sqrt(1.0 + 0.25 * y * y);
}

/** Choose the nodes of an arc: what is equidistant, and their number. `density` is a whole number,
 *  or less than one where the moments are smooth enough for fewer nodes on slanted arcs. The
 *  moments vanish smoothly at both ends, or the arc closes, so the midpoint rule has no end-point
 *  error. The outer integrand must not jump with r', or no outer rule converges: the step of an
 *  open arc is therefore not rounded (its last node may lie in the empty cells beyond the box),
 *  and the number of nodes of a whole circle changes at a few radii only. */
AW_FN void aw_arc_nodes(const aw_retarded *f, const aw_arcs *arcs, int i, double density,
                        aw_arc *arc)
{
    const double lo = arcs->lo[i], hi = arcs->hi[i];
    const aw_arc_crossing x = aw_arc_crosses(f, lo, hi);
    arc->even = aw_arc_even_of(f, &x, lo, hi);
    const int in_angle = arc->even.in == AW_EVEN_ANGLE;
    const int curved = in_angle && (x.slant == 1.0 || f->radius < aw_near_radius(f));
    const double a = aw_arc_place_at(&arc->even, lo), b = aw_arc_place_at(&arc->even, hi);
    const double from = fmin(a, b), range = fabs(b - a);
    double per_cell = aw_arc_per_cell(&x, curved, density), rate = fmax(x.most[0], x.most[1]);
    if (!in_angle) {
        rate = 1.0 / (arc->even.in == AW_EVEN_ALONG ? f->hs : f->hx);
        if (per_cell > 1.0) per_cell = ceil(per_cell - 1e-6);
    }
    double wanted = per_cell * rate * f->radius * range;
    if (arcs->whole) {
        arc->n = 16; /* 16, 20, 25, 31 .. */
        while (arc->n < wanted) arc->n += arc->n / 4;
        arc->step = range / arc->n;
    } else {
        if (wanted < 4.0) wanted = 4.0;
        arc->n = (int)ceil(wanted);
        arc->step = range / wanted;
    }
    arc->first = from + 0.5 * arc->step;
}

/** The part of a slice that the sum over an arc needs; borrows the cells. */
AW_FN aw_arc_slice aw_arc_slice_of(const aw_history_view *h, const aw_slice *slice)
{
    aw_arc_slice s;
    s.cells = slice->cells;
    s.ns = h->ns;
    s.nx = h->nx;
    s.inv_hs = 1.0 / slice->hs;
    s.inv_hx = 1.0 / slice->hx;
    return s;
}

/** Rotate the sums over an arc to the lab frame and add them to f_in[AW_RESULTS].
 *  @param[in] v     sums of the moments
 *  @param[in] rate  sums of their rates along the path of the point [1/m]
 *  psi is formed from sigma and D, never as a difference of phi and v.A (docs/theory.md). */
AW_FN void aw_arc_turn(const aw_retarded *f, const aw_field_point *p, double step,
                       const double v[3], const double rate[3], double f_in[AW_RESULTS])
{
    double c = f->ct, s = f->st;
    double a = p->theta - f->theta, sh = sin(0.5 * a), ch = cos(0.5 * a);
    double sa = 2.0 * sh * ch, ca = 1.0 - 2.0 * sh * sh;
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

/** The same from the sums over each slice, sum[t] as in aw_node_add, which are interpolated in
 *  time. */
AW_FN void aw_arc_interpolate(const aw_retarded *f, const aw_field_point *p, double step,
                              double sum[3][8], double f_in[AW_RESULTS])
{
    double v[3] = {0.0, 0.0, 0.0}, rate[3] = {0.0, 0.0, 0.0};
    for (int t = 0; t < f->nt; ++t)
        for (int k = 0; k < 3; ++k) {
            v[k] += f->w[t] * sum[t][k];
            rate[k] += f->w[t] * sum[t][4 + k] + f->wd[t] * sum[t][k];
        }
    aw_arc_turn(f, p, step, v, rate, f_in);
}

#endif
