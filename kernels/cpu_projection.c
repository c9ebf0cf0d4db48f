/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU unit's tables of projections: the beam at one retarded time as seen from a few
 * directions, with the kernel of the tiles, whose lanes are neighbouring offsets. */
#include <math.h>
#include <string.h>

#include "kernels/cpu_unit.h"
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
/* Most offsets to a cell of the beam's grid. */
#define AW_PER_CELL 8

typedef double entry[AW_PROJECTION_WIDTH];

/* Take out of n values what has a period of 2 s entries, and hardly anything that is slower. */
static void smooth(entry *raw, int n, int s, entry *room)
{
    memcpy(room, raw, (size_t)n * sizeof *raw);
    for (int i = 2 * s; i + 2 * s < n; ++i)
        for (int j = 0; j < AW_PROJECTION_WIDTH; ++j)
            raw[i][j] = (10.0 * room[i][j] + 4.0 * (room[i - s][j] + room[i + s][j]) -
                         (room[i - 2 * s][j] + room[i + 2 * s][j])) /
                        16.0;
}

/* Direction k of `order` + 1, times the weights, into raw[n]. */
static void project(const aw_cpu_state *cpu, const aw_history_view *h, const aw_retarded *f,
                    const aw_planes *planes, const aw_shared_node *node, const aw_shared *shared,
                    const aw_projection *p, int per_cell, int k, int order, const aw_scales *scales,
                    entry *raw, entry *scratch, aw_work *work)
{
    const aw_tile_how how = {.density = node->density * cpu->density,
                             .single = 1,
                             .rates = node->rate != 0.0,
                             .batch = cpu->tuning.cluster_batch};
    aw_field_point point[AW_TILE];
    /* Lanes go along the rows of the beam's grid; a point comes closer as its offset grows. */
    const int turned = p->cz * f->cg + p->cx * f->sg > 0.0;
    for (int first = 0; first < p->n; first += AW_TILE * per_cell)
        for (int phase = first; phase < first + per_cell && phase < p->n; ++phase) {
            aw_tile tile;
            aw_tile_place place;
            double f_in[AW_RESULTS][AW_TILE];
            int offset[AW_TILE];
            for (int l = 0; l < AW_TILE; ++l) {
                offset[l] = phase + (turned ? AW_TILE - 1 - l : l) * per_cell;
                point[l] = *shared->common;
                aw_projection_point(p, offset[l], k, order, &point[l].z, &point[l].x);
            }
            aw_tile_take(point, AW_TILE, &tile);
            aw_tile_at(h, f, &tile, &place);
            cpu->variant->tile(h, f, planes, &how, &tile, &place, f_in, work);
            for (int l = 0; l < AW_TILE; ++l) {
                if (offset[l] >= p->n) continue;
                for (unsigned j = 0; j < AW_RESULTS; ++j)
                    raw[offset[l]][j] = (j < AW_DPHI ? node->weight : node->rate) * f_in[j][l];
                raw[offset[l]][AW_RESULTS] = aw_shared_check(shared, node, scales, f_in[AW_PHI][l],
                                                             f_in[AW_PSI][l], f_in[AW_DPHI][l]);
            }
        }
    /* What the splines' kinks add has the period of a cell, and sums to nothing on the circle's way
     * through the cells; but nodes of the rule a cell apart would take it for something. */
    if (node->step > 0.5 * per_cell * p->h) smooth(raw, p->n, per_cell / 2, scratch);
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

/* Whether a table takes more than half as many arcs as there are points that see something. */
static int is_dear(const aw_projection *p, int order, size_t points)
{
    return 2.0 * p->n * (order + 1) > p->seen * (double)points;
}

/* Offsets and their spacing: as many as the first direction needs, which stays in raw[0].
 * @return how many to a cell, or 0: it takes too many */
static int choose_offsets(const aw_cpu_state *cpu, const aw_history_view *h, const aw_retarded *f,
                          const aw_planes *planes, const aw_shared *shared,
                          const aw_shared_node *node, size_t points, const aw_scales *scales,
                          aw_cpu_table *t, aw_work *work)
{
    for (int per_cell = node->step > 0.5 * fmin(f->hs, f->hx) ? 2 : 1; per_cell <= AW_PER_CELL;
         per_cell *= 2) {
        aw_projection *p = &t->at;
        if (!aw_projection_offsets(f, per_cell, p)) return 0;
        if (p->n == 0) return per_cell;
        if (is_dear(p, 2, points)) return 0;
        const size_t n = (size_t)p->n, room = (AW_PROJECTION_ORDER + 1) * n; /* and a scratch */
        if (aw_grow((void **)&t->raw, &t->raw_capacity, room + n, sizeof(entry)) != AW_OK) return 0;
        entry *raw = (entry *)t->raw;
        project(cpu, h, f, planes, node, shared, p, per_cell, 0, 1, scales, raw, raw + room, work);
        if (offsets_error(raw, p->n, per_cell, scales) <= shared->table_error) return per_cell;
    }
    return 0;
}

int aw_cpu_table_make(const aw_cpu_state *cpu, const aw_shared *shared, const aw_shared_node *node,
                      const aw_field_point corner[4], size_t points, const aw_scales *scales,
                      aw_cpu_space *space, aw_cpu_table *t)
{
    const aw_history_view *h = &cpu->history;
    const aw_retarded f = aw_retarded_at(h, node->r);
    aw_planes planes = {.n = 0};
    aw_projection *p = &t->at;
    aw_work *work = &space->work;
    if (!(shared->table_error > 0.0) || !aw_projection_view(&f, corner, p)) return 0;
    if (!(p->to > p->from)) return 1;
    aw_cpu_planes_whole(cpu, &f, node->rate != 0.0, &space->cluster, &planes);
    const int per_cell = choose_offsets(cpu, h, &f, &planes, shared, node, points, scales, t, work);
    if (per_cell == 0) return 0;
    const size_t n = (size_t)p->n;
    entry *raw = (entry *)t->raw, *scratch = raw + (AW_PROJECTION_ORDER + 1) * n;
    for (int order = 2; order <= AW_PROJECTION_ORDER; order *= 2) {
        double last;
        /* Of the directions every second is known from the last order. */
        if (is_dear(p, order, points)) return 0;
        for (int k = order / 2; k >= 1 && order > 2; --k)
            memmove(raw + (size_t)(2 * k) * n, raw + (size_t)k * n, n * sizeof *raw);
        for (int k = 1; k <= order; k += order == 2 ? 1 : 2)
            project(cpu, h, &f, &planes, node, shared, p, per_cell, k, order, scales,
                    raw + (size_t)k * n, scratch, work);
        p->order = order;
        const size_t size = n * (size_t)(order + 1) * AW_PROJECTION_WIDTH;
        if (aw_grow((void **)&t->value, &t->capacity, size, sizeof *t->value) != AW_OK) return 0;
        const double error = series((const entry *)raw, p, order, scales, t->value, &last);
        if (!(error <= shared->table_error)) continue;
        if (order == 2 && last <= shared->table_error) { /* a straight line is enough to look up */
            p->order = 1;
            series((const entry *)raw, p, order, scales, t->value, &last);
        }
        return 1;
    }
    return 0;
}

void aw_cpu_table_free(aw_cpu_table *t)
{
    aw_free(t->raw);
    aw_free(t->value);
    memset(t, 0, sizeof *t);
}
