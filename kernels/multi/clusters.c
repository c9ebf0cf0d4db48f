/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clusters that several devices shares out: in bins of tasks, whose sums are merged. */
#include <string.h>

#include "kernels/multi/multi.h"
#include "src/base/comm.h"
#include "src/base/memory.h"

typedef struct shared_call {
    aw_multi *u;
    const aw_cluster_call *whole;
} shared_call;

/* All clusters as they are, for a device that is the only one. */
static aw_status evaluate_whole(const aw_device *device, void *call, size_t bin)
{
    const shared_call *c = call;
    return device->ops->evaluate(device->state, c->whole, &c->u->work[bin]);
}

/* Room for the clusters of all bins, and their outputs pointed there. */
static aw_status make_pieces(aw_multi *u, const aw_cluster *cluster)
{
    enum { CLUSTER, WORST, COARSE, REFUSED, START };
    aw_multi_chunks *p = &u->pieces;
    const aw_tasks *t = &u->tasks;
    const size_t n = t->begin[t->bins], sums = 2 * t->blocks;
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
    AW_TRY(aw_multi_grow_sums(u, sums));
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
static aw_clustered sums_of(const aw_multi *u, size_t bin)
{
    const size_t at = 2 * u->tasks.block[bin] * u->points;
    double(*I)[AW_RESULTS] = u->I + at, *error = u->error + at;
    return (aw_clustered){I, error, I + u->points, error + u->points};
}

static aw_status evaluate_bin(const aw_device *device, void *call, size_t bin)
{
    const shared_call *c = call;
    aw_multi *u = c->u;
    const size_t begin = u->tasks.begin[bin], end = u->tasks.begin[bin + 1];
    const double *start = u->pieces.start;
    aw_cluster_call mine = *c->whole;
    mine.cluster = &u->pieces.cluster[begin];
    mine.n = end - begin;
    mine.out = sums_of(u, bin);
    for (size_t i = begin; i < end; ++i) {
        const aw_cluster *one = &u->pieces.cluster[i];
        for (size_t k = 0; !one->begin && k < one->tiles; ++k) {
            const aw_tile_ref tile = one->tile[k];
            memset(mine.out.I[tile.first], 0, tile.count * sizeof *mine.out.I);
            memcpy(&mine.out.error[tile.first], &start[tile.first], tile.count * sizeof *start);
        }
    }
    return device->ops->evaluate(device->state, &mine, &u->work[bin]);
}

/* What errors are at the start; and clusters of which nothing is known yet. */
static void begin_clusters(aw_multi *u, const aw_cluster *cluster, size_t n,
                           const aw_clustered *out)
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
static void merge_task(const aw_multi *u, size_t bin, size_t index, const aw_cluster *whole,
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

/* This rank's bins, in their order. */
static void merge_bins(const aw_multi *u, const aw_cluster *cluster, const aw_clustered *out)
{
    const aw_tasks *t = &u->tasks;
    for (size_t b = 0; b < t->bins; ++b)
        for (size_t i = t->begin[b]; u->mine[b] && i < t->begin[b + 1]; ++i)
            merge_task(u, b, i, &cluster[t->task[i].cluster], out);
}

/* Sums of a step at all points in one piece, as they go over the ranks. */
static aw_clustered wired(const aw_multi *u)
{
    double *at = u->wire;
    aw_clustered sums;
    sums.I = (double(*)[AW_RESULTS])at;
    sums.rest = sums.I + u->points;
    sums.error = at + 2 * u->points * AW_RESULTS;
    sums.rest_error = sums.error + u->points;
    return sums;
}

/* Pack (into = 1) or unpack what was seen of the clusters. @return how many numbers that are */
static size_t pack_clusters(const aw_cluster *cluster, size_t n, float *wire, int into)
{
    size_t at = 0;
    for (size_t c = 0; c < n; ++c) {
        const aw_cluster *one = &cluster[c];
        const size_t regions = one->tiles * one->regions;
        for (size_t k = 0; wire && k < regions; ++k) {
            if (into) {
                wire[at + k] = one->worst[k];
                wire[at + regions + k] = (float)one->refused[k];
            } else {
                one->worst[k] = wire[at + k];
                one->refused[k] = wire[at + regions + k] > 0.0F;
            }
        }
        at += 2 * regions;
        for (size_t i = 0; wire && i < one->tiles; ++i) {
            if (into)
                wire[at + i] = one->coarse[i];
            else
                one->coarse[i] = wire[at + i];
        }
        at += one->tiles;
    }
    return at;
}

/* Merge this rank's bins, and then all ranks'. */
static aw_status merge_ranks(aw_multi *u, const aw_cluster *cluster, size_t n,
                             const aw_clustered *out)
{
    const size_t sums = 2 * (AW_RESULTS + 1) * u->points;
    const size_t singles = pack_clusters(cluster, n, NULL, 0);
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(aw_multi_grow_exchange(u, sums)));
    AW_TRY(aw_comm_agree(
        aw_grow((void **)&u->wire_single, &u->singles, singles, sizeof *u->wire_single)));
    for (size_t c = 0; c < n; ++c) {
        memset(cluster[c].worst, 0, cluster[c].tiles * cluster[c].regions * sizeof(float));
        memset(cluster[c].refused, 0, cluster[c].tiles * cluster[c].regions);
    }
    const aw_clustered mine = wired(u);
    merge_bins(u, cluster, &mine);
    pack_clusters(cluster, n, u->wire_single, 1);
    aw_comm_sum(u->wire, sums);
    aw_comm_sum_single(u->wire_single, singles);
    pack_clusters(cluster, n, u->wire_single, 0);
    for (size_t p = 0; p < u->points; ++p) {
        for (unsigned k = 0; k < AW_RESULTS; ++k) {
            out->I[p][k] += mine.I[p][k];
            out->rest[p][k] += mine.rest[p][k];
        }
        out->error[p] += mine.error[p];
        out->rest_error[p] += mine.rest_error[p];
    }
done:
    return status;
}

/* Tasks and bins, and room for them. */
static aw_status prepare(aw_multi *u, const aw_cluster *cluster, size_t n)
{
    const size_t units = (size_t)u->everyone;
    aw_status status = AW_OK;
    AW_TRY(aw_tasks_cut(&u->tasks, cluster, n, &u->history, units * AW_BLOCKS_PER_DEVICE,
                        units * AW_BINS_PER_DEVICE));
    AW_TRY(aw_multi_grow_bins(u, u->tasks.bins));
    AW_TRY(make_pieces(u, cluster));
done:
    return status;
}

/* What the weights of blocks proved to be, for the next step: a region near the beam takes another
 * time than one far from it. Seconds count as what the device does in them on the average, so that
 * units of unequal speed agree. It changes who does what, never how the work is cut. */
static aw_status learn_costs(aw_multi *u)
{
    const aw_tasks *t = &u->tasks;
    double spent[AW_DEVICES_MAX] = {0.0}, weight[AW_DEVICES_MAX] = {0.0};
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&u->cost, &u->costs_room, 2 * t->blocks, sizeof *u->cost));
    memset(u->cost, 0, 2 * t->blocks * sizeof *u->cost);
    for (size_t b = 0; b < t->bins; ++b) {
        if (!u->mine[b]) continue;
        spent[u->by[b]] += u->spent[b];
        weight[u->by[b]] += t->weight[b];
    }
    for (size_t b = 0; b < t->bins; ++b) {
        if (!u->mine[b] || !(spent[u->by[b]] > 0.0)) continue;
        u->cost[t->block[b]] += u->spent[b] * weight[u->by[b]] / spent[u->by[b]];
        u->cost[t->blocks + t->block[b]] += t->weight[b];
    }
    aw_comm_sum(u->cost, 2 * t->blocks);
    for (size_t k = 0; k < t->blocks; ++k) {
        const double thought = u->cost[t->blocks + k];
        u->cost[k] = thought > 0.0 && u->cost[k] > 0.0 ? u->cost[k] / thought : 1.0;
    }
    u->costs = t->blocks;
done:
    return status;
}

/* COMPUTE-POTENTIALS-HT, lines 6 to 22 (dissertation 5.1.4): tasks, bins, units, merging. */
aw_status aw_multi_evaluate(void *state, const aw_cluster_call *whole, aw_work *work)
{
    aw_multi *u = state;
    aw_tasks *t = &u->tasks;
    const aw_cluster *cluster = whole->cluster;
    const aw_clustered *out = &whole->out;
    const size_t n = whole->n;
    shared_call call = {u, whole};
    aw_status status = AW_OK;
    if (u->everyone == 1) {
        const double weight = 1.0;
        AW_TRY(aw_multi_grow_bins(u, 1));
        AW_TRY(aw_multi_run_bins(u, AW_WORK_WHOLE, evaluate_whole, &call, &weight, 1, SIZE_MAX));
        aw_multi_work_sum(u, 1, work);
        return AW_OK;
    }
    AW_TRY(aw_comm_agree(prepare(u, cluster, n)));
    begin_clusters(u, cluster, n, out);
    for (size_t b = 0; b < t->bins; ++b)
        u->weight[b] = t->weight[b] * (u->costs == t->blocks ? u->cost[t->block[b]] : 1.0);
    AW_TRY(
        aw_multi_run_bins(u, AW_WORK_EVALUATE, evaluate_bin, &call, u->weight, t->bins, SIZE_MAX));
    if (n > 0 && cluster->begin) AW_TRY(aw_comm_agree(learn_costs(u)));
    if (u->ranks > 1)
        AW_TRY(merge_ranks(u, cluster, n, out));
    else
        merge_bins(u, cluster, out);
    aw_multi_work_sum(u, t->bins, work);
done:
    return status;
}
