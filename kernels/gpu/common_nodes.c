/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: sums over nodes in r' that all points have in common. */
#include "kernels/gpu/blocks/common_nodes.h"

#include <string.h>

#include "kernels/gpu/device.h"

/* Partial sums (a run of nodes at a tile) of one batch, about. */
enum { AW_GPU_PARTIAL = 131072 };

typedef double common_sums[AW_GPU_COMMON_SUMS][AW_TILE];

/* Cut the rows of the grid into tiles. @param[out] tile  or NULL. @return the number of tiles */
static size_t cut_tiles(size_t points, size_t columns, aw_tile_ref *tile)
{
    size_t n = 0;
    for (size_t row = 0; row < points; row += columns)
        for (size_t i = 0; i < columns; i += AW_TILE) {
            if (tile)
                tile[n] = (aw_tile_ref){
                    .first = (uint32_t)(row + i),
                    .count = (uint32_t)(columns - i < AW_TILE ? columns - i : AW_TILE)};
            n++;
        }
    return n;
}

/* Compute and download the sums at tiles first .. first + tiles - 1. */
static aw_status sum_tiles(aw_gpu_state *g, aw_gpu_common *call, size_t first, size_t tiles,
                           aw_work *work)
{
    aw_gpu_workspace *w = &g->workspace[0];
    const size_t blocks = tiles * call->runs;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow_device(g, &w->result, blocks * sizeof(common_sums)));
    AW_TRY(aw_gpu_grow(g, &w->sums, tiles * sizeof(common_sums)));
    AW_TRY(aw_gpu_grow(g, &w->work, blocks * sizeof(aw_work)));
    call->tile = (const aw_tile_ref *)w->tile.device + first;
    call->tiles = tiles;
    call->partial = w->result.device;
    call->sums = w->sums.device;
    call->work = w->work.device;
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_common, blocks, call));
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_common_add,
                         (tiles + AW_GPU_ACCEPT_TILES - 1) / AW_GPU_ACCEPT_TILES, call));
    AW_TRY(aw_gpu_to_host(g, 0, &w->sums, tiles * sizeof(common_sums)));
    AW_TRY(aw_gpu_to_host(g, 0, &w->work, blocks * sizeof(aw_work)));
    AW_TRY(aw_gpu_wait(g, 0));
    aw_gpu_work_sum(&w->work, blocks, work);
done:
    return status;
}

static void add_to_points(const aw_common_rule *rule, const aw_tile_ref *tile,
                          double (*sum)[AW_TILE])
{
    for (uint32_t l = 0; l < tile->count; ++l) {
        const size_t p = tile->first + l;
        for (unsigned k = 0; k < AW_RESULTS; ++k) rule->I[p][k] += sum[k][l];
        if (rule->check) rule->check[p] += sum[AW_RESULTS][l];
    }
}

aw_status aw_gpu_device_integrate(void *state, aw_common_rule *rule, const aw_scales *scales,
                                  aw_work *work)
{
    aw_gpu_state *g = state;
    const size_t tiles = cut_tiles(g->points, rule->columns, NULL);
    const size_t runs = (rule->nodes + AW_GPU_COMMON_RUN - 1) / AW_GPU_COMMON_RUN;
    const size_t batch = runs < AW_GPU_PARTIAL ? AW_GPU_PARTIAL / (runs + 1) + 1 : 1;
    aw_gpu_workspace *w = &g->workspace[0];
    aw_status status = AW_OK;
    rule->tables = rule->directions = rule->offsets = 0;
    if (rule->nodes == 0) return AW_OK;
    aw_gpu_common call = {.history = g->exact,
                          .point = g->at.device,
                          .moves = rule->moves_as != NULL,
                          .check_rates = rule->check_rates,
                          .nodes = rule->nodes,
                          .runs = runs,
                          .density = g->density,
                          .scales = *scales};
    if (rule->moves_as) call.moves_as = *rule->moves_as;
    AW_TRY(aw_gpu_wait(g, 0));
    AW_TRY(aw_gpu_narrow_view(g, &call.history));
    AW_TRY(aw_gpu_grow(g, &w->tile, tiles * sizeof(aw_tile_ref)));
    cut_tiles(g->points, rule->columns, w->tile.host);
    AW_TRY(aw_gpu_send(g, &g->node, rule->node, rule->nodes * sizeof *rule->node));
    AW_TRY(aw_gpu_to_device(g, 0, &w->tile, tiles * sizeof(aw_tile_ref)));
    call.node = g->node.device;
    for (size_t first = 0; first < tiles; first += batch) {
        const size_t n = tiles - first < batch ? tiles - first : batch;
        AW_TRY(sum_tiles(g, &call, first, n, work));
        for (size_t i = 0; i < n; ++i)
            add_to_points(rule, &((const aw_tile_ref *)w->tile.host)[first + i],
                          ((common_sums *)w->sums.host)[i]);
    }
done:
    return status;
}
