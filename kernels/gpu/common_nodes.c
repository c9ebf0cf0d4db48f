/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: nodes in r' that all points share. */
#include "kernels/gpu/blocks/common_nodes.h"

#include <string.h>

#include "kernels/gpu/device.h"

/* Sums of runs at tiles that there is room for at a time, as a rule. */
enum { AW_GPU_PARTIAL = 131072 };

typedef double shared_sums[AW_GPU_COMMON_SUMS][AW_TILE];

/* Tiles of the grid's rows. @return how many */
static size_t cut(size_t points, size_t columns, aw_tile_ref *tile)
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

/* Tiles first .. first + tiles - 1 of the list: their sums come back. */
static aw_status sum_some(aw_gpu_state *g, aw_gpu_common *call, size_t first, size_t tiles,
                          aw_work *work)
{
    aw_gpu_workspace *d = &g->workspace[0];
    const size_t blocks = tiles * call->runs;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow_device(g, &d->result, blocks * sizeof(shared_sums)));
    AW_TRY(aw_gpu_grow(g, &d->sums, tiles * sizeof(shared_sums)));
    AW_TRY(aw_gpu_grow(g, &d->work, blocks * sizeof(aw_work)));
    call->tile = (const aw_tile_ref *)d->tile.device + first;
    call->tiles = tiles;
    call->partial = d->result.device;
    call->sums = d->sums.device;
    call->work = d->work.device;
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_common, blocks, call));
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_common_add, (tiles + AW_GPU_ACCEPTS - 1) / AW_GPU_ACCEPTS,
                         call));
    AW_TRY(aw_gpu_to_host(g, 0, &d->sums, tiles * sizeof(shared_sums)));
    AW_TRY(aw_gpu_to_host(g, 0, &d->work, blocks * sizeof(aw_work)));
    AW_TRY(aw_gpu_wait(g, 0));
    aw_gpu_work_sum(&d->work, blocks, work);
done:
    return status;
}

static void hand_out(const aw_common_rule *shared, const aw_tile_ref *tile, double (*sum)[AW_TILE])
{
    for (uint32_t l = 0; l < tile->count; ++l) {
        const size_t p = tile->first + l;
        for (unsigned k = 0; k < AW_RESULTS; ++k) shared->I[p][k] += sum[k][l];
        if (shared->check) shared->check[p] += sum[AW_RESULTS][l];
    }
}

aw_status aw_gpu_device_integrate(void *state, aw_common_rule *shared, const aw_scales *scales,
                                  aw_work *work)
{
    aw_gpu_state *g = state;
    const size_t tiles = cut(g->points, shared->columns, NULL);
    const size_t runs = (shared->nodes + AW_GPU_COMMON_RUN - 1) / AW_GPU_COMMON_RUN;
    const size_t most = runs < AW_GPU_PARTIAL ? AW_GPU_PARTIAL / (runs + 1) + 1 : 1;
    aw_gpu_workspace *d = &g->workspace[0];
    aw_status status = AW_OK;
    shared->tables = shared->directions = shared->offsets = 0;
    if (shared->nodes == 0) return AW_OK;
    aw_gpu_common call = {.history = g->exact,
                          .point = g->at.device,
                          .moves = shared->moves_as != NULL,
                          .check_rates = shared->check_rates,
                          .nodes = shared->nodes,
                          .runs = runs,
                          .density = g->density,
                          .scales = *scales};
    if (shared->moves_as) call.moves_as = *shared->moves_as;
    AW_TRY(aw_gpu_wait(g, 0));
    AW_TRY(aw_gpu_narrow_view(g, &call.history));
    AW_TRY(aw_gpu_grow(g, &d->tile, tiles * sizeof(aw_tile_ref)));
    cut(g->points, shared->columns, d->tile.host);
    AW_TRY(aw_gpu_send(g, &g->node, shared->node, shared->nodes * sizeof *shared->node));
    AW_TRY(aw_gpu_to_device(g, 0, &d->tile, tiles * sizeof(aw_tile_ref)));
    call.node = g->node.device;
    for (size_t first = 0; first < tiles; first += most) {
        const size_t n = tiles - first < most ? tiles - first : most;
        AW_TRY(sum_some(g, &call, first, n, work));
        for (size_t i = 0; i < n; ++i)
            hand_out(shared, &((const aw_tile_ref *)d->tile.host)[first + i],
                     ((shared_sums *)d->sums.host)[i]);
    }
done:
    return status;
}
