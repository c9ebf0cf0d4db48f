/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/multi/tasks.h"

#include <math.h>
#include <string.h>

#include "kernels/math/retarded.h"
#include "src/base/memory.h"

/* Capacities of the arrays, by their place in aw_tasks.capacity. */
enum { TASK, BEGIN, WEIGHT, BLOCK, LISTED, BIN_OF, FIRST, LAST, LOAD, FULL };

void aw_tasks_free(aw_tasks *t)
{
    aw_free(t->task);
    aw_free(t->begin);
    aw_free(t->weight);
    aw_free(t->block);
    aw_free(t->listed);
    aw_free(t->bin_of);
    aw_free(t->first);
    aw_free(t->last);
    aw_free(t->load);
    aw_free(t->full);
    memset(t, 0, sizeof *t);
}

static double points_of(const aw_cluster *c)
{
    double n = 0.0;
    for (size_t i = 0; i < c->tiles; ++i) n += (double)c->tile[i].count;
    return n;
}

/* Slice interval in which a region begins; the last one for all regions beyond the oldest slice. */
static size_t slice_of(const aw_history_view *h, const double region[2])
{
    return (size_t)aw_slice_before(h, region[0]);
}

/* Compute the weight of every slice interval, t->load [slices]. @return their sum */
static double weigh(aw_tasks *t, const aw_cluster *cluster, size_t clusters,
                    const aw_history_view *h)
{
    double all = 0.0;
    memset(t->load, 0, (size_t)h->n * sizeof *t->load);
    for (size_t c = 0; c < clusters; ++c) {
        const double points = points_of(&cluster[c]);
        for (size_t k = 0; k < cluster[c].regions; ++k)
            t->load[slice_of(h, cluster[c].region[k])] += points;
        all += points * (double)cluster[c].regions;
    }
    return all;
}

/* Append a bin. `last` is the last bin of its block. */
static aw_status add_bin(aw_tasks *t, double weight, size_t block, size_t last)
{
    aw_status status = AW_OK;
    const size_t n = t->bins + 1;
    AW_TRY(aw_grow((void **)&t->weight, &t->capacity[WEIGHT], n, sizeof *t->weight));
    AW_TRY(aw_grow((void **)&t->last, &t->capacity[LAST], n, sizeof *t->last));
    AW_TRY(aw_grow((void **)&t->block, &t->capacity[BLOCK], n, sizeof *t->block));
    t->last[t->bins] = last;
    t->block[t->bins] = block;
    t->weight[t->bins++] = weight;
done:
    return status;
}

/* Make blocks: runs of slices with the weight `share`, as far as possible; and the bins of each
 * block, with about the weight `bin`. `left` is the weight of all slices. Fills first [slices], the
 * first bin of the slice's block; last [bins], the last bin of the bin's block; and weight [bins],
 * the weight that each bin should have. */
static aw_status make_blocks(aw_tasks *t, size_t slices, double left, double share, double bin)
{
    aw_status status = AW_OK;
    t->bins = t->blocks = 0;
    for (size_t begin = 0, end; begin < slices; begin = end, ++t->blocks) {
        double weight = 0.0;
        for (end = begin; end < slices && (end - begin < AW_BLOCK_SLICES || weight < share); ++end)
            weight += t->load[end];
        if (slices - end < AW_BLOCK_SLICES || left - weight < 0.5 * share) {
            for (; end < slices; ++end) weight += t->load[end]; /* too little for another block */
        }
        left -= weight;
        const double parts = fmax(floor(weight / bin + 0.5), 1.0);
        const size_t first = t->bins, last = first + (size_t)parts - 1;
        for (size_t i = begin; i < end; ++i) t->first[i] = first;
        while (t->bins <= last) AW_TRY(add_bin(t, weight / parts, t->blocks, last));
    }
done:
    return status;
}

/* Append the tasks of a cluster, and the bin of each. Updates load [bins], where the first bin of a
 * block has the weight in all bins of the block so far, and full [bins], the weight in each bin. */
static aw_status cut_cluster(aw_tasks *t, const aw_cluster *one, size_t index,
                             const aw_history_view *h, size_t *tasks)
{
    aw_status status = AW_OK;
    const double points = points_of(one);
    for (size_t k = 0, from; k < one->regions;) {
        const size_t block = t->first[slice_of(h, one->region[k])], n = *tasks;
        for (from = k; k < one->regions; ++k)
            if (t->first[slice_of(h, one->region[k])] != block) break;
        const double weight = points * (double)(k - from);
        const double middle = (t->load[block] + 0.5 * weight) / t->weight[block];
        const size_t bin = (size_t)fmin((double)block + floor(middle), (double)t->last[block]);
        t->load[block] += weight;
        t->full[bin] += weight;
        AW_TRY(aw_grow((void **)&t->listed, &t->capacity[LISTED], n + 1, sizeof *t->listed));
        AW_TRY(aw_grow((void **)&t->bin_of, &t->capacity[BIN_OF], n + 1, sizeof *t->bin_of));
        t->listed[n] = (aw_task){index, from, k};
        t->bin_of[(*tasks)++] = bin;
    }
done:
    return status;
}

/* Sort the tasks by bin, and find the first task of each bin. */
static aw_status sort_tasks(aw_tasks *t, size_t tasks)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&t->task, &t->capacity[TASK], tasks, sizeof *t->task));
    AW_TRY(aw_grow((void **)&t->begin, &t->capacity[BEGIN], t->bins + 2, sizeof *t->begin));
    memset(t->begin, 0, (t->bins + 2) * sizeof *t->begin);
    for (size_t i = 0; i < tasks; ++i) t->begin[t->bin_of[i] + 2]++;
    for (size_t b = 2; b <= t->bins + 1; ++b) t->begin[b] += t->begin[b - 1];
    for (size_t i = 0; i < tasks; ++i) t->task[t->begin[t->bin_of[i] + 1]++] = t->listed[i];
done:
    return status;
}

aw_status aw_tasks_cut(aw_tasks *t, const aw_cluster *cluster, size_t clusters,
                       const aw_history_view *h, size_t blocks, size_t bins)
{
    aw_status status = AW_OK;
    const size_t slices = (size_t)h->n;
    size_t tasks = 0;
    AW_TRY(aw_grow((void **)&t->first, &t->capacity[FIRST], slices, sizeof *t->first));
    AW_TRY(aw_grow((void **)&t->load, &t->capacity[LOAD], slices, sizeof *t->load));
    const double all = weigh(t, cluster, clusters, h);
    AW_TRY(make_blocks(t, slices, all, all / (double)blocks, all / (double)bins));
    AW_TRY(aw_grow((void **)&t->load, &t->capacity[LOAD], t->bins, sizeof *t->load));
    AW_TRY(aw_grow((void **)&t->full, &t->capacity[FULL], t->bins, sizeof *t->full));
    memset(t->load, 0, t->bins * sizeof *t->load);
    memset(t->full, 0, t->bins * sizeof *t->full);
    for (size_t c = 0; c < clusters; ++c) AW_TRY(cut_cluster(t, &cluster[c], c, h, &tasks));
    AW_TRY(sort_tasks(t, tasks));
    memcpy(t->weight, t->full, t->bins * sizeof *t->weight);
done:
    return status;
}
