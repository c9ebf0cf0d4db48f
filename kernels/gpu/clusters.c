/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: evaluation of clusters. Batches of tiles run on two streams in turn: one kernel applies the
 * rule to every region of every tile, another accepts or refuses the regions. Sums and errors are
 * downloaded. */
#include "kernels/gpu/blocks/clusters.h"

#include <string.h>

#include "kernels/gpu/device.h"
#include "src/base/memory.h"

/* Results (a region at a tile) of one batch at most, unless a single tile has more. */
enum { AW_GPU_RESULTS = 65536 };

/* The caller's tile that a tile of the batch came from. */
struct aw_gpu_origin {
    const aw_cluster *cluster;
    size_t tile;
};

/* A call, and the tile with which the next batch begins: `tile` of cluster `at`. */
typedef struct evaluation {
    const aw_cluster_call *call;
    size_t at, tile;
    aw_gpu_evaluate arguments; /* what all batches have in common */
} evaluation;

typedef double sums[AW_GPU_SUMS][AW_TILE];

/* Numbers of items of a batch. */
typedef struct batch {
    size_t tiles, regions, results, chunks;
} batch;

/* Append the chunks of tiles first .. first + tiles - 1, all of one cluster, to `chunk` (NULL:
 * count them only). Chunks of the same regions are neighbours, so that the blocks that run at the
 * same time read the same slices. */
static void add_chunks(aw_gpu_chunk *chunk, size_t *n, size_t first, size_t tiles, size_t regions)
{
    for (size_t k = 0; k < regions; k += AW_GPU_CHUNK_REGIONS)
        for (size_t i = first; i < first + tiles; ++i) {
            if (chunk)
                chunk[*n] = (aw_gpu_chunk){.tile = (uint32_t)i,
                                           .first = (uint32_t)k,
                                           .count = (uint32_t)(regions - k < AW_GPU_CHUNK_REGIONS
                                                                   ? regions - k
                                                                   : AW_GPU_CHUNK_REGIONS)};
            ++*n;
        }
}

/* Make tile i of a cluster tile `at` of the batch. */
static void add_tile(const evaluation *e, const aw_gpu_workspace *w, const batch *b,
                     const aw_cluster *c, size_t i, size_t at)
{
    double(*sum)[AW_TILE] = ((sums *)w->sums.host)[at];
    ((aw_gpu_tile *)w->tile.host)[at] = (aw_gpu_tile){.ref = c->tile[i],
                                                      .region = (uint32_t)b->regions,
                                                      .regions = (uint32_t)c->regions,
                                                      .result = (uint32_t)b->results,
                                                      .fine = c->fine,
                                                      .begin = c->begin,
                                                      .limit = c->limit,
                                                      .part = c->part};
    for (uint32_t l = 0; l < AW_TILE; ++l)
        sum[AW_RESULTS][l] = l < c->tile[i].count ? e->call->out.error[c->tile[i].first + l] : 0.0;
    w->origin[at] = (struct aw_gpu_origin){c, i};
}

/* Advance over the tiles of one batch; with a workspace, fill the workspace with them. */
static batch next_batch(evaluation *e, const aw_gpu_workspace *w)
{
    batch b = {0};
    while (e->at < e->call->n) {
        const aw_cluster *c = &e->call->cluster[e->at];
        const size_t each = c->regions > 0 ? c->regions : 1, first = b.tiles;
        const size_t fit = AW_GPU_RESULTS > b.results ? (AW_GPU_RESULTS - b.results) / each : 0;
        size_t tiles = c->tiles - e->tile;
        if (tiles > fit) tiles = fit > 0 || first > 0 ? fit : 1;
        if (c->tiles > e->tile && tiles == 0) break;
        for (size_t i = 0; i < tiles; ++i) {
            if (w) add_tile(e, w, &b, c, e->tile + i, b.tiles);
            b.tiles++;
            b.results += c->regions;
        }
        if (w)
            memcpy((double(*)[2])w->region.host + b.regions, c->region,
                   c->regions * sizeof *c->region);
        add_chunks(w ? w->chunk.host : NULL, &b.chunks, first, tiles, c->regions);
        b.regions += c->regions;
        e->tile += tiles;
        if (e->tile < c->tiles) break;
        e->tile = 0;
        e->at++;
    }
    return b;
}

static aw_status workspace_grow(aw_gpu_state *g, aw_gpu_workspace *w, const batch *b)
{
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, &w->region, (b->regions + 1) * sizeof(double[2])));
    AW_TRY(aw_gpu_grow(g, &w->tile, b->tiles * sizeof(aw_gpu_tile)));
    AW_TRY(aw_gpu_grow(g, &w->chunk, (b->chunks + 1) * sizeof(aw_gpu_chunk)));
    AW_TRY(aw_gpu_grow(g, &w->work, (b->chunks + 1) * sizeof(aw_work)));
    AW_TRY(aw_gpu_grow_device(g, &w->result, (b->results + 1) * sizeof(aw_tile_estimate)));
    AW_TRY(aw_gpu_grow(g, &w->sums, b->tiles * sizeof(sums)));
    AW_TRY(aw_gpu_grow(g, &w->worst, (b->results + 1) * sizeof(float)));
    AW_TRY(aw_gpu_grow(g, &w->refused, b->results + 1));
    AW_TRY(aw_gpu_grow(g, &w->coarse, b->tiles * sizeof(float)));
    AW_TRY(aw_grow((void **)&w->origin, &w->origins, b->tiles, sizeof *w->origin));
done:
    return status;
}

static aw_status batch_begin(aw_gpu_state *g, int stream, evaluation *e)
{
    aw_gpu_workspace *w = &g->workspace[stream];
    evaluation counted = *e;
    const batch b = next_batch(&counted, NULL);
    aw_status status = AW_OK;
    AW_TRY(workspace_grow(g, w, &b));
    next_batch(e, w);
    aw_gpu_evaluate call = e->arguments;
    call.region = w->region.device;
    call.tile = w->tile.device;
    call.tiles = (uint32_t)b.tiles;
    call.chunk = w->chunk.device;
    call.result = w->result.device;
    call.sums = w->sums.device;
    call.worst = w->worst.device;
    call.refused = w->refused.device;
    call.coarse = w->coarse.device;
    call.work = w->work.device;
    AW_TRY(aw_gpu_to_device(g, stream, &w->region, b.regions * sizeof(double[2])));
    AW_TRY(aw_gpu_to_device(g, stream, &w->tile, b.tiles * sizeof(aw_gpu_tile)));
    AW_TRY(aw_gpu_to_device(g, stream, &w->chunk, b.chunks * sizeof(aw_gpu_chunk)));
    AW_TRY(aw_gpu_to_device(g, stream, &w->sums, b.tiles * sizeof(sums)));
    AW_TRY(aw_gpu_launch(g, stream, AW_GPU_evaluate, b.chunks, &call));
    AW_TRY(aw_gpu_launch(g, stream, AW_GPU_accept,
                         (b.tiles + AW_GPU_ACCEPT_TILES - 1) / AW_GPU_ACCEPT_TILES, &call));
    AW_TRY(aw_gpu_to_host(g, stream, &w->sums, b.tiles * sizeof(sums)));
    AW_TRY(aw_gpu_to_host(g, stream, &w->worst, b.results * sizeof(float)));
    AW_TRY(aw_gpu_to_host(g, stream, &w->refused, b.results));
    AW_TRY(aw_gpu_to_host(g, stream, &w->coarse, b.tiles * sizeof(float)));
    AW_TRY(aw_gpu_to_host(g, stream, &w->work, b.chunks * sizeof(aw_work)));
    w->n = b.tiles;
    w->chunks = b.chunks;
done:
    return status;
}

/* Add the sums of tile i of a cluster to the sums at its points. */
static void add_to_points(const aw_cluster *c, size_t i, double (*sum)[AW_TILE],
                          const aw_clustered *out)
{
    const int rest = (int)AW_RESULTS + 1;
    for (uint32_t l = 0; l < c->tile[i].count; ++l) {
        const size_t p = c->tile[i].first + l;
        for (unsigned k = 0; k < AW_RESULTS; ++k) {
            out->I[p][k] = (c->begin ? 0.0 : out->I[p][k]) + sum[k][l];
            out->rest[p][k] = sum[rest + (int)k][l];
        }
        out->error[p] = sum[AW_RESULTS][l];
        out->rest_error[p] = sum[rest + (int)AW_RESULTS][l];
    }
}

static aw_status batch_end(aw_gpu_state *g, int stream, const evaluation *e, aw_work *work)
{
    aw_gpu_workspace *w = &g->workspace[stream];
    const aw_gpu_tile *tile = w->tile.host;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_wait(g, stream));
    for (size_t at = 0; at < w->n; ++at) {
        const aw_cluster *c = w->origin[at].cluster;
        const size_t i = w->origin[at].tile, from = tile[at].result;
        add_to_points(c, i, ((sums *)w->sums.host)[at], &e->call->out);
        memcpy(&c->worst[i * c->regions], (float *)w->worst.host + from,
               c->regions * sizeof *c->worst);
        memcpy(&c->refused[i * c->regions], (uint8_t *)w->refused.host + from, c->regions);
        c->coarse[i] = ((float *)w->coarse.host)[at];
    }
    if (w->n > 0) aw_gpu_work_sum(&w->work, w->chunks, work);
done:
    w->n = 0;
    return status;
}

aw_status aw_gpu_device_evaluate(void *state, const aw_cluster_call *call, aw_work *work)
{
    aw_gpu_state *g = state;
    evaluation e = {.call = call};
    aw_status status = AW_OK;
    int stream = 0;
    e.arguments = (aw_gpu_evaluate){.history = g->exact,
                                    .point = g->at.device,
                                    .density = g->density,
                                    .rounded = call->single,
                                    .scales = *call->scales};
    AW_TRY(aw_gpu_wait(g, 0));
    if (call->single) AW_TRY(aw_gpu_narrow_view(g, &e.arguments.history));
    for (; e.at < call->n; stream = (stream + 1) % AW_GPU_STREAMS) {
        AW_TRY(batch_end(g, stream, &e, work));
        AW_TRY(batch_begin(g, stream, &e));
    }
    for (stream = 0; stream < AW_GPU_STREAMS; ++stream) AW_TRY(batch_end(g, stream, &e, work));
done:
    for (stream = 0; stream < AW_GPU_STREAMS; ++stream) g->workspace[stream].n = 0;
    return status;
}
