/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU kernels for integrals in several dimensions. Phase one applies the rule to boxes, one warp
 * per box; phase two cuts the worst boxes of queues, one block per queue and half of its threads
 * per half of the box. */
#ifndef AW_KERNELS_GPU_BLOCKS_CUHRE_H
#define AW_KERNELS_GPU_BLOCKS_CUHRE_H
#include "kernels/gpu/blocks/block.h"
#include "quadrature/rules/cuhre.h"
#include "quadrature/rules/genz.h"

/** Arguments of both kernels. */
typedef struct aw_gpu_cuhre {
    aw_cuhre_rule rule;
    aw_genz f;
    aw_cuhre_region *region; /* [n] */
    aw_cuhre_queue *queue;   /* [n]; their pointers are addresses on the device */
    size_t n;
} aw_gpu_cuhre;

/* One application of the rule: the integrand at its points, and partial sums over them. */
typedef struct aw_gpu_cuhre_sample {
    double value[AW_CUHRE_POINTS];
    aw_cuhre_share share[AW_CUHRE_SHARES];
} aw_gpu_cuhre_sample;

/* Apply the rule to `regions` regions with `team` threads each. Called by all threads of a
 * block. */
AW_GPU_FN void aw_gpu_cuhre_rule(const aw_gpu_cuhre *c, aw_cuhre_region *region, int regions,
                                 int team, aw_gpu_cuhre_sample *sample)
{
    AW_GPU_EACH(t)
    {
        const int r = t / team;
        double x[AW_CUHRE_DIMENSIONS];
        for (int i = t % team; r < regions && i < c->rule.points; i += team) {
            aw_cuhre_point(&region[r], c->rule.n, i, x);
            sample[r].value[i] = aw_genz_at(&c->f, x);
        }
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int r = t / team, i = t % team;
        if (r < regions && i < aw_cuhre_shares(c->rule.n))
            aw_cuhre_share_of(&c->rule, sample[r].value, i, &sample[r].share[i]);
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int r = t / team;
        if (r < regions && t % team == 0)
            aw_cuhre_judge(&c->rule, sample[r].value[0], sample[r].share, &region[r]);
    }
    AW_GPU_BARRIER();
}

typedef struct aw_gpu_cuhre_apply_shared {
    aw_gpu_cuhre_sample sample[AW_GPU_WARPS];
} aw_gpu_cuhre_apply_shared;

AW_GPU_FN void aw_gpu_cuhre_apply_block(const aw_gpu_cuhre *c, aw_gpu_cuhre_apply_shared *s,
                                        int block)
{
    const size_t first = (size_t)block * AW_GPU_WARPS, left = c->n - first;
    const int regions = left < AW_GPU_WARPS ? (int)left : AW_GPU_WARPS;
    aw_gpu_cuhre_rule(c, &c->region[first], regions, AW_GPU_WARP, s->sample);
}

typedef struct aw_gpu_cuhre_cut_shared {
    aw_cuhre_queue queue;
    aw_cuhre_region half[2];
    aw_gpu_cuhre_sample sample[2];
    int goes_on;
} aw_gpu_cuhre_cut_shared;

AW_GPU_FN void aw_gpu_cuhre_cut_block(const aw_gpu_cuhre *c, aw_gpu_cuhre_cut_shared *s, int block)
{
    AW_GPU_EACH(t)
    {
        if (t == 0) s->queue = c->queue[block];
    }
    for (;;) {
        AW_GPU_EACH(t)
        {
            if (t == 0) s->goes_on = aw_cuhre_queue_next(&s->queue, s->half);
        }
        AW_GPU_BARRIER();
        if (!s->goes_on) break;
        aw_gpu_cuhre_rule(c, s->half, 2, AW_GPU_THREADS / 2, s->sample);
        AW_GPU_EACH(t)
        {
            if (t == 0) aw_cuhre_queue_put(&s->queue, s->half);
        }
    }
    AW_GPU_EACH(t)
    {
        if (t == 0) c->queue[block] = s->queue;
    }
}

#endif
