/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device's rule on nodes that all points share: a batch of nodes is tabulated, or its slices
 * combined, by the threads together; then every thread takes its tiles through the batch. A point's
 * sum runs over the nodes in one order, whatever the number of threads. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "src/base/memory.h"

/* Room for planes of either kind of lines. */
static aw_status planes_grow(const aw_cpu_state *cpu, aw_cpu_cluster_space *space)
{
    aw_status status = AW_OK;
    for (int along = AW_ALONG_S; along < AW_LINES; ++along)
        AW_TRY(aw_cpu_lines_grow(space, &cpu->packs[along].view));
done:
    return status;
}

/* Room for tables and planes. */
static aw_status batch_grow(aw_cpu_state *cpu)
{
    aw_status status = AW_OK;
    if (!cpu->batch) cpu->batch = aw_alloc(AW_COMMON_BATCH, sizeof *cpu->batch);
    if (!cpu->shared) cpu->shared = aw_alloc(AW_COMMON_LINES, sizeof *cpu->shared);
    if (!cpu->batch || !cpu->shared) return AW_ERR_NOMEM;
    for (int i = 0; i < cpu->threads; ++i) AW_TRY(planes_grow(cpu, &cpu->space[i].cluster));
    for (int i = 0; i < AW_COMMON_LINES; ++i) AW_TRY(planes_grow(cpu, &cpu->shared[i]));
done:
    return status;
}

/* Tiles along the rows of the grid, or along its columns: whichever the beam moves along. */
static aw_status tiles_make(aw_cpu_tiles *tiles, const aw_history_view *h, size_t points,
                            size_t columns)
{
    aw_status status = AW_OK;
    const double tilt = h->slice[0].tilt;
    tiles->along = fabs(sin(tilt)) > fabs(cos(tilt)) ? AW_ALONG_X : AW_ALONG_S;
    const int turned = tiles->along == AW_ALONG_X;
    const size_t length = turned ? points / columns : columns, next = turned ? 1 : columns;
    tiles->step = turned ? columns : 1;
    tiles->n = 0;
    for (size_t line = 0; line < points / length; ++line)
        for (size_t i = 0; i < length; i += AW_TILE) {
            AW_TRY(aw_grow((void **)&tiles->tile, &tiles->capacity, tiles->n + 1,
                           sizeof *tiles->tile));
            tiles->tile[tiles->n++] =
                (aw_tile_ref){.first = (uint32_t)(line * next + i * tiles->step),
                              .count = (uint32_t)(length - i < AW_TILE ? length - i : AW_TILE)};
        }
done:
    return status;
}

/* The points of a tile; with the velocity of `common`, if there is one. */
static void take(const aw_cpu_state *cpu, const aw_field_point *common, const aw_tile_ref *ref,
                 aw_tile *tile)
{
    aw_field_point point[AW_TILE];
    for (uint32_t l = 0; l < ref->count; ++l) {
        const aw_field_point *p = &cpu->point[ref->first + l * cpu->tiles.step];
        point[l] = common ? *common : *p;
        point[l].z = p->z;
        point[l].x = p->x;
    }
    aw_tile_take(point, (int)ref->count, tile);
}

/* All tables of the batch at one tile. */
static void look_up(const aw_cpu_state *cpu, const aw_common_rule *shared, int n,
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
        const aw_cpu_table *t = &cpu->batch[i];
        if (t->direct || t->at.n == 0) continue;
        cpu->variant->look_up(&t->at, t->value, z, x, sum);
    }
    for (size_t l = 0; l < count; ++l) {
        const size_t at = first + l * step;
        for (unsigned k = 0; k < AW_RESULTS; ++k) shared->I[at][k] += (double)sum[l][k];
        if (shared->check) shared->check[at] += (double)sum[l][AW_RESULTS];
    }
}

/* Nodes i[0 .. n-1] of the batch, whose planes are made, at one tile. */
static void evaluate(const aw_cpu_state *cpu, const aw_common_rule *shared,
                     const aw_common_node *node, const int *i, int n, const aw_retarded *f,
                     const aw_interpolated_lines *planes, const aw_tile_ref *ref,
                     const aw_scales *scales, aw_work *work)
{
    const aw_history_view *h = &cpu->packs[cpu->tiles.along].view;
    aw_tile tile;
    take(cpu, shared->moves_as, ref, &tile);
    for (int b = 0; b < n; ++b) {
        const aw_common_node *q = &node[i[b]];
        const aw_tile_how how = {.density = q->density * cpu->density,
                                 .single = 1,
                                 .rates = q->rate != 0.0,
                                 .batch = cpu->tuning.cluster_batch};
        double f_in[AW_RESULTS][AW_TILE];
        aw_tile_place place;
        aw_tile_at(h, &f[b], &tile, &place);
        if (place.arcs.n == 0 && f[b].nt > 0) continue; /* no history is not a number */
        cpu->variant->tile(h, &f[b], &planes[b], &how, &tile, &place, f_in, work);
        for (size_t l = 0; l < ref->count; ++l) {
            const size_t at = ref->first + l * cpu->tiles.step;
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                shared->I[at][k] += (k < AW_DPHI ? q->weight : q->rate) * f_in[k][l];
            if (!shared->check) continue;
            shared->check[at] += aw_common_check(shared->check_rates, q, scales, f_in[AW_PHI][l],
                                                 f_in[AW_PSI][l], f_in[AW_DPHI][l]);
        }
    }
}

/* The nodes of the batch that have no table, a few at a time. */
static void batch_direct(aw_cpu_state *cpu, const aw_common_rule *shared,
                         const aw_common_node *node, int n, const aw_scales *scales)
{
    aw_retarded f[AW_COMMON_LINES];
    aw_interpolated_lines planes[AW_COMMON_LINES];
    int mine[AW_COMMON_LINES];
    for (int next = 0; next < n;) {
        int b = 0;
        for (; next < n && b < AW_COMMON_LINES; ++next) {
            if (cpu->batch[next].direct) mine[b++] = next;
        }
        if (b == 0) return;
        const aw_cpu_tiles *tiles = &cpu->tiles;
        const aw_cpu_packs *packs = &cpu->packs[tiles->along];
#pragma omp parallel num_threads(cpu->threads)
        {
            aw_work *work = &cpu->space[omp_get_thread_num()].work;
#pragma omp for schedule(dynamic)
            for (int i = 0; i < b; ++i) {
                f[i] = aw_retarded_at(&packs->view, node[mine[i]].r);
                aw_cpu_lines_whole(cpu->variant, packs, &f[i], node[mine[i]].rate != 0.0,
                                   &cpu->shared[i], &planes[i]);
            }
#pragma omp for schedule(dynamic, 4)
            for (ptrdiff_t t = 0; t < (ptrdiff_t)tiles->n; ++t)
                evaluate(cpu, shared, node, mine, b, f, planes, &tiles->tile[t], scales, work);
        }
    }
}

/* Of a batch, one node in so many is tried first: between two that have no table, a try would
 * cost much, up to half of what the direct evaluation does, and hardly give one. */
enum { AW_TRIED = 4 };

static void table_try(aw_cpu_state *cpu, const aw_common_rule *shared, const aw_common_node *node,
                      int i, const aw_field_point corner[4], const aw_scales *scales)
{
    aw_cpu_space *space = &cpu->space[omp_get_thread_num()];
    cpu->batch[i].direct = !aw_cpu_table_make(cpu, shared, &node[i], corner, cpu->points, scales,
                                              space, &cpu->batch[i]);
}

/* Tables of the batch where they serve, and what they give. */
static void batch_tables(aw_cpu_state *cpu, const aw_common_rule *shared,
                         const aw_common_node *node, int n, const aw_field_point corner[4],
                         const aw_scales *scales)
{
    const aw_cpu_tiles *tiles = &cpu->tiles;
#pragma omp parallel num_threads(cpu->threads)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < n; i += AW_TRIED) table_try(cpu, shared, node, i, corner, scales);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < n; ++i) {
            const int last = i - i % AW_TRIED, next = last + AW_TRIED;
            if (i == last) continue;
            cpu->batch[i].direct = 1;
            if (cpu->batch[last].direct && (next >= n || cpu->batch[next].direct)) continue;
            table_try(cpu, shared, node, i, corner, scales);
        }
#pragma omp for schedule(dynamic, 16)
        for (ptrdiff_t t = 0; t < (ptrdiff_t)tiles->n; ++t)
            look_up(cpu, shared, n, &tiles->tile[t]);
    }
}

/* Hold the slices that the nodes need, with lines as tiles and tables want them. */
static aw_status hold(aw_cpu_state *cpu, const aw_common_rule *shared,
                      const aw_field_point corner[4])
{
    const aw_history_view *h = &cpu->history;
    aw_status status = AW_OK;
    double longest[AW_LINES] = {-1.0, -1.0}; /* none */
    for (size_t i = 0; i < shared->nodes; ++i) {
        const double r = shared->node[i].r;
        const aw_retarded f = aw_retarded_at(h, r);
        aw_projection view;
        double *own = &longest[cpu->tiles.along];
        *own = fmax(*own, r);
        if (!(shared->table_error > 0.0) || !aw_projection_view(&f, corner, &view)) continue;
        own = &longest[aw_projection_across(&f, &view) ? AW_ALONG_X : AW_ALONG_S];
        *own = fmax(*own, r);
    }
    for (int along = AW_ALONG_S; along < AW_LINES; ++along)
        AW_TRY(aw_cpu_packs_hold(&cpu->packs[along], h, along, longest[along], 1, cpu->threads));
done:
    return status;
}

aw_status aw_cpu_integrate(void *state, aw_common_rule *shared, const aw_scales *scales,
                           aw_work *work)
{
    aw_cpu_state *cpu = state;
    const size_t columns = shared->columns, points = cpu->points;
    aw_field_point corner[4];
    aw_status status = AW_OK;
    aw_grid_corners(cpu->point, columns, points, corner);
    shared->tables = shared->directions = shared->offsets = 0;
    AW_TRY(tiles_make(&cpu->tiles, &cpu->history, points, columns));
    AW_TRY(hold(cpu, shared, corner));
    AW_TRY(batch_grow(cpu));
    for (size_t first = 0; first < shared->nodes; first += AW_COMMON_BATCH) {
        const size_t left = shared->nodes - first;
        const int n = left < AW_COMMON_BATCH ? (int)left : AW_COMMON_BATCH;
        const aw_common_node *node = &shared->node[first];
        batch_tables(cpu, shared, node, n, corner, scales);
        batch_direct(cpu, shared, node, n, scales);
        for (int i = 0; i < n; ++i) {
            const aw_cpu_table *t = &cpu->batch[i];
            if (t->direct || t->at.n == 0) continue;
            shared->tables++;
            shared->directions += (size_t)t->at.order + 1;
            shared->offsets += (size_t)t->at.n;
        }
    }
    aw_cpu_work_sum(cpu, work);
done:
    return status;
}

void aw_cpu_integrate_free(aw_cpu_state *cpu)
{
    for (int i = 0; cpu->batch && i < AW_COMMON_BATCH; ++i) aw_cpu_table_free(&cpu->batch[i]);
    for (int i = 0; cpu->shared && i < AW_COMMON_LINES; ++i) aw_cpu_cluster_free(&cpu->shared[i]);
    aw_free(cpu->tiles.tile);
    aw_free(cpu->batch);
    aw_free(cpu->shared);
}
