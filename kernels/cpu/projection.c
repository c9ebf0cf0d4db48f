/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device's tables of projections (kernels/math/projection.h): the beam at one retarded time
 * as seen from a few directions. The kernel for tiles computes them, with neighbouring offsets as
 * lanes. */
#include <math.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "src/base/memory.h"

/* Error of a quintic through six entries, half-way between the middle two, over the sixth
 * difference of the entries. */
#define AW_QUINTIC_ERROR (5.0 / 1024.0)
/* Within a cell a quadratic B-spline deviates from a smooth curve by B3(x)/6 third differences of
 * its coefficients (B3: Bernoulli polynomial; at most 0.048/6 = 0.008), and its derivative, from
 * which the rates are made, by B2(x)/2 second differences (at most 0.083). A table with one entry
 * per cell misses up to twice that, with p entries per cell about 1/p^2, and 1/p, of it. */
#define AW_KINK_ERROR 0.016
#define AW_RATE_KINK_ERROR 0.17
/* Error of a truncated Chebyshev series over its last coefficient, as the coefficients decrease. */
#define AW_SERIES_ERROR 0.25
/* One direction replaces all, or a shorter series a longer one, if the difference is within this
 * fraction of the permitted error of a table. At a point this error has the same sign from node to
 * node, and adds up. */
#define AW_DIRECTION_SHARE 0.05
/* The arcs of a table may be this part of those of the points where the beam is seen; and the same
 * for images: lanes of a table are a cell apart, all circles of a node read one table, and it has
 * no kinks, which common nodes alias. At S = 12.5 m of the Zeuthen chicane (plates 10 mm apart) 1.5
 * takes three quarters of the time of 0.5, and 2 no less. */
#define AW_TABLE_WORTH 0.5
#define AW_IMAGES_TABLE_WORTH 1.5
/* Largest number of offsets per cell of the beam's grid. */
#define AW_PER_CELL_MAX 16
/* The kinks of circles that sweep more cells than this from node to node are filtered out of their
 * tables, if they are small enough for what is left of them where filtering begins (choose_swept):
 * such kinks need not be resolved. Otherwise only where nodes would alias them. */
#define AW_SWEPT_CELLS 0.1
#define AW_ALIASED_CELLS 0.5
/* Part of the permitted error of a table up to which its kinks need no filter: of the bunch itself,
 * whose nodes may all sample them at the same phase; of images, which pass at their own pace, it is
 * all of it. With all of it for the bunch, too, the LCLS bend (256 x 256, 1e-5) took 3 % more
 * evaluations, and a long beam (256 x 32, 1e-4) 30 %, because rules became finer. */
#define AW_UNFILTERED_SHARE 0.25
/* The same of a table of which means are taken over a passage. */
#define AW_PASSAGE_PER_CELL 4
/* Halves of a cell that the filter reaches to either side. */
#define AW_FILTER_REACH 4

typedef double entry[AW_PROJECTION_WIDTH];

/* Arguments and state while one table is made. */
typedef struct making {
    const aw_cpu_state *cpu;
    const aw_cpu_line_cache *cache;
    const aw_retarded *f;               /* of the cache's view */
    const aw_circles *circles;          /* of f */
    const aw_interpolated_lines *lines; /* of f */
    const aw_common_rule *common;
    const aw_common_node *node;
    const aw_scales *scales;
    int per_cell; /* offsets per cell of the beam's grid */
    double swept; /* cells from node to node beyond which kinks are filtered out */
    double wide;  /* length of a tile's arcs over that of a single lane's */
    aw_cpu_table *t;
    aw_cpu_workspace *workspace;
} making;

/* Filter n entries: components with a period of 2 s entries are removed, longer periods hardly
 * change. With the second difference d^2 over s entries the filter is 1 - (-d^2/4)^4, which takes
 * 2e-6 of a wave of eight cells where s is half a cell. */
static void smooth(const entry *raw, int n, int s, entry *out)
{
    static const double tap[AW_FILTER_REACH + 1] = {186.0 / 256.0, 56.0 / 256.0, -28.0 / 256.0,
                                                    8.0 / 256.0, -1.0 / 256.0};
    memcpy(out, raw, (size_t)n * sizeof *raw);
    for (int i = AW_FILTER_REACH * s; i + AW_FILTER_REACH * s < n; ++i)
        for (int j = 0; j < AW_PROJECTION_WIDTH; ++j) {
            double sum = tap[0] * raw[i][j];
            for (int k = 1; k <= AW_FILTER_REACH; ++k)
                sum += tap[k] * (raw[i - k * s][j] + raw[i + k * s][j]);
            out[i][j] = sum;
        }
}

/* Cells through which the circle with the radius r' - lag sweeps from node to node. */
static double cells_swept(const making *m, double lag)
{
    const double step = m->node->step + lag * m->node->stretch; /* its lag goes with 1/r' */
    return step / (m->per_cell * m->t->at.h);
}

/* Whether the kinks of the splines are filtered out of what the circle with the radius r' - lag
 * sees. Their contribution has the period of a cell, and cancels as the circle moves through the
 * cells; but common nodes about a cell apart would sample it always at the same phase. A circle at
 * rest must not be filtered: its kinks stay, and without them phi was 3e-4 too low in the entrance
 * of the LCLS bend between plates. */
static int is_smoothed(const making *m, double lag) { return cells_swept(m, lag) > m->swept; }

static double lag_of(const making *m, int circle)
{
    return m->f->radius - aw_circle_radius(m->f, m->circles, circle);
}

/* Whether they are filtered out for any of the circles. */
static int is_any_smoothed(const making *m)
{
    return is_smoothed(m, lag_of(m, aw_circles_count(m->circles) - 1));
}

/* Least lag of the circles that meet the beam anywhere: far from the bunch its own circle has left
 * it behind for all points, and only images are seen. */
static double least_lag(const making *m)
{
    const aw_projection *p = &m->t->at;
    const int sees_images = p->high > p->low;
    const int left_behind = m->f->images_only || !(p->low < p->to && p->high > p->from);
    return sees_images && left_behind ? lag_of(m, m->circles->n) : 0.0;
}

/* Cells swept from node to node beyond which the errors of the nodes' tables have nothing in
 * common. Tables of the images in the Zeuthen chicane (plates 10 mm apart, S = 9 to 14 m) sweep 0.3
 * to 3.4 cells; of a bunch that has just entered the LCLS bend (20 mm), next to none. */
#define AW_APART_CELLS 0.25

/* Permitted error of the table, in scales. */
static double permitted_error(const making *m)
{
    if (aw_is_passage(m->node)) return m->common->passage_error;
    const int apart = cells_swept(m, least_lag(m)) > AW_APART_CELLS;
    return apart ? fmax(m->common->table_error, m->common->apart_error) : m->common->table_error;
}

/* Fill a tile: lanes from offset `at` on, one cell apart, in direction k of `order` + 1. */
static void take_lanes(const making *m, int k, int order, int at, int offset[AW_TILE],
                       aw_tile *tile)
{
    const aw_projection *p = &m->t->at;
    aw_field_point point[AW_TILE];
    /* Lanes must ascend along the rows of the beam's grid; a point is closer the larger its
     * offset. */
    const int turned = p->cz * m->f->cg + p->cx * m->f->sg > 0.0;
    for (int l = 0; l < AW_TILE; ++l) {
        offset[l] = at + (turned ? AW_TILE - 1 - l : l) * m->per_cell;
        point[l] = *m->common->moves_as;
        aw_projection_point(p, offset[l], k, order, &point[l].z, &point[l].x);
    }
    aw_tile_take(point, AW_TILE, tile);
}

/* Factor by which the arcs of a tile in the middle direction are longer than a single lane's. */
static double widening(const making *m)
{
    int offset[AW_TILE];
    aw_tile tile;
    aw_tile_place place;
    take_lanes(m, 1, 2, m->t->at.n / 2, offset, &tile);
    aw_tile_at(&m->cache->view, m->f, &tile, &place);
    return 1.0 + place.wide[1] / m->f->half_x;
}

/* Compute direction k of `order` + 1, times the node's weights, into raw[n]: of the offsets of each
 * cell every `step`-th, from `begin` on. */
static void project(const making *m, int k, int order, int begin, int step, entry *raw)
{
    const aw_cpu_state *cpu = m->cpu;
    const aw_common_node *node = m->node;
    const aw_projection *p = &m->t->at;
    const aw_retarded_beam beam = {.history = &m->cache->view, .f = m->f, .lines = m->lines};
    const aw_tile_options options = {.density = node->density * cpu->density,
                                     .single = 1,
                                     .rates = node->rate != 0.0,
                                     .batch = cpu->tuning.cluster_batch};
    for (int first = 0; first < p->n; first += AW_TILE * m->per_cell)
        for (int at = first + begin; at < first + m->per_cell && at < p->n; at += step) {
            aw_tile tile;
            aw_tile_place place;
            double f_in[AW_RESULTS][AW_TILE];
            int offset[AW_TILE];
            take_lanes(m, k, order, at, offset, &tile);
            aw_tile_at(&m->cache->view, m->f, &tile, &place);
            cpu->variant->tile(&beam, &options, &tile, &place, f_in, &m->workspace->work);
            for (int l = 0; l < AW_TILE; ++l) {
                if (offset[l] >= p->n) continue;
                for (unsigned j = 0; j < AW_RESULTS; ++j)
                    raw[offset[l]][j] = (j < AW_DPHI ? node->weight : node->rate) * f_in[j][l];
                raw[offset[l]][AW_RESULTS] =
                    aw_common_check(m->common->check_rates, node, m->scales, f_in[AW_PHI][l],
                                    f_in[AW_PSI][l], f_in[AW_DPHI][l]);
            }
        }
}

/* Raise the largest error to this one; a NaN, once seen, stays. */
static void raise_to(double error, double *largest)
{
    if (!(error <= *largest) && !isnan(*largest)) *largest = error;
}

/* Error of interpolation from the kinks of the splines after entry i of n, of the result j. */
static double kink_error(const entry *raw, int i, unsigned j, int n, int per_cell)
{
    const int p = per_cell;
    if (i + (j < AW_DPHI ? 3 : 2) * p >= n) return 0.0;
    if (j >= AW_DPHI)
        return AW_RATE_KINK_ERROR / p * fabs(raw[i][j] - 2.0 * raw[i + p][j] + raw[i + 2 * p][j]);
    return AW_KINK_ERROR / (p * p) *
           fabs(raw[i + 3 * p][j] - raw[i][j] + 3.0 * (raw[i + p][j] - raw[i + 2 * p][j]));
}

/* Error of quintic interpolation between the offsets of one direction, in scales: that of smooth
 * curves plus, unless they are filtered out, that from the kinks of the splines. */
static double offsets_error(const entry *raw, int n, int per_cell, int smoothed,
                            const aw_scales *scales)
{
    double largest = 0.0;
    for (int i = 0; i < n; ++i)
        for (unsigned j = 0; j < AW_RESULTS; ++j) {
            double smooth = 0.0;
            if (i + 6 < n)
                smooth = raw[i][j] + raw[i + 6][j] - 6.0 * (raw[i + 1][j] + raw[i + 5][j]) +
                         15.0 * (raw[i + 2][j] + raw[i + 4][j]) - 20.0 * raw[i + 3][j];
            const double kink = smoothed ? 0.0 : kink_error(raw, i, j, n, per_cell);
            const double error = (AW_QUINTIC_ERROR * fabs(smooth) + kink) / aw_scale_of(scales, j);
            raise_to(error, &largest);
        }
    return largest;
}

/* Choose from how many cells on, swept from node to node, kinks are filtered out. Where filtering
 * begins, or where nodes without a table follow, a part of a period stays: with kinks e, the
 * integral over a part of a period of a cell is at most e/pi cells, or e/(pi step) nodes.
 * @param[in] raw  the middle direction, at one offset per cell */
static void choose_swept(making *m, const entry *raw)
{
    double largest = 0.0;
    for (int i = 0; i < m->t->at.n; ++i)
        for (unsigned j = 0; j < AW_RESULTS; ++j) {
            const double kink = kink_error(raw, i, j, m->t->at.n, 1) / aw_scale_of(m->scales, j);
            raise_to(kink, &largest);
        }
    m->swept = largest <= AW_PI * AW_SWEPT_CELLS * m->common->kink_error ? AW_SWEPT_CELLS
                                                                         : AW_ALIASED_CELLS;
}

/* Entries from the beginning of a direction to that of the next. */
static size_t direction_size(const aw_projection *p)
{
    return (size_t)(p->n > p->read ? p->n : p->read);
}

/* Chebyshev coefficients of the `order` + 1 directions raw[order + 1][size], of the first n entries
 * of each. Their error is estimated from the last two, as a projection is often even or odd in the
 * direction, and every other coefficient small.
 * @param[out] table    [n][order + 1]; NULL: only the last two are computed
 * @param[out] largest  [order + 1]: the largest coefficient of each degree, in scales; those that
 *                      are not computed 0
 * @return the error of the series with all coefficients, in scales */
static double series(const making *m, const entry *raw, int n, int order, float *table,
                     double *largest)
{
    double error = 0.0, factor[AW_PROJECTION_ORDER + 1][AW_PROJECTION_ORDER + 1];
    entry peak[AW_PROJECTION_ORDER + 1] = {{0.0}};
    const size_t size_of = direction_size(&m->t->at);
    for (int d = 0; d <= order; ++d)
        for (int k = 0; k <= order; ++k) {
            const double ends = (k == 0 || k == order ? 0.5 : 1.0);
            const double outer = (d == 0 || d == order ? 0.5 : 1.0);
            factor[d][k] = 2.0 / order * ends * outer * cos(AW_PI * d * (order - k) / order);
        }
    for (int i = 0; i < n; ++i)
        for (int d = table ? 0 : order - 1; d <= order; ++d) {
            entry c = {0.0};
            for (int k = 0; k <= order; ++k)
                for (int j = 0; j < AW_PROJECTION_WIDTH; ++j)
                    c[j] += factor[d][k] * raw[(size_t)k * size_of + (size_t)i][j];
            for (int j = 0; table && j < AW_PROJECTION_WIDTH; ++j)
                table[(i * (order + 1) + d) * AW_PROJECTION_WIDTH + j] = (float)c[j];
            for (unsigned j = 0; j < AW_RESULTS; ++j) raise_to(fabs(c[j]), &peak[d][j]);
        }
    for (int d = 0; d <= order; ++d) {
        largest[d] = 0.0;
        for (unsigned j = 0; j < AW_RESULTS; ++j)
            raise_to(peak[d][j] / aw_scale_of(m->scales, j), &largest[d]);
    }
    raise_to(AW_SERIES_ERROR * 0.5 * largest[order - 1], &error);
    raise_to(AW_SERIES_ERROR * largest[order], &error);
    return error;
}

/* Leave out the last coefficients of a table, as many as make no difference.
 * @param[in] largest  [t->at.order + 1], as `series` sets them */
static void shorten(const making *m, const double *largest)
{
    aw_cpu_table *t = m->t;
    const double limit = AW_DIRECTION_SHARE * permitted_error(m);
    const size_t before = (size_t)t->at.order + 1;
    double left_out = largest[t->at.order];
    while (t->at.order > 0 && left_out <= limit) left_out += largest[--t->at.order];
    const size_t row = ((size_t)t->at.order + 1) * AW_PROJECTION_WIDTH;
    for (size_t i = 1; i < (size_t)t->at.read && row < before * AW_PROJECTION_WIDTH; ++i)
        memmove(t->value + i * row, t->value + i * before * AW_PROJECTION_WIDTH,
                row * sizeof *t->value);
}

/* Write `order` + 1 directions into the table. @return the error of the series, in scales */
static double tabulate(const making *m, const entry *raw, int order)
{
    double largest[AW_PROJECTION_ORDER + 1];
    m->t->at.order = order;
    const double error = series(m, raw, m->t->at.read, order, m->t->value, largest);
    if (error <= permitted_error(m)) shorten(m, largest);
    return error;
}

/* Have memory for `order` + 1 directions in the table. */
static aw_status table_grow(const making *m, int order)
{
    const size_t size = direction_size(&m->t->at) * (size_t)(order + 1) * AW_PROJECTION_WIDTH;
    return aw_grow((void **)&m->t->value, &m->t->capacity, size, sizeof *m->t->value);
}

/* Move directions to make room for as many between them. */
static void spread_directions(entry *raw, size_t n, int order)
{
    for (int k = order / 2; k >= 1; --k)
        memmove(raw + (size_t)(2 * k) * n, raw + (size_t)k * n, n * sizeof *raw);
}

/* Whether a table costs too much, compared with the arcs of the points where the beam is seen. */
static int costs_too_much(const making *m, int directions)
{
    const aw_projection *p = &m->t->at;
    const double arcs = p->beam / p->h * directions; /* those of other offsets are empty */
    double seen = p->seen;
    if (p->high > p->low) /* each circle meets the beam at some of the points */
        seen = aw_circles_count(m->circles) * p->beam / (p->beam + p->high - p->low);
    const double worth = m->f->images_only ? AW_IMAGES_TABLE_WORTH : AW_TABLE_WORTH;
    return arcs * m->wide > worth * seen * (double)m->cpu->tiles.points;
}

/* Grow the thread's memory for so many directions of the table. @return NULL: no memory */
static entry *directions_grow(const making *m, int directions)
{
    aw_cpu_workspace *w = m->workspace;
    const size_t entries = (size_t)directions * direction_size(&m->t->at);
    if (aw_grow(&w->directions, &w->direction_capacity, entries, sizeof(entry)) != AW_OK)
        return NULL;
    return (entry *)w->directions;
}

/* Add one circle's part of the mean, of one direction.
 * @param[in] shift  entries by which it has a smaller offset than the largest circle */
static void average_one(const making *m, const entry *raw, double shift, int circle, entry *out)
{
    const aw_projection *p = &m->t->at;
    const aw_circles *circles = m->circles;
    /* The beam fills a larger angle of a smaller circle. */
    const double wider = m->f->radius / aw_circle_radius(m->f, circles, circle);
    const double rated = m->node->rate / m->node->weight; /* of rates, over that of values */
    const double weight = wider * aw_circle_weight(circles, circle);
    const double growth = wider * rated * aw_circle_growth(circles, circle);
    const int whole = (int)ceil(shift);
    /* The beam ends AW_PROJECTION_MARGIN cells before the ends of what is known. */
    const int begin = whole > -2 ? whole + 2 : 0, last = p->n + whole - 3;
    double w[AW_PROJECTION_ENTRIES];
    aw_projection_lagrange(whole - shift, w);
    for (int i = begin; i < p->read && i < last; ++i) {
        entry one = {0.0};
        for (int k = 0; k < AW_PROJECTION_ENTRIES; ++k)
            for (int j = 0; j < AW_PROJECTION_WIDTH; ++j)
                one[j] += w[k] * raw[i - whole + k - 2][j];
        for (int j = 0; j < AW_PROJECTION_WIDTH; ++j) out[i][j] += weight * one[j];
        for (unsigned j = 0; j < AW_PSI; ++j) out[i][AW_DPHI + j] += growth * one[AW_PHI + j];
    }
}

/* Mean over the circles of all heights, of one direction: at the offset q of the largest circle, a
 * smaller one has the offset q less the difference of their radii.
 * @param[in] smoothed  the same direction without kinks */
static void average(const making *m, const entry *raw, const entry *smoothed, entry *out)
{
    const aw_projection *p = &m->t->at;
    memset(out, 0, (size_t)p->read * sizeof *out);
    for (int c = 0; c < aw_circles_count(m->circles); ++c) {
        const double lag = lag_of(m, c);
        average_one(m, is_smoothed(m, lag) ? smoothed : raw, lag / p->h - p->skip, c, out);
    }
}

/* Filter a complete direction where the kinks of the splines disturb, and average it over heights.
 * @param[out] scratch  two directions */
static void finish(const making *m, entry *raw, entry *scratch)
{
    const aw_projection *p = &m->t->at;
    entry *smoothed = scratch + direction_size(p);
    if (is_any_smoothed(m)) smooth((const entry *)raw, p->n, m->per_cell / 2, smoothed);
    if (m->f->height2 > 0.0 || m->circles->images > 0) {
        average(m, (const entry *)raw, (const entry *)smoothed, scratch);
        memcpy(raw, scratch, (size_t)p->read * sizeof *raw);
    } else if (is_smoothed(m, 0.0)) {
        memcpy(raw, smoothed, (size_t)p->n * sizeof *raw);
    }
}

/* Whether one offset per cell will do, with kinks so small that it hardly matters where common
 * nodes sample them.
 * @param[in] raw  the middle direction, at one offset per cell */
static int needs_no_filter(const making *m, const entry *raw)
{
    const double share = m->f->images_only ? 1.0 : AW_UNFILTERED_SHARE;
    return offsets_error(raw, m->t->at.n, 1, 0, m->scales) <= share * permitted_error(m);
}

/* Compute the middle direction. Every other offset is known from twice the spacing, or none.
 * @param[in] known  number of those, in the first entries of raw
 * @return the number of all */
static int project_middle(const making *m, int known, entry *raw)
{
    for (int i = known; i-- > 1;) memcpy(raw[2 * i], raw[i], sizeof *raw);
    project(m, 1, 2, known > 0, known > 0 ? 2 : 1, raw);
    return m->t->at.n;
}

/* Choose the offsets: their spacing is halved until the middle direction is accurate, which is left
 * in the first n entries of raw. Every other offset is known from the spacing before.
 * @return 0 if too many are needed, or memory is short */
static int choose_offsets(making *m)
{
    aw_projection *p = &m->t->at;
    int known = 0;
    for (m->per_cell = 1; m->per_cell <= AW_PER_CELL_MAX; m->per_cell *= 2) {
        if (!aw_projection_offsets(m->f, m->per_cell, p)) return 0;
        if (p->n == 0) return 1;
        m->wide = widening(m);
        if (costs_too_much(m, 2)) return 0;
        entry *raw = directions_grow(m, 2);
        if (!raw) return 0;
        entry *scratch = raw + direction_size(p);
        known = project_middle(m, known, raw);
        if (m->per_cell == 1) {
            choose_swept(m, (const entry *)raw);
            if (is_any_smoothed(m)) {
                /* There is no offset half a cell away to filter with. */
                if (!needs_no_filter(m, (const entry *)raw)) continue;
                m->swept = HUGE_VAL;
                return 1;
            }
        }
        const int smoothed = is_smoothed(m, least_lag(m));
        if (smoothed)
            smooth((const entry *)raw, p->n, m->per_cell / 2, scratch);
        else
            scratch = raw;
        const double error =
            offsets_error((const entry *)scratch, p->n, m->per_cell, smoothed, m->scales);
        if (error <= permitted_error(m)) return 1;
    }
    return 0;
}

/* Largest difference of two directions at one offset per cell, in scales. */
static double difference(const making *m, const entry *a, const entry *b)
{
    double largest = 0.0;
    for (int i = 0; i < m->t->at.n; i += m->per_cell)
        for (unsigned j = 0; j < AW_RESULTS; ++j) {
            const double error = fabs(a[i][j] - b[i][j]) / aw_scale_of(m->scales, j);
            raise_to(error, &largest);
        }
    return largest;
}

/* Make a table of one direction, if that at the edge equals the middle one, which is in
 * raw[0 .. n-1]. The edge, at one offset per cell, is left in raw[2 n ..], as the last of three.
 * @return 1 if there is a table */
static int one_direction(const making *m, entry *raw)
{
    aw_projection *p = &m->t->at;
    const size_t n = direction_size(p);
    project(m, 2, 2, 0, m->per_cell, raw + 2 * n);
    const double error = difference(m, (const entry *)raw, (const entry *)(raw + 2 * n));
    if (!(error <= AW_DIRECTION_SHARE * permitted_error(m))) return 0;
    finish(m, raw, raw + n);
    p->order = 0;
    for (size_t i = 0; i < (size_t)p->read; ++i)
        for (int j = 0; j < AW_PROJECTION_WIDTH; ++j)
            m->t->value[i * AW_PROJECTION_WIDTH + (size_t)j] = (float)raw[i][j];
    return 1;
}

/* Choose the directions: their number is doubled until the series is accurate. Every other one is
 * known from the order before. @return 0 if too many are needed, or memory is short */
static int choose_directions(const making *m)
{
    const size_t n = direction_size(&m->t->at);
    for (int order = 2; order <= AW_PROJECTION_ORDER; order *= 2) {
        if (costs_too_much(m, order + 1)) return 0;
        if (table_grow(m, order) != AW_OK) return 0;
        entry *raw = directions_grow(m, order + 3), *scratch = raw + (size_t)(order + 1) * n;
        if (!raw) return 0;
        if (order == 2) {
            if (one_direction(m, raw)) return 1;
            memcpy(raw + n, raw, n * sizeof *raw);
            project(m, 2, 2, 1, 1, raw + 2 * n); /* the offsets that one_direction left out */
            project(m, 0, 2, 0, 1, raw);
            for (int k = 0; k <= 2; ++k) finish(m, raw + (size_t)k * n, scratch);
        } else {
            spread_directions(raw, n, order);
            for (int k = 1; k <= order; k += 2) {
                project(m, k, order, 0, 1, raw + (size_t)k * n);
                finish(m, raw + (size_t)k * n, scratch);
            }
        }
        if (tabulate(m, (const entry *)raw, order) <= permitted_error(m)) return 1;
    }
    return 0;
}

/* One of `order` + 1 directions, interpolated from `known` + 1.
 * @param[in] raw  [known + 1][n] */
static void interpolate_direction(const entry *raw, size_t n, int known, int k, int order,
                                  entry *out)
{
    const double x = cos(AW_PI * k / order);
    double w[AW_PROJECTION_ORDER + 1], all = 0.0;
    for (int j = 0; j <= known; ++j) { /* barycentric weights of Chebyshev-Lobatto nodes */
        const double ends = j == 0 || j == known ? 0.5 : 1.0, d = x - cos(AW_PI * j / known);
        if (fabs(d) < 1e-12) {
            memcpy(out, raw + (size_t)j * n, n * sizeof *out);
            return;
        }
        w[j] = (j % 2 ? -ends : ends) / d;
        all += w[j];
    }
    memset(out, 0, n * sizeof *out);
    for (int j = 0; j <= known; ++j)
        for (size_t i = 0; i < n; ++i)
            for (int c = 0; c < AW_PROJECTION_WIDTH; ++c)
                out[i][c] += w[j] / all * raw[(size_t)j * n + i][c];
}

/* Choose the offsets of the table of a passage, whose middle direction is left in the first n
 * entries of raw. Its errors alternate from offset to offset, so that in a mean over many of them
 * there is less of them.
 * @return NULL: memory is short, or there are too many offsets */
static entry *choose_passage_offsets(making *m)
{
    aw_projection *p = &m->t->at;
    aw_passage *passage = &m->workspace->passage;
    int known = 0;
    for (m->per_cell = 1;; m->per_cell *= 2) {
        if (!aw_projection_offsets(m->f, m->per_cell, p)) return NULL;
        entry *raw = directions_grow(m, 3);
        if (!raw) return NULL;
        known = project_middle(m, known, raw);
        if (aw_passage_begin(&m->cpu->history, m->common->moves_as, m->node, p, passage) != AW_OK)
            return NULL;
        const double error = offsets_error((const entry *)raw, p->n, m->per_cell, 0, m->scales);
        if (error <= permitted_error(m) * (1.0 + passage->entries) ||
            m->per_cell == AW_PASSAGE_PER_CELL)
            return raw;
    }
}

/* Choose the directions in which the beam is looked at, beginning with the middle one in the first
 * n entries of raw, of three. @return the largest number of one; 0: memory is short */
static int look_at_passage(const making *m, entry *raw)
{
    const aw_projection *p = &m->t->at;
    const size_t n = direction_size(p);
    int known = 2;
    double largest[AW_PROJECTION_ORDER + 1];
    memcpy(raw + n, raw, n * sizeof *raw);
    project(m, 0, 2, 0, 1, raw);
    project(m, 2, 2, 0, 1, raw + 2 * n);
    while (known < AW_PROJECTION_ORDER &&
           !(series(m, (const entry *)raw, p->n, known, NULL, largest) <= permitted_error(m))) {
        known *= 2;
        raw = directions_grow(m, known + 1);
        if (!raw) return 0;
        spread_directions(raw, n, known);
        for (int k = 1; k <= known; k += 2) project(m, k, known, 0, 1, raw + (size_t)k * n);
    }
    return known;
}

/* Make the table of the means of a passage. They depend on the direction by how fast the circles
 * pass, more than the beam's looks do: they are taken in many directions, which are interpolated
 * from a few. Such a table is made whatever it costs.
 * @return 0: memory is short */
static int make_passage(making *m)
{
    aw_projection *p = &m->t->at;
    entry *raw = choose_passage_offsets(m);
    if (!raw) return 0;
    const size_t n = direction_size(p);
    const int known = look_at_passage(m, raw);
    if (known == 0) return 0;
    for (int order = 2;; order *= 2) {
        raw = directions_grow(m, known + 1 + order + 1 + 1);
        if (!raw || table_grow(m, order) != AW_OK) return 0;
        entry *mean = raw + (size_t)(known + 1) * n, *one = mean + (size_t)(order + 1) * n;
        if (order > 2) spread_directions(mean, n, order);
        for (int k = order > 2; k <= order; k += order > 2 ? 2 : 1) {
            const aw_passage_table table = {m->cpu->variant, p, m->per_cell, k, order};
            interpolate_direction((const entry *)raw, n, known, k, order, one);
            if (aw_passage_mean(&m->workspace->passage, &table, (const entry *)one,
                                mean + (size_t)k * n) != AW_OK)
                return 0;
        }
        const double error = tabulate(m, (const entry *)mean, order);
        if (error <= permitted_error(m) || order == AW_PROJECTION_ORDER) return 1;
    }
}

int aw_cpu_table_make(const aw_cpu_state *cpu, const aw_common_rule *common,
                      const aw_common_node *node, const aw_scales *scales,
                      aw_cpu_workspace *workspace, aw_cpu_table *t)
{
    aw_field_point corner[4];
    aw_retarded f = aw_retarded_at(&cpu->history, node->r);
    aw_interpolated_lines lines = {.n = 0};
    making m = {.cpu = cpu,
                .cache = &cpu->line_cache[AW_ALONG_S],
                .f = &f,
                .lines = &lines,
                .common = common,
                .node = node,
                .scales = scales,
                .t = t,
                .workspace = workspace};
    aw_grid_corners(cpu->point, common->columns, cpu->points, corner);
    const int passes = aw_is_passage(node);
    if (!(common->table_error > 0.0) || !aw_projection_view(&f, corner, passes, &t->at)) return 0;
    if (passes) {
        const double r[3] = {node->r, node->from, node->to};
        double range[2];
        aw_passage_range(&cpu->history, corner, r, node->across, range);
        t->at.from = fmax(t->at.from, range[0]);
        t->at.to = fmin(t->at.to, range[1]);
    }
    if (!(t->at.to > t->at.from)) return 1;
    if (aw_projection_across(&f, &t->at)) {
        m.cache = &cpu->line_cache[AW_ALONG_X];
        f = aw_retarded_at(&m.cache->view, node->r);
    }
    aw_cpu_interpolate_all_lines(cpu->variant, m.cache, &f, node->rate != 0.0,
                                 &workspace->cluster.lines, &lines);
    aw_circles circles = aw_circles_at(&f);
    const aw_span span = aw_projection_span(&f, corner);
    aw_circles_see_span(&f, &span, &circles);
    m.circles = &circles;
    if (passes) {
        if (!make_passage(&m)) return 0;
    } else {
        if (!choose_offsets(&m)) return 0;
        if (t->at.n == 0) return 1;
        if (!choose_directions(&m)) return 0;
    }
    t->at.first += t->at.skip * t->at.h;
    t->at.n = t->at.read;
    return 1;
}

void aw_cpu_table_free(aw_cpu_table *t)
{
    aw_free(t->value);
    memset(t, 0, sizeof *t);
}
