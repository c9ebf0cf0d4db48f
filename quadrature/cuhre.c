/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quadrature/cuhre.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"

/* WHOLE: from so many dimensions on the box starts whole. */
enum { REGIONS = 64, PIECES = 4, WHOLE = 4 };

typedef aw_cuhre_region region;

typedef struct list {
    region *item;
    size_t n, capacity;
} list;

/* Regions with the largest error on top of a heap of their indices. */
typedef struct queue {
    list regions;
    size_t *heap;
    size_t capacity; /* of the heap */
    double value, error;
    uint64_t quota; /* cuts that it may still make in this round */
    int stuck;      /* its worst region is too small to cut */
} queue;

typedef struct job {
    const aw_cuhre_params *params;
    aw_cuhre_fn f;
    void *context;
    aw_cuhre_rule rule;
    size_t aim; /* L_max */
    int threads;
    list regions, bad;
    queue *queue;
    size_t queues;
    double tolerance; /* for the integral as it is known */
    aw_cuhre_result *out;
} job;

static aw_status apply(const job *j, region *q)
{
    return aw_cuhre_rule_apply(&j->rule, j->f, j->context, q);
}

static uint64_t applications_left(const job *j)
{
    return (j->params->max_evaluations - j->out->evaluations) / j->rule.points;
}

/* Is the sum of errors within the tolerance? */
static int converged(job *j)
{
    const aw_cuhre_params *p = j->params;
    j->tolerance = fmax(p->absolute, p->relative * fabs(j->out->value));
    return j->out->error <= j->tolerance;
}

static void sum_list(const list *l, double *value, double *error)
{
    *value = *error = 0.0;
    for (size_t i = 0; i < l->n; ++i) {
        *value += l->item[i].value;
        *error += l->item[i].error;
    }
}

static int can_cut(const region *q)
{
    return q->h[q->axis] > 8.0 * DBL_EPSILON * fabs(q->c[q->axis]);
}

static void cut(const region *q, int pieces, region *piece)
{
    const int i = q->axis;
    for (int k = 0; k < pieces; ++k) {
        piece[k] = *q;
        piece[k].h[i] = q->h[i] / pieces;
        piece[k].c[i] = q->c[i] + (2 * k + 1 - pieces) * piece[k].h[i];
    }
}

/* What the whole and its pieces disagree about is an error of the whole, and a doubt about the
 * pieces. */
static void hold_against(const region *whole, region *piece, int pieces)
{
    double value = 0.0, error = 0.0;
    for (int k = 0; k < pieces; ++k) {
        value += piece[k].value;
        error += piece[k].error;
    }
    double apart = fabs(value - whole->value),
           scale = error > 0.0 ? 1.0 + 0.5 * apart / error : 1.0;
    for (int k = 0; k < pieces; ++k) piece[k].error = piece[k].error * scale + 0.25 * apart;
}

/* ---- phase one ---- */

/* INIT-PARTITION. */
static aw_status partition(job *j)
{
    const aw_cuhre_params *p = j->params;
    size_t l = 1, n = 1;
    while (p->n < WHOLE) {
        size_t more = 1;
        for (int i = 0; i < p->n; ++i) more *= l + 1;
        if (more > j->aim || more > applications_left(j) / 2) break;
        n = more;
        l++;
    }
    aw_status status = aw_grow((void **)&j->regions.item, &j->regions.capacity, n, sizeof(region));
    if (status != AW_OK) return status;
    memset(j->regions.item, 0, n * sizeof(region));
    for (size_t k = 0; k < n; ++k) {
        region *q = &j->regions.item[k];
        size_t rest = k;
        for (int i = 0; i < p->n; ++i) {
            q->h[i] = 0.5 * (p->b[i] - p->a[i]) / (double)l;
            q->c[i] = p->a[i] + (2.0 * (double)(rest % l) + 1.0) * q->h[i];
            rest /= l;
        }
    }
    j->regions.n = n;
    return AW_OK;
}

/* Apply the rule to n regions; a region's result depends on nothing else. */
static aw_status apply_all(job *j, region *q, size_t n)
{
    int worst = AW_OK;
#pragma omp parallel for schedule(static) reduction(max : worst) num_threads(j->threads)
    for (size_t i = 0; i < n; ++i) {
        int status = (int)apply(j, &q[i]);
        if (status > worst) worst = status;
    }
    j->out->evaluations += n * j->rule.points;
    return (aw_status)worst;
}

/* Smallest error first; ties by place, so that the order depends on nothing else. */
static int by_error(const void *a, const void *b)
{
    const region *p = a, *q = b;
    if (p->error != q->error) return p->error < q->error ? -1 : 1;
    for (int i = 0; i < AW_CUHRE_DIMENSIONS; ++i)
        if (p->c[i] != q->c[i]) return p->c[i] < q->c[i] ? -1 : 1;
    return 0;
}

/* PARTITION: sort by error; return how many are good. */
static size_t count_good(job *j)
{
    double taken = 0.0;
    size_t good = 0;
    qsort(j->regions.item, j->regions.n, sizeof(region), by_error);
    while (good + 1 < j->regions.n) {
        taken += j->regions.item[good].error;
        if (!(taken <= 0.5 * j->tolerance)) break;
        good++;
    }
    return good;
}

/* SPLIT-FACTOR: more pieces where the list is short, which would leave threads without work. */
static int pieces_for(const job *j, size_t bad)
{
    int pieces = 2;
    while (pieces < PIECES && 8 * bad * (size_t)pieces < j->aim) pieces++;
    return pieces;
}

/* Cut all regions from `good` on. */
static aw_status cut_bad(job *j, size_t good, int pieces)
{
    aw_status status = AW_OK;
    size_t bad = j->regions.n - good, d = (size_t)pieces;
    AW_TRY(aw_grow((void **)&j->bad.item, &j->bad.capacity, bad, sizeof(region)));
    AW_TRY(
        aw_grow((void **)&j->regions.item, &j->regions.capacity, good + bad * d, sizeof(region)));
    region *piece = j->regions.item + good;
    memcpy(j->bad.item, piece, bad * sizeof(region));
    for (size_t k = 0; k < bad; ++k) cut(&j->bad.item[k], pieces, &piece[k * d]);
    j->regions.n = good + bad * d;
    status = apply_all(j, piece, bad * d);
    for (size_t k = 0; k < bad; ++k) hold_against(&j->bad.item[k], &piece[k * d], pieces);
done:
    return status;
}

/* QUADRATURE-PHASEONE. @param[out] bad  regions left for phase two, at the end of the list */
static aw_status phase_one(job *j, size_t *bad)
{
    aw_status status = AW_OK;
    *bad = 0;
    AW_TRY(partition(j));
    if (applications_left(j) < j->regions.n) {
        j->regions.n = 0;
        j->out->error = HUGE_VAL;
        return AW_ERR_MAXEVAL;
    }
    AW_TRY(apply_all(j, j->regions.item, j->regions.n));
    for (;;) {
        sum_list(&j->regions, &j->out->value, &j->out->error);
        int seen_twice = j->out->generations > 0 || j->regions.n > 1;
        if (converged(j) && seen_twice) break;
        size_t good = count_good(j), n = j->regions.n - good;
        int pieces = pieces_for(j, n);
        *bad = n;
        if (seen_twice && n >= j->aim) break;
        if (applications_left(j) < n * (size_t)pieces) pieces = 2;
        int possible = applications_left(j) >= n * (size_t)pieces;
        for (size_t i = good; i < j->regions.n; ++i) possible &= can_cut(&j->regions.item[i]);
        if (!possible) {
            if (!seen_twice) status = AW_ERR_MAXEVAL;
            break;
        }
        AW_TRY(cut_bad(j, good, pieces));
        *bad = 0;
        j->out->generations++;
    }
done:
    return status;
}

/* ---- phase two ---- */

static int above(const queue *q, size_t a, size_t b)
{
    double p = q->regions.item[a].error, r = q->regions.item[b].error;
    return p > r || (p == r && a < b);
}

static void sift_down(queue *q)
{
    size_t i = 0, moving = q->heap[0];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= q->regions.n) break;
        if (child + 1 < q->regions.n && above(q, q->heap[child + 1], q->heap[child])) child++;
        if (!above(q, q->heap[child], moving)) break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = moving;
}

static aw_status push(queue *q, const region *r)
{
    aw_status status = AW_OK;
    size_t n = q->regions.n, i = n;
    AW_TRY(aw_grow((void **)&q->regions.item, &q->regions.capacity, n + 1, sizeof *r));
    AW_TRY(aw_grow((void **)&q->heap, &q->capacity, n + 1, sizeof *q->heap));
    q->regions.item[n] = *r;
    q->regions.n++;
    while (i > 0 && above(q, n, q->heap[(i - 1) / 2])) {
        q->heap[i] = q->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    q->heap[i] = n;
done:
    return status;
}

static double top_error(const queue *q) { return q->regions.item[q->heap[0]].error; }

/* SEQUENTIAL-CUHRE: halve the worst region until no error is above the threshold, or their sum is
 * within the share, or the quota is used up. */
static aw_status run_queue(const job *j, queue *q, double threshold, double share)
{
    aw_status status = AW_OK;
    while (q->quota > 0 && top_error(q) > threshold && q->error > share) {
        size_t top = q->heap[0];
        const region whole = q->regions.item[top];
        region half[2];
        if (!can_cut(&whole)) {
            q->stuck = 1;
            break;
        }
        q->quota--;
        cut(&whole, 2, half);
        AW_TRY(apply(j, &half[0]));
        AW_TRY(apply(j, &half[1]));
        hold_against(&whole, half, 2);
        q->error += half[0].error + half[1].error - whole.error;
        q->regions.item[top] = half[0];
        sift_down(q);
        AW_TRY(push(q, &half[1]));
    }
    sum_list(&q->regions, &q->value, &q->error); /* anew: a running sum drifts */
done:
    return status;
}

/* Deal the regions out, the worst first. The good ones come last and lie at the bottom. */
static aw_status deal(job *j, size_t bad)
{
    aw_status status = AW_OK;
    j->queues = bad < j->aim ? bad : j->aim;
    j->queue = aw_alloc(j->queues, sizeof *j->queue);
    if (!j->queue) return AW_ERR_NOMEM;
    for (size_t i = j->regions.n, k = 0; i-- > 0; k = k + 1 < j->queues ? k + 1 : 0)
        AW_TRY(push(&j->queue[k], &j->regions.item[i]));
    for (size_t i = 0; i < j->queues; ++i)
        sum_list(&j->queue[i].regions, &j->queue[i].value, &j->queue[i].error);
done:
    return status;
}

/* Sums over the queues, in their order. @return the largest error of a region */
static double sum_queues(job *j)
{
    double top = 0.0;
    j->out->value = j->out->error = 0.0;
    j->out->regions = 0;
    for (size_t i = 0; i < j->queues; ++i) {
        const queue *q = &j->queue[i];
        j->out->value += q->value;
        j->out->error += q->error;
        j->out->regions += q->regions.n;
        if (!q->stuck) top = fmax(top, top_error(q));
    }
    return top;
}

/* Share what is left of the budget among the queues with work; when it is less than one cut for
 * each, the first of them get one. @return the cuts that are given out */
static uint64_t give_quotas(job *j, double threshold)
{
    uint64_t left = applications_left(j) / 2, given = 0, active = 0;
    for (size_t i = 0; i < j->queues; ++i)
        active += !j->queue[i].stuck && top_error(&j->queue[i]) > threshold;
    uint64_t each = active > 0 ? left / active : 0;
    for (size_t i = 0; i < j->queues; ++i) {
        queue *q = &j->queue[i];
        q->quota = each;
        if (q->stuck || !(top_error(q) > threshold))
            q->quota = 0;
        else if (each == 0)
            q->quota = given < left;
        given += q->quota;
    }
    return given;
}

/* One round of all queues. */
static aw_status run_queues(job *j, double threshold, uint64_t given)
{
    int worst = AW_OK;
    const double shrink = j->tolerance / j->out->error;
#pragma omp parallel for schedule(dynamic, 1) reduction(max : worst) num_threads(j->threads)
    for (size_t i = 0; i < j->queues; ++i) {
        queue *q = &j->queue[i];
        int status = (int)run_queue(j, q, threshold, q->error * shrink);
        if (status > worst) worst = status;
    }
    for (size_t i = 0; i < j->queues; ++i) given -= j->queue[i].quota;
    j->out->evaluations += 2 * given * j->rule.points;
    j->out->rounds++;
    return (aw_status)worst;
}

/* QUADRATURE-PHASETWO. The threshold falls by no more than the sum of errors has to: with more
 * regions at every lower threshold, the sum falls more slowly, and little is done in vain. */
static aw_status phase_two(job *j, size_t bad)
{
    aw_status status = AW_OK;
    double threshold = HUGE_VAL;
    AW_TRY(deal(j, bad));
    for (;;) {
        double top = sum_queues(j);
        if (converged(j)) break;
        double fall = fmin(0.7, fmax(j->tolerance / j->out->error, 1.0 / 16.0));
        threshold = fall * fmin(threshold, top);
        uint64_t given = give_quotas(j, threshold);
        if (given == 0) return AW_ERR_MAXEVAL;
        AW_TRY(run_queues(j, threshold, given));
    }
done:
    return status;
}

static aw_status check(const aw_cuhre_params *p)
{
    if (p->n < 2 || p->n > AW_CUHRE_DIMENSIONS)
        return aw_error(AW_ERR_ARG, "integration in %d dimensions: 2 to %d can be had", p->n,
                        (int)AW_CUHRE_DIMENSIONS);
    for (int i = 0; i < p->n; ++i)
        if (!(p->a[i] < p->b[i] && isfinite(p->b[i] - p->a[i])))
            return aw_error(AW_ERR_ARG, "integration: [%g, %g] is no interval (axis %d)", p->a[i],
                            p->b[i], i + 1);
    if (!(p->absolute >= 0.0 && p->relative >= 0.0 && p->absolute + p->relative > 0.0))
        return aw_error(AW_ERR_ARG, "integration: tolerances %g and %g (one must be above 0)",
                        p->absolute, p->relative);
    if (p->threads < 0) return aw_error(AW_ERR_ARG, "integration: %d threads", p->threads);
    return AW_OK;
}

static void free_all(job *j)
{
    for (size_t i = 0; j->queue && i < j->queues; ++i) {
        aw_free(j->queue[i].regions.item);
        aw_free(j->queue[i].heap);
    }
    aw_free(j->queue);
    aw_free(j->regions.item);
    aw_free(j->bad.item);
}

aw_status aw_cuhre(const aw_cuhre_params *params, aw_cuhre_fn f, void *context,
                   aw_cuhre_result *out)
{
    aw_status status = AW_OK;
    size_t bad = 0;
    job j = {.params = params, .f = f, .context = context, .out = out};
    *out = (aw_cuhre_result){.error = HUGE_VAL};
    AW_TRY(check(params));
    j.threads = params->threads > 0 ? params->threads : omp_get_max_threads();
    j.aim = params->regions > 0 ? params->regions : REGIONS;
    aw_cuhre_rule_make(&j.rule, params->n);
    status = phase_one(&j, &bad);
    out->regions = j.regions.n;
    if (status != AW_OK) goto done;
    if (bad > 0) AW_TRY(phase_two(&j, bad));
done:
    if (status == AW_ERR_NONFINITE) {
        out->value = NAN;
        out->error = HUGE_VAL;
    }
    free_all(&j);
    return status;
}
