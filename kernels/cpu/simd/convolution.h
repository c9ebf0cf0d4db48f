/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of a convolution (kernels/math/convolution.h): of weights over the nodes of circles, over
 * the products of spectra, and over the nodes of a lattice about a point. Only elementwise products
 * are needed, and the last two stay in registers: an output reads each spectrum once. */

enum {
    AW_SUM_DOUBLES = AW_VECTOR_BYTES / (int)sizeof(double),
    AW_SUM_VECTORS = AW_SPECTRAL_CHUNK / AW_SUM_DOUBLES,
    AW_NODE_VECTORS = AW_LATTICE_WIDTH / AW_SUM_DOUBLES
};

typedef double aw_sum_vector __attribute__((vector_size(AW_VECTOR_BYTES)));
typedef double aw_sum_loose __attribute__((vector_size(AW_VECTOR_BYTES), aligned(8), may_alias));

/* The AW_RINGS weights of a displacement, as vectors. */
enum { AW_RING_VECTORS = AW_RINGS / 4 };

typedef struct aw_ring_weights {
    aw_v4 at[AW_RING_VECTORS];
} aw_ring_weights;

_Static_assert(AW_RINGS == 12 && AW_RADIAL == 4 && AW_RADIAL_SLOPES == 3 && AW_RADIAL_GROWTH == 2,
               "aw_ring_product");

/* Nodes of the B-spline about a node of an arc along one axis of the lattice. */
typedef struct aw_ring_axis {
    int first; /* index of the first displacement */
    double value[AW_SPLINE_NODES], slope[AW_SPLINE_NODES];
} aw_ring_axis;

/* @param[in] at      displacement of the arc's node [cells]
 * @param[in] most    largest displacement of all [cells]
 * @param[in] weight  factor on value and slope */
static inline aw_ring_axis aw_ring_along(double at, int most, double weight)
{
    const double nearest = floor(at + 0.5);
    aw_ring_axis axis = {.first = (int)nearest + AW_SPLINE_FIRST + most};
    aw_spline(at - nearest, axis.value);
    aw_spline_slope(at - nearest, axis.slope);
    for (int i = 0; i < AW_SPLINE_NODES; ++i) {
        axis.value[i] *= weight;
        axis.slope[i] *= weight;
    }
    return axis;
}

/* The nodes of an arc in one cell: sums, for the displacements about it, of their weights of
 * values, of slopes along and of slopes across. */
typedef struct aw_ring_cell {
    int along, across;                           /* indices of the first displacements */
    aw_v4 sum[AW_SPLINE_NODES][AW_SPLINE_NODES]; /* [across][along] */
} aw_ring_cell;

/* Add the sums to the weights of displacements, with the factors `by` of the arc, and begin anew.
 * */
static inline void aw_ring_flush(const aw_displacements *d, const aw_ring_weights *by,
                                 aw_ring_cell *cell)
{
    const int columns = 2 * d->ns - 1;
    for (int n = 0; n < AW_SPLINE_NODES; ++n) {
        const int j = cell->across + n;
        if (j < d->row[0] || j >= d->row[1]) continue;
        for (int o = 0; o < AW_SPLINE_NODES; ++o) {
            const int i = cell->along + o;
            if (i < 0 || i >= columns) continue;
            aw_double4 *to = (aw_double4 *)d->weights[(ptrdiff_t)j * columns + i];
            const aw_v4 sum = cell->sum[n][o];
            to[0] += by->at[0] * sum[0];
            to[1] += by->at[1] * (aw_v4){sum[1], sum[1], sum[1], sum[2]};
            to[2] += by->at[2] * (aw_v4){sum[2], sum[2], sum[0], sum[0]};
        }
    }
    memset(cell->sum, 0, sizeof cell->sum);
}

/* Add a node of an arc to its cell; the sums of another cell are flushed before. */
static inline void aw_ring_add(const aw_displacements *d, const aw_ring_axis *along,
                               const aw_ring_axis *across, const aw_ring_weights *by,
                               aw_ring_cell *cell)
{
    if (cell->along != along->first || cell->across != across->first) {
        aw_ring_flush(d, by, cell);
        cell->along = along->first;
        cell->across = across->first;
    }
#pragma GCC unroll 3
    for (int n = 0; n < AW_SPLINE_NODES; ++n) {
        const aw_v4 row = {across->value[n], across->value[n], across->slope[n], 0.0};
#pragma GCC unroll 3
        for (int o = 0; o < AW_SPLINE_NODES; ++o)
            cell->sum[n][o] +=
                row * (aw_v4){along->value[o], along->slope[o], along->value[o], 0.0};
    }
}

/* Add circle `one` of a node in r'. */
static void aw_ring_circle(const aw_convolution *plan, const aw_ring *ring,
                           const aw_circles *circles, int one, const aw_retarded *at,
                           const aw_displacements *d)
{
    aw_retarded f = aw_circle_of(at, circles, one);
    double T[AW_RADIAL];
    aw_arc arc;
    aw_arc_place(&f, &plan->middle, &arc);
    arc.u += ring->shift[0] * plan->lattice.hs;
    arc.w += ring->shift[1] * plan->lattice.hx;
    aw_convolution_radial(&plan->lattice, ring->r, T);
    f.hs = plan->lattice.hs;
    f.hx = plan->lattice.hx;
    const double radius = arc.r, weight = aw_circle_weight(circles, one) * ring->weight;
    const double growth = aw_circle_growth(circles, one) * ring->weight;
    /* Rows whose displacements are changed; the others are another thread's. */
    const double first = d->row[0] - (d->nx + 1), last = d->row[1] - (d->nx - 2);
    /* One cell beyond the largest displacement, so that the ends of arcs contribute nothing. */
    const aw_arcs arcs =
        aw_circle_arcs(arc.u, arc.w, radius, (d->ns + 1) * f.hs, (d->nx + 1) * f.hx);
    for (int k = 0; k < arcs.n; ++k) {
        aw_ring_cell cell = {.along = 0};
        aw_arc_nodes(&f, &arcs, k, ring->density, &arc);
        const double value = arc.step * weight, grown = arc.step * growth;
        const aw_ring_weights by = {{{value * T[0], value * T[1], value * T[2], value * T[3]},
                                     {value * T[0], value * T[1], value * T[2], value * T[0]},
                                     {value * T[1], value * T[2], grown * T[0], grown * T[1]}}};
        const int in_angle = arc.even.in == AW_EVEN_ANGLE;
        const double turn_c = cos(arc.step), turn_s = sin(arc.step);
        double c = cos(arc.first), s = sin(arc.first), own = 1.0;
        aw_turned turned;
        for (int m = 0; m < arc.n; ++m) {
            if (!in_angle) {
                const int l = m % AW_BATCH;
                if (l == 0) aw_turn_batch(&arc.even, arc.first + m * arc.step, arc.step, &turned);
                c = turned.c[l];
                s = turned.s[l];
                own = turned.by[l];
            }
            const double w = (arc.w + radius * s) / f.hx, u = (arc.u + radius * c) / f.hs;
            const double next = c * turn_c - s * turn_s;
            s = s * turn_c + c * turn_s;
            c = next;
            if (w < first || w > last) continue;
            const aw_ring_axis along = aw_ring_along(u, d->ns - 1, 1.0);
            const aw_ring_axis across = aw_ring_along(w, d->nx - 1, own);
            aw_ring_add(d, &along, &across, &by, &cell);
        }
        aw_ring_flush(d, &by, &cell);
    }
}

static void aw_convolution_ring(const aw_history_view *h, const aw_convolution *plan,
                                const aw_ring *ring, const aw_displacements *d)
{
    const aw_retarded f = aw_retarded_at(h, ring->r);
    aw_circles circles = aw_circles_at(&f);
    aw_arc arc;
    aw_arc_place(&f, &plan->middle, &arc);
    const double away = sqrt(arc.u * arc.u + arc.w * arc.w);
    const double along = (d->ns + 1) * plan->lattice.hs, across = (d->nx + 1) * plan->lattice.hx;
    const double reach = sqrt(along * along + across * across);
    aw_circles_see(&f, fmax(away - reach, 0.0), away + reach, &circles);
    for (int i = 0; i < aw_circles_count(&circles); ++i)
        aw_ring_circle(plan, ring, &circles, i, &f, d);
}

static void aw_spectral_sum_run(const aw_spectral_sum *s, size_t first, double *out)
{
    aw_sum_vector even[AW_SUM_VECTORS] = {{0.0}}, odd[AW_SUM_VECTORS] = {{0.0}};
    for (int q = 0; q < AW_RINGS; ++q) {
        aw_sum_vector x[AW_SUM_VECTORS] = {{0.0}};
        int used = 0;
        for (int i = 0; i < s->sources; ++i) {
            const double w = s->weight[q][i];
            if (w == 0.0) continue;
            const aw_sum_loose *from = (const aw_sum_loose *)(s->source[i] + first);
#pragma GCC unroll 16
            for (int v = 0; v < AW_SUM_VECTORS; ++v) x[v] += w * from[v];
            used = 1;
        }
        if (!used) continue;
        const aw_sum_loose *a = (const aw_sum_loose *)(s->even[q] + first);
        const aw_sum_loose *b = (const aw_sum_loose *)(s->odd[q] + first);
#pragma GCC unroll 16
        for (int v = 0; v < AW_SUM_VECTORS; ++v) {
            even[v] += a[v] * x[v];
            odd[v] += b[v] * x[v];
        }
    }
    double sum[2][AW_SPECTRAL_CHUNK];
    memcpy(sum[0], even, sizeof even);
    memcpy(sum[1], odd, sizeof odd);
    for (int i = 0; i < AW_SPECTRAL_CHUNK; ++i) {
        const double factor = s->factor ? s->factor[first + (size_t)i] : 1.0;
        out[i] = (s->adds ? out[i] : 0.0) + factor * (sum[0][i] + sum[1][i ^ 1]);
    }
}

/* Sums over the nodes about a point, at (a, b) cells from the first node of the lattice. */
static void aw_lattice_sum_run(const aw_lattice_values *lattice, const aw_lattice_turn *turn,
                               aw_lattice_sums *out)
{
    const int columns = lattice->columns;
    const double along = turn->along, across = turn->across, u = turn->u, w = turn->w;
    const double third = turn->third;
    const aw_lattice_axis x = aw_lattice_axis_at(turn->a, columns);
    const aw_lattice_axis y = aw_lattice_axis_at(turn->b, lattice->rows);
    aw_sum_vector value[AW_NODE_VECTORS] = {{0.0}}, once[AW_NODE_VECTORS] = {{0.0}};
    aw_sum_vector twice[AW_NODE_VECTORS] = {{0.0}};
    for (int m = 0; m < AW_LATTICE_NODES; ++m) {
        const double(*node)[AW_LATTICE_WIDTH] =
            lattice->node + (ptrdiff_t)(y.first + m) * columns + x.first;
        const double v = y.at.value[m], dv = y.at.slope[m], ddv = y.at.bend[m];
        const double dddv = y.at.third[m];
        /* L = along d/du - across d/dw, with L^3, and L^2, as sums over the weights along u. */
        const double ls = -across * dv +
                          third * (across * (dv + 3.0 * w * ddv) - across * across * across * dddv);
        const double lds = along * v + third * (3.0 * along * across * across * ddv - along * v +
                                                3.0 * (across * u - along * w) * dv);
        const double ldds = -3.0 * third * along * (along * across * dv + u * v);
        const double lddds = third * along * along * along * v;
        const double lls = across * across * ddv - w * dv;
        const double llds = -2.0 * along * across * dv - u * v, lldds = along * along * v;
        for (int n = 0; n < AW_LATTICE_NODES; ++n, ++node) {
            const double s = x.at.value[n], ds = x.at.slope[n], dds = x.at.bend[n];
            const double by = v * s;
            const double l = ls * s + lds * ds + ldds * dds + lddds * x.at.third[n];
            const double ll = lls * s + llds * ds + lldds * dds;
            const aw_sum_loose *at = (const aw_sum_loose *)*node;
#pragma GCC unroll 8
            for (int k = 0; k < AW_NODE_VECTORS; ++k) {
                value[k] += by * at[k];
                once[k] += l * at[k];
                twice[k] += ll * at[k];
            }
        }
    }
    memcpy(out->value, value, sizeof out->value);
    memcpy(out->once, once, sizeof out->once);
    memcpy(out->twice, twice, sizeof out->twice);
}
