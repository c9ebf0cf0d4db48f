/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU kernels for clusters. The first applies the rule to each region of a cluster's partition at
 * each of its tiles; the chunks of the partition are distributed over the blocks (dissertation
 * 4.2.1). The second accepts or refuses the regions. */
#ifndef AW_KERNELS_GPU_BLOCKS_CLUSTERS_H
#define AW_KERNELS_GPU_BLOCKS_CLUSTERS_H
#include "kernels/device/device.h"
#include "kernels/gpu/blocks/tiles.h"

/* Regions of a chunk. Each chunk computes the first node of its first region anew. */
#define AW_GPU_CHUNK_REGIONS 8
/* Tiles of a block of the kernel `accept`. */
#define AW_GPU_ACCEPT_TILES (AW_GPU_THREADS / AW_TILE)
/* Sums of a point: the results of the accepted regions and the sum of their errors; then the same
 * of the refused regions. */
#define AW_GPU_SUMS (2 * ((int)AW_RESULTS + 1))

/** A tile of a cluster. */
typedef struct aw_gpu_tile {
    aw_tile_ref ref;
    uint32_t region, regions; /* first in the list of regions, and number */
    uint32_t result;          /* first in the list of results */
    int fine, begin;
    double limit, part;
} aw_gpu_tile;

/** Regions of a tile that one block evaluates. */
typedef struct aw_gpu_chunk {
    uint32_t tile, first, count; /* first: counted from the tile's first region */
} aw_gpu_chunk;

/** Arguments of both kernels. */
typedef struct aw_gpu_evaluate {
    aw_history_view history;
    const aw_field_point *point;
    const double (*region)[2];
    const aw_gpu_tile *tile; /* [tiles] */
    uint32_t tiles;
    const aw_gpu_chunk *chunk; /* [chunks] */
    double density;
    int rounded; /* 1: sums in single precision (aw_gpu_tiles) */
    aw_scales scales;
    aw_tile_estimate *result;             /* [sum of the tiles' regions] */
    double (*sums)[AW_GPU_SUMS][AW_TILE]; /* [tiles]: in: the sums of errors before the call, in row
                                           * AW_RESULTS; out: all sums */
    float *worst;                         /* [sum of the tiles' regions] */
    uint8_t *refused;                     /* likewise */
    float *coarse;                        /* [tiles] */
    aw_work *work;                        /* [chunks] */
} aw_gpu_evaluate;

typedef struct aw_gpu_evaluate_shared {
    aw_gpu_tiles tiles;
    double f[5][AW_RESULTS][AW_TILE];
} aw_gpu_evaluate_shared;

/* Evaluate nodes first .. last of a region into s->f. Called by all threads. */
AW_GPU_FN void aw_gpu_region_nodes(const aw_gpu_evaluate *c, const aw_gpu_tile *tile,
                                   const double region[2], int first, int last,
                                   aw_gpu_evaluate_shared *s)
{
    const double a = region[0], b = region[1];
    AW_GPU_EACH(t)
    {
        if (t < AW_GPU_WARPS) {
            const int k = first + t;
            s->tiles.wanted[t] = k <= last;
            s->tiles.rates[t] = aw_tile_rated(k, tile->fine);
            s->tiles.r[t] = k < 4 ? a + 0.25 * k * (b - a) : b;
            s->tiles.density[t] = c->density;
        }
    }
    AW_GPU_BARRIER();
    aw_gpu_tiles_run(&c->history, &s->tiles);
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP, l = t % AW_GPU_WARP;
        if (l < AW_TILE && first + warp <= last)
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                s->f[first + warp][k][l] = s->tiles.f_in[warp][k][l];
    }
    AW_GPU_BARRIER();
}

AW_GPU_FN void aw_gpu_evaluate_block(const aw_gpu_evaluate *c, aw_gpu_evaluate_shared *s, int block)
{
    const aw_gpu_chunk *chunk = &c->chunk[block];
    const aw_gpu_tile *tile = &c->tile[chunk->tile];
    aw_gpu_work_begin(s->tiles.work);
    AW_GPU_EACH(t)
    {
        if (t == 0) {
            s->tiles.rounded = c->rounded;
            aw_tile_take(&c->point[tile->ref.first], (int)tile->ref.count, &s->tiles.tile);
        }
    }
    AW_GPU_BARRIER();
    for (uint32_t k = chunk->first; k < chunk->first + chunk->count; ++k) {
        const double *region = c->region[tile->region + k];
        if (k > chunk->first && region[-1] == region[0]) {
            AW_GPU_EACH(t)
            {
                if (t < AW_TILE)
                    for (unsigned j = 0; j < AW_RESULTS; ++j) s->f[0][j][t] = s->f[4][j][t];
            }
            AW_GPU_BARRIER();
        } else {
            aw_gpu_region_nodes(c, tile, region, 0, 0, s);
        }
        aw_gpu_region_nodes(c, tile, region, 1, 4, s);
        AW_GPU_EACH(l)
        {
            const aw_lanes lane = {l, l + 1};
            if (l < AW_TILE)
                aw_tile_rule_lanes((const double(*)[AW_RESULTS][AW_TILE])s->f, lane,
                                   region[1] - region[0], &c->scales, tile->fine,
                                   &c->result[tile->result + k]);
        }
        AW_GPU_BARRIER();
    }
    AW_GPU_EACH(t)
    {
        if (t == 0)
            aw_gpu_work_end(s->tiles.work, (uint64_t)chunk->count * tile->ref.count,
                            &c->work[block]);
    }
}

typedef struct aw_gpu_accept_shared {
    double error[AW_GPU_THREADS], coarse[AW_GPU_THREADS];
    int within[AW_GPU_THREADS];
    int accepted[AW_GPU_ACCEPT_TILES];
    uint32_t max_regions; /* largest number of regions of a tile of the block */
} aw_gpu_accept_shared;

/* Accept or refuse region k at a tile (device.h, aw_cluster). Called by the thread of lane 0, which
 * decides for all lanes. */
AW_GPU_FN void aw_gpu_accept_one(const aw_gpu_evaluate *c, const aw_gpu_tile *tile, uint32_t k,
                                 aw_gpu_accept_shared *s, int t, float *coarse)
{
    double worst = 0.0, increase = 0.0;
    int accepted = 1;
    for (uint32_t l = 0; l < tile->ref.count; ++l) {
        const double error = s->error[t + (int)l];
        if (!(error <= worst) && !isnan(worst)) worst = error;
        if (s->coarse[t + (int)l] > increase) increase = s->coarse[t + (int)l];
        accepted = accepted && s->within[t + (int)l];
    }
    s->accepted[t / AW_TILE] = accepted;
    c->worst[tile->result + k] = (float)worst;
    c->refused[tile->result + k] = !accepted;
    *coarse += (float)increase;
}

/* Add the results of a region at lane l, and its error, to the sums of a point. */
AW_GPU_FN void aw_gpu_accept_add(const aw_tile_estimate *r, int l, double *sum)
{
    for (unsigned j = 0; j < AW_RESULTS; ++j) sum[j] += r->I[j][l];
    sum[AW_RESULTS] += r->error[l];
}

/** Accept or refuse the regions of AW_GPU_ACCEPT_TILES tiles, in order, with one thread per
 *  lane. */
AW_GPU_FN void aw_gpu_accept_block(const aw_gpu_evaluate *c, aw_gpu_accept_shared *s, int block)
{
    double own[AW_GPU_PRIVATE][AW_GPU_SUMS], start[AW_GPU_PRIVATE];
    float coarse[AW_GPU_PRIVATE];
    const uint32_t first = (uint32_t)block * AW_GPU_ACCEPT_TILES;
    AW_GPU_EACH(t)
    {
        const uint32_t i = first + (uint32_t)(t / AW_TILE);
        for (int j = 0; j < AW_GPU_SUMS; ++j) own[AW_GPU_INDEX(t)][j] = 0.0;
        coarse[AW_GPU_INDEX(t)] = 0.0F;
        start[AW_GPU_INDEX(t)] =
            i < c->tiles && !c->tile[i].begin ? c->sums[i][AW_RESULTS][t % AW_TILE] : 0.0;
        own[AW_GPU_INDEX(t)][AW_RESULTS] = start[AW_GPU_INDEX(t)];
        if (t == 0) {
            s->max_regions = 0;
            for (uint32_t n = first; n < first + AW_GPU_ACCEPT_TILES && n < c->tiles; ++n)
                if (c->tile[n].regions > s->max_regions) s->max_regions = c->tile[n].regions;
        }
    }
    AW_GPU_BARRIER();
    for (uint32_t k = 0; k < s->max_regions; ++k) {
        AW_GPU_EACH(t)
        {
            const uint32_t i = first + (uint32_t)(t / AW_TILE);
            const aw_gpu_tile *tile = &c->tile[i < c->tiles ? i : first];
            if (i < c->tiles && k < tile->regions) {
                const aw_tile_estimate *r = &c->result[tile->result + k];
                const double share = aw_accept_share(k, tile->regions);
                const double budget =
                    aw_accept_budget(tile->limit, tile->part, start[AW_GPU_INDEX(t)], share);
                s->error[t] = r->error[t % AW_TILE];
                s->coarse[t] = r->coarse[t % AW_TILE];
                s->within[t] = own[AW_GPU_INDEX(t)][AW_RESULTS] + s->error[t] <= budget;
            }
        }
        AW_GPU_BARRIER();
        AW_GPU_EACH(t)
        {
            const uint32_t i = first + (uint32_t)(t / AW_TILE);
            if (t % AW_TILE == 0 && i < c->tiles && k < c->tile[i].regions)
                aw_gpu_accept_one(c, &c->tile[i], k, s, t, &coarse[AW_GPU_INDEX(t)]);
        }
        AW_GPU_BARRIER();
        AW_GPU_EACH(t)
        {
            const uint32_t i = first + (uint32_t)(t / AW_TILE);
            if (i < c->tiles && k < c->tile[i].regions) {
                const aw_tile_estimate *r = &c->result[c->tile[i].result + k];
                double *sum = own[AW_GPU_INDEX(t)];
                if (s->accepted[t / AW_TILE])
                    aw_gpu_accept_add(r, t % AW_TILE, sum);
                else
                    aw_gpu_accept_add(r, t % AW_TILE, sum + AW_RESULTS + 1);
            }
        }
        AW_GPU_BARRIER();
    }
    AW_GPU_EACH(t)
    {
        const uint32_t i = first + (uint32_t)(t / AW_TILE);
        if (i < c->tiles) {
            for (int j = 0; j < AW_GPU_SUMS; ++j)
                c->sums[i][j][t % AW_TILE] = own[AW_GPU_INDEX(t)][j];
            if (t % AW_TILE == 0) c->coarse[i] = coarse[AW_GPU_INDEX(t)];
        }
    }
}

#endif
