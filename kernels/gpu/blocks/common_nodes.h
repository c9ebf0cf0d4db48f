/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU kernels for nodes in r' that all points of a grid have in common. Every node is evaluated at
 * every tile, without tables of projections: thousands of threads read the beam at a node at the
 * same time, and a GPU's spare arithmetic exceeds the work that tables save a CPU. */
#ifndef AW_KERNELS_GPU_BLOCKS_COMMON_NODES_H
#define AW_KERNELS_GPU_BLOCKS_COMMON_NODES_H
#include "kernels/gpu/blocks/clusters.h"

/* Nodes of a run: one block evaluates a run at a tile. */
#define AW_GPU_COMMON_RUN 16
/* Sums of a point: AW_RESULTS results, and the check. */
#define AW_GPU_COMMON_SUMS ((int)AW_RESULTS + 1)

/** Arguments of both kernels. */
typedef struct aw_gpu_common {
    aw_history_view history;
    const aw_field_point *point;
    aw_field_point moves_as; /* if `moves` is 1: all points have the velocity of this point */
    int moves, check_rates;
    const aw_common_node *node;
    size_t nodes;
    const aw_tile_ref *tile; /* [tiles] */
    size_t tiles, runs;
    double density;
    aw_scales scales;
    double (*partial)[AW_GPU_COMMON_SUMS][AW_TILE]; /* [tiles][runs] */
    double (*sums)[AW_GPU_COMMON_SUMS][AW_TILE];    /* [tiles] */
    aw_work *work;                                  /* [tiles][runs] */
} aw_gpu_common;

typedef struct aw_gpu_common_shared {
    aw_gpu_tiles tiles;
    aw_field_point point[AW_TILE];
    double sum[AW_GPU_COMMON_SUMS][AW_TILE];
} aw_gpu_common_shared;

/* Load the points of a tile. Called by one thread. */
AW_GPU_FN void aw_gpu_common_load(const aw_gpu_common *c, const aw_tile_ref *ref,
                                  aw_gpu_common_shared *s)
{
    for (uint32_t l = 0; l < ref->count; ++l) {
        const aw_field_point *p = &c->point[ref->first + l];
        s->point[l] = c->moves ? c->moves_as : *p;
        s->point[l].z = p->z;
        s->point[l].x = p->x;
    }
    aw_tile_take(s->point, (int)ref->count, &s->tiles.tile);
}

/* Add nodes first .. first + AW_GPU_WARPS - 1, as far as they are before `end`, to the sums. Called
 * by all threads. */
AW_GPU_FN void aw_gpu_common_nodes(const aw_gpu_common *c, size_t first, size_t end,
                                   aw_gpu_common_shared *s)
{
    AW_GPU_EACH(t)
    {
        if (t < AW_GPU_WARPS) {
            const size_t i = first + (size_t)t;
            const aw_common_node *q = &c->node[i < end ? i : first];
            s->tiles.wanted[t] = i < end;
            s->tiles.rates[t] = q->rate != 0.0;
            s->tiles.r[t] = q->r;
            s->tiles.density[t] = q->density * c->density;
        }
    }
    AW_GPU_BARRIER();
    aw_gpu_tiles_run(&c->history, &s->tiles);
    AW_GPU_EACH(l)
    {
        for (int warp = 0; l < AW_TILE && warp < AW_GPU_WARPS && first + (size_t)warp < end;
             ++warp) {
            const aw_common_node *q = &c->node[first + (size_t)warp];
            double f_in[AW_RESULTS];
            for (unsigned k = 0; k < AW_RESULTS; ++k) {
                f_in[k] = s->tiles.f_in[warp][k][l];
                s->sum[k][l] += (k < AW_DPHI ? q->weight : q->rate) * f_in[k];
            }
            s->sum[AW_RESULTS][l] += aw_common_check(c->check_rates, q, &c->scales, f_in[AW_PHI],
                                                     f_in[AW_PSI], f_in[AW_DPHI]);
        }
    }
    AW_GPU_BARRIER();
}

AW_GPU_FN void aw_gpu_common_block(const aw_gpu_common *c, aw_gpu_common_shared *s, int block)
{
    const size_t tile = (size_t)block / c->runs, run = (size_t)block % c->runs;
    const size_t first = run * AW_GPU_COMMON_RUN;
    const size_t end = first + AW_GPU_COMMON_RUN < c->nodes ? first + AW_GPU_COMMON_RUN : c->nodes;
    aw_gpu_work_begin(s->tiles.work);
    AW_GPU_EACH(t)
    {
        if (t == 0) {
            s->tiles.rounded = 1;
            aw_gpu_common_load(c, &c->tile[tile], s);
        }
        for (int k = 0; t < AW_TILE && k < AW_GPU_COMMON_SUMS; ++k) s->sum[k][t] = 0.0;
    }
    AW_GPU_BARRIER();
    for (size_t i = first; i < end; i += AW_GPU_WARPS) aw_gpu_common_nodes(c, i, end, s);
    AW_GPU_EACH(t)
    {
        for (int k = 0; t < AW_TILE && k < AW_GPU_COMMON_SUMS; ++k)
            c->partial[block][k][t] = s->sum[k][t];
        if (t == 0) aw_gpu_work_end(s->tiles.work, 0, &c->work[block]);
    }
}

/** Add up the runs of AW_GPU_ACCEPT_TILES tiles, in order, with one thread per lane. */
AW_GPU_FN void aw_gpu_common_add_block(const aw_gpu_common *c, int block)
{
    AW_GPU_EACH(t)
    {
        const size_t tile = (size_t)block * AW_GPU_ACCEPT_TILES + (size_t)(t / AW_TILE);
        for (int k = 0; tile < c->tiles && k < AW_GPU_COMMON_SUMS; ++k) {
            double sum = 0.0;
            for (size_t run = 0; run < c->runs; ++run)
                sum += c->partial[tile * c->runs + run][k][t % AW_TILE];
            c->sums[tile][k][t % AW_TILE] = sum;
        }
    }
}

#endif
