/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several devices: clusters, cut into bins of tasks whose sums are merged. */
#include <string.h>

#include "kernels/multi/multi.h"
#include "src/base/comm.h"
#include "src/base/memory.h"

typedef struct evaluate_call {
    aw_multi *multi;
    const aw_cluster_call *whole;
} evaluate_call;

/* Evaluate all clusters uncut, on the only device. */
static aw_status evaluate_whole(const aw_device *device, void *call, size_t bin)
{
    const evaluate_call *c = call;
    return device->ops->evaluate(device->state, c->whole, &c->multi->work[bin]);
}

/* Make the clusters of all bins, with outputs of their own. */
static aw_status cut_clusters(aw_multi *multi, const aw_cluster *cluster)
{
    enum { CLUSTER, WORST, COARSE, REFUSED, START };
    aw_multi_chunks *p = &multi->chunks;
    const aw_tasks *t = &multi->tasks;
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
    AW_TRY(aw_grow((void **)&p->start, &p->capacity[START], multi->points, sizeof *p->start));
    AW_TRY(aw_multi_grow_sums(multi, sums));
    regions = tiles = 0;
    for (size_t i = 0; i < n; ++i) {
        const aw_task *task = &t->task[i];
        aw_cluster *part = &p->cluster[i];
        *part = cluster[task->cluster];
        part->part *= (double)(task->to - task->from) / (double)part->regions;
        part->region += task->from;
        part->regions = task->to - task->from;
        part->worst = &p->worst[regions];
        part->refused = &p->refused[regions];
        part->coarse = &p->coarse[tiles];
        regions += part->tiles * part->regions;
        tiles += part->tiles;
    }
done:
    return status;
}

/* The sums of a bin are those of its block: the other bins of the block have other points. */
static aw_clustered sums_of(const aw_multi *multi, size_t bin)
{
    const size_t at = 2 * multi->tasks.block[bin] * multi->points;
    double(*I)[AW_RESULTS] = multi->I + at, *error = multi->error + at;
    return (aw_clustered){I, error, I + multi->points, error + multi->points};
}

static aw_status evaluate_bin(const aw_device *device, void *call, size_t bin)
{
    const evaluate_call *c = call;
    aw_multi *multi = c->multi;
    const size_t begin = multi->tasks.begin[bin], end = multi->tasks.begin[bin + 1];
    const double *start = multi->chunks.start;
    aw_cluster_call mine = *c->whole;
    mine.cluster = &multi->chunks.cluster[begin];
    mine.n = end - begin;
    mine.out = sums_of(multi, bin);
    for (size_t i = begin; i < end; ++i) {
        const aw_cluster *one = &multi->chunks.cluster[i];
        for (size_t k = 0; !one->begin && k < one->tiles; ++k) {
            const aw_tile_ref tile = one->tile[k];
            memset(mine.out.I[tile.first], 0, tile.count * sizeof *mine.out.I);
            memcpy(&mine.out.error[tile.first], &start[tile.first], tile.count * sizeof *start);
        }
    }
    return device->ops->evaluate(device->state, &mine, &multi->work[bin]);
}

/* Store the sums of errors before the call, and set to zero what the call adds to. */
static void begin_clusters(aw_multi *multi, const aw_cluster *cluster, size_t n,
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
            memcpy(&multi->chunks.start[tile.first], &out->error[tile.first],
                   tile.count * sizeof *out->error);
            one->coarse[i] = 0.0F;
        }
    }
}

/* Numbers of a task at a point that add up over tasks. */
enum { REST = AW_RESULTS, ERROR = 2 * AW_RESULTS, REST_ERROR, NUMBERS };

static void numbers_at(const aw_multi *multi, const aw_clustered *sums, size_t p, double v[NUMBERS])
{
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        v[k] = sums->I[p][k];
        v[REST + k] = sums->rest[p][k];
    }
    v[ERROR] = sums->error[p] - multi->chunks.start[p];
    v[REST_ERROR] = sums->rest_error[p];
}

static void add_numbers(const aw_clustered *out, size_t p, const double v[NUMBERS])
{
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        out->I[p][k] += v[k];
        out->rest[p][k] += v[REST + k];
    }
    out->error[p] += v[ERROR];
    out->rest_error[p] += v[REST_ERROR];
}

/* What becomes of the numbers of a task. */
typedef enum merge_pass { MERGE_OUT, MERGE_NOTE, MERGE_ADD } merge_pass;

/* Of a tile of a task: add to the results of the cluster, or to the exchange. The exchange has a
 * row for each point; the increase of errors of a tile is in that of its first one. */
static void merge_tile(aw_multi *multi, merge_pass pass, size_t bin, size_t index, size_t tile,
                       const aw_clustered *out)
{
    const aw_clustered mine = sums_of(multi, bin);
    const aw_cluster *part = &multi->chunks.cluster[index];
    const size_t first = part->tile[tile].first, end = first + part->tile[tile].count;
    double v[NUMBERS];
    if (pass == MERGE_NOTE) aw_exchange_note(&multi->exact, NUMBERS, part->coarse[tile]);
    if (pass == MERGE_ADD) aw_exchange_add(&multi->exact, first, NUMBERS, part->coarse[tile]);
    for (size_t p = first; p < end; ++p) {
        numbers_at(multi, &mine, p, v);
        if (pass == MERGE_OUT) add_numbers(out, p, v);
        for (size_t k = 0; pass == MERGE_NOTE && k < NUMBERS; ++k)
            aw_exchange_note(&multi->exact, k, v[k]);
        for (size_t k = 0; pass == MERGE_ADD && k < NUMBERS; ++k)
            aw_exchange_add(&multi->exact, p, k, v[k]);
    }
}

/* Merge this rank's bins, in the order of bins. */
static void merge_bins(aw_multi *multi, merge_pass pass, const aw_cluster *cluster,
                       const aw_clustered *out)
{
    const aw_tasks *t = &multi->tasks;
    for (size_t b = 0; b < t->bins; ++b)
        for (size_t i = t->begin[b]; multi->mine[b] && i < t->begin[b + 1]; ++i) {
            const aw_cluster *part = &multi->chunks.cluster[i];
            float *coarse = cluster[t->task[i].cluster].coarse;
            for (size_t k = 0; k < part->tiles; ++k) {
                merge_tile(multi, pass, b, i, k, out);
                if (pass == MERGE_OUT) coarse[k] += part->coarse[k];
            }
        }
}

/* Copy what each region has from this rank's bins, whose regions no other bin has. */
static void copy_regions(const aw_multi *multi, const aw_cluster *cluster)
{
    const aw_tasks *t = &multi->tasks;
    for (size_t b = 0; b < t->bins; ++b)
        for (size_t i = t->begin[b]; multi->mine[b] && i < t->begin[b + 1]; ++i) {
            const aw_cluster *part = &multi->chunks.cluster[i];
            const aw_cluster *whole = &cluster[t->task[i].cluster];
            for (size_t k = 0; k < part->tiles; ++k) {
                const size_t to = k * whole->regions + t->task[i].from, from = k * part->regions;
                memcpy(&whole->worst[to], &part->worst[from], part->regions * sizeof(float));
                memcpy(&whole->refused[to], &part->refused[from], part->regions);
            }
        }
}

/* Pack (into = 1) or unpack (0) worst and refused of the clusters; with buffer NULL only count
 * them. @return the number of numbers */
static size_t pack_clusters(const aw_cluster *cluster, size_t n, float *buffer, int into)
{
    size_t at = 0;
    for (size_t c = 0; c < n; ++c) {
        const aw_cluster *one = &cluster[c];
        const size_t regions = one->tiles * one->regions;
        for (size_t k = 0; buffer && k < regions; ++k) {
            if (into) {
                buffer[at + k] = one->worst[k];
                buffer[at + regions + k] = (float)one->refused[k];
            } else {
                one->worst[k] = buffer[at + k];
                one->refused[k] = buffer[at + regions + k] > 0.0F;
            }
        }
        at += 2 * regions;
    }
    return at;
}

/* Exchange worst and refused of all regions, each of which one rank knows. */
static aw_status exchange_regions(aw_multi *multi, const aw_cluster *cluster, size_t n)
{
    const size_t singles = pack_clusters(cluster, n, NULL, 0);
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(aw_grow((void **)&multi->exchange_single,
                                 &multi->capacity[AW_MULTI_EXCHANGE_SINGLE], singles,
                                 sizeof *multi->exchange_single)));
    for (size_t c = 0; c < n; ++c) {
        memset(cluster[c].worst, 0, cluster[c].tiles * cluster[c].regions * sizeof(float));
        memset(cluster[c].refused, 0, cluster[c].tiles * cluster[c].regions);
    }
    copy_regions(multi, cluster);
    pack_clusters(cluster, n, multi->exchange_single, 1);
    aw_comm_sum_single(multi->exchange_single, singles);
    pack_clusters(cluster, n, multi->exchange_single, 0);
done:
    return status;
}

/* Merge the bins of all ranks. A point has a term from each block. */
static aw_status merge_ranks(aw_multi *multi, const aw_cluster *cluster, size_t n,
                             const aw_clustered *out)
{
    aw_exchange *exact = &multi->exact;
    double v[NUMBERS];
    aw_status status = AW_OK;
    AW_TRY(exchange_regions(multi, cluster, n));
    aw_exchange_begin(exact, NUMBERS + 1);
    merge_bins(multi, MERGE_NOTE, cluster, out);
    AW_TRY(aw_exchange_open(exact, multi->points, multi->tasks.blocks));
    merge_bins(multi, MERGE_ADD, cluster, out);
    aw_exchange_sum(exact);
    for (size_t p = 0; p < multi->points; ++p) {
        for (size_t k = 0; k < NUMBERS; ++k) v[k] = aw_exchange_get(exact, p, k);
        add_numbers(out, p, v);
    }
    for (size_t c = 0; c < n; ++c)
        for (size_t i = 0; i < cluster[c].tiles; ++i)
            cluster[c].coarse[i] +=
                (float)aw_exchange_get(exact, cluster[c].tile[i].first, NUMBERS);
done:
    return status;
}

/* Cut the clusters into tasks and bins, and grow the arrays. */
static aw_status prepare(aw_multi *multi, const aw_cluster *cluster, size_t n)
{
    const size_t devices = (size_t)multi->working;
    aw_status status = AW_OK;
    AW_TRY(aw_tasks_cut(&multi->tasks, cluster, n, &multi->history, devices * AW_BLOCKS_PER_DEVICE,
                        devices * AW_BINS_PER_DEVICE));
    AW_TRY(aw_multi_grow_bins(multi, multi->tasks.bins));
    AW_TRY(aw_grow((void **)&multi->cost, &multi->capacity[AW_MULTI_COST], 2 * multi->tasks.blocks,
                   sizeof *multi->cost));
    AW_TRY(cut_clusters(multi, cluster));
done:
    return status;
}

/* Measure the cost of each block, its time over its weight, for the next step: regions near the
 * beam take a different time from regions far from it. The time of a bin is multiplied by the
 * average speed of its device, so that devices of different speeds agree. Costs change which device
 * does what, never how the work is cut. */
static void learn_costs(aw_multi *multi)
{
    const aw_tasks *t = &multi->tasks;
    double seconds[AW_DEVICES_MAX] = {0.0}, weight[AW_DEVICES_MAX] = {0.0};
    memset(multi->cost, 0, 2 * t->blocks * sizeof *multi->cost);
    for (size_t b = 0; b < t->bins; ++b) {
        if (!multi->mine[b]) continue;
        seconds[multi->done_by[b]] += multi->seconds[b];
        weight[multi->done_by[b]] += t->weight[b];
    }
    for (size_t b = 0; b < t->bins; ++b) {
        if (!multi->mine[b] || !(seconds[multi->done_by[b]] > 0.0)) continue;
        multi->cost[t->block[b]] +=
            multi->seconds[b] * weight[multi->done_by[b]] / seconds[multi->done_by[b]];
        multi->cost[t->blocks + t->block[b]] += t->weight[b];
    }
    aw_comm_sum(multi->cost, 2 * t->blocks);
    for (size_t k = 0; k < t->blocks; ++k) {
        const double expected = multi->cost[t->blocks + k];
        multi->cost[k] = expected > 0.0 && multi->cost[k] > 0.0 ? multi->cost[k] / expected : 1.0;
    }
    multi->costs = t->blocks;
}

/* COMPUTE-POTENTIALS-HT, lines 6 to 22 (dissertation 5.1.4): tasks, bins, devices, merging. */
aw_status aw_multi_evaluate(void *state, const aw_cluster_call *whole, aw_work *work)
{
    aw_multi *multi = state;
    aw_tasks *t = &multi->tasks;
    const aw_cluster *cluster = whole->cluster;
    const aw_clustered *out = &whole->out;
    const size_t n = whole->n;
    evaluate_call call = {multi, whole};
    aw_status status = AW_OK;
    if (multi->working == 1) {
        const double weight = 1.0;
        AW_TRY(aw_multi_grow_bins(multi, 1));
        const aw_bin_list list = {AW_WORK_WHOLE, evaluate_whole, &call, &weight, 1, SIZE_MAX};
        AW_TRY(aw_multi_run_bins(multi, &list));
        aw_multi_work_sum(multi, 1, work);
        return AW_OK;
    }
    AW_TRY(aw_comm_agree(prepare(multi, cluster, n)));
    begin_clusters(multi, cluster, n, out);
    for (size_t b = 0; b < t->bins; ++b)
        multi->weight[b] =
            t->weight[b] * (multi->costs == t->blocks ? multi->cost[t->block[b]] : 1.0);
    const aw_bin_list list = {AW_WORK_EVALUATE, evaluate_bin, &call,
                              multi->weight,    t->bins,      SIZE_MAX};
    AW_TRY(aw_multi_run_bins(multi, &list));
    if (n > 0 && cluster->begin) learn_costs(multi);
    if (multi->ranks > 1) {
        AW_TRY(merge_ranks(multi, cluster, n, out));
    } else {
        copy_regions(multi, cluster);
        merge_bins(multi, MERGE_OUT, cluster, out);
    }
    aw_multi_work_sum(multi, t->bins, work);
done:
    return status;
}
