/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quadrature/cuhre.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"

enum {
    REGIONS = 64,     /* L_max by default */
    PIECES_MAX = 4,   /* largest d */
    WHOLE_FROM = 4,   /* dimensions from which on the box is not cut at the start */
    DEVICE_CUTS = 256 /* cuts by which the capacity of a queue grows on a device */
};

typedef aw_cuhre_region region;

typedef struct list {
    region *item;
    size_t n, capacity;
} list;

typedef aw_cuhre_queue queue;

/* An integrand: a function on the host, or one built into `device`, which then does the work. */
typedef struct integrand {
    aw_cuhre_fn f;
    void *context;
    const aw_device *device;
    const aw_genz *builtin;
} integrand;

typedef struct job {
    const aw_cuhre_params *params;
    integrand f;
    aw_cuhre_rule rule;
    size_t l_max;
    int threads;
    list regions, bad;
    queue *queue; /* [queues] */
    size_t queues;
    double tolerance; /* absolute, from the current estimate of the integral */
    aw_cuhre_result *out;
} job;

static aw_status apply(const job *j, region *q)
{
    return aw_cuhre_rule_apply(&j->rule, j->f.f, j->f.context, q);
}

static uint64_t applications_left(const job *j)
{
    return (j->params->max_evaluations - j->out->evaluations) / (uint64_t)j->rule.points;
}

/* Whether the sum of the errors is within the tolerance. */
static int converged(job *j)
{
    const aw_cuhre_params *p = j->params;
    j->tolerance = fmax(p->absolute, p->relative * fabs(j->out->value));
    return j->out->error <= j->tolerance;
}

static void sum_regions(const region *q, size_t n, double *value, double *error)
{
    *value = *error = 0.0;
    for (size_t i = 0; i < n; ++i) {
        *value += q[i].value;
        *error += q[i].error;
    }
}

/* ---- phase one ---- */

/* INIT-PARTITION. */
static aw_status partition(job *j)
{
    const aw_cuhre_params *p = j->params;
    size_t l = 1, n = 1;
    while (p->n < WHOLE_FROM) {
        size_t more = 1;
        for (int i = 0; i < p->n; ++i) more *= l + 1;
        if (more > j->l_max || more > applications_left(j) / 2) break;
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

/* Apply the rule to n regions. Each result depends on its region only. */
static aw_status apply_all(job *j, region *q, size_t n)
{
    int worst = AW_OK;
    j->out->evaluations += n * (uint64_t)j->rule.points;
    if (j->f.device) {
        const aw_device *d = j->f.device;
        aw_status status = d->ops->cuhre_apply(d->state, &j->rule, j->f.builtin, q, n);
        for (size_t i = 0; i < n && status == AW_OK; ++i)
            if (!(q[i].error < HUGE_VAL)) status = AW_ERR_NONFINITE;
        return status;
    }
#pragma omp parallel for schedule(static) reduction(max : worst) num_threads(j->threads)
    for (size_t i = 0; i < n; ++i) {
        int status = (int)apply(j, &q[i]);
        if (status > worst) worst = status;
    }
    return (aw_status)worst;
}

/* Smallest error first; ties are decided by the centre, so that the order depends on nothing but
 * the regions. */
static int by_error(const void *a, const void *b)
{
    const region *p = a, *q = b;
    if (p->error != q->error) return p->error < q->error ? -1 : 1;
    for (int i = 0; i < AW_CUHRE_DIMENSIONS; ++i)
        if (p->c[i] != q->c[i]) return p->c[i] < q->c[i] ? -1 : 1;
    return 0;
}

/* PARTITION: sort by error. @return the number of good regions */
static size_t count_good(job *j)
{
    double sum = 0.0;
    size_t good = 0;
    qsort(j->regions.item, j->regions.n, sizeof(region), by_error);
    while (good + 1 < j->regions.n) {
        sum += j->regions.item[good].error;
        if (!(sum <= 0.5 * j->tolerance)) break;
        good++;
    }
    return good;
}

/* SPLIT-FACTOR: more pieces where the list is short and threads would have no work. */
static int pieces_for(const job *j, size_t bad)
{
    int pieces = 2;
    while (pieces < PIECES_MAX && 8 * bad * (size_t)pieces < j->l_max) pieces++;
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
    for (size_t k = 0; k < bad; ++k) aw_cuhre_cut(&j->bad.item[k], pieces, &piece[k * d]);
    j->regions.n = good + bad * d;
    status = apply_all(j, piece, bad * d);
    for (size_t k = 0; k < bad; ++k) aw_cuhre_compare(&j->bad.item[k], &piece[k * d], pieces);
done:
    return status;
}

/* QUADRATURE-PHASEONE.
 * @param[out] bad  number of regions left for phase two, at the end of the list */
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
        sum_regions(j->regions.item, j->regions.n, &j->out->value, &j->out->error);
        int seen_twice = j->out->generations > 0 || j->regions.n > 1;
        if (converged(j) && seen_twice) break;
        size_t good = count_good(j), n = j->regions.n - good;
        int pieces = pieces_for(j, n);
        *bad = n;
        if (seen_twice && n >= j->l_max) break;
        if (applications_left(j) < n * (size_t)pieces) pieces = 2;
        int possible = applications_left(j) >= n * (size_t)pieces;
        for (size_t i = good; i < j->regions.n; ++i)
            possible &= aw_cuhre_can_cut(&j->regions.item[i]);
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

/* Grow the capacity to at least n regions, at least doubling it. */
static aw_status reserve(queue *q, size_t n)
{
    aw_status status = AW_OK;
    size_t regions = q->capacity, places = q->capacity;
    AW_TRY(n < UINT32_MAX / 2 ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(aw_grow((void **)&q->region, &regions, n, sizeof *q->region));
    AW_TRY(aw_grow((void **)&q->heap, &places, n, sizeof *q->heap));
    q->capacity = (uint32_t)(regions < places ? regions : places);
done:
    return status;
}

/* SEQUENTIAL-CUHRE. */
static aw_status run_queue(const job *j, queue *q)
{
    aw_status status = AW_OK;
    region half[2];
    while (aw_cuhre_queue_wants(q)) {
        if (q->n >= q->capacity) AW_TRY(reserve(q, (size_t)q->n + 1));
        if (!aw_cuhre_queue_next(q, half)) break;
        AW_TRY(apply(j, &half[0]));
        AW_TRY(apply(j, &half[1]));
        aw_cuhre_queue_put(q, half);
    }
done:
    return status;
}

/* The same for all queues at once on a device, which returns when it has used up the capacity of
 * the unfinished queues; that capacity then grows. */
static aw_status run_on_device(job *j)
{
    const aw_device *d = j->f.device;
    aw_status status = AW_OK;
    for (;;) {
        int unfinished = 0;
        for (size_t i = 0; i < j->queues; ++i) {
            queue *q = &j->queue[i];
            if (q->broken) return AW_ERR_NONFINITE;
            if (!aw_cuhre_queue_wants(q)) continue;
            AW_TRY(reserve(q, (size_t)q->n +
                                  (q->quota < DEVICE_CUTS ? (size_t)q->quota : DEVICE_CUTS)));
            unfinished = 1;
        }
        if (!unfinished) break;
        AW_TRY(d->ops->cuhre_cut(d->state, &j->rule, j->f.builtin, j->queue, j->queues));
    }
done:
    return status;
}

/* Distribute the regions over the queues, the worst first. The good ones come last and lie at the
 * bottom of the heaps. */
static aw_status deal(job *j, size_t bad)
{
    aw_status status = AW_OK;
    j->queues = bad < j->l_max ? bad : j->l_max;
    j->queue = aw_alloc(j->queues, sizeof *j->queue);
    if (!j->queue) return AW_ERR_NOMEM;
    for (size_t i = j->regions.n, k = 0; i-- > 0; k = k + 1 < j->queues ? k + 1 : 0) {
        queue *q = &j->queue[k];
        AW_TRY(reserve(q, (size_t)q->n + 1));
        aw_cuhre_queue_push(q, &j->regions.item[i]);
    }
    for (size_t i = 0; i < j->queues; ++i) {
        queue *q = &j->queue[i];
        sum_regions(q->region, q->n, &q->value, &q->error);
    }
done:
    return status;
}

/* Sum over the queues, in their order.
 * @return the largest error of a region, without queues that are stuck */
static double sum_queues(job *j)
{
    double top = 0.0;
    j->out->value = j->out->error = 0.0;
    j->out->regions = 0;
    for (size_t i = 0; i < j->queues; ++i) {
        const queue *q = &j->queue[i];
        j->out->value += q->value;
        j->out->error += q->error;
        j->out->regions += q->n;
        if (!q->stuck) top = fmax(top, aw_cuhre_queue_top(q));
    }
    return top;
}

/* Divide the rest of the budget among the queues with work; if it is less than one cut for each,
 * the first of them get one. @return the number of cuts granted */
static uint64_t set_quotas(job *j, double threshold)
{
    uint64_t left = applications_left(j) / 2, granted = 0, active = 0;
    for (size_t i = 0; i < j->queues; ++i)
        active += !j->queue[i].stuck && aw_cuhre_queue_top(&j->queue[i]) > threshold;
    uint64_t each = active > 0 ? left / active : 0;
    for (size_t i = 0; i < j->queues; ++i) {
        queue *q = &j->queue[i];
        q->quota = each;
        if (q->stuck || !(aw_cuhre_queue_top(q) > threshold))
            q->quota = 0;
        else if (each == 0)
            q->quota = granted < left;
        granted += q->quota;
    }
    return granted;
}

/* One round of all queues. A queue stops early when it has reduced its error by the factor by which
 * the total must fall. */
static aw_status run_queues(job *j, double threshold, uint64_t granted)
{
    aw_status status = AW_OK;
    int worst = AW_OK;
    for (size_t i = 0; i < j->queues; ++i) {
        j->queue[i].threshold = threshold;
        j->queue[i].enough = j->queue[i].error * (j->tolerance / j->out->error);
    }
    if (j->f.device) {
        AW_TRY(run_on_device(j));
    } else {
#pragma omp parallel for schedule(dynamic, 1) reduction(max : worst) num_threads(j->threads)
        for (size_t i = 0; i < j->queues; ++i) {
            int one = (int)run_queue(j, &j->queue[i]);
            if (one > worst) worst = one;
        }
        AW_TRY((aw_status)worst);
    }
    for (size_t i = 0; i < j->queues; ++i) {
        queue *q = &j->queue[i];
        granted -= q->quota;
        sum_regions(q->region, q->n, &q->value, &q->error); /* a running sum drifts */
    }
    j->out->evaluations += 2 * granted * (uint64_t)j->rule.points;
    j->out->rounds++;
done:
    return status;
}

/* QUADRATURE-PHASETWO. The threshold falls by no larger a factor than the sum of errors must: there
 * are more regions at every lower threshold, so the sum falls more slowly, and few cuts are
 * wasted. */
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
        uint64_t granted = set_quotas(j, threshold);
        if (granted == 0) return AW_ERR_MAXEVAL;
        AW_TRY(run_queues(j, threshold, granted));
    }
done:
    return status;
}

static aw_status check(const aw_cuhre_params *p)
{
    if (p->n < 2 || p->n > AW_CUHRE_DIMENSIONS)
        return aw_error(AW_ERR_ARG, "integration in %d dimensions: expected 2 to %d", p->n,
                        (int)AW_CUHRE_DIMENSIONS);
    for (int i = 0; i < p->n; ++i)
        if (!(p->a[i] < p->b[i] && isfinite(p->b[i] - p->a[i])))
            return aw_error(AW_ERR_ARG, "integration: [%g, %g] is not an interval (axis %d)",
                            p->a[i], p->b[i], i + 1);
    if (!(p->absolute >= 0.0 && p->relative >= 0.0 && p->absolute + p->relative > 0.0))
        return aw_error(AW_ERR_ARG, "integration: tolerances %g and %g (one must be above 0)",
                        p->absolute, p->relative);
    if (p->threads < 0) return aw_error(AW_ERR_ARG, "integration: %d threads", p->threads);
    return AW_OK;
}

static void free_all(job *j)
{
    for (size_t i = 0; j->queue && i < j->queues; ++i) {
        aw_free(j->queue[i].region);
        aw_free(j->queue[i].heap);
    }
    aw_free(j->queue);
    aw_free(j->regions.item);
    aw_free(j->bad.item);
}

static aw_status integrate(const aw_cuhre_params *params, const integrand *f, aw_cuhre_result *out)
{
    aw_status status = AW_OK;
    size_t bad = 0;
    job j = {.params = params, .f = *f, .out = out};
    *out = (aw_cuhre_result){.error = HUGE_VAL};
    AW_TRY(check(params));
    j.threads = params->threads > 0 ? params->threads : omp_get_max_threads();
    j.l_max = params->regions > 0 ? params->regions : REGIONS;
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

aw_status aw_cuhre(const aw_cuhre_params *params, aw_cuhre_fn f, void *context,
                   aw_cuhre_result *out)
{
    const integrand on_host = {.f = f, .context = context};
    return integrate(params, &on_host, out);
}

aw_status aw_cuhre_on(const aw_device *device, const aw_cuhre_params *params, const aw_genz *f,
                      aw_cuhre_result *out)
{
    const integrand on_device = {.device = device, .builtin = f};
    *out = (aw_cuhre_result){.error = HUGE_VAL};
    if (!device->ops->cuhre_apply || !device->ops->cuhre_cut)
        return aw_error(AW_ERR_BACKEND, "device '%s' does not integrate in several dimensions",
                        device->ops->kind);
    if (f->n != params->n)
        return aw_error(AW_ERR_ARG, "integration in %d dimensions of an integrand in %d", params->n,
                        f->n);
    return integrate(params, &on_device, out);
}
