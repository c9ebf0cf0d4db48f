/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/units.h"

#include <stdio.h>
#include <string.h>

#include "kernels/scheduler.h"
#include "kernels/tasks.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Data blocks and bins for every unit. Blocks: few, since each costs every point a node and sums of
 * its own; bins: enough that the last ones end at about the same time. */
enum { AW_BLOCKS_A_UNIT = 4, AW_BINS_A_UNIT = 24 };

/* What is shared out; a unit has a speed for each. */
enum { SWEEP, REFINE, EVALUATE, WHOLE, KINDS };

typedef struct member {
    aw_unit unit;
    aw_status status;    /* AW_OK, or how it was lost */
    int rests;           /* 1: aw_units_only has named another */
    double speed[KINDS]; /* weight a second, as seen last; 0: not known */
    aw_unit_share share; /* of evaluation */
} member;

/* Clusters of all bins, one bin after the other, and what is found of them. */
typedef struct pieces {
    aw_cluster *cluster;
    float *worst, *coarse;
    uint8_t *refused;
    double *start;           /* [points]: errors at the start */
    double (*I)[AW_RESULTS]; /* [2 blocks][points]: of a block's bins, and what they refused */
    double *error;           /* likewise */
    size_t capacity[7];
} pieces;

typedef struct units {
    member member[AW_UNITS_MAX];
    int n;
    aw_history_view history;
    size_t points;
    size_t *first;  /* [bins + 1]: where the bins of a list begin */
    double *weight; /* [bins] */
    aw_work *work;  /* [bins] */
    size_t firsts, weights, works;
    aw_tasks tasks;
    pieces pieces;
    char text[512];
} units;

/* An operation under way: `run` does a bin of `call` on a unit. */
typedef aw_status (*bin_fn)(const aw_device *device, void *call, size_t bin);

typedef struct seat {
    const aw_device *device;
    bin_fn run;
    void *call;
} seat;

static aw_status run_bin(void *context, size_t bin)
{
    const seat *s = context;
    const aw_status status = s->run(s->device, s->call, bin);
    return status == AW_OK ? s->device->ops->wait(s->device->state) : status;
}

static int works(const member *m) { return m->status == AW_OK && !m->rests; }

static int units_left(const units *u)
{
    int left = 0;
    for (int i = 0; i < u->n; ++i) left += works(&u->member[i]);
    return left;
}

static void lose(units *u, member *m, aw_status status)
{
    m->status = status;
    m->share.lost = 1;
    if (units_left(u) > 0)
        aw_warn("%s failed (%s): it is left out from now on, the other units do its work",
                m->unit.name, aw_status_text(status));
}

/* Let the units do bins of one kind of work. Without accelerators all begin with the heaviest: what
 * is left for the end should be light. @return AW_OK, or how the last unit was lost */
static aw_status share_out(units *u, int kind, bin_fn run, void *call, const double *weight,
                           size_t bins)
{
    aw_worker worker[AW_UNITS_MAX];
    seat place[AW_UNITS_MAX];
    member *who[AW_UNITS_MAX];
    int n = 0, heavy = 0;
    for (int i = 0; i < u->n; ++i) heavy += works(&u->member[i]) && u->member[i].unit.heavy;
    for (int i = 0; i < u->n; ++i) {
        member *m = &u->member[i];
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
        if (kind < EVALUATE) continue;
        who[i]->share.busy += worker[i].busy;
        who[i]->share.weight += worker[i].weight;
        who[i]->share.bins += worker[i].bins;
    }
    return status;
}

static size_t bins_wanted(const units *u)
{
    const int left = units_left(u);
    return left > 1 ? (size_t)left * AW_BINS_A_UNIT : 1;
}

static aw_status grow_bins(units *u, size_t bins)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&u->first, &u->firsts, bins + 1, sizeof *u->first));
    AW_TRY(aw_grow((void **)&u->weight, &u->weights, bins, sizeof *u->weight));
    AW_TRY(aw_grow((void **)&u->work, &u->works, bins, sizeof *u->work));
done:
    return status;
}

static void collect(const units *u, size_t bins, aw_work *work)
{
    const aw_work none = {0};
    for (size_t b = 0; b < bins; ++b) aw_work_add(work, &u->work[b], &none);
}

/* A list of regions or of jobs. */
typedef struct list_call {
    units *u;
    aw_region *region;
    aw_job *job;
    const aw_scales *scales;
} list_call;

static aw_status sweep_bin(const aw_device *device, void *call, size_t bin)
{
    const list_call *c = call;
    const size_t *first = &c->u->first[bin];
    c->u->work[bin] = (aw_work){0};
    return device->ops->sweep(device->state, c->region + first[0], first[1] - first[0], c->scales,
                              &c->u->work[bin]);
}

static aw_status units_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                             aw_work *work)
{
    units *u = state;
    aw_status status = AW_OK;
    const size_t most = n / bins_wanted(u) + 1;
    size_t bins = 0;
    list_call call = {.u = u, .region = region, .scales = scales};
    AW_TRY(grow_bins(u, bins_wanted(u)));
    for (size_t at = 0; at < n;) { /* a point is not cut */
        u->first[bins] = at;
        at = at + most < n ? at + most : n;
        while (at < n && region[at].point == region[at - 1].point) ++at;
        u->weight[bins] = (double)(at - u->first[bins]);
        u->first[++bins] = at;
    }
    AW_TRY(share_out(u, SWEEP, sweep_bin, &call, u->weight, bins));
    collect(u, bins, work);
done:
    return status;
}

static aw_status refine_bin(const aw_device *device, void *call, size_t bin)
{
    const list_call *c = call;
    const size_t *first = &c->u->first[bin];
    c->u->work[bin] = (aw_work){0};
    return device->ops->refine(device->state, c->region, c->job + first[0], first[1] - first[0],
                               c->scales, &c->u->work[bin]);
}

static aw_status units_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                              const aw_scales *scales, aw_work *work)
{
    units *u = state;
    aw_status status = AW_OK;
    const size_t wanted = bins_wanted(u), bins = jobs < wanted ? jobs : wanted;
    list_call call = {.u = u, .region = region, .job = job, .scales = scales};
    AW_TRY(grow_bins(u, bins));
    for (size_t b = 0; b <= bins; ++b) u->first[b] = bins ? b * jobs / bins : 0;
    for (size_t b = 0; b < bins; ++b) u->weight[b] = (double)(u->first[b + 1] - u->first[b]);
    AW_TRY(share_out(u, REFINE, refine_bin, &call, u->weight, bins));
    collect(u, bins, work);
done:
    return status;
}

typedef struct cluster_call {
    units *u;
    const aw_cluster *cluster;
    size_t n;
    const aw_scales *scales;
    int single;
    const aw_clustered *out;
} cluster_call;

/* All clusters as they are, for a unit that is the only one. */
static aw_status evaluate_whole(const aw_device *device, void *call, size_t bin)
{
    const cluster_call *c = call;
    aw_work *work = &c->u->work[bin];
    *work = (aw_work){0};
    return device->ops->evaluate(device->state, c->cluster, c->n, c->scales, c->single, c->out,
                                 work);
}

/* Room for the clusters of all bins, and their outputs pointed there. */
static aw_status make_pieces(units *u, const aw_cluster *cluster)
{
    enum { CLUSTER, WORST, COARSE, REFUSED, START, INTEGRAL, ERROR };
    pieces *p = &u->pieces;
    const aw_tasks *t = &u->tasks;
    const size_t n = t->begin[t->bins], sums = 2 * t->blocks * u->points;
    size_t regions = 0, tiles = 0;
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&p->cluster, &p->capacity[CLUSTER], n, sizeof *p->cluster));
    for (size_t i = 0; i < n; ++i) {
        const aw_cluster *c = &cluster[t->task[i].cluster];
        tiles += c->tiles;
        regions += c->tiles * (t->task[i].to - t->task[i].from);
    }
    AW_TRY(aw_grow((void **)&p->worst, &p->capacity[WORST], regions, sizeof *p->worst));
    AW_TRY(aw_grow((void **)&p->refused, &p->capacity[REFUSED], regions, sizeof *p->refused));
    AW_TRY(aw_grow((void **)&p->coarse, &p->capacity[COARSE], tiles, sizeof *p->coarse));
    AW_TRY(aw_grow((void **)&p->start, &p->capacity[START], u->points, sizeof *p->start));
    AW_TRY(aw_grow((void **)&p->I, &p->capacity[INTEGRAL], sums, sizeof *p->I));
    AW_TRY(aw_grow((void **)&p->error, &p->capacity[ERROR], sums, sizeof *p->error));
    regions = tiles = 0;
    for (size_t i = 0; i < n; ++i) {
        const aw_task *task = &t->task[i];
        aw_cluster *one = &p->cluster[i];
        *one = cluster[task->cluster];
        one->part *= (double)(task->to - task->from) / (double)one->regions;
        one->region += task->from;
        one->regions = task->to - task->from;
        one->worst = &p->worst[regions];
        one->refused = &p->refused[regions];
        one->coarse = &p->coarse[tiles];
        regions += one->tiles * one->regions;
        tiles += one->tiles;
    }
done:
    return status;
}

/* Where the sums of a bin are: those of its block, whose other bins have other points. */
static aw_clustered sums_of(const units *u, size_t bin)
{
    const size_t at = 2 * u->tasks.block[bin] * u->points;
    double(*I)[AW_RESULTS] = u->pieces.I + at, *error = u->pieces.error + at;
    return (aw_clustered){I, error, I + u->points, error + u->points};
}

static aw_status evaluate_bin(const aw_device *device, void *call, size_t bin)
{
    const cluster_call *c = call;
    units *u = c->u;
    const size_t begin = u->tasks.begin[bin], end = u->tasks.begin[bin + 1];
    const double *start = u->pieces.start;
    const aw_clustered out = sums_of(u, bin);
    for (size_t i = begin; i < end; ++i) {
        const aw_cluster *one = &u->pieces.cluster[i];
        for (size_t k = 0; !one->begin && k < one->tiles; ++k) {
            const aw_tile_ref tile = one->tile[k];
            memset(out.I[tile.first], 0, tile.count * sizeof *out.I);
            memcpy(&out.error[tile.first], &start[tile.first], tile.count * sizeof *start);
        }
    }
    u->work[bin] = (aw_work){0};
    return device->ops->evaluate(device->state, &u->pieces.cluster[begin], end - begin, c->scales,
                                 c->single, &out, &u->work[bin]);
}

/* What errors are at the start; and clusters of which nothing is known yet. */
static void begin_clusters(units *u, const aw_cluster *cluster, size_t n, const aw_clustered *out)
{
    for (size_t c = 0; c < n; ++c) {
        const aw_cluster *one = &cluster[c];
        for (size_t i = 0; i < one->tiles; ++i) {
            const aw_tile_ref tile = one->tile[i];
            if (one->begin) {
                memset(out->I[tile.first], 0, tile.count * sizeof *out->I);
                memset(&out->error[tile.first], 0, tile.count * sizeof *out->error);
            }
            memset(out->rest[tile.first], 0, tile.count * sizeof *out->rest);
            memset(&out->rest_error[tile.first], 0, tile.count * sizeof *out->rest_error);
            memcpy(&u->pieces.start[tile.first], &out->error[tile.first],
                   tile.count * sizeof *out->error);
            one->coarse[i] = 0.0F;
        }
    }
}

/* Add what a bin found of a task to its cluster. */
static void merge_task(const units *u, size_t bin, size_t index, const aw_cluster *whole,
                       const aw_clustered *out)
{
    const aw_task *task = &u->tasks.task[index];
    const aw_cluster *part = &u->pieces.cluster[index];
    const aw_clustered mine = sums_of(u, bin);
    for (size_t i = 0; i < part->tiles; ++i) {
        const size_t to = i * whole->regions + task->from, from = i * part->regions;
        const size_t first = part->tile[i].first, end = first + part->tile[i].count;
        memcpy(&whole->worst[to], &part->worst[from], part->regions * sizeof *part->worst);
        memcpy(&whole->refused[to], &part->refused[from], part->regions);
        whole->coarse[i] += part->coarse[i];
        for (size_t p = first; p < end; ++p) {
            for (unsigned k = 0; k < AW_RESULTS; ++k) {
                out->I[p][k] += mine.I[p][k];
                out->rest[p][k] += mine.rest[p][k];
            }
            out->error[p] += mine.error[p] - u->pieces.start[p];
            out->rest_error[p] += mine.rest_error[p];
        }
    }
}

/* COMPUTE-POTENTIALS-HT, lines 6 to 22 (dissertation 5.1.4): tasks, bins, units, merging. */
static aw_status units_evaluate(void *state, const aw_cluster *cluster, size_t n,
                                const aw_scales *scales, int single, const aw_clustered *out,
                                aw_work *work)
{
    units *u = state;
    aw_tasks *t = &u->tasks;
    cluster_call call = {u, cluster, n, scales, single, out};
    const size_t left = (size_t)units_left(u);
    aw_status status = AW_OK;
    if (left == 1) {
        const double weight = 1.0;
        AW_TRY(grow_bins(u, 1));
        AW_TRY(share_out(u, WHOLE, evaluate_whole, &call, &weight, 1));
        collect(u, 1, work);
        return AW_OK;
    }
    AW_TRY(
        aw_tasks_cut(t, cluster, n, &u->history, left * AW_BLOCKS_A_UNIT, left * AW_BINS_A_UNIT));
    AW_TRY(grow_bins(u, t->bins));
    AW_TRY(make_pieces(u, cluster));
    begin_clusters(u, cluster, n, out);
    AW_TRY(share_out(u, EVALUATE, evaluate_bin, &call, t->weight, t->bins));
    for (size_t b = 0; b < t->bins; ++b)
        for (size_t i = t->begin[b]; i < t->begin[b + 1]; ++i)
            merge_task(u, b, i, &cluster[t->task[i].cluster], out);
    collect(u, t->bins, work);
done:
    return status;
}

static aw_status units_integrate(void *state, aw_shared *shared, const aw_scales *scales,
                                 aw_work *work)
{
    units *u = state;
    for (int i = 0; i < u->n; ++i) {
        member *m = &u->member[i];
        const aw_device *d = &m->unit.device;
        if (!works(m) || !d->ops->integrate) continue;
        aw_status status = d->ops->integrate(d->state, shared, scales, work);
        if (status == AW_OK) status = d->ops->wait(d->state);
        if (status == AW_OK) return AW_OK;
        lose(u, m, status);
    }
    return aw_error(AW_ERR_BACKEND, "no unit is left that integrates over shared nodes");
}

static aw_status units_convolve(void *state, const aw_shared *shared)
{
    units *u = state;
    for (int i = 0; i < u->n; ++i) {
        member *m = &u->member[i];
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
    units *u = state;
    aw_status last = AW_ERR_BACKEND;
    u->history = *history;
    u->points = points;
    for (int i = 0; i < u->n; ++i) {
        member *m = &u->member[i];
        const aw_device *d = &m->unit.device;
        if (!works(m)) continue;
        last = d->ops->upload(d->state, history, point, points);
        if (last != AW_OK) lose(u, m, last);
    }
    return units_left(u) > 0 ? AW_OK : last;
}

static size_t units_cluster_tiles(const void *state)
{
    const units *u = state;
    size_t least = AW_CLUSTER_TILES;
    for (int i = 0; i < u->n; ++i) {
        const size_t one = aw_device_cluster_tiles(&u->member[i].unit.device);
        if (works(&u->member[i]) && one < least) least = one;
    }
    return least;
}

static const char *units_describe(const void *state) { return ((const units *)state)->text; }

static aw_status units_wait(void *state)
{
    (void)state; /* every bin has been waited for */
    return AW_OK;
}

static void units_close(void *state)
{
    units *u = state;
    pieces *p = &u->pieces;
    void *own[] = {p->cluster, p->worst, p->start, p->coarse, p->refused,
                   p->I,       p->error, u->first, u->weight, u->work};
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
    .sweep = units_sweep,
    .refine = units_refine,
    .evaluate = units_evaluate,
    .integrate = units_integrate,
    .convolve = units_convolve,
    .wait = units_wait,
};

/* "cpu:0 = cpu: 1 thread, avx512; cpu:1 = ..., 2 times slower" */
static void write_text(units *u)
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
    units *u = aw_alloc(1, sizeof *u);
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

int aw_units_is(const aw_device *device) { return device->ops == &set_ops; }

void aw_units_only(aw_device *device, int i)
{
    units *u = device->state;
    for (int k = 0; k < u->n; ++k) u->member[k].rests = k != i;
}

int aw_units_count(const aw_device *device)
{
    return aw_units_is(device) ? ((const units *)device->state)->n : 1;
}

aw_unit_share aw_units_share(const aw_device *device, int i)
{
    return ((const units *)device->state)->member[i].share;
}

void aw_units_forget(aw_device *device)
{
    units *u = device->state;
    for (int i = 0; i < u->n; ++i) {
        member *m = &u->member[i];
        m->share = (aw_unit_share){.name = m->unit.name, .lost = m->status != AW_OK};
    }
}
