/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists that several devices shares out: regions and jobs. */
#include <string.h>

#include "kernels/multi/multi.h"
#include "src/base/comm.h"
#include "src/base/memory.h"

/* A list of regions or of jobs. */
typedef struct list_call {
    aw_multi *u;
    aw_region *region;
    aw_job *job;
    const aw_scales *scales;
} list_call;

static aw_status sweep_bin(const aw_device *device, void *call, size_t bin)
{
    const list_call *c = call;
    const size_t *first = &c->u->first[bin];
    return device->ops->sweep(device->state, c->region + first[0], first[1] - first[0], c->scales,
                              &c->u->work[bin]);
}

/* What other ranks have found of the regions of bins from .. to - 1. */
static aw_status exchange_bins(aw_multi *u, aw_region *region, size_t from, size_t to)
{
    enum { I = 5 * AW_RESULTS, ERROR = I + AW_RESULTS, NUMBERS };
    const size_t first = u->first[from], n = u->first[to] - first;
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(aw_multi_grow_exchange(u, n * NUMBERS)));
    for (size_t b = from; b < to; ++b)
        for (size_t i = u->first[b]; u->mine[b] && i < u->first[b + 1]; ++i) {
            double *out = &u->wire[(i - first) * NUMBERS];
            memcpy(out, region[i].f, sizeof region[i].f);
            memcpy(&out[I], region[i].I, sizeof region[i].I);
            out[ERROR] = region[i].error;
        }
    aw_comm_sum(u->wire, n * NUMBERS);
    for (size_t i = 0; i < n; ++i) {
        const double *in = &u->wire[i * NUMBERS];
        aw_region *q = &region[first + i];
        memcpy(q->f, in, sizeof q->f);
        memcpy(q->I, &in[I], sizeof q->I);
        q->error = in[ERROR];
        q->known = 31u;
    }
done:
    return status;
}

/* All bins, so many at a time that what goes over the ranks stays small. */
static aw_status exchange_regions(aw_multi *u, aw_region *region, size_t bins)
{
    enum { MOST = 65536 }; /* regions: 22 MiB */
    aw_status status = AW_OK;
    for (size_t from = 0, to; from < bins; from = to) {
        for (to = from + 1; to < bins && u->first[to + 1] - u->first[from] <= MOST;) ++to;
        AW_TRY(exchange_bins(u, region, from, to));
    }
done:
    return status;
}

/* Bins of a sweep: neighbouring points, of which CPUs work on many at a time, since they share
 * frames and combined slices (kernels/cpu/sweep.c): with bins of 32 points instead of 64 a CPU is
 * 15 % slower, with 5 it takes twice the time (64 x 64, tolerance 1e-5). */
static size_t sweep_bins(const aw_multi *u, const aw_region *region, size_t n)
{
    enum { POINTS = 64 };
    const size_t wanted = aw_multi_bins(u->everyone);
    size_t points = n > 0;
    for (size_t i = 1; i < n; ++i) points += region[i].point != region[i - 1].point;
    const size_t most = points / POINTS > 0 ? points / POINTS : 1;
    return wanted < most ? wanted : most;
}

aw_status aw_multi_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                         aw_work *work)
{
    aw_multi *u = state;
    aw_status status = AW_OK;
    const size_t wanted = sweep_bins(u, region, n), most = n / wanted + 1;
    size_t bins = 0;
    list_call call = {.u = u, .region = region, .scales = scales};
    AW_TRY(aw_comm_agree(aw_multi_grow_bins(u, wanted)));
    for (size_t at = 0; at < n;) { /* a point is not cut */
        u->first[bins] = at;
        at = at + most < n ? at + most : n;
        while (at < n && region[at].point == region[at - 1].point) ++at;
        u->weight[bins] = (double)(at - u->first[bins]);
        u->first[++bins] = at;
    }
    AW_TRY(aw_multi_run_bins(u, AW_WORK_SWEEP, sweep_bin, &call, u->weight, bins, SIZE_MAX));
    if (u->ranks > 1) AW_TRY(exchange_regions(u, region, bins));
    aw_multi_work_sum(u, bins, work);
done:
    return status;
}

static aw_status refine_bin(const aw_device *device, void *call, size_t bin)
{
    const list_call *c = call;
    const size_t *first = &c->u->first[bin];
    return device->ops->refine(device->state, c->region, c->job + first[0], first[1] - first[0],
                               c->scales, &c->u->work[bin]);
}

/* What other ranks have found. (Not their leaves, which only measurements ask for.) */
static aw_status exchange_jobs(aw_multi *u, aw_job *job, size_t bins)
{
    enum { ERROR = AW_RESULTS, REGIONS, STATUS, NUMBERS };
    const size_t jobs = u->first[bins];
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(aw_multi_grow_exchange(u, jobs * NUMBERS)));
    for (size_t b = 0; b < bins; ++b)
        for (size_t i = u->first[b]; u->mine[b] && i < u->first[b + 1]; ++i) {
            double *to = &u->wire[i * NUMBERS];
            memcpy(to, job[i].I, sizeof job[i].I);
            to[ERROR] = job[i].error;
            to[REGIONS] = (double)job[i].regions;
            to[STATUS] = (double)job[i].status;
        }
    aw_comm_sum(u->wire, jobs * NUMBERS);
    for (size_t i = 0; i < jobs; ++i) {
        const double *from = &u->wire[i * NUMBERS];
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
    aw_multi *u = state;
    aw_status status = AW_OK;
    const size_t wanted = aw_multi_bins(u->everyone), bins = jobs < wanted ? jobs : wanted;
    list_call call = {.u = u, .region = region, .job = job, .scales = scales};
    AW_TRY(aw_comm_agree(aw_multi_grow_bins(u, bins)));
    for (size_t b = 0; b <= bins; ++b) u->first[b] = bins ? b * jobs / bins : 0;
    for (size_t b = 0; b < bins; ++b) u->weight[b] = (double)(u->first[b + 1] - u->first[b]);
    AW_TRY(aw_multi_run_bins(u, AW_WORK_REFINE, refine_bin, &call, u->weight, bins, SIZE_MAX));
    if (u->ranks > 1) AW_TRY(exchange_jobs(u, job, bins));
    aw_multi_work_sum(u, bins, work);
done:
    return status;
}
