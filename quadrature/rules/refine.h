/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Globally adaptive quadrature of the outer integral: a pool of regions, a heap of their errors. */
#ifndef AW_QUADRATURE_RULES_REFINE_H
#define AW_QUADRATURE_RULES_REFINE_H
#include "quadrature/rules/heap.h"
#include "quadrature/rules/simpson.h"
#include "src/base/status.h"

/** Adaptive refinement of a list of regions of one point. */
typedef struct aw_job {
    size_t first, count; /* the regions with which it begins */
    double tolerance;    /* of the sum of the errors, in scales, > 0 */
    double density;      /* of the inner rule, times the device's; 0: as 1 */
    const double *edge;  /* [cells + 1]: cells in which the final partition is counted, or NULL */
    size_t cells;
    float *leaves;        /* in, out: [cells], to which it is added (aw_pattern_add) */
    double I[AW_RESULTS]; /* out: best estimate so far, whatever the status */
    double error;         /* out: its error estimate */
    uint64_t regions;     /* out: in the final partition */
    aw_status status;     /* out: AW_OK, AW_ERR_MAXEVAL, AW_ERR_NONFINITE */
} aw_job;

/* Regions that one job may hold: at 1e-12 of the scales a point needs a few thousand. */
#define AW_REFINE_MAX 16384

/** f_in(r) of one point, for the rule: `context` is the caller's. */
typedef void (*aw_node_fn)(void *context, uint32_t point, double r, double f_in[AW_RESULTS]);

/** The same with its context: where the nodes of a job come from. */
typedef struct aw_nodes {
    aw_node_fn f;
    void *context;
} aw_nodes;

/** Regions of one job at a time, and room for them: owned by the unit, made once. */
typedef struct aw_refine_space {
    aw_region *region; /* [room] */
    uint32_t *heap;    /* [room]: indices, largest error on top */
    uint32_t room, n;
    double total; /* sum of the errors */
    /* What there is no room for is estimated as it is: the tolerance is out of reach then. */
    double rest[AW_RESULTS], rest_error;
} aw_refine_space;

AW_BEGIN_DECLS

/** Make room for AW_REFINE_MAX regions; free it whatever is returned.
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_refine_space_make(aw_refine_space *space);
void aw_refine_space_free(aw_refine_space *space);

AW_END_DECLS

/** Evaluate the nodes that a region does not know, then its estimate and error. */
AW_FN void aw_region_complete(aw_region *q, aw_node_fn f, void *context, const aw_scales *scales)
{
    for (int k = 0; k < 5; ++k)
        if (!(q->known & (1u << k))) f(context, q->point, aw_region_node(q, k), q->f[k]);
    q->known = 31u;
    aw_region_rule(q, scales);
}

AW_FN aw_heap aw_refine_heap(const aw_refine_space *space)
{
    const aw_heap heap = {&space->region->error, sizeof *space->region / sizeof(double),
                          space->heap, space->n};
    return heap;
}

/* Put a region in, for which there is room. */
AW_FN void aw_refine_push(aw_refine_space *space, const aw_region *q)
{
    aw_heap heap = aw_refine_heap(space);
    space->region[space->n] = *q;
    aw_heap_push(&heap, space->n);
    space->n = heap.n;
}

/* The regions' errors summed anew: a running total drifts by rounding of its first values. */
AW_FN double aw_refine_error(const aw_region *region, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; ++i) sum += region[i].error;
    return sum;
}

/** Begin a job. */
AW_FN void aw_refine_begin(aw_refine_space *space, aw_job *job)
{
    space->n = 0;
    space->total = space->rest_error = 0.0;
    for (unsigned k = 0; k < AW_RESULTS; ++k) space->rest[k] = 0.0;
    job->status = job->count <= space->room ? AW_OK : AW_ERR_MAXEVAL;
}

/** Take one of the regions with which the job begins, whose nodes are all known. */
AW_FN void aw_refine_take(aw_refine_space *space, const aw_job *job, const aw_region *q)
{
    if (space->n < space->room) {
        aw_refine_push(space, q);
        space->total += q->error;
        return;
    }
    for (unsigned k = 0; k < AW_RESULTS; ++k) space->rest[k] += q->I[k];
    space->rest_error += q->error;
    if (job->edge) aw_pattern_add(job->edge, job->cells, q->a, q->b, 1.0F, job->leaves);
}

/** What is to be done next: halves of the region with the largest error, to be completed and put
 *  back (aw_refine_put). @return 0: nothing, the job is as done as it can be */
AW_FN int aw_refine_next(aw_refine_space *space, aw_job *job, aw_region *left, aw_region *right)
{
    if (job->status != AW_OK) return 0;
    if (space->total <= job->tolerance &&
        (space->total = aw_refine_error(space->region, space->n)) <= job->tolerance)
        return 0;
    if (isnan(space->total)) {
        job->status = AW_ERR_NONFINITE;
        return 0;
    }
    const aw_region *worst = &space->region[space->heap[0]];
    if (space->n >= space->room || !(worst->b - worst->a > 1e-14 * worst->b)) {
        job->status = AW_ERR_MAXEVAL;
        return 0;
    }
    aw_region_half(worst, 0, left);
    aw_region_half(worst, 1, right);
    return 1;
}

/** Put completed halves in the place of the region with the largest error. */
AW_FN void aw_refine_put(aw_refine_space *space, const aw_region *left, const aw_region *right)
{
    const uint32_t worst = space->heap[0];
    const aw_heap heap = aw_refine_heap(space);
    space->total += left->error + right->error - space->region[worst].error;
    space->region[worst] = *left;
    aw_heap_sift_down(&heap);
    aw_refine_push(space, right);
    if (isnan(left->error) || isnan(right->error)) space->total = left->error + right->error;
}

/** Fill the outputs; sums run in the order in which regions were made, so a result depends on
 *  nothing else. */
AW_FN void aw_refine_end(const aw_refine_space *space, aw_job *job)
{
    const uint32_t n = space->n;
    for (uint32_t i = 0; job->edge && i < n; ++i)
        aw_pattern_add(job->edge, job->cells, space->region[i].a, space->region[i].b, 1.0F,
                       job->leaves);
    for (unsigned k = 0; k < AW_RESULTS; ++k) job->I[k] = space->rest[k];
    job->error = space->rest_error + aw_refine_error(space->region, n);
    job->regions = n + (job->count > n ? job->count - n : 0);
    for (uint32_t i = 0; i < n; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k) job->I[k] += space->region[i].I[k];
}

/** Refine one job; `start` are its first regions, which may know nodes already. */
AW_FN void aw_refine_job(const aw_region *start, aw_job *job, const aw_nodes *nodes,
                         const aw_scales *scales, aw_refine_space *space, aw_work *work)
{
    aw_region left, right;
    aw_refine_begin(space, job);
    for (size_t i = 0; i < job->count; ++i) {
        right = start[i];
        if (i > 0) aw_region_follow(&left, &right);
        aw_region_complete(&right, nodes->f, nodes->context, scales);
        aw_refine_take(space, job, &right);
        left = right;
    }
    work->regions += job->count;
    while (aw_refine_next(space, job, &left, &right)) {
        aw_region_complete(&left, nodes->f, nodes->context, scales);
        aw_region_complete(&right, nodes->f, nodes->context, scales);
        aw_refine_put(space, &left, &right);
        work->regions += 2;
    }
    aw_refine_end(space, job);
}

#endif
