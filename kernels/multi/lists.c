/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several devices: sweeps and refinements, lists of regions and jobs that are cut into bins. */
#include <string.h>

#include "kernels/multi/multi.h"
#include "src/base/comm.h"
#include "src/base/memory.h"

/* A list of regions or of jobs. */
typedef struct list_call {
    aw_multi *multi;
    aw_region *region;
    aw_job *job;
    const aw_scales *scales;
} list_call;

static aw_status sweep_bin(const aw_device *device, void *call, size_t bin)
{
    const list_call *c = call;
    const size_t *first = &c->multi->first[bin];
    return device->ops->sweep(device->state, c->region + first[0], first[1] - first[0], c->scales,
                              &c->multi->work[bin]);
}

/* Exchange the results of the regions of bins from .. to - 1 with the other ranks. */
static aw_status exchange_bins(aw_multi *multi, aw_region *region, size_t from, size_t to)
{
    enum { I = 5 * AW_RESULTS, ERROR = I + AW_RESULTS, NUMBERS };
    const size_t first = multi->first[from], n = multi->first[to] - first;
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(aw_multi_grow_exchange(multi, n * NUMBERS)));
    for (size_t b = from; b < to; ++b)
        for (size_t i = multi->first[b]; multi->mine[b] && i < multi->first[b + 1]; ++i) {
            double *out = &multi->exchange[(i - first) * NUMBERS];
            memcpy(out, region[i].f, sizeof region[i].f);
            memcpy(&out[I], region[i].I, sizeof region[i].I);
            out[ERROR] = region[i].error;
        }
    aw_comm_sum(multi->exchange, n * NUMBERS);
    for (size_t i = 0; i < n; ++i) {
        const double *in = &multi->exchange[i * NUMBERS];
        aw_region *q = &region[first + i];
        memcpy(q->f, in, sizeof q->f);
        memcpy(q->I, &in[I], sizeof q->I);
        q->error = in[ERROR];
        q->known = 31u;
    }
done:
    return status;
}

/* The same for all bins, in parts that keep the buffer small. */
static aw_status exchange_regions(aw_multi *multi, aw_region *region, size_t bins)
{
    enum { MAX_REGIONS = 65536 }; /* 22 MiB */
    aw_status status = AW_OK;
    for (size_t from = 0, to; from < bins; from = to) {
        for (to = from + 1; to < bins && multi->first[to + 1] - multi->first[from] <= MAX_REGIONS;)
            ++to;
        AW_TRY(exchange_bins(multi, region, from, to));
    }
done:
    return status;
}

/* Number of bins of a sweep, of at least 64 points each. CPUs work on many neighbouring points at a
 * time, which share frames and the interpolation in time (kernels/cpu/sweep.c): with bins of 32
 * points a CPU is 15 % slower, with 5 it takes twice the time (64 x 64, tolerance 1e-5). */
static size_t sweep_bins(const aw_multi *multi, const aw_region *region, size_t n)
{
    enum { POINTS = 64 };
    const size_t wanted = aw_multi_bin_count(multi->working);
    size_t points = n > 0;
    for (size_t i = 1; i < n; ++i) points += region[i].point != region[i - 1].point;
    const size_t max_bins = points / POINTS > 0 ? points / POINTS : 1;
    const size_t bins = wanted < max_bins ? wanted : max_bins;
    return bins > 0 ? bins : 1;
}

aw_status aw_multi_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                         aw_work *work)
{
    aw_multi *multi = state;
    aw_status status = AW_OK;
    const size_t wanted = sweep_bins(multi, region, n), size = n / wanted + 1;
    size_t bins = 0;
    list_call call = {.multi = multi, .region = region, .scales = scales};
    AW_TRY(aw_comm_agree(aw_multi_grow_bins(multi, wanted)));
    for (size_t at = 0; at < n;) { /* the regions of a point stay together */
        multi->first[bins] = at;
        at = at + size < n ? at + size : n;
        while (at < n && region[at].point == region[at - 1].point) ++at;
        multi->weight[bins] = (double)(at - multi->first[bins]);
        multi->first[++bins] = at;
    }
    const aw_bin_list list = {AW_WORK_SWEEP, sweep_bin, &call, multi->weight, bins, SIZE_MAX};
    AW_TRY(aw_multi_run_bins(multi, &list));
    if (multi->ranks > 1) AW_TRY(exchange_regions(multi, region, bins));
    aw_multi_work_sum(multi, bins, work);
done:
    return status;
}

static aw_status refine_bin(const aw_device *device, void *call, size_t bin)
{
    const list_call *c = call;
    const size_t *first = &c->multi->first[bin];
    return device->ops->refine(device->state, c->region, c->job + first[0], first[1] - first[0],
                               c->scales, &c->multi->work[bin]);
}

/* Exchange the results of jobs with the other ranks, except their leaves, which only measurements
 * use. */
static aw_status exchange_jobs(aw_multi *multi, aw_job *job, size_t bins)
{
    enum { ERROR = AW_RESULTS, REGIONS, STATUS, NUMBERS };
    const size_t jobs = multi->first[bins];
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(aw_multi_grow_exchange(multi, jobs * NUMBERS)));
    for (size_t b = 0; b < bins; ++b)
        for (size_t i = multi->first[b]; multi->mine[b] && i < multi->first[b + 1]; ++i) {
            double *to = &multi->exchange[i * NUMBERS];
            memcpy(to, job[i].I, sizeof job[i].I);
            to[ERROR] = job[i].error;
            to[REGIONS] = (double)job[i].regions;
            to[STATUS] = (double)job[i].status;
        }
    aw_comm_sum(multi->exchange, jobs * NUMBERS);
    for (size_t i = 0; i < jobs; ++i) {
        const double *from = &multi->exchange[i * NUMBERS];
        memcpy(job[i].I, from, sizeof job[i].I);
        job[i].error = from[ERROR];
        job[i].regions = (uint64_t)from[REGIONS];
        job[i].status = (aw_status)(int)from[STATUS];
    }
done:
    return status;
}

aw_status aw_multi_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                          const aw_scales *scales, aw_work *work)
{
    aw_multi *multi = state;
    aw_status status = AW_OK;
    const size_t wanted = aw_multi_bin_count(multi->working), bins = jobs < wanted ? jobs : wanted;
    list_call call = {.multi = multi, .region = region, .job = job, .scales = scales};
    AW_TRY(aw_comm_agree(aw_multi_grow_bins(multi, bins)));
    for (size_t b = 0; b <= bins; ++b) multi->first[b] = bins ? b * jobs / bins : 0;
    for (size_t b = 0; b < bins; ++b)
        multi->weight[b] = (double)(multi->first[b + 1] - multi->first[b]);
    const aw_bin_list list = {AW_WORK_REFINE, refine_bin, &call, multi->weight, bins, SIZE_MAX};
    AW_TRY(aw_multi_run_bins(multi, &list));
    if (multi->ranks > 1) AW_TRY(exchange_jobs(multi, job, bins));
    aw_multi_work_sum(multi, bins, work);
done:
    return status;
}
