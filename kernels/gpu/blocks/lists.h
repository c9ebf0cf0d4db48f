/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU kernels for lists: the rule on regions (phase one), and adaptive refinement (phase two). */
#ifndef AW_KERNELS_GPU_BLOCKS_LISTS_H
#define AW_KERNELS_GPU_BLOCKS_LISTS_H
#include "kernels/gpu/blocks/nodes.h"
#include "quadrature/rules/refine.h"

/* Consecutive regions of a list that one block evaluates: a region takes its first node from its
 * predecessor. */
#define AW_GPU_BLOCK_REGIONS 8

/** Sweep: a block evaluates AW_GPU_BLOCK_REGIONS regions one after the other, with one warp per
 *  node. A node has some hundred angles, enough for a warp. One thread per node would be slower:
 *  threads with different arcs diverge. */
typedef struct aw_gpu_sweep {
    aw_history_view history;
    const aw_field_point *point;
    aw_region *region; /* [n] */
    size_t n;
    double density;
    aw_scales scales;
    aw_work *work; /* [blocks] */
} aw_gpu_sweep;

typedef struct aw_gpu_sweep_shared {
    aw_gpu_nodes nodes;
    int node[AW_GPU_WARPS]; /* node of the region that each warp evaluates */
    int first;              /* node with which the next pass begins; 5: there is none */
} aw_gpu_sweep_shared;

/* Assign the region's unknown nodes, from node `from` on, to the warps.
 * @return the node with which the next pass begins; 5: none is left */
AW_GPU_FN int aw_gpu_assign_nodes(const aw_region *q, int from, aw_gpu_sweep_shared *s)
{
    int warp = 0, k = from;
    for (; k < 5 && warp < AW_GPU_WARPS; ++k) {
        if (q->known & (1u << k)) continue;
        s->node[warp] = k;
        s->nodes.r[warp] = aw_region_node(q, k);
        s->nodes.wanted[warp++] = 1;
    }
    for (; warp < AW_GPU_WARPS; ++warp) s->nodes.wanted[warp] = 0;
    while (k < 5 && (q->known & (1u << k))) ++k;
    return k;
}

/* Evaluate a region's unknown nodes, then its estimate and error. `q` is in memory that all threads
 * of the block share. Called by all threads. */
AW_GPU_FN void aw_gpu_complete(const aw_history_view *h, const aw_field_point *point,
                               double density, const aw_scales *scales, aw_region *q,
                               aw_gpu_sweep_shared *s)
{
    AW_GPU_EACH(t)
    {
        if (t == 0) s->first = aw_gpu_assign_nodes(q, 0, s);
    }
    AW_GPU_BARRIER();
    for (int more = s->nodes.wanted[0]; more;) {
        const int next = s->first;
        aw_gpu_nodes_run(h, &point[q->point], density, &s->nodes);
        AW_GPU_EACH(t)
        {
            const int warp = t / AW_GPU_WARP, k = t % AW_GPU_WARP;
            if (s->nodes.wanted[warp] && k < (int)AW_RESULTS)
                q->f[s->node[warp]][k] = s->nodes.f_in[warp][k];
        }
        AW_GPU_BARRIER();
        more = next < 5;
        AW_GPU_EACH(t)
        {
            if (t == 0 && more) s->first = aw_gpu_assign_nodes(q, next, s);
        }
        AW_GPU_BARRIER();
    }
    AW_GPU_EACH(t)
    {
        if (t == 0) {
            q->known = 31u;
            aw_region_rule(q, scales);
        }
    }
    AW_GPU_BARRIER();
}

AW_GPU_FN void aw_gpu_sweep_block(const aw_gpu_sweep *c, aw_gpu_sweep_shared *s, int block)
{
    const size_t first = (size_t)block * AW_GPU_BLOCK_REGIONS;
    const size_t end = first + AW_GPU_BLOCK_REGIONS < c->n ? first + AW_GPU_BLOCK_REGIONS : c->n;
    aw_gpu_work_begin(s->nodes.work);
    AW_GPU_BARRIER();
    for (size_t i = first; i < end; ++i) {
        aw_region *q = &c->region[i];
        AW_GPU_EACH(t)
        {
            if (t == 0 && i > first && q[-1].point == q->point) aw_region_follow(q - 1, q);
        }
        AW_GPU_BARRIER();
        aw_gpu_complete(&c->history, c->point, c->density, &c->scales, q, s);
    }
    AW_GPU_EACH(t)
    {
        if (t == 0) aw_gpu_work_end(s->nodes.work, end - first, &c->work[block]);
    }
}

/** Refinement: a block refines one job after the other. The two halves of a region have four
 *  unknown nodes: one for each warp. */
typedef struct aw_gpu_refine {
    aw_history_view history;
    const aw_field_point *point;
    const aw_region *start; /* regions of the jobs */
    aw_job *job;            /* [jobs]; their pointers are addresses on the device */
    size_t jobs;
    int blocks;
    uint32_t capacity; /* regions of a job at most */
    aw_region *region; /* [blocks][capacity + 2]: two more for the halves */
    uint32_t *heap;    /* [blocks][capacity] */
    double density;
    aw_scales scales;
    aw_work *work; /* [blocks] */
} aw_gpu_refine;

typedef struct aw_gpu_refine_shared {
    aw_gpu_sweep_shared sweep;
    aw_refine_space job;
    int goes_on;
} aw_gpu_refine_shared;

/* Evaluate the four unknown nodes of both halves, one warp per node; then apply the rule to
 * both. */
AW_GPU_FN void aw_gpu_complete_halves(const aw_gpu_refine *c, double density, aw_region *half,
                                      aw_gpu_refine_shared *s)
{
    aw_gpu_nodes *nodes = &s->sweep.nodes;
    AW_GPU_EACH(t)
    {
        if (t < 4) {
            nodes->wanted[t] = 1;
            nodes->r[t] = aw_region_node(&half[t / 2], t % 2 ? 3 : 1);
        }
    }
    AW_GPU_BARRIER();
    aw_gpu_nodes_run(&c->history, &c->point[half->point], density, nodes);
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP, k = t % AW_GPU_WARP;
        if (k < (int)AW_RESULTS) half[warp / 2].f[warp % 2 ? 3 : 1][k] = nodes->f_in[warp][k];
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        if (t % AW_GPU_WARP == 0 && t / AW_GPU_WARP < 2) {
            aw_region *q = &half[t / AW_GPU_WARP];
            q->known = 31u;
            aw_region_rule(q, &c->scales);
        }
    }
    AW_GPU_BARRIER();
}

/* Refine one job. If it exceeds a capacity below AW_REFINE_MAX, its status becomes AW_ERR_NOMEM and
 * its results are not filled. @return the number of regions to which the rule was applied */
AW_GPU_FN uint64_t aw_gpu_refine_one(const aw_gpu_refine *c, aw_job *job, aw_region *half,
                                     aw_gpu_refine_shared *s)
{
    const double density = c->density * (job->density > 0.0 ? job->density : 1.0);
    uint64_t regions = job->count;
    AW_GPU_EACH(t)
    {
        if (t == 0) aw_refine_begin(&s->job, job);
    }
    AW_GPU_BARRIER();
    for (size_t i = 0; i < job->count; ++i) {
        AW_GPU_EACH(t)
        {
            if (t == 0) {
                half[1] = c->start[job->first + i];
                if (i > 0) aw_region_follow(&half[0], &half[1]);
            }
        }
        AW_GPU_BARRIER();
        aw_gpu_complete(&c->history, c->point, density, &c->scales, &half[1], &s->sweep);
        AW_GPU_EACH(t)
        {
            if (t == 0) {
                aw_refine_take(&s->job, job, &half[1]);
                half[0] = half[1];
            }
        }
        AW_GPU_BARRIER();
    }
    for (;;) {
        AW_GPU_EACH(t)
        {
            if (t == 0) s->goes_on = aw_refine_next(&s->job, job, &half[0], &half[1]);
        }
        AW_GPU_BARRIER();
        if (!s->goes_on) break;
        aw_gpu_complete_halves(c, density, half, s);
        AW_GPU_EACH(t)
        {
            if (t == 0) aw_refine_put(&s->job, &half[0], &half[1]);
        }
        AW_GPU_BARRIER();
        regions += 2;
    }
    AW_GPU_EACH(t)
    {
        if (t == 0) {
            const int more = job->status == AW_ERR_MAXEVAL && c->capacity < AW_REFINE_MAX;
            if (more && s->job.n >= c->capacity)
                job->status = AW_ERR_NOMEM;
            else
                aw_refine_end(&s->job, job);
        }
    }
    AW_GPU_BARRIER();
    return regions;
}

AW_GPU_FN void aw_gpu_refine_block(const aw_gpu_refine *c, aw_gpu_refine_shared *s, int block)
{
    aw_region *own = &c->region[(size_t)block * (c->capacity + 2)];
    uint64_t regions = 0;
    AW_GPU_EACH(t)
    {
        if (t == 0) {
            s->job.region = own;
            s->job.heap = &c->heap[(size_t)block * c->capacity];
            s->job.capacity = c->capacity;
        }
    }
    aw_gpu_work_begin(s->sweep.nodes.work);
    AW_GPU_BARRIER();
    for (size_t i = (size_t)block; i < c->jobs; i += (size_t)c->blocks)
        regions += aw_gpu_refine_one(c, &c->job[i], &own[c->capacity], s);
    AW_GPU_EACH(t)
    {
        if (t == 0) aw_gpu_work_end(s->sweep.nodes.work, regions, &c->work[block]);
    }
}

#endif
