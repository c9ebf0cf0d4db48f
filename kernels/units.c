/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/units.h"

#include <stdio.h>
#include <string.h>

#include "kernels/scheduler.h"
#include "kernels/units_set.h"
#include "src/base/log.h"
#include "src/base/memory.h"

typedef struct seat {
    const aw_device *device;
    aw_bin_fn run;
    void *call;
} seat;

static aw_status run_bin(void *context, size_t bin)
{
    const seat *s = context;
    const aw_status status = s->run(s->device, s->call, bin);
    return status == AW_OK ? s->device->ops->wait(s->device->state) : status;
}

static int works(const aw_unit_member *m) { return m->status == AW_OK && !m->rests; }

int aw_set_left(const aw_unit_set *u)
{
    int left = 0;
    for (int i = 0; i < u->n; ++i) left += works(&u->member[i]);
    return left;
}

static void lose(aw_unit_set *u, aw_unit_member *m, aw_status status)
{
    m->status = status;
    m->share.lost = 1;
    if (aw_set_left(u) > 0)
        aw_warn("%s failed (%s): it is left out from now on, the other units do its work",
                m->unit.name, aw_status_text(status));
}

aw_status aw_set_share_out(aw_unit_set *u, int kind, aw_bin_fn run, void *call,
                           const double *weight, size_t bins)
{
    aw_worker worker[AW_UNITS_MAX];
    seat place[AW_UNITS_MAX];
    aw_unit_member *who[AW_UNITS_MAX];
    int n = 0, heavy = 0;
    for (int i = 0; i < u->n; ++i) heavy += works(&u->member[i]) && u->member[i].unit.heavy;
    for (int i = 0; i < u->n; ++i) {
        aw_unit_member *m = &u->member[i];
        if (!works(m)) continue;
        place[n] = (seat){&m->unit.device, run, call};
        worker[n] = (aw_worker){.run = run_bin,
                                .context = &place[n],
                                .heavy = m->unit.heavy || heavy == 0,
                                .speed = m->speed[kind],
                                .slow = m->unit.slow};
        who[n++] = m;
    }
    if (n == 0) return AW_ERR_BACKEND;
    const aw_status status = aw_schedule(weight, bins, worker, n);
    for (int i = 0; i < n; ++i) {
        who[i]->speed[kind] = worker[i].speed;
        if (worker[i].status != AW_OK) lose(u, who[i], worker[i].status);

        who[i]->share.busy += worker[i].busy;
        who[i]->share.weight += worker[i].weight;
        who[i]->share.bins += worker[i].bins;
    }
    return status;
}

size_t aw_set_bins(const aw_unit_set *u)
{
    const int left = aw_set_left(u);
    return left > 1 ? (size_t)left * AW_BINS_A_UNIT : 1;
}

aw_status aw_set_grow_bins(aw_unit_set *u, size_t bins)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&u->first, &u->firsts, bins + 1, sizeof *u->first));
    AW_TRY(aw_grow((void **)&u->weight, &u->weights, bins, sizeof *u->weight));
    AW_TRY(aw_grow((void **)&u->work, &u->works, bins, sizeof *u->work));
done:
    return status;
}

aw_status aw_set_grow_sums(aw_unit_set *u, size_t n)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&u->I, &u->sums, n * u->points, sizeof *u->I));
    AW_TRY(aw_grow((void **)&u->error, &u->errors, n * u->points, sizeof *u->error));
done:
    return status;
}

void aw_set_collect(const aw_unit_set *u, size_t bins, aw_work *work)
{
    const aw_work none = {0};
    for (size_t b = 0; b < bins; ++b) aw_work_add(work, &u->work[b], &none);
}

static aw_status units_convolve(void *state, const aw_shared *shared)
{
    aw_unit_set *u = state;
    for (int i = 0; i < u->n; ++i) {
        aw_unit_member *m = &u->member[i];
        const aw_device *d = &m->unit.device;
        if (!works(m) || !d->ops->convolve) continue;
        aw_status status = d->ops->convolve(d->state, shared);
        if (status == AW_OK) status = d->ops->wait(d->state);
        if (status == AW_OK) return AW_OK;
        lose(u, m, status);
    }
    return aw_error(AW_ERR_BACKEND, "no unit is left that convolves");
}

static aw_status units_upload(void *state, const aw_history_view *history,
                              const aw_field_point *point, size_t points)
{
    aw_unit_set *u = state;
    aw_status last = AW_ERR_BACKEND;
    u->history = *history;
    u->points = points;
    for (int i = 0; i < u->n; ++i) {
        aw_unit_member *m = &u->member[i];
        const aw_device *d = &m->unit.device;
        if (!works(m)) continue;
        last = d->ops->upload(d->state, history, point, points);
        if (last != AW_OK) lose(u, m, last);
    }
    return aw_set_left(u) > 0 ? AW_OK : last;
}

static size_t units_cluster_tiles(const void *state)
{
    const aw_unit_set *u = state;
    size_t least = AW_CLUSTER_TILES;
    for (int i = 0; i < u->n; ++i) {
        const size_t one = aw_device_cluster_tiles(&u->member[i].unit.device);
        if (works(&u->member[i]) && one < least) least = one;
    }
    return least;
}

static const char *units_describe(const void *state) { return ((const aw_unit_set *)state)->text; }

static aw_status units_wait(void *state)
{
    (void)state; /* every bin has been waited for */
    return AW_OK;
}

static void units_close(void *state)
{
    aw_unit_set *u = state;
    aw_unit_pieces *p = &u->pieces;
    void *own[] = {p->cluster, p->worst, p->start, p->coarse, p->refused,
                   u->I,       u->error, u->first, u->weight, u->work};
    for (int i = 0; i < u->n; ++i) aw_device_close(&u->member[i].unit.device);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i) aw_free(own[i]);
    aw_tasks_free(&u->tasks);
    aw_free(u);
}

static const aw_device_ops set_ops = {
    .kind = "set",
    .close = units_close,
    .describe = units_describe,
    .upload = units_upload,
    .cluster_tiles = units_cluster_tiles,
    .sweep = aw_set_sweep,
    .refine = aw_set_refine,
    .evaluate = aw_set_evaluate,
    .integrate = aw_set_integrate,
    .convolve = units_convolve,
    .wait = units_wait,
};

/* "cpu:0 = cpu: 1 thread, avx512; cpu:1 = ..., 2 times slower" */
static void write_text(aw_unit_set *u)
{
    const size_t size = sizeof u->text;
    size_t at = 0;
    for (int i = 0; i < u->n && at < size; ++i) {
        const aw_unit *one = &u->member[i].unit;
        at += (size_t)snprintf(u->text + at, size - at, "%s%s = %s", i ? "; " : "", one->name,
                               one->device.ops->describe(one->device.state));
        if (one->slow > 1.0 && at < size)
            at += (size_t)snprintf(u->text + at, size - at, ", %g times slower", one->slow);
    }
}

aw_status aw_units_join(const aw_unit *unit, int n, aw_device *out)
{
    aw_unit_set *u = aw_alloc(1, sizeof *u);
    *out = (aw_device){NULL, NULL};
    if (!u) return AW_ERR_NOMEM;
    u->n = n;
    for (int i = 0; i < n; ++i) u->member[i].unit = unit[i];
    aw_device set = {&set_ops, u};
    aw_units_forget(&set);
    write_text(u);
    *out = set;
    return AW_OK;
}

size_t aw_units_bytes(int units, size_t points)
{
    const size_t blocks = (size_t)units * AW_BLOCKS_A_UNIT;
    return 2 * blocks * points * (AW_RESULTS + 1) * sizeof(double);
}

int aw_units_is(const aw_device *device) { return device->ops == &set_ops; }

void aw_units_only(aw_device *device, int i)
{
    aw_unit_set *u = device->state;
    for (int k = 0; k < u->n; ++k) u->member[k].rests = k != i;
}

int aw_units_count(const aw_device *device)
{
    return aw_units_is(device) ? ((const aw_unit_set *)device->state)->n : 1;
}

aw_unit_share aw_units_share(const aw_device *device, int i)
{
    return ((const aw_unit_set *)device->state)->member[i].share;
}

void aw_units_forget(aw_device *device)
{
    aw_unit_set *u = device->state;
    for (int i = 0; i < u->n; ++i) {
        aw_unit_member *m = &u->member[i];
        m->share = (aw_unit_share){.name = m->unit.name, .lost = m->status != AW_OK};
    }
}
