/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: evaluation of clusters. A batch of tiles at a time, in two queues by turns: the rule
 * on every region of every tile, then what is accepted; of that, sums and errors come back. */
#include "kernels/gpu/blocks/clusters.h"

#include <string.h>

#include "kernels/gpu/device.h"
#include "src/base/memory.h"

/* Results of regions at tiles that one queue has room for, as a rule. */
enum { AW_GPU_RESULTS = 65536 };

/* A tile of the caller's. */
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

/* What a batch consists of: counted first, then filled. */
typedef struct batch {
    size_t tiles, regions, results, pieces;
} batch;

/* Blocks of tiles of one cluster, piece by piece: those that run at a time read the same slices. */
static void add_pieces(aw_gpu_chunk *piece, size_t *n, size_t first, size_t tiles, size_t regions)
{
    for (size_t k = 0; k < regions; k += AW_GPU_CHUNK_REGIONS)
        for (size_t i = first; i < first + tiles; ++i) {
            if (piece)
                piece[*n] = (aw_gpu_chunk){.tile = (uint32_t)i,
                                           .first = (uint32_t)k,
                                           .count = (uint32_t)(regions - k < AW_GPU_CHUNK_REGIONS
                                                                   ? regions - k
                                                                   : AW_GPU_CHUNK_REGIONS)};
            ++*n;
        }
}

/* Tile i of a cluster as the batch's tile number `at`. */
static void add_tile(const evaluation *e, const aw_gpu_workspace *d, const batch *b,
                     const aw_cluster *c, size_t i, size_t at)
{
    double(*sum)[AW_TILE] = ((sums *)d->sums.host)[at];
    ((aw_gpu_tile *)d->tile.host)[at] = (aw_gpu_tile){.ref = c->tile[i],
                                                      .region = (uint32_t)b->regions,
                                                      .regions = (uint32_t)c->regions,
                                                      .result = (uint32_t)b->results,
                                                      .fine = c->fine,
                                                      .begin = c->begin,
                                                      .limit = c->limit,
                                                      .part = c->part};
    for (uint32_t l = 0; l < AW_TILE; ++l)
        sum[AW_RESULTS][l] = l < c->tile[i].count ? e->call->out.error[c->tile[i].first + l] : 0.0;
    d->origin[at] = (struct aw_gpu_origin){c, i};
}

/* Go through the tiles of one batch; with a desk, fill it. */
static batch go_through(evaluation *e, const aw_gpu_workspace *d)
{
    batch b = {0};
    while (e->at < e->call->n) {
        const aw_cluster *c = &e->call->cluster[e->at];
        const size_t each = c->regions > 0 ? c->regions : 1, first = b.tiles;
        const size_t room = AW_GPU_RESULTS > b.results ? (AW_GPU_RESULTS - b.results) / each : 0;
        size_t tiles = c->tiles - e->tile;
        if (tiles > room) tiles = room > 0 || first > 0 ? room : 1;
        if (c->tiles > e->tile && tiles == 0) break;
        for (size_t i = 0; i < tiles; ++i) {
            if (d) add_tile(e, d, &b, c, e->tile + i, b.tiles);
            b.tiles++;
            b.results += c->regions;
        }
        if (d)
            memcpy((double(*)[2])d->region.host + b.regions, c->region,
                   c->regions * sizeof *c->region);
        add_pieces(d ? d->piece.host : NULL, &b.pieces, first, tiles, c->regions);
        b.regions += c->regions;
        e->tile += tiles;
        if (e->tile < c->tiles) break;
        e->tile = 0;
        e->at++;
    }
    return b;
}

static aw_status desk_grow(aw_gpu_state *g, aw_gpu_workspace *d, const batch *b)
{
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, &d->region, (b->regions + 1) * sizeof(double[2])));
    AW_TRY(aw_gpu_grow(g, &d->tile, b->tiles * sizeof(aw_gpu_tile)));
    AW_TRY(aw_gpu_grow(g, &d->piece, (b->pieces + 1) * sizeof(aw_gpu_chunk)));
    AW_TRY(aw_gpu_grow(g, &d->work, (b->pieces + 1) * sizeof(aw_work)));
    AW_TRY(aw_gpu_grow_device(g, &d->result, (b->results + 1) * sizeof(aw_gpu_result)));
    AW_TRY(aw_gpu_grow(g, &d->sums, b->tiles * sizeof(sums)));
    AW_TRY(aw_gpu_grow(g, &d->worst, (b->results + 1) * sizeof(float)));
    AW_TRY(aw_gpu_grow(g, &d->refused, b->results + 1));
    AW_TRY(aw_gpu_grow(g, &d->coarse, b->tiles * sizeof(float)));
    AW_TRY(aw_grow((void **)&d->origin, &d->origins, b->tiles, sizeof *d->origin));
done:
    return status;
}

static aw_status batch_begin(aw_gpu_state *g, int q, evaluation *e)
{
    aw_gpu_workspace *d = &g->workspace[q];
    evaluation counted = *e;
    const batch b = go_through(&counted, NULL);
    aw_status status = AW_OK;
    AW_TRY(desk_grow(g, d, &b));
    go_through(e, d);
    aw_gpu_evaluate call = e->arguments;
    call.region = d->region.device;
    call.tile = d->tile.device;
    call.tiles = (uint32_t)b.tiles;
    call.piece = d->piece.device;
    call.result = d->result.device;
    call.sums = d->sums.device;
    call.worst = d->worst.device;
    call.refused = d->refused.device;
    call.coarse = d->coarse.device;
    call.work = d->work.device;
    AW_TRY(aw_gpu_to_device(g, q, &d->region, b.regions * sizeof(double[2])));
    AW_TRY(aw_gpu_to_device(g, q, &d->tile, b.tiles * sizeof(aw_gpu_tile)));
    AW_TRY(aw_gpu_to_device(g, q, &d->piece, b.pieces * sizeof(aw_gpu_chunk)));
    AW_TRY(aw_gpu_to_device(g, q, &d->sums, b.tiles * sizeof(sums)));
    AW_TRY(aw_gpu_launch(g, q, AW_GPU_evaluate, b.pieces, &call));
    AW_TRY(
        aw_gpu_launch(g, q, AW_GPU_accept, (b.tiles + AW_GPU_ACCEPTS - 1) / AW_GPU_ACCEPTS, &call));
    AW_TRY(aw_gpu_to_host(g, q, &d->sums, b.tiles * sizeof(sums)));
    AW_TRY(aw_gpu_to_host(g, q, &d->worst, b.results * sizeof(float)));
    AW_TRY(aw_gpu_to_host(g, q, &d->refused, b.results));
    AW_TRY(aw_gpu_to_host(g, q, &d->coarse, b.tiles * sizeof(float)));
    AW_TRY(aw_gpu_to_host(g, q, &d->work, b.pieces * sizeof(aw_work)));
    d->n = b.tiles;
    d->pieces = b.pieces;
done:
    return status;
}

/* Sums of a tile to its points. */
static void hand_out(const aw_cluster *c, size_t i, double (*sum)[AW_TILE], const aw_clustered *out)
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

static aw_status batch_end(aw_gpu_state *g, int q, const evaluation *e, aw_work *work)
{
    aw_gpu_workspace *d = &g->workspace[q];
    const aw_gpu_tile *tile = d->tile.host;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_wait(g, q));
    for (size_t at = 0; at < d->n; ++at) {
        const aw_cluster *c = d->origin[at].cluster;
        const size_t i = d->origin[at].tile, from = tile[at].result;
        hand_out(c, i, ((sums *)d->sums.host)[at], &e->call->out);
        memcpy(&c->worst[i * c->regions], (float *)d->worst.host + from,
               c->regions * sizeof *c->worst);
        memcpy(&c->refused[i * c->regions], (uint8_t *)d->refused.host + from, c->regions);
        c->coarse[i] = ((float *)d->coarse.host)[at];
    }
    if (d->n > 0) aw_gpu_work_sum(&d->work, d->pieces, work);
done:
    d->n = 0;
    return status;
}

aw_status aw_gpu_device_evaluate(void *state, const aw_cluster_call *call, aw_work *work)
{
    aw_gpu_state *g = state;
    evaluation e = {.call = call};
    aw_status status = AW_OK;
    int q = 0;
    e.arguments = (aw_gpu_evaluate){.history = g->exact,
                                    .point = g->at.device,
                                    .density = g->density,
                                    .rounded = call->single,
                                    .scales = *call->scales};
    AW_TRY(aw_gpu_wait(g, 0));
    if (call->single) AW_TRY(aw_gpu_narrow_view(g, &e.arguments.history));
    for (; e.at < call->n; q = (q + 1) % AW_GPU_STREAMS) {
        AW_TRY(batch_end(g, q, &e, work));
        AW_TRY(batch_begin(g, q, &e));
    }
    for (q = 0; q < AW_GPU_STREAMS; ++q) AW_TRY(batch_end(g, q, &e, work));
done:
    for (q = 0; q < AW_GPU_STREAMS; ++q) g->workspace[q].n = 0;
    return status;
}
