/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Near field by convolution. Where the nodes of the slices coincide with the field points, every
 * point gathers from circles of a given radius with the same weights, so the sum over radii and
 * angles is a convolution of the slices with weights that are computed once. The other factors that
 * depend on the radius (interpolation in time, directions, velocities) are smooth and are expanded
 * in polynomials of it.
 *
 * Let x be the position of a point on its own grid, R(a) the rotation by a, d the position of that
 * grid in the frame of the retarded time, D the angle between the two frames and e a unit vector.
 * The points of the circle are R(-D) x + d + r' e. A rotation leaves the circle unchanged, so the
 * sum over it is F(R(-D) x), where F is a convolution; for a D so small that the rotation moves no
 * point by more than a small fraction of a cell, it is F(x) + D (w d/du - u d/dw) F. For the same
 * reason the rates caused by the rotation of the frame, D' (w d/du - u d/dw) of the moments at the
 * points of the circle, sum to the same expression of F: w and u of the field point times
 * convolutions with the slopes of the B-spline. */
#ifndef AW_KERNELS_MATH_CONVOLUTION_H
#define AW_KERNELS_MATH_CONVOLUTION_H
#include "kernels/math/integrand.h"
#include "kernels/math/retarded.h"

/* Sources of the convolution: three moments of each of three slices. */
#define AW_CONVOLUTION_SOURCES 9
/* Outputs of the convolution: the AW_RESULTS results, phi and psi times the angle D, and the slopes
 * of phi along and across the grid times D'. Only outputs from AW_DPHI on use slopes. */
enum {
    AW_TURNED_PHI = AW_DAX + 1,
    AW_TURNED_PSI,
    AW_TURNING_ALONG,
    AW_TURNING_ACROSS,
    AW_CONVOLVED
};
/* Number of Chebyshev polynomials of r' on [0, reach], for values and for slopes along and across.
 * (The weights of the interpolation in time are of second degree.) */
#define AW_RADIAL 4
#define AW_RADIAL_SLOPES 3
/* Weights per displacement: values, slopes along, slopes across. */
#define AW_RINGS (AW_RADIAL + 2 * AW_RADIAL_SLOPES)

/** Coefficients of the polynomials with which each source enters each output. Source 3 t + k is
 *  moment k of slice t. */
typedef struct aw_convolution {
    double reach;             /* largest r' [m] */
    aw_retarded now;          /* frame at r' = 0 */
    aw_field_point middle;    /* centre of the points, with their velocity */
    const aw_slice *slice[3]; /* [slices], borrowed */
    int slices;
    double value[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][AW_RADIAL];
    /* along, across; zero for outputs below AW_DPHI and for AW_TURNED_PHI and AW_TURNED_PSI */
    double slope[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][2][AW_RADIAL_SLOPES];
} aw_convolution;

/** Largest r' up to which the potentials at the nodes of the newest slice are a convolution.
 *  @param[in] r_max      upper limit of the result [m]
 *  @param[in] max_shift  largest displacement of a node by a rotation of the grid [cells]
 *  @return r' [m]; 0: the slices differ in their spacings, or the history does not reach back */
AW_FN double aw_convolution_reach(const aw_history_view *h, double r_max, double max_shift)
{
    const aw_retarded now = aw_retarded_at(h, 0.0);
    const double lever = fmax(now.half_x / now.hs, now.half_s / now.hx); /* [cells/rad] */
    const double step = aw_slice_age(h, 1);
    double r = fmin(r_max, step);
    if (now.nt == 0 || !now.same || !(step > 0.0)) return 0.0;
    for (int i = 0; i < 60; ++i) {
        const aw_retarded f = aw_retarded_at(h, r);
        const double shift = fabs(f.sg * now.cg - f.cg * now.sg) * lever;
        if (shift <= max_shift) return r;
        r *= fmin(0.9, max_shift / shift);
    }
    return 0.0;
}

/** Whether the points are the nodes of the newest slice, row by row, to 1e-6 of a cell. */
AW_FN int aw_convolution_fits(const aw_history_view *h, const aw_field_point *point, size_t columns,
                              size_t points)
{
    const aw_retarded now = aw_retarded_at(h, 0.0);
    const double half_s = 0.5 * (h->ns - 1) * now.hs, half_x = 0.5 * (h->nx - 1) * now.hx;
    const double within = 1e-6 * fmin(now.hs, now.hx);
    if (columns != (size_t)h->ns || points != columns * (size_t)h->nx) return 0;
    aw_field_point corner[4];
    aw_grid_corners(point, columns, points, corner);
    for (int i = 0; i < 4; ++i) {
        const double u = i % 2 ? half_s : -half_s, w = i / 2 ? half_x : -half_x;
        if (!(fabs(now.z + u * now.cg - w * now.sg - corner[i].z) <= within)) return 0;
        if (!(fabs(now.x + u * now.sg + w * now.cg - corner[i].x) <= within)) return 0;
    }
    return 1;
}

/** Chebyshev polynomials T_0 .. on [0, reach] at r' = r. */
AW_FN void aw_convolution_radial(double reach, double r, double T[AW_RADIAL])
{
    const double x = 2.0 * r / reach - 1.0;
    T[0] = 1.0;
    T[1] = x;
    for (int q = 2; q < AW_RADIAL; ++q) T[q] = 2.0 * x * T[q - 1] - T[q - 2];
}

/** Factors with which the sources enter the outputs at one r', from aw_arc_turn, which is linear in
 *  the moments. Entries that are always zero are not written.
 *  @param[in] p  centre of the points, with their velocity */
AW_FN void aw_convolution_at(const aw_retarded *now, const aw_retarded *f, const aw_field_point *p,
                             double value[AW_CONVOLVED][AW_CONVOLUTION_SOURCES],
                             double slope[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][2])
{
    const double turn = f->sg * now->cg - f->cg * now->sg;
    aw_arc arc;
    aw_arc_place(f, p, &arc);
    const double moves[2] = {(arc.du + arc.dgrid * arc.w) / f->hs,
                             (arc.dw - arc.dgrid * arc.u) / f->hx}; /* [cells/m] */
    for (int t = 0; t < 3; ++t)
        for (int k = 0; k < 3; ++k) {
            const int i = 3 * t + k;
            const double none[3] = {0.0};
            double v[3] = {0.0}, rate[3] = {0.0};
            double all[AW_RESULTS] = {0.0}, rates[AW_RESULTS] = {0.0};
            v[k] = f->w[t];
            rate[k] = f->wd[t];
            aw_arc_turn(f, p, 1.0, v, rate, all);
            aw_arc_turn(f, p, 1.0, none, v, rates); /* with a rate of unit size */
            for (unsigned j = 0; j < AW_RESULTS; ++j) value[j][i] = all[j];
            value[AW_TURNED_PHI][i] = turn * all[AW_PHI];
            value[AW_TURNED_PSI][i] = turn * all[AW_PSI];
            for (int axis = 0; axis < 2; ++axis) {
                for (unsigned j = AW_DPHI; j < AW_RESULTS; ++j)
                    slope[j][i][axis] = rates[j] * moves[axis];
                slope[axis ? AW_TURNING_ACROSS : AW_TURNING_ALONG][i][axis] =
                    all[AW_PHI] * f->dgrid;
            }
        }
}

/* Radii (Chebyshev nodes) at which the coefficients are sampled. */
#define AW_RADIAL_NODES 8

/** Expand these factors in polynomials of r' up to `reach` [m], for points that all have the
 *  velocity of `common`. */
AW_FN aw_convolution aw_convolution_plan(const aw_history_view *h, const aw_field_point *common,
                                         double reach)
{
    const aw_retarded inside = aw_retarded_at(h, 0.5 * reach);
    aw_convolution plan = {.reach = reach, .now = aw_retarded_at(h, 0.0), .middle = *common};
    plan.middle.z = plan.now.z;
    plan.middle.x = plan.now.x;
    plan.slices = inside.nt;
    for (int t = 0; t < inside.nt; ++t) plan.slice[t] = inside.slice[t];
    for (int m = 0; m < AW_RADIAL_NODES; ++m) {
        const double y = cos(AW_PI * (m + 0.5) / AW_RADIAL_NODES);
        const double r = 0.5 * reach * (1.0 + y);
        const aw_retarded f = aw_retarded_at(h, r);
        double value[AW_CONVOLVED][AW_CONVOLUTION_SOURCES] = {{0.0}}, T[AW_RADIAL];
        double slope[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][2] = {{{0.0}}};
        aw_convolution_at(&plan.now, &f, &plan.middle, value, slope);
        aw_convolution_radial(reach, r, T);
        for (int q = 0; q < AW_RADIAL; ++q) {
            const double share = (q == 0 ? 1.0 : 2.0) / AW_RADIAL_NODES * T[q];
            for (int i = 0; i < AW_CONVOLUTION_SOURCES; ++i) {
                for (int j = 0; j < AW_CONVOLVED; ++j) {
                    plan.value[j][i][q] += share * value[j][i];
                    for (int k = 0; k < 2 && q < AW_RADIAL_SLOPES; ++k)
                        plan.slope[j][i][k][q] += share * slope[j][i][k];
                }
            }
        }
    }
    return plan;
}

/** The circle of one node in r'. */
typedef struct aw_ring {
    double r, weight; /* r' and its weight [m] */
    double density;   /* as in aw_arc_nodes */
} aw_ring;

/** Add the circle of one node to the weights of displacements. The weights of a displacement by
 *  (i, j) cells are weights[(j + nx - 1)(2 ns - 1) + i + ns - 1]; only rows row[0] .. row[1] - 1
 *  are changed. */
AW_FN void aw_convolution_ring(const aw_history_view *h, const aw_convolution *plan,
                               const aw_ring *ring, const int row[2], double (*weights)[AW_RINGS])
{
    const aw_retarded f = aw_retarded_at(h, ring->r);
    const double radius = f.radius;
    double T[AW_RADIAL];
    aw_arc arc;
    aw_arc_place(&f, &plan->middle, &arc);
    aw_convolution_radial(plan->reach, ring->r, T);
    /* One cell beyond the largest displacement, so that the ends of arcs contribute nothing. */
    const aw_arcs arcs =
        aw_circle_arcs(arc.u, arc.w, radius, (h->ns + 1) * f.hs, (h->nx + 1) * f.hx);
    for (int k = 0; k < arcs.n; ++k) {
        aw_arc_nodes(&f, &arcs, k, ring->density, &arc);
        double by[AW_RADIAL];
        for (int q = 0; q < AW_RADIAL; ++q) by[q] = arc.step * ring->weight * T[q];
        const double turn_c = cos(arc.step), turn_s = sin(arc.step);
        double next_c = cos(arc.first), next_s = sin(arc.first);
        for (int m = 0; m < arc.n; ++m) {
            const double c = next_c, sn = next_s;
            next_c = c * turn_c - sn * turn_s;
            next_s = sn * turn_c + c * turn_s;
            const double b = (arc.w + radius * sn) / f.hx, near_b = floor(b + 0.5);
            const int j = (int)near_b + AW_SPLINE_FIRST + h->nx - 1; /* first row */
            if (j + AW_SPLINE_NODES - 1 < row[0] || j >= row[1]) continue;
            const double a = (arc.u + radius * c) / f.hs, near_a = floor(a + 0.5);
            const int i = (int)near_a + AW_SPLINE_FIRST + h->ns - 1;
            double wu[AW_SPLINE_NODES], wv[AW_SPLINE_NODES];
            double du[AW_SPLINE_NODES], dv[AW_SPLINE_NODES];
            aw_spline(a - near_a, wu);
            aw_spline(b - near_b, wv);
            aw_spline_slope(a - near_a, du);
            aw_spline_slope(b - near_b, dv);
            for (int n = 0; n < AW_SPLINE_NODES; ++n) {
                if (j + n < row[0] || j + n >= row[1]) continue;
                for (int o = 0; o < AW_SPLINE_NODES; ++o) {
                    if (i + o < 0 || i + o >= 2 * h->ns - 1) continue;
                    double *to = weights[(ptrdiff_t)(j + n) * (2 * h->ns - 1) + i + o];
                    const double value = wv[n] * wu[o], along = wv[n] * du[o];
                    const double across = dv[n] * wu[o];
                    for (int q = 0; q < AW_RADIAL; ++q) to[q] += value * by[q];
                    for (int q = 0; q < AW_RADIAL_SLOPES; ++q) {
                        to[AW_RADIAL + q] += along * by[q];
                        to[AW_RADIAL + AW_RADIAL_SLOPES + q] += across * by[q];
                    }
                }
            }
        }
    }
}

#endif
