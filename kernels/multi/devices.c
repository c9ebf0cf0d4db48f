/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/multi/devices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/multi/multi.h"
#include "kernels/multi/scheduler.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"

/* Context of a worker: a device that does bins of a list. */
typedef struct bin_worker {
    aw_multi *multi;
    const aw_bin_list *list;
    int device; /* place in multi->member */
} bin_worker;

static aw_status run_bin(void *context, size_t bin)
{
    const bin_worker *w = context;
    aw_multi *multi = w->multi;
    const aw_device *device = &multi->member[w->device].named.device;
    const size_t which = multi->which[bin];
    const double begin = aw_now();
    multi->work[which] = (aw_work){0}; /* a device that failed may have begun the bin */
    aw_status status = w->list->run(device, w->list->call, which);
    if (status == AW_OK) status = device->ops->wait(device->state);
    multi->seconds[which] = aw_now() - begin;
    if (status == AW_OK) multi->done_by[which] = w->device;
    return status;
}

static int is_working(const aw_multi_member *m) { return m->status == AW_OK && !m->idle; }

/* Number of working devices of this rank. */
static int count_working(const aw_multi *multi)
{
    int n = 0;
    for (int i = 0; i < multi->n; ++i) n += is_working(&multi->member[i]);
    return n;
}

/* The first working device that convolves; multi->n: none does. */
static int convolver(const aw_multi *multi)
{
    int i = 0;
    while (i < multi->n &&
           !(is_working(&multi->member[i]) && aw_device_convolves(&multi->member[i].named.device)))
        ++i;
    return i;
}

int aw_multi_working(const aw_multi *multi)
{
    double all = count_working(multi);
    aw_comm_sum(&all, 1);
    return (int)all;
}

static void drop(aw_multi *multi, aw_multi_member *m, aw_status status)
{
    m->status = status;
    m->record.lost = 1;
    if (count_working(multi) > 0)
        aw_warn("%s failed (%s): it is not used any more, the other devices do its work",
                m->named.name, aw_status_text(status));
}

/* Speed of this rank at a kind of work, the sum of its devices'; 0: not known. */
static double speed_of(const aw_multi *multi, int kind)
{
    double all = 0.0;
    for (int i = 0; i < multi->n; ++i) {
        if (!is_working(&multi->member[i])) continue;
        if (!(multi->member[i].speed[kind] > 0.0)) return 0.0;
        all += multi->member[i].speed[kind];
    }
    return all;
}

/* Assign the bins to ranks and mark this rank's: each bin, the heaviest first, goes to the rank
 * that would finish it first; the convolution goes to rank 0, which caches the spectra of the last
 * slices. All ranks compute the same assignment. @return AW_OK, AW_ERR_NOMEM */
static aw_status assign_bins(aw_multi *multi, const aw_bin_list *list)
{
    const double *weight = list->weight;
    const size_t bins = list->bins, convolved = list->convolved;
    const double own[2] = {speed_of(multi, list->kind), count_working(multi)};
    double(*rank)[2] = aw_alloc((size_t)multi->ranks, sizeof *rank);
    double *until = aw_alloc((size_t)multi->ranks, sizeof *until);
    const int me = aw_comm_rank();
    int known = 1;
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(rank && until ? AW_OK : AW_ERR_NOMEM));
    aw_comm_allgather(own, 2, rank[0]);
    for (int r = 0; r < multi->ranks; ++r) known = known && rank[r][0] > 0.0;
    AW_TRY(aw_heaviest_first(weight, bins, multi->order));
    if (convolved < bins) {
        until[0] = weight[convolved] / (known ? rank[0][0] : rank[0][1]);
        multi->mine[convolved] = me == 0;
    }
    for (size_t k = 0; k < bins; ++k) {
        if (multi->order[k] == convolved) continue;
        double first = HUGE_VAL;
        int by = 0;
        for (int r = 0; r < multi->ranks; ++r) {
            const double speed = known ? rank[r][0] : rank[r][1];
            const double end = until[r] + (weight[multi->order[k]] + 1e-300) / speed;
            if (!(end < first)) continue;
            first = end;
            by = r;
        }
        until[by] = first;
        multi->mine[multi->order[k]] = by == me;
    }
done:
    aw_free(rank);
    aw_free(until);
    return status;
}

/* Do a convolution whose device has failed on the next device that convolves. */
static aw_status convolve_again(aw_multi *multi, const aw_bin_list *list, size_t bin)
{
    for (int i; (i = convolver(multi)) < multi->n;) {
        bin_worker next = {multi, list, i};
        const aw_status status = run_bin(&next, bin);
        if (status == AW_OK) return AW_OK;
        drop(multi, &multi->member[i], status);
    }
    return AW_ERR_BACKEND;
}

/* Do this rank's `bins` bins; bin `own` of them is a convolution (SIZE_MAX: none). */
static aw_status run_own_bins(aw_multi *multi, const aw_bin_list *list, size_t bins, size_t own)
{
    aw_worker worker[AW_DEVICES_MAX];
    bin_worker context[AW_DEVICES_MAX];
    aw_multi_member *member[AW_DEVICES_MAX];
    const int convolving = own < bins ? convolver(multi) : multi->n;
    int n = 0, heavy = 0;
    for (int i = 0; i < multi->n; ++i)
        heavy += is_working(&multi->member[i]) && multi->member[i].named.heavy;
    for (int i = 0; i < multi->n; ++i) {
        aw_multi_member *m = &multi->member[i];
        if (!is_working(m)) continue;
        context[n] = (bin_worker){multi, list, i};
        worker[n] = (aw_worker){.run = run_bin,
                                .context = &context[n],
                                .heavy = m->named.heavy || heavy == 0,
                                .speed = m->speed[list->kind],
                                .slow = m->named.slow,
                                .on_host = m->named.device.ops->on_host,
                                .own = i == convolving ? own + 1 : 0};
        member[n++] = m;
    }
    if (n == 0 || (own < bins && convolving == multi->n)) return AW_ERR_BACKEND;
    if (own < bins) multi->done_by[multi->which[own]] = -1; /* not done */
    aw_status status = aw_schedule(multi->load, bins, worker, n);
    for (int i = 0; i < n; ++i) {
        member[i]->speed[list->kind] = worker[i].speed;
        member[i]->record.busy += worker[i].busy;
        member[i]->record.bins += worker[i].bins;
        if (worker[i].status != AW_OK) drop(multi, member[i], worker[i].status);
    }
    if (own < bins && multi->done_by[multi->which[own]] < 0 && count_working(multi) > 0)
        status = convolve_again(multi, list, own);
    return status;
}

aw_status aw_multi_run_bins(aw_multi *multi, const aw_bin_list *list)
{
    aw_status status = AW_OK;
    size_t n = 0, own = SIZE_MAX;
    if (multi->ranks > 1)
        AW_TRY(aw_comm_agree(assign_bins(multi, list)));
    else
        memset(multi->mine, 1, list->bins);
    for (size_t b = 0; b < list->bins; ++b) {
        multi->work[b] = (aw_work){0};
        if (!multi->mine[b]) continue;
        if (b == list->convolved) own = n;
        multi->which[n] = b;
        multi->load[n++] = list->weight[b];
    }
    AW_TRY(aw_comm_agree(run_own_bins(multi, list, n, own)));
done:
    return status;
}

size_t aw_multi_bin_count(int devices)
{
    return devices > 1 ? (size_t)devices * AW_BINS_PER_DEVICE : 1;
}

aw_status aw_multi_grow_bins(aw_multi *multi, size_t bins)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&multi->first, &multi->capacity[AW_MULTI_FIRST], bins + 1,
                   sizeof *multi->first));
    AW_TRY(aw_grow((void **)&multi->weight, &multi->capacity[AW_MULTI_WEIGHT], bins,
                   sizeof *multi->weight));
    AW_TRY(
        aw_grow((void **)&multi->work, &multi->capacity[AW_MULTI_WORK], bins, sizeof *multi->work));
    AW_TRY(
        aw_grow((void **)&multi->mine, &multi->capacity[AW_MULTI_MINE], bins, sizeof *multi->mine));
    AW_TRY(aw_grow((void **)&multi->order, &multi->capacity[AW_MULTI_ORDER], bins,
                   sizeof *multi->order));
    AW_TRY(aw_grow((void **)&multi->which, &multi->capacity[AW_MULTI_WHICH], bins,
                   sizeof *multi->which));
    AW_TRY(
        aw_grow((void **)&multi->load, &multi->capacity[AW_MULTI_LOAD], bins, sizeof *multi->load));
    AW_TRY(aw_grow((void **)&multi->seconds, &multi->capacity[AW_MULTI_SECONDS], bins,
                   sizeof *multi->seconds));
    AW_TRY(aw_grow((void **)&multi->done_by, &multi->capacity[AW_MULTI_DONE_BY], bins,
                   sizeof *multi->done_by));
done:
    return status;
}

aw_status aw_multi_grow_sums(aw_multi *multi, size_t n)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&multi->I, &multi->capacity[AW_MULTI_SUMS], n * multi->points,
                   sizeof *multi->I));
    AW_TRY(aw_grow((void **)&multi->error, &multi->capacity[AW_MULTI_ERRORS], n * multi->points,
                   sizeof *multi->error));
done:
    return status;
}

aw_status aw_multi_grow_exchange(aw_multi *multi, size_t n)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&multi->exchange, &multi->capacity[AW_MULTI_EXCHANGE], n,
                   sizeof *multi->exchange));
    memset(multi->exchange, 0, n * sizeof *multi->exchange);
done:
    return status;
}

void aw_multi_work_sum(const aw_multi *multi, size_t bins, aw_work *work)
{
    const aw_work none = {0};
    aw_work all = none;
    for (size_t b = 0; b < bins; ++b) aw_work_add(&all, &multi->work[b], &none);
    double n[4] = {(double)all.evaluations, (double)all.rated, (double)all.nodes,
                   (double)all.regions}; /* integers, exact in double */
    aw_comm_sum(n, 4);
    all = (aw_work){(uint64_t)n[0], (uint64_t)n[1], (uint64_t)n[2], (uint64_t)n[3]};
    aw_work_add(work, &all, &none);
}

static int multi_convolves(const void *state)
{
    const aw_multi *multi = state;
    double without = convolver(multi) == multi->n; /* ranks without such a device */
    aw_comm_sum(&without, 1);
    return without == 0.0;
}

static aw_status multi_upload(void *state, const aw_history_view *history,
                              const aw_field_point *point, size_t points)
{
    aw_multi *multi = state;
    aw_status last = AW_ERR_BACKEND;
    multi->history = *history;
    multi->points = points;
    multi->convolution.nodes = 0; /* pending from a solve that failed: its sums are freed */
    for (int i = 0; i < multi->n; ++i) {
        aw_multi_member *m = &multi->member[i];
        const aw_device *d = &m->named.device;
        if (!is_working(m)) continue;
        last = d->ops->upload(d->state, history, point, points);
        if (last != AW_OK) drop(multi, m, last);
    }
    double all[2] = {count_working(multi), 0.0}; /* devices, points of a list */
    for (int i = 0; i < multi->n; ++i)
        if (is_working(&multi->member[i]))
            all[1] += (double)aw_device_list_points(&multi->member[i].named.device);
    const aw_status status = aw_comm_agree(all[0] > 0.0 ? AW_OK : last);
    aw_comm_sum(all, 2);
    multi->working = (int)all[0];
    multi->list_points = (size_t)all[1];
    return status;
}

static size_t multi_cluster_tiles(const void *state)
{
    const aw_multi *multi = state;
    size_t least = AW_CLUSTER_TILES;
    for (int i = 0; i < multi->n; ++i) {
        const size_t one = aw_device_cluster_tiles(&multi->member[i].named.device);
        if (is_working(&multi->member[i]) && one < least) least = one;
    }
    return least;
}

static size_t multi_list_points(const void *state)
{
    return ((const aw_multi *)state)->list_points;
}

static const aw_device *multi_alone(const void *state)
{
    const aw_multi *multi = state;
    return multi->n == 1 ? &multi->member[0].named.device : NULL;
}

static const char *multi_describe(const void *state) { return ((const aw_multi *)state)->text; }

static void multi_close(void *state)
{
    aw_multi *multi = state;
    aw_multi_chunks *p = &multi->chunks;
    void *own[] = {p->cluster,
                   p->worst,
                   p->start,
                   p->coarse,
                   p->refused,
                   multi->I,
                   multi->error,
                   multi->first,
                   multi->weight,
                   multi->work,
                   multi->mine,
                   multi->order,
                   multi->which,
                   multi->load,
                   multi->seconds,
                   multi->done_by,
                   multi->cost,
                   multi->exchange,
                   multi->exchange_single};
    for (int i = 0; i < multi->n; ++i) aw_device_close(&multi->member[i].named.device);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i) aw_free(own[i]);
    aw_exchange_free(&multi->exact);
    aw_tasks_free(&multi->tasks);
    aw_free(multi);
}

static const aw_device_ops multi_ops = {
    .kind = "multi",
    .interpolates = 1,
    .close = multi_close,
    .describe = multi_describe,
    .upload = multi_upload,
    .cluster_tiles = multi_cluster_tiles,
    .list_points = multi_list_points,
    .sweep = aw_multi_sweep,
    .refine = aw_multi_refine,
    .evaluate = aw_multi_evaluate,
    .integrate = aw_multi_integrate,
    .convolve = aw_multi_convolve,
    .convolves = multi_convolves,
    .form_factor = aw_multi_form_factor,
    .wait = aw_multi_wait,
    .alone = multi_alone,
};

/* "cpu:0 = cpu: 1 thread, avx512; cpu:1 = ..., 2 times slower" */
static void write_text(aw_multi *multi)
{
    const size_t size = sizeof multi->text;
    size_t at = 0;
    for (int i = 0; i < multi->n && at < size; ++i) {
        const aw_named_device *named = &multi->member[i].named;
        at += (size_t)snprintf(multi->text + at, size - at, "%s%s = %s", i ? "; " : "", named->name,
                               named->device.ops->describe(named->device.state));
        if (named->slow > 1.0 && at < size)
            at += (size_t)snprintf(multi->text + at, size - at, ", %g times slower", named->slow);
    }
}

aw_status aw_multi_open(const aw_named_device *named, int n, aw_device *out)
{
    aw_multi *multi = aw_alloc(1, sizeof *multi);
    *out = (aw_device){NULL, NULL};
    if (!multi) return AW_ERR_NOMEM;
    multi->n = n;
    multi->ranks = aw_comm_size();
    for (int i = 0; i < n; ++i) multi->member[i].named = named[i];
    *out = (aw_device){&multi_ops, multi};
    aw_multi_records_clear(out);
    write_text(multi);
    return AW_OK;
}

size_t aw_multi_bytes(int devices, size_t points)
{
    const size_t blocks = (size_t)devices * AW_BLOCKS_PER_DEVICE;
    return 2 * blocks * points * (AW_RESULTS + 1) * sizeof(double);
}

void aw_multi_only(aw_device *device, unsigned mask)
{
    aw_multi *multi = device->state;
    for (int k = 0; k < multi->n; ++k) multi->member[k].idle = !(mask >> k & 1U);
}

int aw_multi_count(const aw_device *device)
{
    return device->ops == &multi_ops ? ((const aw_multi *)device->state)->n : 1;
}

aw_device_record aw_multi_record(const aw_device *device, int i)
{
    return ((const aw_multi *)device->state)->member[i].record;
}

void aw_multi_records_clear(aw_device *device)
{
    aw_multi *multi = device->state;
    for (int i = 0; i < multi->n; ++i) {
        aw_multi_member *m = &multi->member[i];
        m->record = (aw_device_record){.name = m->named.name, .lost = m->status != AW_OK};
    }
}
