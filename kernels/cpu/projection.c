/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device's tables of projections: the beam at one retarded time as seen from a few
 * directions, with the kernel of the tiles, whose lanes are neighbouring offsets. */
#include <math.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "src/base/memory.h"

/* A quintic through six neighbours misses what lies between the middle two by 5/1024 of the sixth
 * difference. */
#define AW_QUINTIC_ERROR (5.0 / 1024.0)
/* A quadratic B-spline strays from a smooth curve by B3(x)/6 third differences of its coefficients
 * within a cell (B3: Bernoulli's polynomial, at most 0.048), and its derivative, of which the rates
 * are made, by B2(x)/2 second differences, at most 0.083. A table with one entry to a cell would
 * miss that by up to twice as much, with p entries by about 1/p^2, and 1/p, of it. */
#define AW_KINK_ERROR 0.016
#define AW_RATE_KINK_ERROR 0.17
/* What a Chebyshev series leaves out, over its last coefficient: coefficients fall. */
#define AW_SERIES_ERROR 0.25
/* Of what a table may be off by, so much may a direction at the edge differ from the middle one, or
 * all of them from a straight line, for that to be taken. What is off then has the same sign at a
 * point from node to node, and adds up. */
#define AW_ALIKE 0.05
/* Most offsets to a cell of the beam's grid. */
#define AW_PER_CELL 8

typedef double entry[AW_PROJECTION_WIDTH];

/* What the making of one table needs. */
typedef struct making {
    const aw_cpu_state *cpu;
    const aw_cpu_packs *packs; /* of whose view f is */
    const aw_retarded *f;
    const aw_interpolated_lines *planes;
    const aw_common_rule *shared;
    const aw_common_node *node;
    const aw_scales *scales;
    size_t points;
    int per_cell; /* offsets to a cell */
    double wide;  /* nodes of an arc, over those of a single lane */
    aw_cpu_table *t;
    aw_work *work;
} making;

/* Values of n entries without what has a period of 2 s of them; hardly anything that is slower is
 * lost. */
static void smooth(const entry *raw, int n, int s, entry *out)
{
    memcpy(out, raw, (size_t)n * sizeof *raw);
    for (int i = 2 * s; i + 2 * s < n; ++i)
        for (int j = 0; j < AW_PROJECTION_WIDTH; ++j)
            out[i][j] = (10.0 * raw[i][j] + 4.0 * (raw[i - s][j] + raw[i + s][j]) -
                         (raw[i - 2 * s][j] + raw[i + 2 * s][j])) /
                        16.0;
}

/* What the splines' kinks add has the period of a cell, and sums to nothing on the circle's way
 * through the cells; but nodes of the rule a cell apart would take it for something. */
static int kinks_disturb(const making *m) { return m->node->step > 0.5 * m->per_cell * m->t->at.h; }

/* Lanes from offset `at` on, a cell apart, in direction k of `order` + 1. */
static void take_lanes(const making *m, int k, int order, int at, int offset[AW_TILE],
                       aw_tile *tile)
{
    const aw_projection *p = &m->t->at;
    aw_field_point point[AW_TILE];
    /* Lanes go along the rows of the beam's grid; a point comes closer as its offset grows. */
    const int turned = p->cz * m->f->cg + p->cx * m->f->sg > 0.0;
    for (int l = 0; l < AW_TILE; ++l) {
        offset[l] = at + (turned ? AW_TILE - 1 - l : l) * m->per_cell;
        point[l] = *m->shared->moves_as;
        aw_projection_point(p, offset[l], k, order, &point[l].z, &point[l].x);
    }
    aw_tile_take(point, AW_TILE, tile);
}

/* By how much lanes in the middle direction make arcs longer. */
static double widened(const making *m)
{
    int offset[AW_TILE];
    aw_tile tile;
    aw_tile_place place;
    take_lanes(m, 1, 2, m->t->at.n / 2, offset, &tile);
    aw_tile_at(&m->packs->view, m->f, &tile, &place);
    return 1.0 + place.wide[1] / m->f->half_x;
}

/* Direction k of `order` + 1, times the weights, into raw[n]: every `step`-th of the offsets of a
 * cell, from `begin` on. */
static void project(const making *m, int k, int order, int begin, int step, entry *raw)
{
    const aw_cpu_state *cpu = m->cpu;
    const aw_common_node *node = m->node;
    const aw_projection *p = &m->t->at;
    const aw_tile_how how = {.density = node->density * cpu->density,
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
            aw_tile_at(&m->packs->view, m->f, &tile, &place);
            cpu->variant->tile(&m->packs->view, m->f, m->planes, &how, &tile, &place, f_in,
                               m->work);
            for (int l = 0; l < AW_TILE; ++l) {
                if (offset[l] >= p->n) continue;
                for (unsigned j = 0; j < AW_RESULTS; ++j)
                    raw[offset[l]][j] = (j < AW_DPHI ? node->weight : node->rate) * f_in[j][l];
                raw[offset[l]][AW_RESULTS] =
                    aw_common_check(m->shared->check_rates, node, m->scales, f_in[AW_PHI][l],
                                    f_in[AW_PSI][l], f_in[AW_DPHI][l]);
            }
        }
}

/* Error of a quintic between the offsets of one direction, in scales: of smooth curves, and what
 * the splines' kinks add. */
static double offsets_error(const entry *raw, int n, int per_cell, const aw_scales *scales)
{
    const int p = per_cell;
    double most = 0.0;
    for (int i = 0; i < n; ++i)
        for (unsigned j = 0; j < AW_RESULTS; ++j) {
            double smooth = 0.0, kink = 0.0;
            if (i + 6 < n)
                smooth = raw[i][j] + raw[i + 6][j] - 6.0 * (raw[i + 1][j] + raw[i + 5][j]) +
                         15.0 * (raw[i + 2][j] + raw[i + 4][j]) - 20.0 * raw[i + 3][j];
            if (i + 3 * p < n && j < AW_DPHI)
                kink = AW_KINK_ERROR / (p * p) *
                       (raw[i + 3 * p][j] - raw[i][j] + 3.0 * (raw[i + p][j] - raw[i + 2 * p][j]));
            if (i + 2 * p < n && j >= AW_DPHI)
                kink =
                    AW_RATE_KINK_ERROR / p * (raw[i][j] - 2.0 * raw[i + p][j] + raw[i + 2 * p][j]);
            const double size = AW_QUINTIC_ERROR * fabs(smooth) + fabs(kink);
            const double error = size / aw_scale_of(scales, j);
            if (!(error <= most) && !isnan(most)) most = error;
        }
    return most;
}

/* Chebyshev coefficients of the `order` + 1 directions raw[order + 1][n] into the table, as far as
 * p->order. What a beam looks like is often even in the direction, or odd: one small coefficient
 * tells nothing, two do.
 * @param[out] last  the largest last coefficient, in scales
 * @return the error of the series with all of them, in scales */
static double series(const entry *raw, const aw_projection *p, int order, const aw_scales *scales,
                     float *table, double *last)
{
    double most = 0.0, factor[AW_PROJECTION_ORDER + 1][AW_PROJECTION_ORDER + 1];
    const int kept = p->order;
    *last = 0.0;
    for (int m = 0; m <= order; ++m)
        for (int k = 0; k <= order; ++k) {
            const double ends = (k == 0 || k == order ? 0.5 : 1.0);
            const double outer = (m == 0 || m == order ? 0.5 : 1.0);
            factor[m][k] = 2.0 / order * ends * outer * cos(AW_PI * m * (order - k) / order);
        }
    for (int i = 0; i < p->n; ++i)
        for (int m = 0; m <= order; ++m) {
            entry c = {0.0};
            for (int k = 0; k <= order; ++k)
                for (int j = 0; j < AW_PROJECTION_WIDTH; ++j)
                    c[j] += factor[m][k] * raw[k * p->n + i][j];
            float *out = table + ((size_t)i * (size_t)(kept + 1) + (size_t)m) * AW_PROJECTION_WIDTH;
            for (int j = 0; m <= kept && j < AW_PROJECTION_WIDTH; ++j) out[j] = (float)c[j];
            for (unsigned j = 0; m + 1 >= order && j < AW_RESULTS; ++j) {
                const double size = fabs(c[j]) / aw_scale_of(scales, j);
                const double error = AW_SERIES_ERROR * (m < order ? 0.5 : 1.0) * size;
                if (!(error <= most) && !isnan(most)) most = error;
                if (m == order && !(size <= *last)) *last = size;
            }
        }
    return most;
}

/* Whether a table takes more than half as many arcs, or as long ones, as there are points that see
 * something. */
static int is_dear(const making *m, int directions)
{
    const aw_projection *p = &m->t->at;
    const double arcs = (p->to - p->from) / p->h * directions; /* nothing is seen beyond */
    return 2.0 * arcs * m->wide > p->seen * (double)m->points;
}

/* Room for all directions of a table, and a scratch after them. @return NULL if there is none */
static entry *room_for(aw_cpu_table *t)
{
    const size_t entries = (AW_PROJECTION_ORDER + 2) * (size_t)t->at.n;
    if (aw_grow((void **)&t->raw, &t->raw_capacity, entries, sizeof(entry)) != AW_OK) return NULL;
    return (entry *)t->raw;
}

/* A direction that is complete, without kinks that would disturb. */
static void finish(const making *m, entry *raw, entry *scratch)
{
    if (!kinks_disturb(m)) return;
    smooth((const entry *)raw, m->t->at.n, m->per_cell / 2, scratch);
    memcpy(raw, scratch, (size_t)m->t->at.n * sizeof *raw);
}

/* Offsets and their spacing: as many as the middle direction needs, which is left in the first n
 * entries. Of the offsets every second is known from the last spacing.
 * @return 0 if it takes too many */
static int choose_offsets(making *m)
{
    aw_projection *p = &m->t->at;
    int known = 0;
    for (m->per_cell = 1; m->per_cell <= AW_PER_CELL; m->per_cell *= 2) {
        if (!aw_projection_offsets(m->f, m->per_cell, p)) return 0;
        if (p->n == 0) return 1;
        m->wide = widened(m);
        if (is_dear(m, 2)) return 0;
        entry *raw = room_for(m->t);
        if (!raw) return 0;
        entry *scratch = raw + p->n;
        for (int i = known; i-- > 1;) memcpy(raw[2 * i], raw[i], sizeof *raw);
        project(m, 1, 2, known > 0, known > 0 ? 2 : 1, raw);
        known = p->n;
        if (kinks_disturb(m)) {
            if (m->per_cell == 1) continue; /* nothing to smooth with */
            smooth((const entry *)raw, p->n, m->per_cell / 2, scratch);
        } else {
            scratch = raw;
        }
        const double error = offsets_error((const entry *)scratch, p->n, m->per_cell, m->scales);
        if (error <= m->shared->table_error) return 1;
    }
    return 0;
}

/* Largest difference of two directions at one offset to a cell, in scales. */
static double difference(const making *m, const entry *a, const entry *b)
{
    double most = 0.0;
    for (int i = 0; i < m->t->at.n; i += m->per_cell)
        for (unsigned j = 0; j < AW_RESULTS; ++j) {
            const double error = fabs(a[i][j] - b[i][j]) / aw_scale_of(m->scales, j);
            if (!(error <= most) && !isnan(most)) most = error;
        }
    return most;
}

/* One direction for all, if that at the edge looks like the middle one, which is in raw[0 .. n-1].
 * Left there: the edge as far as it is known, in the place of the last of three.
 * @return 1 if so */
static int one_direction(const making *m, entry *raw)
{
    aw_projection *p = &m->t->at;
    const size_t n = (size_t)p->n;
    project(m, 2, 2, 0, m->per_cell, raw + 2 * n);
    const double error = difference(m, (const entry *)raw, (const entry *)(raw + 2 * n));
    if (!(error <= AW_ALIKE * m->shared->table_error)) return 0;
    finish(m, raw, raw + n);
    p->order = 0;
    for (size_t i = 0; i < n; ++i)
        for (int j = 0; j < AW_PROJECTION_WIDTH; ++j)
            m->t->value[i * AW_PROJECTION_WIDTH + (size_t)j] = (float)raw[i][j];
    return 1;
}

/* As many directions as it takes, by and by; every second is known from the last order.
 * @return 0 if it takes too many */
static int choose_directions(const making *m, entry *raw)
{
    aw_cpu_table *t = m->t;
    aw_projection *p = &t->at;
    const size_t n = (size_t)p->n;
    entry *scratch = raw + (AW_PROJECTION_ORDER + 1) * n;
    for (int order = 2; order <= AW_PROJECTION_ORDER; order *= 2) {
        double last;
        const size_t size = n * (size_t)(order + 1) * AW_PROJECTION_WIDTH;
        if (is_dear(m, order + 1)) return 0;
        if (aw_grow((void **)&t->value, &t->capacity, size, sizeof *t->value) != AW_OK) return 0;
        if (order == 2) {
            if (one_direction(m, raw)) return 1;
            memcpy(raw + n, raw, n * sizeof *raw);
            project(m, 2, 2, 1, 1, raw + 2 * n); /* the rest of it */
            project(m, 0, 2, 0, 1, raw);
            for (int k = 0; k <= 2; ++k) finish(m, raw + (size_t)k * n, scratch);
        } else {
            for (int k = order / 2; k >= 1; --k)
                memmove(raw + (size_t)(2 * k) * n, raw + (size_t)k * n, n * sizeof *raw);
            for (int k = 1; k <= order; k += 2) {
                project(m, k, order, 0, 1, raw + (size_t)k * n);
                finish(m, raw + (size_t)k * n, scratch);
            }
        }
        p->order = order;
        const double error = series((const entry *)raw, p, order, m->scales, t->value, &last);
        if (!(error <= m->shared->table_error)) continue;
        if (order == 2 &&
            last <= AW_ALIKE * m->shared->table_error) { /* a straight line is enough */
            p->order = 1;
            series((const entry *)raw, p, order, m->scales, t->value, &last);
        }
        return 1;
    }
    return 0;
}

int aw_cpu_table_make(const aw_cpu_state *cpu, const aw_common_rule *shared,
                      const aw_common_node *node, const aw_field_point corner[4], size_t points,
                      const aw_scales *scales, aw_cpu_space *space, aw_cpu_table *t)
{
    aw_retarded f = aw_retarded_at(&cpu->history, node->r);
    aw_interpolated_lines planes = {.n = 0};
    making m = {.cpu = cpu,
                .packs = &cpu->packs[AW_ALONG_S],
                .f = &f,
                .planes = &planes,
                .shared = shared,
                .node = node,
                .scales = scales,
                .points = points,
                .t = t,
                .work = &space->work};
    if (!(shared->table_error > 0.0) || !aw_projection_view(&f, corner, &t->at)) return 0;
    if (!(t->at.to > t->at.from)) return 1;
    if (aw_projection_across(&f, &t->at)) {
        m.packs = &cpu->packs[AW_ALONG_X];
        f = aw_retarded_at(&m.packs->view, node->r);
    }
    aw_cpu_lines_whole(cpu->variant, m.packs, &f, node->rate != 0.0, &space->cluster, &planes);
    if (!choose_offsets(&m)) return 0;
    return t->at.n == 0 || choose_directions(&m, (entry *)t->raw);
}

void aw_cpu_table_free(aw_cpu_table *t)
{
    aw_free(t->raw);
    aw_free(t->value);
    memset(t, 0, sizeof *t);
}
