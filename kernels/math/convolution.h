/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Near field by convolution. Where the slices lie on the lattice of the points, every point gathers
 * from circles of one radius with the same weights, so that a sum over radii and angles is a
 * convolution of the slices with weights that are made once. What depends on the radius besides
 * (the combination in time, directions, velocities) is smooth, and is put into polynomials of it.
 *
 * With x the place of a point on its own grid, R(a) a turn by a, d the place of the grid in the
 * frame of the retarded time and D the angle between the two, the circle's points are
 * R(-D) x + d + r' e. A circle is the same after a turn: what is gathered is F(R(-D) x), F being a
 * convolution, or F(x) + D (w d/du - u d/dw) F for a D so small that the turn moves no point by
 * more than a small part of a cell. For the same reason the rates that come from the turn of the
 * frame, D' (w d/du - u d/dw) of the moments at the circle's points, sum up to those of F at the
 * point: w and u of the point times convolutions with the B-spline's slopes. */
#ifndef AW_KERNELS_MATH_CONVOLUTION_H
#define AW_KERNELS_MATH_CONVOLUTION_H
#include "kernels/math/integrand.h"
#include "kernels/math/retarded.h"

/* Moments that are convolved: three of each of three slices. */
#define AW_CONVOLUTION_SOURCES 9
/* What is convolved: AW_RESULTS, phi and psi times the turn D, and slopes of phi, along and across,
 * times D'. Of those from AW_DPHI on, slopes are. */
enum {
    AW_TURNED_PHI = AW_DAX + 1,
    AW_TURNED_PSI,
    AW_TURNING_ALONG,
    AW_TURNING_ACROSS,
    AW_CONVOLVED
};
/* Polynomials in r': of the weights of values, and of slopes along and across. They are Chebyshev's
 * on [0, reach]; weights in time are of the second degree. */
#define AW_RADIAL 4
#define AW_RADIAL_SLOPES 3
/* Weights, side by side: values, slopes along, slopes across. */
#define AW_RINGS (AW_RADIAL + 2 * AW_RADIAL_SLOPES)

/** Which moments go where, and with what polynomials. Source 3 t + k is moment k of slice t. */
typedef struct aw_convolution {
    double reach;             /* r' is at most this [m] */
    aw_retarded now;          /* at r' = 0 */
    aw_field_point middle;    /* of the points, moving as they do */
    const aw_slice *slice[3]; /* borrowed */
    int slices;
    double value[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][AW_RADIAL];
    /* along and across; of results and the turned ones there are none */
    double slope[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][2][AW_RADIAL_SLOPES];
} aw_convolution;

/** How far out points on the nodes of the newest slice can take the beam by convolution.
 *  @param[in] most   no further than this [m]
 *  @param[in] cells  by how much a turn of the grid may move a node [cells]
 *  @return r' [m]; 0: slices of different spacings, or a history that does not reach */
AW_FN double aw_convolution_reach(const aw_history_view *h, double most, double cells)
{
    const aw_retarded now = aw_retarded_at(h, 0.0);
    const double far = fmax(now.half_x / now.hs, now.half_s / now.hx);
    double r = fmin(most, h->cdt);
    if (now.nt == 0 || !now.same || !(h->cdt > 0.0)) return 0.0;
    for (int i = 0; i < 60; ++i) {
        const aw_retarded f = aw_retarded_at(h, r);
        const double turn = fabs(f.sg * now.cg - f.cg * now.sg) * far;
        if (turn <= cells) return r;
        r *= fmin(0.9, cells / turn);
    }
    return 0.0;
}

/** Whether points are the nodes of the newest slice, row by row, to 1e-6 of a cell. */
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

/** Chebyshev's polynomials at r' = r. */
AW_FN void aw_convolution_radial(double reach, double r, double T[AW_RADIAL])
{
    const double x = 2.0 * r / reach - 1.0;
    T[0] = 1.0;
    T[1] = x;
    for (int q = 2; q < AW_RADIAL; ++q) T[q] = 2.0 * x * T[q - 1] - T[q - 2];
}

/** What becomes of the moments at one r', by aw_arc_turn, which is linear in them.
 *  @param[in] p  middle of the points, moving as they do
 *  What is none is not touched. */
AW_FN void aw_convolution_at(const aw_retarded *now, const aw_retarded *f, const aw_field_point *p,
                             double value[AW_CONVOLVED][AW_CONVOLUTION_SOURCES],
                             double slope[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][2])
{
    const double turn = f->sg * now->cg - f->cg * now->sg;
    aw_arc arc;
    aw_arc_place(f, p, &arc);
    const double moves[2] = {(arc.du + arc.dgrid * arc.w) / f->hs,
                             (arc.dw - arc.dgrid * arc.u) / f->hx}; /* in cells */
    for (int t = 0; t < 3; ++t)
        for (int k = 0; k < 3; ++k) {
            const int i = 3 * t + k;
            const double none[3] = {0.0};
            double v[3] = {0.0}, rate[3] = {0.0};
            double all[AW_RESULTS] = {0.0}, rates[AW_RESULTS] = {0.0};
            v[k] = f->w[t];
            rate[k] = f->wd[t];
            aw_arc_turn(f, p, 1.0, v, rate, all);
            aw_arc_turn(f, p, 1.0, none, v, rates); /* of a rate as large as the moment */
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

/* Radii at which the polynomials are found. */
#define AW_RADIAL_NODES 8

/** Put all that into polynomials of r' up to `reach`, for points that move as `common` does. */
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
        const aw_retarded f = aw_retarded_at(h, 0.5 * reach * (1.0 + y));
        double value[AW_CONVOLVED][AW_CONVOLUTION_SOURCES] = {{0.0}}, T[AW_RADIAL];
        double slope[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][2] = {{{0.0}}};
        aw_convolution_at(&plan.now, &f, &plan.middle, value, slope);
        aw_convolution_radial(reach, f.delay, T);
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
    double delay, weight; /* [m] */
    double density;       /* as in aw_arc_nodes */
} aw_ring;

/** Add the circle of a node to the weights of displacements: those of (i, j) cells from a point are
 *  weights[(j + nx - 1)(2 ns - 1) + i + ns - 1], of which only rows row[0] .. row[1] - 1 are
 *  touched. */
AW_FN void aw_convolution_ring(const aw_history_view *h, const aw_convolution *plan,
                               const aw_ring *ring, const int row[2], double (*weights)[AW_RINGS])
{
    const aw_retarded f = aw_retarded_at(h, ring->delay);
    const double r = f.radius;
    double T[AW_RADIAL];
    aw_arc arc;
    aw_arc_place(&f, &plan->middle, &arc);
    aw_convolution_radial(plan->reach, ring->delay, T);
    /* A cell more than there are displacements: where arcs end, nothing is kept. */
    const aw_arcs arcs = aw_circle_arcs(arc.u, arc.w, r, (h->ns + 1) * f.hs, (h->nx + 1) * f.hx);
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
            const double b = (arc.w + r * sn) / f.hx, near_b = floor(b + 0.5);
            const int j = (int)near_b - 1 + h->nx - 1; /* first of three rows */
            if (j + 2 < row[0] || j >= row[1]) continue;
            const double a = (arc.u + r * c) / f.hs, near_a = floor(a + 0.5);
            const int i = (int)near_a - 1 + h->ns - 1;
            double wu[3], wv[3], du[3], dv[3];
            aw_spline(a - near_a, wu);
            aw_spline(b - near_b, wv);
            aw_spline_slope(a - near_a, du);
            aw_spline_slope(b - near_b, dv);
            for (int n = 0; n < 3; ++n) {
                if (j + n < row[0] || j + n >= row[1]) continue;
                for (int o = 0; o < 3; ++o) {
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
