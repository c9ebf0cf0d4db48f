/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Globally adaptive quadrature of the outer integral: a pool of regions, a heap of their errors. */
#ifndef AW_QUADRATURE_RULES_REFINE_H
#define AW_QUADRATURE_RULES_REFINE_H
#include "quadrature/rules/heap.h"
#include "quadrature/rules/simpson.h"
#include "src/base/status.h"

/** A job: the adaptive refinement of a list of regions of one point. */
typedef struct aw_job {
    size_t first, count; /* its initial regions: index of the first, and their number */
    double tolerance;    /* for the sum of the errors, in scales, > 0 */
    double density;      /* factor on the device's density of inner nodes; 0: as 1 */
    const double *edge;  /* [cells + 1] edges of the cells in which the final partition is counted
                          * [m], or NULL */
    size_t cells;
    float *leaves;        /* in, out: [cells] counts, added to (aw_pattern_add) */
    double I[AW_RESULTS]; /* out: best estimate so far, whatever the status */
    double error;         /* out: its error estimate */
    uint64_t regions;     /* out: in the final partition */
    aw_status status;     /* out: AW_OK, AW_ERR_MAXEVAL, AW_ERR_NONFINITE */
} aw_job;

/* Largest number of regions of a job: at 1e-12 of the scales a point needs a few thousand. */
#define AW_REFINE_MAX 16384

/** Evaluate f_in(r) at a point; `context` is the caller's. */
typedef void (*aw_node_fn)(void *context, uint32_t point, double r, double f_in[AW_RESULTS]);

/** Such a function with its context, borrowed. */
typedef struct aw_nodes {
    aw_node_fn f;
    void *context;
} aw_nodes;

/** Workspace for the regions of one job at a time. */
typedef struct aw_refine_space {
    aw_region *region; /* [capacity], owned */
    uint32_t *heap;    /* [capacity], owned: indices, largest error on top */
    uint32_t capacity, n;
    double total; /* sum of the errors */
    /* Sums over initial regions beyond the capacity, which are not refined: the tolerance cannot be
     * reached then. */
    double rest[AW_RESULTS], rest_error;
} aw_refine_space;

AW_BEGIN_DECLS

/** Allocate AW_REFINE_MAX regions; aw_refine_space_free is due whatever is returned.
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_refine_space_make(aw_refine_space *space);
void aw_refine_space_free(aw_refine_space *space);

AW_END_DECLS

/** Evaluate the unknown nodes of a region, then its estimate and error. */
AW_FN void aw_region_complete(aw_region *q, aw_node_fn f, void *context, const aw_scales *scales)
{
    for (int k = 0; k < 5; ++k)
        if (!(q->known & (1u << k))) f(context, q->point, aw_region_node(q, k), q->f[k]);
    q->known = 31u;
    aw_region_rule(q, scales);
}

/* The heap of the workspace's regions, which borrows from it. */
AW_FN aw_heap aw_refine_heap(const aw_refine_space *space)
{
    const aw_heap heap = {&space->region->error, sizeof *space->region / sizeof(double),
                          space->heap, space->n};
    return heap;
}

/* Add a region; the capacity must not be used up. */
AW_FN void aw_refine_push(aw_refine_space *space, const aw_region *q)
{
    aw_heap heap = aw_refine_heap(space);
    space->region[space->n] = *q;
    aw_heap_push(&heap, space->n);
    space->n = heap.n;
}

/* Sum of the regions' errors, recomputed: a running sum drifts by the rounding of its first, large
 * values. */
AW_FN double aw_refine_error(const aw_region *region, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; ++i) sum += region[i].error;
    return sum;
}

/** Start a job. */
AW_FN void aw_refine_begin(aw_refine_space *space, aw_job *job)
{
    space->n = 0;
    space->total = space->rest_error = 0.0;
    for (unsigned k = 0; k < AW_RESULTS; ++k) space->rest[k] = 0.0;
    job->status = job->count <= space->capacity ? AW_OK : AW_ERR_MAXEVAL;
}

/** Add an initial region of the job, complete with estimate and error. */
AW_FN void aw_refine_take(aw_refine_space *space, const aw_job *job, const aw_region *q)
{
    if (space->n < space->capacity) {
        aw_refine_push(space, q);
        space->total += q->error;
        return;
    }
    for (unsigned k = 0; k < AW_RESULTS; ++k) space->rest[k] += q->I[k];
    space->rest_error += q->error;
    if (job->edge) aw_pattern_add(job->edge, job->cells, q->a, q->b, 1.0F, job->leaves);
}

/** Halve the region with the largest error; the caller completes the halves and returns them with
 *  aw_refine_put. @return 0: there is none, the job has ended (job->status says how) */
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
    if (space->n >= space->capacity || !(worst->b - worst->a > 1e-14 * worst->b)) {
        job->status = AW_ERR_MAXEVAL;
        return 0;
    }
    aw_region_half(worst, 0, left);
    aw_region_half(worst, 1, right);
    return 1;
}

/** Replace the region with the largest error by its completed halves. */
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

/** Fill the outputs. Sums run in the order in which the regions were created, so that results
 *  depend on nothing else. */
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

/** Refine one job.
 *  @param[in]     start  [job->count] its initial regions; some of their nodes may be known
 *  @param[in,out] work   the regions are added */
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
