/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: sweeps and refinement. Lists go through two queues by turns, so that what one holds is
 * copied while the other works. */
#include "kernels/gpu/blocks/lists.h"

#include <string.h>

#include "kernels/gpu/device.h"

/* Regions that are under way in one queue, at most (but for a job that begins with more). */
enum { AW_GPU_LIST_REGIONS = 32768, AW_GPU_JOBS = 8192 };
/* Regions that a job has room for at first; where they are too few, it is done again with as many
 * as there may be. */
enum { AW_GPU_ROOM = 512 };
/* Blocks that refine: for each processor, and of those with the larger room. */
enum { AW_GPU_REFINING = 8, AW_GPU_REFINING_LARGE = 32 };

/* Wait for what is under way, and hand it back. */
static aw_status sweep_end(aw_gpu_state *g, int q, aw_region *region, aw_work *work)
{
    aw_gpu_workspace *d = &g->workspace[q];
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_wait(g, q));
    if (d->n == 0) goto done;
    memcpy(&region[d->first], d->region.host, d->n * sizeof *region);
    aw_gpu_work_sum(&d->work, (d->n + AW_GPU_RUN - 1) / AW_GPU_RUN, work);
done:
    d->n = 0;
    return status;
}

static aw_status sweep_begin(aw_gpu_state *g, int q, const aw_region *region, size_t first,
                             size_t n, const aw_scales *scales)
{
    aw_gpu_workspace *d = &g->workspace[q];
    const size_t blocks = (n + AW_GPU_RUN - 1) / AW_GPU_RUN;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, &d->region, n * sizeof *region));
    AW_TRY(aw_gpu_grow(g, &d->work, blocks * sizeof(aw_work)));
    memcpy(d->region.host, &region[first], n * sizeof *region);
    const aw_gpu_sweep call = {.history = g->exact,
                               .point = g->at.device,
                               .region = d->region.device,
                               .n = n,
                               .density = g->density,
                               .scales = *scales,
                               .work = d->work.device};
    AW_TRY(aw_gpu_to_device(g, q, &d->region, n * sizeof *region));
    AW_TRY(aw_gpu_launch(g, q, AW_GPU_sweep, blocks, &call));
    AW_TRY(aw_gpu_to_host(g, q, &d->region, n * sizeof *region));
    AW_TRY(aw_gpu_to_host(g, q, &d->work, blocks * sizeof(aw_work)));
    d->first = first;
    d->n = n;
done:
    return status;
}

aw_status aw_gpu_device_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                              aw_work *work)
{
    aw_gpu_state *g = state;
    aw_status status = AW_OK;
    int q = 0;
    AW_TRY(aw_gpu_wait(g, 0));
    for (size_t first = 0; first < n; first += AW_GPU_LIST_REGIONS, q = (q + 1) % AW_GPU_STREAMS) {
        const size_t left = n - first;
        AW_TRY(sweep_end(g, q, region, work));
        AW_TRY(sweep_begin(g, q, region, first,
                           left < AW_GPU_LIST_REGIONS ? left : AW_GPU_LIST_REGIONS, scales));
    }
    for (q = 0; q < AW_GPU_STREAMS; ++q) AW_TRY(sweep_end(g, q, region, work));
done:
    for (q = 0; q < AW_GPU_STREAMS; ++q) g->workspace[q].n = 0;
    return status;
}

/* ---------------------------------------------------------------------------------- refinement */

/* What a launch refines: some of the jobs of a call, by their numbers. */
typedef struct refinement {
    const aw_region *region;
    aw_job *job;
    const aw_scales *scales;
    uint32_t room;
    size_t blocks;
    size_t cells;
} refinement;

/* Room for jobs that begin with so many regions. */
static aw_status refine_grow(aw_gpu_state *g, const refinement *r, size_t jobs, size_t regions)
{
    aw_gpu_workspace *d = &g->workspace[0];
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, &d->region, regions * sizeof(aw_region)));
    AW_TRY(aw_gpu_grow(g, &d->job, jobs * sizeof(aw_job)));
    AW_TRY(aw_gpu_grow(g, &d->leaves, (jobs * r->cells + 1) * sizeof(float)));
    AW_TRY(aw_gpu_grow(g, &d->work, r->blocks * sizeof(aw_work)));
    AW_TRY(aw_gpu_grow_device(g, &d->pool, r->blocks * (r->room + 2) * sizeof(aw_region)));
    AW_TRY(aw_gpu_grow_device(g, &d->heap, r->blocks * r->room * sizeof(uint32_t)));
done:
    return status;
}

/* Jobs which[0 .. n-1], packed: their regions one after the other, pointers into the device. */
static void refine_pack(aw_gpu_state *g, const refinement *r, const size_t *which, size_t n)
{
    aw_gpu_workspace *d = &g->workspace[0];
    aw_region *region = d->region.host;
    aw_job *packed = d->job.host;
    float *leaves = d->leaves.host;
    size_t first = 0;
    for (size_t i = 0; i < n; ++i) {
        const aw_job *job = &r->job[which[i]];
        packed[i] = *job;
        packed[i].first = first;
        memcpy(&region[first], &r->region[job->first], job->count * sizeof *region);
        first += job->count;
        packed[i].edge = r->cells > 0 ? g->edge.device : NULL;
        packed[i].leaves = r->cells > 0 ? (float *)d->leaves.device + i * r->cells : NULL;
        memset(&leaves[i * r->cells], 0, r->cells * sizeof *leaves);
    }
}

/* What came back of job i; whether it is done. */
static int refine_take(aw_gpu_state *g, const refinement *r, size_t i, aw_job *job)
{
    const aw_job *done = &((const aw_job *)g->workspace[0].job.host)[i];
    const float *leaves = (const float *)g->workspace[0].leaves.host + i * r->cells;
    if (done->status == AW_ERR_NOMEM) return 0;
    memcpy(job->I, done->I, sizeof job->I);
    job->error = done->error;
    job->regions = done->regions;
    job->status = done->status;
    for (size_t k = 0; job->edge && k < r->cells; ++k) job->leaves[k] += leaves[k];
    return 1;
}

/* Refine jobs which[0 .. *n-1]; those that found no room are left in it. */
static aw_status refine_some(aw_gpu_state *g, const refinement *r, size_t *which, size_t *n,
                             aw_work *work)
{
    aw_gpu_workspace *d = &g->workspace[0];
    aw_status status = AW_OK;
    size_t regions = 0, left = 0;
    for (size_t i = 0; i < *n; ++i) regions += r->job[which[i]].count;
    AW_TRY(refine_grow(g, r, *n, regions));
    refine_pack(g, r, which, *n);
    const aw_gpu_refine call = {.history = g->exact,
                                .point = g->at.device,
                                .start = d->region.device,
                                .job = d->job.device,
                                .jobs = *n,
                                .blocks = (int)r->blocks,
                                .room = r->room,
                                .region = d->pool.device,
                                .heap = d->heap.device,
                                .density = g->density,
                                .scales = *r->scales,
                                .work = d->work.device};
    AW_TRY(aw_gpu_to_device(g, 0, &d->region, regions * sizeof(aw_region)));
    AW_TRY(aw_gpu_to_device(g, 0, &d->job, *n * sizeof(aw_job)));
    AW_TRY(aw_gpu_to_device(g, 0, &d->leaves, *n * r->cells * sizeof(float)));
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_refine, r->blocks, &call));
    AW_TRY(aw_gpu_to_host(g, 0, &d->job, *n * sizeof(aw_job)));
    AW_TRY(aw_gpu_to_host(g, 0, &d->leaves, *n * r->cells * sizeof(float)));
    AW_TRY(aw_gpu_to_host(g, 0, &d->work, r->blocks * sizeof(aw_work)));
    AW_TRY(aw_gpu_wait(g, 0));
    aw_gpu_work_sum(&d->work, r->blocks, work);
    for (size_t i = 0; i < *n; ++i)
        if (!refine_take(g, r, i, &r->job[which[i]])) which[left++] = which[i];
    *n = left;
done:
    return status;
}

/* The same, with room for a few regions of a job, and again with as many as there may be. */
static aw_status refine_chunk(aw_gpu_state *g, refinement *r, size_t *which, size_t n,
                              aw_work *work)
{
    aw_status status = AW_OK;
    size_t most = 0;
    for (size_t i = 0; i < n; ++i)
        if (r->job[which[i]].count > most) most = r->job[which[i]].count;
    const size_t wanted = 2 * most > AW_GPU_ROOM ? 2 * most : AW_GPU_ROOM;
    const size_t few = (size_t)g->info.processors * AW_GPU_REFINING;
    r->room = wanted < AW_REFINE_MAX ? (uint32_t)wanted : AW_REFINE_MAX;
    r->blocks =
        r->room == AW_REFINE_MAX && few > AW_GPU_REFINING_LARGE ? AW_GPU_REFINING_LARGE : few;
    if (r->blocks > n) r->blocks = n;
    AW_TRY(refine_some(g, r, which, &n, work));
    r->room = AW_REFINE_MAX;
    r->blocks = n < AW_GPU_REFINING_LARGE ? n : AW_GPU_REFINING_LARGE;
    if (n > 0) AW_TRY(refine_some(g, r, which, &n, work));
done:
    return status;
}

aw_status aw_gpu_device_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                               const aw_scales *scales, aw_work *work)
{
    aw_gpu_state *g = state;
    refinement r = {.region = region, .job = job, .scales = scales};
    size_t which[AW_GPU_JOBS], n = 0, regions = 0;
    aw_status status = AW_OK;
    r.cells = jobs > 0 && job->edge ? job->cells : 0;
    if (r.cells > 0) {
        AW_TRY(aw_gpu_wait(g, 0));
        AW_TRY(aw_gpu_send(g, &g->edge, job->edge, (r.cells + 1) * sizeof(double)));
    }
    for (size_t i = 0; i < jobs; ++i) {
        which[n++] = i;
        regions += job[i].count;
        if (n < AW_GPU_JOBS && regions < AW_GPU_LIST_REGIONS && i + 1 < jobs) continue;
        AW_TRY(refine_chunk(g, &r, which, n, work));
        n = regions = 0;
    }
done:
    return status;
}
