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

typedef struct seat {
    aw_multi *set;
    int unit;
    aw_bin_fn run;
    void *call;
} seat;

static aw_status run_bin(void *context, size_t bin)
{
    const seat *s = context;
    const aw_device *device = &s->set->member[s->unit].unit.device;
    const size_t which = s->set->which[bin];
    const double begin = aw_now();
    s->set->work[which] = (aw_work){0}; /* another unit may have begun it */
    aw_status status = s->run(device, s->call, which);
    if (status == AW_OK) status = device->ops->wait(device->state);
    s->set->spent[which] = aw_now() - begin;
    if (status == AW_OK) s->set->by[which] = s->unit;
    return status;
}

static int works(const aw_multi_member *m) { return m->status == AW_OK && !m->rests; }

/* How many units of this rank work. */
static int left(const aw_multi *u)
{
    int n = 0;
    for (int i = 0; i < u->n; ++i) n += works(&u->member[i]);
    return n;
}

/* The first device that convolves; u->n: none does. */
static int convolver(const aw_multi *u)
{
    int i = 0;
    while (i < u->n && !(works(&u->member[i]) && aw_device_convolves(&u->member[i].unit.device)))
        ++i;
    return i;
}

static void lose(aw_multi *u, aw_multi_member *m, aw_status status)
{
    m->status = status;
    m->share.lost = 1;
    if (left(u) > 0)
        aw_warn("%s failed (%s): it is left out from now on, the other units do its work",
                m->unit.name, aw_status_text(status));
}

/* This rank's speed at a kind of work; 0: not known. */
static double speed_of(const aw_multi *u, int kind)
{
    double all = 0.0;
    for (int i = 0; i < u->n; ++i) {
        if (!works(&u->member[i])) continue;
        if (!(u->member[i].speed[kind] > 0.0)) return 0.0;
        all += u->member[i].speed[kind];
    }
    return all;
}

/* Which bins are this rank's: the heaviest goes to the rank that would have done it first, and so
 * on; the one to be convolved to rank 0, which holds spectra of the last slices. All ranks find the
 * same. @return AW_OK, AW_ERR_NOMEM */
static aw_status deal(aw_multi *u, int kind, const double *weight, size_t bins, size_t convolved)
{
    const double own[2] = {speed_of(u, kind), left(u)};
    double(*rank)[2] = aw_alloc((size_t)u->ranks, sizeof *rank);
    double *until = aw_alloc((size_t)u->ranks, sizeof *until);
    const int me = aw_comm_rank();
    int known = 1;
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(rank && until ? AW_OK : AW_ERR_NOMEM));
    aw_comm_allgather(own, 2, rank[0]);
    for (int r = 0; r < u->ranks; ++r) known = known && rank[r][0] > 0.0;
    AW_TRY(aw_heaviest_first(weight, bins, u->order));
    if (convolved < bins) {
        until[0] = weight[convolved] / (known ? rank[0][0] : rank[0][1]);
        u->mine[convolved] = me == 0;
    }
    for (size_t k = 0; k < bins; ++k) {
        if (u->order[k] == convolved) continue;
        double first = HUGE_VAL;
        int by = 0;
        for (int r = 0; r < u->ranks; ++r) {
            const double speed = known ? rank[r][0] : rank[r][1];
            const double end = until[r] + (weight[u->order[k]] + 1e-300) / speed;
            if (!(end < first)) continue;
            first = end;
            by = r;
        }
        until[by] = first;
        u->mine[u->order[k]] = by == me;
    }
done:
    aw_free(rank);
    aw_free(until);
    return status;
}

/* A bin whose device was lost with it, by the other convolvers. */
static aw_status convolve_again(aw_multi *u, const seat *call, size_t bin)
{
    for (int i; (i = convolver(u)) < u->n;) {
        seat place = *call;
        place.unit = i;
        const aw_status status = run_bin(&place, bin);
        if (status == AW_OK) return AW_OK;
        lose(u, &u->member[i], status);
    }
    return AW_ERR_BACKEND;
}

/* The pool of this rank; bin `own` of it is to be convolved. */
static aw_status empty_pool(aw_multi *u, int kind, const seat *call, size_t bins, size_t own)
{
    aw_worker worker[AW_DEVICES_MAX];
    seat place[AW_DEVICES_MAX];
    aw_multi_member *who[AW_DEVICES_MAX];
    const int convolving = own < bins ? convolver(u) : u->n;
    int n = 0, heavy = 0;
    for (int i = 0; i < u->n; ++i) heavy += works(&u->member[i]) && u->member[i].unit.heavy;
    for (int i = 0; i < u->n; ++i) {
        aw_multi_member *m = &u->member[i];
        if (!works(m)) continue;
        place[n] = *call;
        place[n].unit = i;
        worker[n] = (aw_worker){.run = run_bin,
                                .context = &place[n],
                                .heavy = m->unit.heavy || heavy == 0,
                                .speed = m->speed[kind],
                                .slow = m->unit.slow,
                                .on_host = m->unit.device.ops->on_host,
                                .own = i == convolving ? own + 1 : 0};
        who[n++] = m;
    }
    if (n == 0 || (own < bins && convolving == u->n)) return AW_ERR_BACKEND;
    if (own < bins) u->by[u->which[own]] = -1;
    aw_status status = aw_schedule(u->load, bins, worker, n);
    for (int i = 0; i < n; ++i) {
        who[i]->speed[kind] = worker[i].speed;
        who[i]->share.busy += worker[i].busy;
        who[i]->share.bins += worker[i].bins;
        if (worker[i].status != AW_OK) lose(u, who[i], worker[i].status);
    }
    if (own < bins && u->by[u->which[own]] < 0 && left(u) > 0)
        status = convolve_again(u, call, own);
    return status;
}

aw_status aw_multi_run_bins(aw_multi *u, int kind, aw_bin_fn run, void *call, const double *weight,
                            size_t bins, size_t convolved)
{
    const seat work = {.set = u, .run = run, .call = call};
    aw_status status = AW_OK;
    size_t n = 0, own = SIZE_MAX;
    if (u->ranks > 1)
        AW_TRY(aw_comm_agree(deal(u, kind, weight, bins, convolved)));
    else
        memset(u->mine, 1, bins);
    for (size_t b = 0; b < bins; ++b) {
        u->work[b] = (aw_work){0};
        if (!u->mine[b]) continue;
        if (b == convolved) own = n;
        u->which[n] = b;
        u->load[n++] = weight[b];
    }
    AW_TRY(aw_comm_agree(empty_pool(u, kind, &work, n, own)));
done:
    return status;
}

size_t aw_multi_bins(int units) { return units > 1 ? (size_t)units * AW_BINS_PER_DEVICE : 1; }

aw_status aw_multi_grow_bins(aw_multi *u, size_t bins)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&u->first, &u->firsts, bins + 1, sizeof *u->first));
    AW_TRY(aw_grow((void **)&u->weight, &u->weights, bins, sizeof *u->weight));
    AW_TRY(aw_grow((void **)&u->work, &u->works, bins, sizeof *u->work));
    AW_TRY(aw_grow((void **)&u->mine, &u->mines, bins, sizeof *u->mine));
    AW_TRY(aw_grow((void **)&u->order, &u->orders, bins, sizeof *u->order));
    AW_TRY(aw_grow((void **)&u->which, &u->whiches, bins, sizeof *u->which));
    AW_TRY(aw_grow((void **)&u->load, &u->loads, bins, sizeof *u->load));
    AW_TRY(aw_grow((void **)&u->spent, &u->spents, bins, sizeof *u->spent));
    AW_TRY(aw_grow((void **)&u->by, &u->bys, bins, sizeof *u->by));
done:
    return status;
}

aw_status aw_multi_grow_sums(aw_multi *u, size_t n)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&u->I, &u->sums, n * u->points, sizeof *u->I));
    AW_TRY(aw_grow((void **)&u->error, &u->errors, n * u->points, sizeof *u->error));
done:
    return status;
}

aw_status aw_multi_grow_exchange(aw_multi *u, size_t n)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&u->wire, &u->wires, n, sizeof *u->wire));
    memset(u->wire, 0, n * sizeof *u->wire);
done:
    return status;
}

void aw_multi_work_sum(const aw_multi *u, size_t bins, aw_work *work)
{
    const aw_work none = {0};
    aw_work all = none;
    for (size_t b = 0; b < bins; ++b) aw_work_add(&all, &u->work[b], &none);
    double n[4] = {(double)all.evaluations, (double)all.rated, (double)all.nodes,
                   (double)all.regions}; /* whole numbers of a double */
    aw_comm_sum(n, 4);
    all = (aw_work){(uint64_t)n[0], (uint64_t)n[1], (uint64_t)n[2], (uint64_t)n[3]};
    aw_work_add(work, &all, &none);
}

static int units_convolves(const void *state)
{
    const aw_multi *u = state;
    double without = convolver(u) == u->n; /* ranks that have no such unit */
    aw_comm_sum(&without, 1);
    return without == 0.0;
}

static aw_status units_upload(void *state, const aw_history_view *history,
                              const aw_field_point *point, size_t points)
{
    aw_multi *u = state;
    aw_status last = AW_ERR_BACKEND;
    u->history = *history;
    u->points = points;
    u->near.nodes = 0; /* of a solve that failed: its sums are gone */
    for (int i = 0; i < u->n; ++i) {
        aw_multi_member *m = &u->member[i];
        const aw_device *d = &m->unit.device;
        if (!works(m)) continue;
        last = d->ops->upload(d->state, history, point, points);
        if (last != AW_OK) lose(u, m, last);
    }
    double all[2] = {left(u), 0.0};
    for (int i = 0; i < u->n; ++i)
        if (works(&u->member[i]))
            all[1] += (double)aw_device_list_points(&u->member[i].unit.device);
    const aw_status status = aw_comm_agree(all[0] > 0.0 ? AW_OK : last);
    aw_comm_sum(all, 2);
    u->everyone = (int)all[0];
    u->list_points = (size_t)all[1];
    return status;
}

static size_t units_cluster_tiles(const void *state)
{
    const aw_multi *u = state;
    size_t least = AW_CLUSTER_TILES;
    for (int i = 0; i < u->n; ++i) {
        const size_t one = aw_device_cluster_tiles(&u->member[i].unit.device);
        if (works(&u->member[i]) && one < least) least = one;
    }
    return least;
}

static size_t units_list_points(const void *state)
{
    return ((const aw_multi *)state)->list_points;
}

static const aw_device *units_alone(const void *state)
{
    const aw_multi *u = state;
    return u->n == 1 ? &u->member[0].unit.device : NULL;
}

static const char *units_describe(const void *state) { return ((const aw_multi *)state)->text; }

static void units_close(void *state)
{
    aw_multi *u = state;
    aw_multi_chunks *p = &u->pieces;
    void *own[] = {p->cluster, p->worst,  p->start, p->coarse, p->refused,    u->I,     u->error,
                   u->first,   u->weight, u->work,  u->mine,   u->order,      u->which, u->load,
                   u->spent,   u->by,     u->cost,  u->wire,   u->wire_single};
    for (int i = 0; i < u->n; ++i) aw_device_close(&u->member[i].unit.device);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i) aw_free(own[i]);
    aw_tasks_free(&u->tasks);
    aw_free(u);
}

static const aw_device_ops set_ops = {
    .kind = "set",
    .interpolates = 1,
    .close = units_close,
    .describe = units_describe,
    .upload = units_upload,
    .cluster_tiles = units_cluster_tiles,
    .list_points = units_list_points,
    .sweep = aw_multi_sweep,
    .refine = aw_multi_refine,
    .evaluate = aw_multi_evaluate,
    .integrate = aw_multi_integrate,
    .convolve = aw_multi_convolve,
    .convolves = units_convolves,
    .wait = aw_multi_wait,
    .alone = units_alone,
};

/* "cpu:0 = cpu: 1 thread, avx512; cpu:1 = ..., 2 times slower" */
static void write_text(aw_multi *u)
{
    const size_t size = sizeof u->text;
    size_t at = 0;
    for (int i = 0; i < u->n && at < size; ++i) {
        const aw_named_device *one = &u->member[i].unit;
        at += (size_t)snprintf(u->text + at, size - at, "%s%s = %s", i ? "; " : "", one->name,
                               one->device.ops->describe(one->device.state));
        if (one->slow > 1.0 && at < size)
            at += (size_t)snprintf(u->text + at, size - at, ", %g times slower", one->slow);
    }
}

aw_status aw_multi_open(const aw_named_device *unit, int n, aw_device *out)
{
    aw_multi *u = aw_alloc(1, sizeof *u);
    *out = (aw_device){NULL, NULL};
    if (!u) return AW_ERR_NOMEM;
    u->n = n;
    u->ranks = aw_comm_size();
    for (int i = 0; i < n; ++i) u->member[i].unit = unit[i];
    aw_device set = {&set_ops, u};
    aw_multi_records_clear(&set);
    write_text(u);
    *out = set;
    return AW_OK;
}

size_t aw_multi_bytes(int units, size_t points)
{
    const size_t blocks = (size_t)units * AW_BLOCKS_PER_DEVICE;
    return 2 * blocks * points * (AW_RESULTS + 1) * sizeof(double);
}

void aw_multi_only(aw_device *device, unsigned who)
{
    aw_multi *u = device->state;
    for (int k = 0; k < u->n; ++k) u->member[k].rests = !(who >> k & 1U);
}

int aw_multi_count(const aw_device *device)
{
    return device->ops == &set_ops ? ((const aw_multi *)device->state)->n : 1;
}

aw_device_record aw_multi_record(const aw_device *device, int i)
{
    return ((const aw_multi *)device->state)->member[i].share;
}

void aw_multi_records_clear(aw_device *device)
{
    aw_multi *u = device->state;
    for (int i = 0; i < u->n; ++i) {
        aw_multi_member *m = &u->member[i];
        m->share = (aw_device_record){.name = m->unit.name, .lost = m->status != AW_OK};
    }
}
