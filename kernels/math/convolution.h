/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Near field by convolution. Where the field points lie on the lattice of the slices, every point
 * gathers from circles of a given radius with the same weights, so the sum over radii and angles is
 * a convolution of the slices with weights that are computed once. The other factors that depend on
 * the radius (interpolation in time, directions, velocities) are smooth and are expanded in
 * polynomials of it.
 *
 * Let x be the position of a point on its own grid, R(a) the rotation by a, d the position of that
 * grid in the frame of the retarded time, D the angle between the two frames and e a unit vector.
 * The points of the circle are R(-D) x + d + r' e. A rotation leaves the circle unchanged, so the
 * sum over it is F(R(-D) x), where F is a convolution. r' is cut into blocks within which D departs
 * from its value in the middle, D_m, by so little that the rest of the rotation moves no point by
 * more than a fraction of a cell. With y = R(-D_m) x the sum over a block is (1 + (D - D_m) L + (D
 * - D_m)^2/2 L^2) F(y), L = w d/du - u d/dw (and of the cube of D - D_m what is linear in it): F is
 * computed on a lattice, with the spacings of the slices or half of them, that covers all y, and is
 * interpolated there by quintic splines, whose coefficients cost nothing in Fourier space. (F of a
 * thin sheet is seen along the sheet hardly wider than the sheet, 1.6 cells: interpolation by
 * Lagrange's formula was off by 3e-4 of the potential.) For the same reason the rates caused by the
 * rotation of the frame, D' L of the moments at the points of the circle, sum to D' L F: w and u of
 * y times convolutions with the slopes of the B-spline.
 *
 * If the slices hardly turn in the first block, which begins at r' = 0, its D_m is 0, and the
 * lattice is the grid of the points itself (it is in place). Slices of other spacings are convolved
 * on lattices of their own. */
#ifndef AW_KERNELS_MATH_CONVOLUTION_H
#define AW_KERNELS_MATH_CONVOLUTION_H
#include "kernels/math/height.h"
#include "kernels/math/integrand.h"
#include "kernels/math/retarded.h"

/* Sources of the convolution: three moments of each of three slices. */
#define AW_CONVOLUTION_SOURCES 9
/* Outputs of the convolution: the AW_RESULTS results; phi and psi times the angle D - D_m, to which
 * L is applied; the slopes of phi along and across the grid times D'. Beside these, of lattices
 * that are not in place: the rate of phi times D - D_m, for L; and for L^2, phi and psi times (D -
 * D_m)^2/2, and phi times its rate (D - D_m) D'. Only rates of AW_RESULTS, AW_TURNING_* and
 * AW_TURNED_RATE use slopes of the B-spline. */
enum {
    AW_TURNED_PHI = AW_DAX + 1,
    AW_TURNED_PSI,
    AW_TURNING_ALONG,
    AW_TURNING_ACROSS,
    AW_CONVOLVED_IN_PLACE,
    AW_TURNED_RATE = AW_CONVOLVED_IN_PLACE,
    AW_TURNED_TWICE_PHI,
    AW_TURNED_TWICE_PSI,
    AW_TURNED_TWICE_RATE,
    AW_CONVOLVED
};
/* Sets of nodes of a lattice: half a cell apart along either axis. */
#define AW_LATTICE_SETS 4
/* Number of Chebyshev polynomials of r' on a block, for values and for slopes along and across.
 * (The weights of the interpolation in time are of second degree.) */
#define AW_RADIAL 4
#define AW_RADIAL_SLOPES 3
/* The same for the rate of the height, which is a small part of rates. */
#define AW_RADIAL_GROWTH 2
/* Weights per displacement: values, slopes along, slopes across, rates of the height. */
#define AW_GROWTH_RINGS (AW_RADIAL + 2 * AW_RADIAL_SLOPES)
#define AW_RINGS (AW_GROWTH_RINGS + AW_RADIAL_GROWTH)

/** A block, and the blocks that share its lattices, which follow each other: ranges of r' [m]. */
typedef struct aw_block_range {
    double from, to;
    double shared_from, shared_to;
} aw_block_range;

/** Lattice on which a block is convolved: that of its slices that have the same spacings. */
typedef struct aw_block_lattice {
    aw_block_range block;
    aw_retarded now;       /* frame at r' = 0 */
    aw_retarded frame;     /* frame whose axes the lattice has: in the middle of the blocks that
                             * share it, or, in place, at r' = 0 */
    double turn_c, turn_s; /* cosine and sine of the angle D_m from the points' grid to it */
    double turned;         /* largest |D - D_m| in these blocks [rad] */
    double hs, hx;         /* spacings [m] */
    int in_place;          /* 1: the points are its nodes */
    int between[2];        /* 1: the points lie between its nodes along, across */
    int member[3];         /* 1: the slice of aw_retarded.slice lies on it */
} aw_block_lattice;

/** Coefficients of the polynomials with which each source enters each output. Source 3 t + k is
 *  moment k of slice t. */
typedef struct aw_convolution {
    aw_block_lattice lattice;
    aw_field_point middle;    /* centre of the points, with their velocity */
    const aw_slice *slice[3]; /* [slices], borrowed; NULL: not on the lattice */
    int slices;
    int grows; /* 1: the height of the beam changes */
    double value[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][AW_RADIAL];
    /* along, across; zero for phi, A and psi, turned or not */
    double slope[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][2][AW_RADIAL_SLOPES];
} aw_convolution;

/** Sine of the angle from frame f to g. */
AW_FN double aw_turn_between(const aw_retarded *f, const aw_retarded *g)
{
    return g->sg * f->cg - g->cg * f->sg;
}

/** Displacement of the outermost node by that angle [cells]. */
AW_FN double aw_turn_cells(const aw_retarded *f, const aw_retarded *g)
{
    return fabs(aw_turn_between(f, g)) * fmax(f->half_x / f->hs, f->half_s / f->hx);
}

/* Largest turn of the slices of a block in place, in aw_turn_cells: it adds its square, over the
 * width in cells of the structure in the moments, to the error. */
#define AW_IN_PLACE_CELLS 0.1

/** End of the block that begins at r' = from: at most `limit`, the next slice, or where the slices
 *  have turned too far.
 *  @param[in] max_shift  largest displacement of a node by the rotation against the middle of the
 *                        block [cells]
 *  @return r' [m]; `from`: the history does not reach back */
AW_FN double aw_convolution_end(const aw_history_view *h, double from, double limit,
                                double max_shift)
{
    const aw_retarded begin = aw_retarded_at(h, from);
    const double allowed = 2.0 * max_shift;
    const int m = aw_slice_before(h, from);
    double r = limit;
    if (begin.nt == 0) return from;
    if (begin.nt > 1) r = fmin(r, aw_slice_age(h, m + 1));
    for (int i = 0; i < 60 && r > from; ++i) {
        const aw_retarded end = aw_retarded_at(h, r);
        const double shift = aw_turn_cells(&begin, &end);
        if (shift <= allowed) return r;
        r = from + (r - from) * fmin(0.9, allowed / shift);
    }
    return from;
}

/* Points this much off a lattice's nodes [cells] lie between them. */
#define AW_BETWEEN_NODES 0.02
/* That does not matter along an axis along which circles change less than this part as much from
 * cell to cell as along the other: the error of quadratic splines grows as the third power. In a
 * bend of 1.5 m half the spacing then takes two lattices instead of four, with the same error. With
 * 0.5 instead of 0.1, 20 of 299 steps of the Zeuthen chicane (48 x 48, 1e-4) fell back, instead of
 * none. */
#define AW_BETWEEN_LEAST 0.1

/** The lattice of slice t (of the three that contribute) in a block. Its members are all slices
 *  with the same spacings. */
AW_FN aw_block_lattice aw_lattice_of(const aw_history_view *h, const aw_block_range *block, int t)
{
    const aw_retarded inside = aw_retarded_at(h, 0.5 * (block->from + block->to));
    const aw_retarded middle = aw_retarded_at(h, 0.5 * (block->shared_from + block->shared_to));
    const aw_retarded begin = aw_retarded_at(h, block->shared_from);
    const aw_retarded end = aw_retarded_at(h, block->shared_to);
    aw_block_lattice l = {.block = *block, .now = aw_retarded_at(h, 0.0)};
    const int stays =
        !(block->shared_from > 0.0) && aw_turn_cells(&l.now, &end) <= AW_IN_PLACE_CELLS;
    l.frame = stays ? l.now : middle;
    l.turn_s = aw_turn_between(&l.now, &l.frame);
    l.turn_c = l.frame.cg * l.now.cg + l.frame.sg * l.now.sg;
    l.hs = inside.slice[t]->hs;
    l.hx = inside.slice[t]->hx;
    l.in_place = stays && l.hs == h->slice[0].hs && l.hx == h->slice[0].hx;
    const double turn = fabs(l.turn_s);
    l.turned = fmax(fabs(aw_turn_between(&l.frame, &begin)), fabs(aw_turn_between(&l.frame, &end)));
    /* The line of sight from the slices to the points, in cells of the lattice. */
    const double dz = l.now.z - middle.z, dx = l.now.x - middle.x;
    const double along = fabs(dz * middle.cg + dx * middle.sg) * l.hs;
    const double across = fabs(dx * middle.cg - dz * middle.sg) * l.hx;
    l.between[0] = along >= AW_BETWEEN_LEAST * across &&
                   (l.hs != h->slice[0].hs || turn * l.now.half_x > AW_BETWEEN_NODES * l.hs);
    l.between[1] = across >= AW_BETWEEN_LEAST * along &&
                   (l.hx != h->slice[0].hx || turn * l.now.half_s > AW_BETWEEN_NODES * l.hx);
    for (int i = 0; i < inside.nt; ++i)
        l.member[i] = inside.slice[i]->hs == l.hs && inside.slice[i]->hx == l.hx;
    return l;
}

/** Lattices of a block, one for each of the different spacings of its slices.
 *  @return their number */
AW_FN int aw_lattices_of(const aw_history_view *h, const aw_block_range *block,
                         aw_block_lattice lattice[3])
{
    const int slices = aw_retarded_at(h, 0.5 * (block->from + block->to)).nt;
    int n = 0;
    for (int t = 0; t < slices; ++t) {
        int seen = 0;
        for (int k = 0; k < n; ++k) seen |= lattice[k].member[t];
        if (!seen) lattice[n++] = aw_lattice_of(h, block, t);
    }
    return n;
}

/** Position y, in cells from the centre of the lattice, of the point of the grid that is u [m]
 *  along and w [m] across from its centre. */
AW_FN void aw_lattice_place(const aw_block_lattice *l, double u, double w, double *a, double *b)
{
    *a = (u * l->turn_c + w * l->turn_s) / l->hs;
    *b = (w * l->turn_c - u * l->turn_s) / l->hx;
}

/* Nodes of the interpolation on a lattice along either axis, and nodes beyond the outermost point
 * that a lattice has: what is wrong beyond its end reaches in by 0.43 per node. */
#define AW_LATTICE_NODES 6
#define AW_LATTICE_MARGIN 8

/** Nodes that the lattice must have beyond a slice at either end of an axis, so that all points can
 *  be interpolated. @param[out] pad  along, across */
AW_FN void aw_lattice_pad(const aw_history_view *h, const aw_block_lattice *l, double pad[2])
{
    const aw_slice *now = &h->slice[0];
    double far[2] = {0.0, 0.0};
    pad[0] = pad[1] = 0.0;
    if (l->in_place) return;
    for (int i = 0; i < 2; ++i) {
        double a, b;
        aw_lattice_place(l, (i ? -0.5 : 0.5) * (h->ns - 1) * now->hs, 0.5 * (h->nx - 1) * now->hx,
                         &a, &b);
        far[0] = fmax(far[0], fabs(a));
        far[1] = fmax(far[1], fabs(b));
    }
    pad[0] = fmax(0.0, ceil(far[0] - 0.5 * (h->ns - 1)) + AW_LATTICE_MARGIN);
    pad[1] = fmax(0.0, ceil(far[1] - 0.5 * (h->nx - 1)) + AW_LATTICE_MARGIN);
}

/** Weights of the nodes of a quintic B-spline, and their three first derivatives [1/cell ..]. */
typedef struct aw_lattice_weights {
    double value[AW_LATTICE_NODES], slope[AW_LATTICE_NODES], bend[AW_LATTICE_NODES];
    double third[AW_LATTICE_NODES];
} aw_lattice_weights;

/** Weights at t in [0, 1) from node AW_LATTICE_NODES/2 - 1 on. */
AW_FN void aw_lattice_spline(double t, aw_lattice_weights *w)
{
    double *value = w->value;
    /* From one degree to the next, by de Boor and Cox; derivatives are differences of the weights
     * of lower degrees. */
    value[0] = 1.0;
    for (int d = 1; d < AW_LATTICE_NODES; ++d) {
        double next = 0.0;
        for (int i = 0; d == AW_LATTICE_NODES - 3 && i <= d + 2; ++i)
            w->third[i] = (i > 2 ? value[i - 3] : 0.0) - (i < d ? value[i] : 0.0) +
                          3.0 * ((i > 0 && i <= d ? value[i - 1] : 0.0) -
                                 (i > 1 && i <= d + 1 ? value[i - 2] : 0.0));
        for (int i = 0; d == AW_LATTICE_NODES - 2 && i <= d + 1; ++i)
            w->bend[i] = (i > 1 ? value[i - 2] : 0.0) + (i < d ? value[i] : 0.0) -
                         (i > 0 && i <= d ? 2.0 * value[i - 1] : 0.0);
        for (int i = 0; d == AW_LATTICE_NODES - 1 && i <= d; ++i)
            w->slope[i] = (i > 0 ? value[i - 1] : 0.0) - (i < d ? value[i] : 0.0);
        for (int i = 0; i < d; ++i) {
            const double part = value[i] / d;
            value[i] = next + (i + 1 - t) * part;
            next = (t + d - 1 - i) * part;
        }
        value[d] = next;
    }
}

/** The spline's nodes along one axis, and their weights. */
typedef struct aw_lattice_axis {
    int first;
    aw_lattice_weights at;
} aw_lattice_axis;

/** At a coordinate in cells from the first of n nodes. */
AW_FN aw_lattice_axis aw_lattice_axis_at(double a, int n)
{
    const int below = AW_LATTICE_NODES / 2 - 1;
    aw_lattice_axis x;
    x.first = (int)floor(a) - below;
    if (x.first > n - AW_LATTICE_NODES) x.first = n - AW_LATTICE_NODES;
    if (x.first < 0) x.first = 0;
    aw_lattice_spline(a - x.first - below, &x.at);
    return x;
}

/** Fourier transform of its values at the nodes, at `phase` [rad/cell]. A quantity divided by it in
 *  Fourier space has the spline coefficients that reproduce it at the nodes. */
AW_FN double aw_lattice_spectrum(double phase)
{
    return (66.0 + 52.0 * cos(phase) + 2.0 * cos(2.0 * phase)) / 120.0;
}

/** Whether the points are the nodes of the newest slice, row by row, to 1e-6 of a cell. */
AW_FN int aw_convolution_fits(const aw_history_view *h, const aw_field_point *point, size_t columns,
                              size_t points)
{
    const aw_slice *newest = &h->slice[0];
    const aw_retarded now =
        aw_retarded_at(h, 0.0); /* its spacings are the finest of three slices */
    const double half_s = 0.5 * (h->ns - 1) * newest->hs, half_x = 0.5 * (h->nx - 1) * newest->hx;
    const double within = 1e-6 * fmin(newest->hs, newest->hx);
    if (columns != (size_t)h->ns || points != columns * (size_t)h->nx) return 0;
    aw_field_point corner[4];
    aw_grid_corners(point, columns, points, corner);
    for (int i = 0; i < 4; ++i) {
        double z, x;
        aw_frame_corner(&now, half_s, half_x, i, &z, &x);
        if (!(fabs(z - corner[i].z) <= within && fabs(x - corner[i].x) <= within)) return 0;
    }
    return 1;
}

/** Chebyshev polynomials T_0 .. on the block of a lattice, at r' = r. */
AW_FN void aw_convolution_radial(const aw_block_lattice *l, double r, double T[AW_RADIAL])
{
    const double x = (2.0 * r - l->block.from - l->block.to) / (l->block.to - l->block.from);
    T[0] = 1.0;
    T[1] = x;
    for (int q = 2; q < AW_RADIAL; ++q) T[q] = 2.0 * x * T[q - 1] - T[q - 2];
}

/** Factors with which the sources enter the outputs at one r', from aw_arc_turn, which is linear in
 *  the moments. Entries that are always zero are not written.
 *  @param[in] p  centre of the points, with their velocity */
AW_FN void aw_convolution_at(const aw_block_lattice *l, const aw_retarded *f,
                             const aw_field_point *p,
                             double value[AW_CONVOLVED][AW_CONVOLUTION_SOURCES],
                             double slope[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][2])
{
    const double turn = aw_turn_between(&l->frame, f);
    aw_arc arc;
    aw_arc_place(f, p, &arc);
    const double moves[2] = {(arc.du + arc.dgrid * arc.w) / l->hs,
                             (arc.dw - arc.dgrid * arc.u) / l->hx}; /* [cells/m] */
    for (int t = 0; t < 3; ++t)
        for (int k = 0; k < 3 && l->member[t]; ++k) {
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
            value[AW_TURNED_RATE][i] = turn * all[AW_DPHI];
            value[AW_TURNED_TWICE_RATE][i] = turn * f->dgrid * all[AW_PHI];
            value[AW_TURNED_TWICE_PHI][i] = 0.5 * turn * turn * all[AW_PHI];
            value[AW_TURNED_TWICE_PSI][i] = 0.5 * turn * turn * all[AW_PSI];
            for (int axis = 0; axis < 2; ++axis) {
                for (unsigned j = AW_DPHI; j < AW_RESULTS; ++j)
                    slope[j][i][axis] = rates[j] * moves[axis];
                slope[AW_TURNED_RATE][i][axis] = turn * rates[AW_DPHI] * moves[axis];
                slope[axis ? AW_TURNING_ACROSS : AW_TURNING_ALONG][i][axis] =
                    all[AW_PHI] * f->dgrid;
            }
        }
}

/* Radii (Chebyshev nodes) at which the coefficients are sampled. */
#define AW_RADIAL_NODES 8

/** Expand these factors in polynomials of r' on the block of a lattice, for points that all have
 *  the velocity of `common`. */
AW_FN aw_convolution aw_convolution_plan(const aw_history_view *h, const aw_block_lattice *lattice,
                                         const aw_field_point *common)
{
    const double middle = 0.5 * (lattice->block.from + lattice->block.to);
    const double half = 0.5 * (lattice->block.to - lattice->block.from);
    const aw_retarded inside = aw_retarded_at(h, middle);
    aw_convolution plan = {.lattice = *lattice, .middle = *common, .slices = inside.nt};
    plan.grows = inside.dheight2 != 0.0;
    plan.middle.z = lattice->now.z;
    plan.middle.x = lattice->now.x;
    for (int t = 0; t < inside.nt; ++t) plan.slice[t] = lattice->member[t] ? inside.slice[t] : NULL;
    for (int m = 0; m < AW_RADIAL_NODES; ++m) {
        const double y = cos(AW_PI * (m + 0.5) / AW_RADIAL_NODES);
        const double r = middle + half * y;
        const aw_retarded f = aw_retarded_at(h, r);
        double value[AW_CONVOLVED][AW_CONVOLUTION_SOURCES] = {{0.0}}, T[AW_RADIAL];
        double slope[AW_CONVOLVED][AW_CONVOLUTION_SOURCES][2] = {{{0.0}}};
        aw_convolution_at(lattice, &f, &plan.middle, value, slope);
        aw_convolution_radial(lattice, r, T);
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
    double shift[2];  /* of the points, along and across [cells] */
} aw_ring;

/** Weights of displacements by up to n - 1 cells either way. Those of (i, j) cells are
 *  weights[(j + nx - 1)(2 ns - 1) + i + ns - 1]. */
typedef struct aw_displacements {
    int ns, nx;
    int row[2];                  /* only rows row[0] .. row[1] - 1 are changed */
    double (*weights)[AW_RINGS]; /* borrowed */
} aw_displacements;

/* Weight of output j's part from source i and polynomial q of the rates of the height: a rate of
 * the mean over heights goes with the value itself. */
AW_FN double aw_convolution_growth(const aw_convolution *plan, int j, int i, int q)
{
    if (j >= AW_DPHI && j <= AW_DAX) return plan->value[j - AW_DPHI][i][q];
    return j == AW_TURNED_RATE ? plan->value[AW_TURNED_PHI][i][q] : 0.0;
}

#endif
