/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/multi/scheduler.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "src/base/memory.h"
#include "src/base/timer.h"

/* States of a bin. OWN: reserved for a worker that has not begun it yet. */
enum { WAITING, RUNNING, DONE, OWN };

/* State that the workers share. Members that change, including the workers, are guarded by
 * `lock`. */
typedef struct pool {
    const double *weight;
    size_t *order;     /* [bins]: the heaviest first */
    char *state;       /* [bins]: WAITING .. OWN, of bin order[i] */
    size_t bins, left; /* left: number of bins that are not done */
    aw_status undone;  /* error of a worker that failed with its own bin, which is left undone */
    aw_worker *worker;
    double *until; /* [workers]: expected end of the worker's bin; 0: no bin, or not known */
    int workers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pool;

typedef struct worker_thread {
    pool *pool;
    int who;
} worker_thread;

typedef struct ranked {
    double weight;
    size_t bin;
} ranked;

/* Sort by weight, the heaviest first, and equal weights by index. */
static int compare(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    if (p->weight != q->weight) return p->weight > q->weight ? -1 : 1;
    return p->bin < q->bin ? -1 : 1;
}

aw_status aw_heaviest_first(const double *weight, size_t bins, size_t *order)
{
    ranked *list = aw_alloc(bins, sizeof *list);
    if (!list) return AW_ERR_NOMEM;
    for (size_t i = 0; i < bins; ++i) list[i] = (ranked){weight[i], i};
    qsort(list, bins, sizeof *list, compare);
    for (size_t i = 0; i < bins; ++i) order[i] = list[i].bin;
    aw_free(list);
    return AW_OK;
}

/* Time from now in which the other workers would do all waiting bins without worker `who` [s], if
 * each bin, the heaviest first, went to the worker that finishes it first; HUGE_VAL if a speed is
 * not known. The fastest worker would do any waiting bin in no more than that, so that some worker
 * takes it. */
static double others_need(const pool *p, int who, double now)
{
    double free_at[AW_WORKERS_MAX], last = 0.0;
    int others = 0;
    for (int i = 0; i < p->workers; ++i) {
        const aw_worker *w = &p->worker[i];
        if (i == who || w->status != AW_OK) continue;
        if (!(w->speed > 0.0)) return HUGE_VAL;
        free_at[i] = fmax(p->until[i] - now, 0.0);
        ++others;
    }
    if (others == 0) return HUGE_VAL;
    for (size_t k = 0; k < p->bins; ++k) {
        if (p->state[k] != WAITING) continue;
        double first = HUGE_VAL;
        int by = 0;
        for (int i = 0; i < p->workers; ++i) {
            if (i == who || p->worker[i].status != AW_OK) continue;
            const double end = free_at[i] + p->weight[p->order[k]] / p->worker[i].speed;
            if (end >= first) continue;
            first = end;
            by = i;
        }
        free_at[by] = first;
        last = fmax(last, first);
    }
    return last;
}

/* Place of a worker's own bin in the order; p->bins: it has none, or has begun it. */
static size_t own_place(const pool *p, int who)
{
    size_t at = 0;
    while (at < p->bins && (p->state[at] != OWN || p->order[at] + 1 != p->worker[who].own)) ++at;
    return at;
}

/* Place of the bin that a worker does next: its own bin, or the first one from its end of the pool
 * that it would finish before the others had done all waiting bins; p->bins: none. */
static size_t choose(const pool *p, int who)
{
    const aw_worker *w = &p->worker[who];
    const size_t own = own_place(p, who);
    if (own < p->bins) return own;
    const double deadline = w->speed > 0.0 ? others_need(p, who, aw_now()) : HUGE_VAL;
    for (size_t k = 0; k < p->bins; ++k) {
        const size_t at = w->heavy ? k : p->bins - 1 - k;
        if (p->state[at] != WAITING) continue;
        if (deadline == HUGE_VAL || !(p->weight[p->order[at]] / w->speed > deadline)) return at;
    }
    return p->bins;
}

static void pause_for(double seconds)
{
    struct timespec span = {.tv_sec = (time_t)seconds};
    span.tv_nsec = (long)(1e9 * (seconds - floor(seconds)));
    while (nanosleep(&span, &span) != 0) continue;
}

/* Do a bin, without the lock. */
static aw_status do_bin(aw_worker *w, size_t bin, double *seconds)
{
    const double begin = aw_now(), before = aw_thread_time();
    const aw_status status = w->run(w->context, bin);
    const double took = w->on_host ? aw_thread_time() - before : aw_now() - begin;
    if (w->slow > 1.0 && status == AW_OK) pause_for((w->slow - 1.0) * took);
    *seconds = aw_now() - begin;
    return status;
}

/* Give up the bin at place `at`. */
static void abandon(pool *p, size_t at, aw_status status)
{
    p->state[at] = DONE;
    p->left--;
    p->undone = status;
}

/* Record the result of the bin at place `at`. */
static void finish(pool *p, int who, size_t at, aw_status status, double seconds)
{
    aw_worker *w = &p->worker[who];
    const double weight = p->weight[p->order[at]];
    w->busy += seconds;
    p->until[who] = 0.0;
    if (status != AW_OK) {
        w->status = status;
        p->state[at] = WAITING;
        if (p->order[at] + 1 == w->own) abandon(p, at, status);
        return;
    }
    p->state[at] = DONE;
    p->left--;
    w->bins++;
    w->weight += weight;
    if (w->busy > 0.0 && w->weight > 0.0) w->speed = w->weight / w->busy;
}

static void *work(void *argument)
{
    const worker_thread *self = argument;
    pool *p = self->pool;
    aw_worker *w = &p->worker[self->who];
    pthread_mutex_lock(&p->lock);
    while (p->left > 0 && w->status == AW_OK) {
        const size_t at = choose(p, self->who);
        if (at == p->bins) { /* a worker may fail, or be slower than expected */
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        const double weight = p->weight[p->order[at]];
        double seconds;
        p->state[at] = RUNNING;
        p->until[self->who] = w->speed > 0.0 ? aw_now() + weight / w->speed : 0.0;
        pthread_mutex_unlock(&p->lock);
        const aw_status status = do_bin(w, p->order[at], &seconds);
        pthread_mutex_lock(&p->lock);
        finish(p, self->who, at, status, seconds);
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Run the workers: the first on the caller's thread, each other one on a thread of its own. A
 * worker whose thread cannot be created is lost. */
static void run_all(pool *p)
{
    pthread_t thread[AW_WORKERS_MAX];
    worker_thread argument[AW_WORKERS_MAX];
    int started[AW_WORKERS_MAX] = {0};
    for (int i = 0; i < p->workers; ++i) argument[i] = (worker_thread){p, i};
    for (int i = 1; i < p->workers; ++i) {
        started[i] = pthread_create(&thread[i], NULL, work, &argument[i]) == 0;
        if (started[i]) continue;
        pthread_mutex_lock(&p->lock);
        p->worker[i].status = AW_ERR_NOMEM;
        const size_t own = own_place(p, i);
        if (own < p->bins) abandon(p, own, AW_ERR_NOMEM);
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
    }
    work(&argument[0]);
    for (int i = 1; i < p->workers; ++i)
        if (started[i]) pthread_join(thread[i], NULL);
}

aw_status aw_schedule(const double *weight, size_t bins, aw_worker *worker, int workers)
{
    aw_status status = AW_OK;
    pool p = {.weight = weight, .bins = bins, .left = bins, .worker = worker, .workers = workers};
    double until[AW_WORKERS_MAX] = {0.0};
    if (workers < 1 || workers > AW_WORKERS_MAX) return AW_ERR_ARG;
    p.until = until;
    for (int i = 0; i < workers; ++i) {
        worker[i].busy = worker[i].weight = 0.0;
        worker[i].bins = 0;
        worker[i].status = AW_OK;
    }
    if (bins == 0) return AW_OK;
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    p.order = aw_alloc(bins, sizeof *p.order);
    p.state = aw_alloc(bins, sizeof *p.state);
    if (!p.order || !p.state) AW_TRY(AW_ERR_NOMEM);
    AW_TRY(aw_heaviest_first(weight, bins, p.order));
    for (int i = 0; i < workers; ++i)
        for (size_t k = 0; k < bins; ++k) {
            if (p.order[k] + 1 != worker[i].own) continue;
            p.state[k] = OWN;
            if (worker[i].speed > 0.0) until[i] = aw_now() + weight[p.order[k]] / worker[i].speed;
        }
    run_all(&p);
    status = p.undone;
    for (int i = 0; p.left > 0 && i < workers; ++i) status = worker[i].status;
done:
    pthread_mutex_destroy(&p.lock);
    pthread_cond_destroy(&p.changed);
    aw_free(p.order);
    aw_free(p.state);
    return status;
}
