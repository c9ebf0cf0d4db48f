/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/cpu/passage.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"

/* The inner integral: Gauss's rule of five nodes over so many entries of the table. */
enum { AW_STOPS = 5 };
#define AW_STOP_ENTRIES 2.5
/* Intervals between which the speed of the passage is measured. */
enum { AW_SPEED_INTERVALS = 16 };
/* Weights are linear in the offset between offsets whose passages differ by this many cells, of
 * which there are so many at most. With a quarter and with two cells the steps of a long bunch (256
 * x 32, 1e-4) have the same errors. */
#define AW_ANCHOR_CELLS 1.0
enum { AW_ANCHORS_MAX = 256 };

/* A node in r' of the inner integral. */
typedef struct aw_stop {
    double r, z, x; /* r' and the beam's centre then [m] */
    double shrink;  /* extent of the beam at the node over that at this stop */
    double weight;
    double ahead; /* entries by which a point is ahead of its own offset */
} aw_stop;

static const double gauss_at[AW_STOPS] = {-0.906179845938664, -0.538469310105683, 0.0,
                                          0.538469310105683, 0.906179845938664};
static const double gauss_weight[AW_STOPS] = {
    0.236926885056189, 0.478628670499366, 0.568888888888889, 0.478628670499366, 0.236926885056189};

void aw_passage_free(aw_passage *passage)
{
    aw_free(passage->stop);
    aw_free(passage->weight);
    memset(passage, 0, sizeof *passage);
}

/* Legendre polynomials P_0 .. P_(n - 1) at x. */
static void legendre(double x, int n, double *value)
{
    value[0] = 1.0;
    if (n > 1) value[1] = x;
    for (int k = 2; k < n; ++k)
        value[k] = ((2 * k - 1) * x * value[k - 1] - (k - 1) * value[k - 2]) / k;
}

/* Extent of the beam on the line of sight from the centre of the points. */
static double extent_of(const aw_retarded *f, const aw_field_point *centre, int across)
{
    return aw_projection_extent(f, centre->z - f->z, centre->x - f->x, across);
}

/* A stop without its weight. @param[in] extent  at the node */
static aw_stop stop_at(const aw_history_view *h, const aw_field_point *centre,
                       const aw_common_node *node, double extent, double r)
{
    const aw_retarded f = aw_retarded_at(h, r);
    return (aw_stop){
        .r = r, .z = f.z, .x = f.x, .shrink = extent / extent_of(&f, centre, node->across)};
}

/* Entry of the table at which a point sees the beam from a stop. */
static double entry_of(const aw_projection *p, const aw_stop *s, double z, double x)
{
    const double dz = z - s->z, dx = x - s->x;
    return ((s->r - sqrt(dz * dz + dx * dx)) * s->shrink - p->first) / p->h;
}

aw_status aw_passage_begin(const aw_history_view *h, const aw_field_point *centre,
                           const aw_common_node *node, const aw_projection *p, aw_passage *out)
{
    aw_status status = AW_OK;
    const double a = log(node->from), b = log(node->to);
    const double half = 0.5 * (b - a), middle = 0.5 * (a + b);
    const aw_retarded at_node = aw_retarded_at(h, node->r);
    const double extent = extent_of(&at_node, centre, node->across);
    double z, x, fastest = 0.0, passed = 0.0, last = 0.0;
    aw_projection_point(p, p->skip + 0.5 * (p->read - 1), 1, 2, &z, &x);
    for (int i = 0; i <= AW_SPEED_INTERVALS; ++i) {
        const double r = exp(a + (b - a) * i / AW_SPEED_INTERVALS);
        const aw_stop s = stop_at(h, centre, node, extent, r);
        const double entry = entry_of(p, &s, z, x);
        if (i > 0) {
            fastest = fmax(fastest, fabs(entry - last));
            passed += entry - last;
        }
        last = entry;
    }
    out->entries = fabs(passed) / node->nodes;
    const size_t n = (size_t)fmax(ceil(AW_SPEED_INTERVALS * fastest / AW_STOP_ENTRIES), 1.0);
    AW_TRY(aw_grow((void **)&out->stop, &out->stop_capacity, n * AW_STOPS, sizeof *out->stop));
    double at[AW_PASSAGE_NODES], here[AW_PASSAGE_NODES];
    legendre((log(node->r) - middle) / half, node->nodes, here);
    out->stops = 0;
    for (size_t i = 0; i < n; ++i)
        for (int j = 0; j < AW_STOPS; ++j) {
            const double t = ((double)i + 0.5 * (1.0 + gauss_at[j])) / (double)n * 2.0 - 1.0;
            aw_stop *s = &out->stop[out->stops++];
            *s = stop_at(h, centre, node, extent, exp(middle + half * t));
            /* Lagrange's polynomial through Gauss's nodes, over the node's weight. */
            double polynomial = 0.0;
            legendre(t, node->nodes, at);
            for (int k = 0; k < node->nodes; ++k) polynomial += (k + 0.5) * here[k] * at[k];
            s->weight = s->shrink * gauss_weight[j] / (double)n * polynomial;
        }
done:
    return status;
}

/* By how many entries a point at an offset is ahead of that at the ends of the panel. */
static void ends_of(const aw_passage *passage, const aw_passage_table *table, double entry,
                    double end[2])
{
    double z, x;
    aw_projection_point(table->p, entry, table->k, table->order, &z, &x);
    end[0] = entry_of(table->p, &passage->stop[0], z, x) - entry;
    end[1] = entry_of(table->p, &passage->stop[passage->stops - 1], z, x) - entry;
}

/* Zeros on either side of the weights, which those of neighbouring offsets reach into. */
enum { AW_PADDING = AW_MEANS - 1 };

/* Weights of the entries about one offset, behind AW_PADDING zeros in passage->weight.
 * @param[out] lowest  the first, less that offset */
static aw_status make_weights(aw_passage *passage, const aw_passage_table *table, double entry,
                              int *lowest, int *n)
{
    aw_status status = AW_OK;
    double z, x, least = HUGE_VAL, most = -HUGE_VAL;
    aw_projection_point(table->p, entry, table->k, table->order, &z, &x);
    for (size_t m = 0; m < passage->stops; ++m) {
        aw_stop *s = &passage->stop[m];
        s->ahead = entry_of(table->p, s, z, x) - entry;
        least = fmin(least, s->ahead);
        most = fmax(most, s->ahead);
    }
    if (!(most - least < AW_PROJECTION_OFFSETS)) return AW_ERR_RANGE;
    *lowest = (int)floor(least) - 2;
    *n = (int)floor(most) + 4 - *lowest;
    const size_t all = (size_t)*n + (size_t)2 * AW_PADDING;
    AW_TRY(aw_grow((void **)&passage->weight, &passage->weight_capacity, all,
                   sizeof *passage->weight));
    memset(passage->weight, 0, all * sizeof *passage->weight);
    for (size_t m = 0; m < passage->stops; ++m) {
        const aw_stop *s = &passage->stop[m];
        const double whole = floor(s->ahead);
        double w[AW_PROJECTION_ENTRIES],
            *to = &passage->weight[AW_PADDING + (int)whole - 2 - *lowest];
        aw_projection_lagrange(s->ahead - whole, w);
        for (int i = 0; i < AW_PROJECTION_ENTRIES; ++i) to[i] += w[i] * s->weight;
    }
done:
    return status;
}

/* Add part of the means of the offsets about `anchor`, which falls off linearly to nothing `reach`
 * away, by the weights that were made there. */
static aw_status add_means(aw_passage *passage, const aw_passage_table *table, double anchor,
                           double reach, const double (*in)[AW_PROJECTION_WIDTH],
                           double (*out)[AW_PROJECTION_WIDTH])
{
    const aw_projection *p = table->p;
    const int from = (int)fmax(ceil(anchor - reach), 0.0);
    const int to = (int)fmin(floor(anchor + reach), p->read - 1);
    aw_status status = AW_OK;
    int lowest, n;
    AW_TRY(make_weights(passage, table, p->skip + anchor, &lowest, &n));
    for (int i = from; i <= to; i += AW_MEANS) {
        /* There is no beam beyond the ends of the table. */
        const int first = i + p->skip + lowest, last = first + n + AW_PADDING;
        const int begin = first < 0 ? 0 : first, end = last > p->n ? p->n : last;
        double sum[AW_MEANS][AW_PROJECTION_WIDTH];
        if (end <= begin) continue;
        table->variant->entry_sums(passage->weight + AW_PADDING + (begin - first), in + begin,
                                   end - begin, sum);
        for (int r = 0; r < AW_MEANS && i + r <= to; ++r) {
            const double part = 1.0 - fabs(i + r - anchor) / reach;
            for (int j = 0; j < AW_PROJECTION_WIDTH; ++j) out[i + r][j] += part * sum[r][j];
        }
    }
done:
    return status;
}

aw_status aw_passage_mean(aw_passage *passage, const aw_passage_table *table,
                          const double (*in)[AW_PROJECTION_WIDTH],
                          double (*out)[AW_PROJECTION_WIDTH])
{
    const aw_projection *p = table->p;
    aw_status status = AW_OK;
    double begin[2], end[2];
    ends_of(passage, table, p->skip, begin);
    ends_of(passage, table, p->skip + p->read - 1, end);
    const double differ = fmax(fabs(begin[0] - end[0]), fabs(begin[1] - end[1]));
    const double intervals = ceil(differ / (table->per_cell * AW_ANCHOR_CELLS));
    const int anchors = 1 + (int)fmin(fmax(intervals, 1.0), AW_ANCHORS_MAX - 1);
    const double reach = (double)(p->read - 1) / (anchors - 1);
    memset(out, 0, (size_t)p->read * sizeof *out);
    for (int a = 0; a < anchors; ++a) AW_TRY(add_means(passage, table, a * reach, reach, in, out));
done:
    return status;
}
