/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: sweeps and refinement. The parts of a sweep's list run on two streams in turn, so that one
 * is copied while the other is computed. */
#include "kernels/gpu/blocks/lists.h"

#include <string.h>

#include "kernels/gpu/device.h"

/* Regions and jobs of one launch at most; a single job may begin with more regions. */
enum { AW_GPU_LIST_REGIONS = 32768, AW_GPU_JOBS = 8192 };
/* Capacity of a job's heap in the first launch [regions]; jobs that exceed it are done again with a
 * capacity of AW_REFINE_MAX. */
enum { AW_GPU_FIRST_CAPACITY = 512 };
/* Blocks that refine: for each multiprocessor; in all, with the larger capacity. */
enum { AW_GPU_REFINING = 8, AW_GPU_REFINING_LARGE = 32 };

/* Wait for the part in progress on a stream, and copy its regions to the caller's. */
static aw_status sweep_end(aw_gpu_state *g, int stream, aw_region *region, aw_work *work)
{
    aw_gpu_workspace *w = &g->workspace[stream];
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_wait(g, stream));
    if (w->n == 0) goto done;
    memcpy(&region[w->first], w->region.host, w->n * sizeof *region);
    aw_gpu_work_sum(&w->work, (w->n + AW_GPU_BLOCK_REGIONS - 1) / AW_GPU_BLOCK_REGIONS, work);
done:
    w->n = 0;
    return status;
}

static aw_status sweep_begin(aw_gpu_state *g, int stream, const aw_region *region, size_t first,
                             size_t n, const aw_scales *scales)
{
    aw_gpu_workspace *w = &g->workspace[stream];
    const size_t blocks = (n + AW_GPU_BLOCK_REGIONS - 1) / AW_GPU_BLOCK_REGIONS;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, &w->region, n * sizeof *region));
    AW_TRY(aw_gpu_grow(g, &w->work, blocks * sizeof(aw_work)));
    memcpy(w->region.host, &region[first], n * sizeof *region);
    const aw_gpu_sweep call = {.history = g->exact,
                               .point = g->at.device,
                               .region = w->region.device,
                               .n = n,
                               .density = g->density,
                               .scales = *scales,
                               .work = w->work.device};
    AW_TRY(aw_gpu_to_device(g, stream, &w->region, n * sizeof *region));
    AW_TRY(aw_gpu_launch(g, stream, AW_GPU_sweep, blocks, &call));
    AW_TRY(aw_gpu_to_host(g, stream, &w->region, n * sizeof *region));
    AW_TRY(aw_gpu_to_host(g, stream, &w->work, blocks * sizeof(aw_work)));
    w->first = first;
    w->n = n;
done:
    return status;
}

aw_status aw_gpu_device_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                              aw_work *work)
{
    aw_gpu_state *g = state;
    aw_status status = AW_OK;
    int stream = 0;
    AW_TRY(aw_gpu_wait(g, 0));
    for (size_t first = 0; first < n;
         first += AW_GPU_LIST_REGIONS, stream = (stream + 1) % AW_GPU_STREAMS) {
        const size_t left = n - first;
        AW_TRY(sweep_end(g, stream, region, work));
        AW_TRY(sweep_begin(g, stream, region, first,
                           left < AW_GPU_LIST_REGIONS ? left : AW_GPU_LIST_REGIONS, scales));
    }
    for (stream = 0; stream < AW_GPU_STREAMS; ++stream) AW_TRY(sweep_end(g, stream, region, work));
done:
    for (stream = 0; stream < AW_GPU_STREAMS; ++stream) g->workspace[stream].n = 0;
    return status;
}

/* ---------------------------------------------------------------------------------- refinement */

/* Arguments of a launch that refines some of the jobs of a call. */
typedef struct refinement {
    const aw_region *region;
    aw_job *job;
    const aw_scales *scales;
    uint32_t capacity; /* regions of a job */
    size_t blocks;
    size_t cells; /* of each job; 0: none */
} refinement;

/* Grow the workspace for `jobs` jobs that begin with `regions` regions in all. */
static aw_status refine_grow(aw_gpu_state *g, const refinement *r, size_t jobs, size_t regions)
{
    aw_gpu_workspace *w = &g->workspace[0];
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, &w->region, regions * sizeof(aw_region)));
    AW_TRY(aw_gpu_grow(g, &w->job, jobs * sizeof(aw_job)));
    AW_TRY(aw_gpu_grow(g, &w->leaves, (jobs * r->cells + 1) * sizeof(float)));
    AW_TRY(aw_gpu_grow(g, &w->work, r->blocks * sizeof(aw_work)));
    AW_TRY(aw_gpu_grow_device(g, &w->pool, r->blocks * (r->capacity + 2) * sizeof(aw_region)));
    AW_TRY(aw_gpu_grow_device(g, &w->heap, r->blocks * r->capacity * sizeof(uint32_t)));
done:
    return status;
}

/* Pack jobs which[0 .. n-1]: their regions one after the other, their pointers addresses on the
 * device. */
static void refine_pack(aw_gpu_state *g, const refinement *r, const size_t *which, size_t n)
{
    aw_gpu_workspace *w = &g->workspace[0];
    aw_region *region = w->region.host;
    aw_job *packed = w->job.host;
    float *leaves = w->leaves.host;
    size_t first = 0;
    for (size_t i = 0; i < n; ++i) {
        const aw_job *job = &r->job[which[i]];
        packed[i] = *job;
        packed[i].first = first;
        memcpy(&region[first], &r->region[job->first], job->count * sizeof *region);
        first += job->count;
        packed[i].edge = r->cells > 0 ? g->edge.device : NULL;
        packed[i].leaves = r->cells > 0 ? (float *)w->leaves.device + i * r->cells : NULL;
        memset(&leaves[i * r->cells], 0, r->cells * sizeof *leaves);
    }
}

/* Copy the results of the i-th packed job to `job`.
 * @return 1: it is done; 0: it exceeded its capacity, and `job` is unchanged */
static int refine_unpack(aw_gpu_state *g, const refinement *r, size_t i, aw_job *job)
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

/* Refine jobs which[0 .. *n-1]; those that exceeded their capacity remain in it. */
static aw_status refine_jobs(aw_gpu_state *g, const refinement *r, size_t *which, size_t *n,
                             aw_work *work)
{
    aw_gpu_workspace *w = &g->workspace[0];
    aw_status status = AW_OK;
    size_t regions = 0, left = 0;
    for (size_t i = 0; i < *n; ++i) regions += r->job[which[i]].count;
    AW_TRY(refine_grow(g, r, *n, regions));
    refine_pack(g, r, which, *n);
    const aw_gpu_refine call = {.history = g->exact,
                                .point = g->at.device,
                                .start = w->region.device,
                                .job = w->job.device,
                                .jobs = *n,
                                .blocks = (int)r->blocks,
                                .capacity = r->capacity,
                                .region = w->pool.device,
                                .heap = w->heap.device,
                                .density = g->density,
                                .scales = *r->scales,
                                .work = w->work.device};
    AW_TRY(aw_gpu_to_device(g, 0, &w->region, regions * sizeof(aw_region)));
    AW_TRY(aw_gpu_to_device(g, 0, &w->job, *n * sizeof(aw_job)));
    AW_TRY(aw_gpu_to_device(g, 0, &w->leaves, *n * r->cells * sizeof(float)));
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_refine, r->blocks, &call));
    AW_TRY(aw_gpu_to_host(g, 0, &w->job, *n * sizeof(aw_job)));
    AW_TRY(aw_gpu_to_host(g, 0, &w->leaves, *n * r->cells * sizeof(float)));
    AW_TRY(aw_gpu_to_host(g, 0, &w->work, r->blocks * sizeof(aw_work)));
    AW_TRY(aw_gpu_wait(g, 0));
    aw_gpu_work_sum(&w->work, r->blocks, work);
    for (size_t i = 0; i < *n; ++i)
        if (!refine_unpack(g, r, i, &r->job[which[i]])) which[left++] = which[i];
    *n = left;
done:
    return status;
}

/* Refine jobs which[0 .. n-1] with a small capacity, and those that exceed it with the largest. */
static aw_status refine_chunk(aw_gpu_state *g, refinement *r, size_t *which, size_t n,
                              aw_work *work)
{
    aw_status status = AW_OK;
    size_t max_count = 0;
    for (size_t i = 0; i < n; ++i)
        if (r->job[which[i]].count > max_count) max_count = r->job[which[i]].count;
    const size_t wanted =
        2 * max_count > AW_GPU_FIRST_CAPACITY ? 2 * max_count : AW_GPU_FIRST_CAPACITY;
    const size_t many = (size_t)g->info.processors * AW_GPU_REFINING;
    r->capacity = wanted < AW_REFINE_MAX ? (uint32_t)wanted : AW_REFINE_MAX;
    r->blocks =
        r->capacity == AW_REFINE_MAX && many > AW_GPU_REFINING_LARGE ? AW_GPU_REFINING_LARGE : many;
    if (r->blocks > n) r->blocks = n;
    AW_TRY(refine_jobs(g, r, which, &n, work));
    r->capacity = AW_REFINE_MAX;
    r->blocks = n < AW_GPU_REFINING_LARGE ? n : AW_GPU_REFINING_LARGE;
    if (n > 0) AW_TRY(refine_jobs(g, r, which, &n, work));
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
