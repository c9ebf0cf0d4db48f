/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Globally adaptive quadrature of the outer integral: a pool of regions, a heap of their errors. */
#ifndef AW_KERNELS_REFINE_H
#define AW_KERNELS_REFINE_H
#include "kernels/device.h"
#include "kernels/region.h"

/* Regions that one job may hold: at 1e-12 of the scales a point needs a few thousand. */
#define AW_REFINE_MAX 16384

/** f_in(r) of one point, for the rule: `context` is the caller's. */
typedef void (*aw_node_fn)(void *context, uint32_t point, double r, double f_in[AW_RESULTS]);

/** Workspace of one thread: owned by the unit, made once. */
typedef struct aw_refine_space {
    aw_region *region; /* [AW_REFINE_MAX] */
    uint32_t *heap;    /* [AW_REFINE_MAX]: indices, largest error on top */
} aw_refine_space;

/** Evaluate the nodes that a region does not know, then its estimate and error. */
AW_FN void aw_region_complete(aw_region *q, aw_node_fn f, void *context, const aw_scales *scales)
{
    for (int k = 0; k < 5; ++k)
        if (!(q->known & (1u << k))) f(context, q->point, aw_region_node(q, k), q->f[k]);
    q->known = 31u;
    aw_region_rule(q, scales);
}

AW_FN void aw_heap_sift_down(const aw_region *region, uint32_t *heap, uint32_t n)
{
    uint32_t i = 0, moving = heap[0];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n) break;
        if (child + 1 < n && region[heap[child + 1]].error > region[heap[child]].error) child++;
        if (!(region[heap[child]].error > region[moving].error)) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moving;
}

AW_FN void aw_heap_push(const aw_region *region, uint32_t *heap, uint32_t n, uint32_t index)
{
    uint32_t i = n;
    while (i > 0 && region[index].error > region[heap[(i - 1) / 2]].error) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = index;
}

/* The regions' errors summed anew: a running total drifts by rounding of its first values. */
AW_FN double aw_refine_error(const aw_region *region, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; ++i) sum += region[i].error;
    return sum;
}

/** Refine one job; `start` are its first regions, which may know nodes already. Fills the outputs;
 *  sums run in the order in which regions were made, so a result depends on nothing else. */
AW_FN void aw_refine_job(const aw_region *start, aw_job *job, aw_node_fn f, void *context,
                         const aw_scales *scales, aw_refine_space *space, aw_work *work)
{
    aw_region *region = space->region;
    uint32_t n = 0, in_heap = 0;
    double total = 0.0;
    job->status = job->count <= AW_REFINE_MAX ? AW_OK : AW_ERR_MAXEVAL;
    for (; n < job->count && n < AW_REFINE_MAX; ++n) {
        region[n] = start[n];
        if (n > 0) aw_region_follow(&region[n - 1], &region[n]);
        if (region[n].known != 31u)
            aw_region_complete(&region[n], f, context, scales);
        else
            aw_region_rule(&region[n], scales);
        total += region[n].error;
        aw_heap_push(region, space->heap, in_heap++, n);
    }
    /* What there is no room for is estimated as it is: the tolerance is out of reach then. */
    double rest[AW_RESULTS] = {0.0}, rest_error = 0.0;
    for (size_t i = n; i < job->count; ++i) {
        aw_region q = start[i];
        aw_region_complete(&q, f, context, scales);
        for (unsigned k = 0; k < AW_RESULTS; ++k) rest[k] += q.I[k];
        rest_error += q.error;
        if (job->edge) aw_pattern_add(job->edge, job->cells, q.a, q.b, 1.0F, job->leaves);
    }
    work->regions += job->count;
    while (job->status == AW_OK) {
        if (total <= job->tolerance && (total = aw_refine_error(region, n)) <= job->tolerance)
            break;
        if (isnan(total)) {
            job->status = AW_ERR_NONFINITE;
            break;
        }
        uint32_t worst = space->heap[0];
        double a = region[worst].a, b = region[worst].b;
        if (n >= AW_REFINE_MAX || !(b - a > 1e-14 * b)) {
            job->status = AW_ERR_MAXEVAL;
            break;
        }
        aw_region left, right;
        total -= region[worst].error;
        aw_region_half(&region[worst], 0, &left);
        aw_region_half(&region[worst], 1, &right);
        aw_region_complete(&left, f, context, scales);
        aw_region_complete(&right, f, context, scales);
        total += left.error + right.error;
        region[worst] = left;
        aw_heap_sift_down(region, space->heap, in_heap);
        region[n] = right;
        aw_heap_push(region, space->heap, in_heap++, n++);
        work->regions += 2;
        if (isnan(left.error) || isnan(right.error)) total = left.error + right.error;
    }
    for (uint32_t i = 0; job->edge && i < n; ++i)
        aw_pattern_add(job->edge, job->cells, region[i].a, region[i].b, 1.0F, job->leaves);
    for (unsigned k = 0; k < AW_RESULTS; ++k) job->I[k] = rest[k];
    job->error = rest_error + aw_refine_error(region, n);
    job->regions = n + (job->count > n ? job->count - n : 0);
    for (uint32_t i = 0; i < n; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k) job->I[k] += region[i].I[k];
}

#endif
