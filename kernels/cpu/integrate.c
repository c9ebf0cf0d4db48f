/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device's rule on nodes common to all points. For a batch of nodes the threads first make
 * tables of projections, or interpolate the slices in time; then each thread evaluates the batch at
 * its tiles. The sum at a point runs over the nodes in the same order for any number of threads. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Grow the buffer for lines along either axis. */
static aw_status buffer_grow(const aw_cpu_state *cpu, aw_cpu_line_buffer *buffer)
{
    aw_status status = AW_OK;
    for (int along = AW_ALONG_S; along < AW_ALONG_COUNT; ++along)
        AW_TRY(aw_cpu_line_buffer_grow(buffer, &cpu->line_cache[along].view));
done:
    return status;
}

/* Allocate the tables and the buffers of interpolated lines. */
static aw_status batch_grow(aw_cpu_state *cpu)
{
    aw_status status = AW_OK;
    if (!cpu->table) cpu->table = aw_alloc(AW_COMMON_BATCH, sizeof *cpu->table);
    if (!cpu->common_lines)
        cpu->common_lines = aw_alloc(AW_COMMON_LINES, sizeof *cpu->common_lines);
    if (!cpu->table || !cpu->common_lines) return AW_ERR_NOMEM;
    for (int i = 0; i < cpu->threads; ++i)
        AW_TRY(buffer_grow(cpu, &cpu->workspace[i].cluster.lines));
    for (int i = 0; i < AW_COMMON_LINES; ++i) AW_TRY(buffer_grow(cpu, &cpu->common_lines[i]));
done:
    return status;
}

/* Append a tile for points of a line from the i-th on that are needed. @return the point after its
 * last */
static size_t next_tile(aw_cpu_tiles *tiles, const unsigned char *needed, size_t line, size_t i,
                        size_t length)
{
    while (needed && i < length && !needed[line + i * tiles->step]) ++i;
    size_t end = length - i < AW_TILE ? length : i + AW_TILE;
    while (needed && end > i && !needed[line + (end - 1) * tiles->step]) --end;
    if (end == i) return length;
    tiles->tile[tiles->n++] =
        (aw_tile_ref){.first = (uint32_t)(line + i * tiles->step), .count = (uint32_t)(end - i)};
    tiles->points += end - i;
    return end;
}

/* Cut the grid into tiles along its rows or along its columns, whichever the beam moves along. */
static aw_status tiles_make(aw_cpu_tiles *tiles, const aw_history_view *h, size_t points,
                            const aw_common_rule *common)
{
    aw_status status = AW_OK;
    const double tilt = h->slice[0].tilt;
    tiles->along = fabs(sin(tilt)) > fabs(cos(tilt)) ? AW_ALONG_X : AW_ALONG_S;
    const int turned = tiles->along == AW_ALONG_X;
    const size_t columns = common->columns;
    const size_t length = turned ? points / columns : columns, stride = turned ? 1 : columns;
    tiles->step = turned ? columns : 1;
    tiles->n = tiles->points = 0;
    for (size_t line = 0; line < points / length; ++line)
        for (size_t i = 0; i < length;) {
            AW_TRY(aw_grow((void **)&tiles->tile, &tiles->capacity, tiles->n + 1,
                           sizeof *tiles->tile));
            i = next_tile(tiles, common->needed, line * stride, i, length);
        }
done:
    return status;
}

/* Fill a tile with its points; they take the velocity of moves_as, unless that is NULL. */
static void take_points(const aw_cpu_state *cpu, const aw_field_point *moves_as,
                        const aw_tile_ref *ref, aw_tile *tile)
{
    aw_field_point point[AW_TILE];
    for (uint32_t l = 0; l < ref->count; ++l) {
        const aw_field_point *p = &cpu->point[ref->first + l * cpu->tiles.step];
        point[l] = moves_as ? *moves_as : *p;
        point[l].z = p->z;
        point[l].x = p->x;
    }
    aw_tile_take(point, (int)ref->count, tile);
}

/* Add the values of all tables of the batch at the points of one tile. */
static void look_up(const aw_cpu_state *cpu, const aw_common_rule *common, int n,
                    const aw_tile_ref *ref)
{
    const size_t first = ref->first, count = ref->count, step = cpu->tiles.step;
    float sum[AW_TILE][AW_PROJECTION_WIDTH] = {{0.0F}};
    double z[AW_TILE], x[AW_TILE];
    for (size_t l = 0; l < AW_TILE; ++l) {
        const aw_field_point *p = &cpu->point[first + (l < count ? l : count - 1) * step];
        z[l] = p->z;
        x[l] = p->x;
    }
    for (int i = 0; i < n; ++i) {
        const aw_cpu_table *t = &cpu->table[i];
        if (t->direct || t->at.n == 0) continue;
        cpu->variant->look_up(&t->at, t->value, z, x, sum);
    }
    for (size_t l = 0; l < count; ++l) {
        const size_t at = first + l * step;
        for (unsigned k = 0; k < AW_RESULTS; ++k) common->I[at][k] += (double)sum[l][k];
        if (common->check) common->check[at] += (double)sum[l][AW_RESULTS];
    }
}

/* Nodes that are evaluated at every point, and the beam as it was then. */
typedef struct direct_nodes {
    int n;
    const aw_common_node *node[AW_COMMON_LINES];
    aw_retarded f[AW_COMMON_LINES];
    aw_circles circles[AW_COMMON_LINES];
    aw_interpolated_lines lines[AW_COMMON_LINES];
} direct_nodes;

/* Evaluate node b at the lanes of a tile. @return 0: no circle meets the beam, f_in is not set */
static int evaluate_node(const aw_cpu_state *cpu, const direct_nodes *nodes, int b,
                         const aw_tile *tile, double f_in[AW_RESULTS][AW_TILE], aw_work *work)
{
    const aw_history_view *h = &cpu->line_cache[cpu->tiles.along].view;
    const aw_common_node *q = nodes->node[b];
    aw_circles circles = nodes->circles[b];
    aw_span span = aw_span_of_none();
    aw_tile_options options = {
        .single = 1, .rates = q->rate != 0.0, .batch = cpu->tuning.cluster_batch};
    int met = 0;
    aw_tile_span_add(&nodes->f[b], tile, &span);
    aw_circles_see_span(&nodes->f[b], &span, &circles);
    for (int c = 0; c < aw_circles_count(&circles); ++c) {
        const aw_retarded f = aw_circle_of(&nodes->f[b], &circles, c);
        const aw_retarded_beam beam = {.history = h, .f = &f, .lines = &nodes->lines[b]};
        double one[AW_RESULTS][AW_TILE];
        aw_tile_place place;
        aw_tile_at(h, &f, tile, &place);
        if (place.arcs.n == 0 && f.nt > 0) continue; /* without a history f_in is NaN */
        options.density = aw_circle_density(&circles, c, q->density * cpu->density);
        cpu->variant->tile(&beam, &options, tile, &place, one, work);
        if (!met++) memset(f_in, 0, AW_RESULTS * sizeof *f_in);
        aw_tile_circle_add(&circles, c, (const double(*)[AW_TILE])one, f_in);
    }
    return met;
}

/* Add the nodes to the sums at the points of one tile. */
static void evaluate(const aw_cpu_state *cpu, const aw_common_rule *common,
                     const direct_nodes *nodes, const aw_tile_ref *ref, const aw_scales *scales,
                     aw_work *work)
{
    aw_tile tile;
    take_points(cpu, common->moves_as, ref, &tile);
    for (int b = 0; b < nodes->n; ++b) {
        const aw_common_node *q = nodes->node[b];
        double f_in[AW_RESULTS][AW_TILE];
        if (!evaluate_node(cpu, nodes, b, &tile, f_in, work)) continue;
        for (size_t l = 0; l < ref->count; ++l) {
            const size_t at = ref->first + l * cpu->tiles.step;
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                common->I[at][k] += (k < AW_DPHI ? q->weight : q->rate) * f_in[k][l];
            if (!common->check) continue;
            common->check[at] += aw_common_check(common->check_rates, q, scales, f_in[AW_PHI][l],
                                                 f_in[AW_PSI][l], f_in[AW_DPHI][l]);
        }
    }
}

/* Evaluate the nodes of the batch that have no table, AW_COMMON_LINES at a time. */
static void batch_direct(aw_cpu_state *cpu, const aw_common_rule *common,
                         const aw_common_node *node, int n, const aw_scales *scales)
{
    direct_nodes nodes;
    for (int next = 0; next < n;) {
        nodes.n = 0;
        for (; next < n && nodes.n < AW_COMMON_LINES; ++next) {
            if (cpu->table[next].direct) nodes.node[nodes.n++] = &node[next];
        }
        if (nodes.n == 0) return;
        const aw_cpu_tiles *tiles = &cpu->tiles;
        const aw_cpu_line_cache *cache = &cpu->line_cache[tiles->along];
#pragma omp parallel num_threads(cpu->threads)
        {
            aw_work *work = &cpu->workspace[omp_get_thread_num()].work;
#pragma omp for schedule(dynamic)
            for (int i = 0; i < nodes.n; ++i) {
                nodes.f[i] = aw_retarded_at(&cache->view, nodes.node[i]->r);
                nodes.circles[i] = aw_circles_at(&nodes.f[i]);
                aw_cpu_interpolate_all_lines(cpu->variant, cache, &nodes.f[i],
                                             nodes.node[i]->rate != 0.0, &cpu->common_lines[i],
                                             &nodes.lines[i]);
            }
#pragma omp for schedule(dynamic, 4)
            for (ptrdiff_t t = 0; t < (ptrdiff_t)tiles->n; ++t)
                evaluate(cpu, common, &nodes, &tiles->tile[t], scales, work);
        }
    }
}

/* Tables are first tried for every 16th node of a batch, then for every 4th, then for all: between
 * two nodes without a table a trial would hardly succeed, and can cost half as much as the direct
 * evaluation. Those of passages are always made. */
static const int table_stride[] = {16, 4, 1};
enum { AW_STRIDES = sizeof table_stride / sizeof *table_stride };

/* Try to make table i of the batch. */
static void try_table(aw_cpu_state *cpu, const aw_common_rule *common, const aw_common_node *node,
                      int i, const aw_scales *scales)
{
    aw_cpu_workspace *workspace = &cpu->workspace[omp_get_thread_num()];
    cpu->table[i].direct = !aw_cpu_table_make(cpu, common, node, scales, workspace, &cpu->table[i]);
}

/* Whether the nodes about node i that have been tried, `stride` apart, have no tables. */
static int is_between_direct(const aw_cpu_state *cpu, int n, int i, int stride)
{
    const int last = i - i % stride, next = last + stride;
    return cpu->table[last].direct && (next >= n || cpu->table[next].direct);
}

/* Make tables of the batch where they pay, and add their values to the sums. */
static void batch_tables(aw_cpu_state *cpu, const aw_common_rule *common,
                         const aw_common_node *node, int n, const aw_scales *scales)
{
    const aw_cpu_tiles *tiles = &cpu->tiles;
#pragma omp parallel num_threads(cpu->threads)
    {
        for (int s = 0; s < AW_STRIDES; ++s) {
            const int stride = table_stride[s], before = s > 0 ? table_stride[s - 1] : 0;
#pragma omp for schedule(dynamic)
            for (int i = 0; i < n; i += stride) {
                if (before > 0 && i % before == 0) continue;
                if (before > 0 && !aw_is_passage(&node[i]) && is_between_direct(cpu, n, i, before))
                    cpu->table[i].direct = 1;
                else
                    try_table(cpu, common, &node[i], i, scales);
            }
        }
#pragma omp for schedule(dynamic, 16)
        for (ptrdiff_t t = 0; t < (ptrdiff_t)tiles->n; ++t)
            look_up(cpu, common, n, &tiles->tile[t]);
    }
}

/* Whether all nodes of the batch that belong to passages have tables: nothing can take their place.
 * @return AW_OK, AW_ERR_NOMEM */
static aw_status check_passages(const aw_cpu_state *cpu, const aw_common_node *node, int n)
{
    for (int i = 0; i < n; ++i)
        if (cpu->table[i].direct && aw_is_passage(&node[i]))
            return aw_error(AW_ERR_NOMEM,
                            "no table of what circles pass near r' = %g m: memory is short",
                            node[i].r);
    return AW_OK;
}

/* Cache the slices that the nodes need, with lines along the axis that tiles and tables read. */
static aw_status cache_slices(aw_cpu_state *cpu, const aw_common_rule *common)
{
    const aw_history_view *h = &cpu->history;
    aw_status status = AW_OK;
    aw_field_point corner[4];
    double longest[AW_ALONG_COUNT] = {-1.0, -1.0}; /* none */
    aw_grid_corners(cpu->point, common->columns, cpu->points, corner);
    for (size_t i = 0; i < common->nodes; ++i) {
        const double r = common->node[i].r;
        const aw_retarded f = aw_retarded_at(h, r);
        aw_projection view;
        double *reached = &longest[cpu->tiles.along];
        *reached = fmax(*reached, r);
        if (!(common->table_error > 0.0) || !aw_projection_view(&f, corner, 0, &view)) continue;
        reached = &longest[aw_projection_across(&f, &view) ? AW_ALONG_X : AW_ALONG_S];
        *reached = fmax(*reached, r);
    }
    for (int along = AW_ALONG_S; along < AW_ALONG_COUNT; ++along)
        AW_TRY(aw_cpu_line_cache_update(&cpu->line_cache[along], h, along, longest[along], 1,
                                        cpu->threads));
done:
    return status;
}

aw_status aw_cpu_integrate(void *state, aw_common_rule *common, const aw_scales *scales,
                           aw_work *work)
{
    aw_cpu_state *cpu = state;
    aw_status status = AW_OK;
    common->tables = common->directions = common->offsets = 0;
    AW_TRY(tiles_make(&cpu->tiles, &cpu->history, cpu->points, common));
    AW_TRY(cache_slices(cpu, common));
    AW_TRY(batch_grow(cpu));
    for (size_t first = 0; first < common->nodes; first += AW_COMMON_BATCH) {
        const size_t left = common->nodes - first;
        const int n = left < AW_COMMON_BATCH ? (int)left : AW_COMMON_BATCH;
        const aw_common_node *node = &common->node[first];
        batch_tables(cpu, common, node, n, scales);
        AW_TRY(check_passages(cpu, node, n));
        batch_direct(cpu, common, node, n, scales);
        for (int i = 0; i < n; ++i) {
            const aw_cpu_table *t = &cpu->table[i];
            if (t->direct || t->at.n == 0) continue;
            common->tables++;
            common->directions += (size_t)t->at.order + 1;
            common->offsets += (size_t)t->at.n;
        }
    }
    aw_cpu_work_sum(cpu, work);
done:
    return status;
}

void aw_cpu_integrate_free(aw_cpu_state *cpu)
{
    for (int i = 0; cpu->table && i < AW_COMMON_BATCH; ++i) aw_cpu_table_free(&cpu->table[i]);
    for (int i = 0; cpu->common_lines && i < AW_COMMON_LINES; ++i)
        aw_cpu_line_buffer_free(&cpu->common_lines[i]);
    aw_free(cpu->tiles.tile);
    aw_free(cpu->table);
    aw_free(cpu->common_lines);
}
