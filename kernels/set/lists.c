/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists that a set of units shares out: regions, jobs, and nodes that all points share. */
#include <string.h>

#include "kernels/set/set.h"
#include "src/base/comm.h"
#include "src/base/memory.h"

/* A list of regions or of jobs. */
typedef struct list_call {
    aw_unit_set *u;
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

aw_status aw_set_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                       aw_work *work)
{
    aw_unit_set *u = state;
    aw_status status = AW_OK;
    const size_t wanted = aw_set_bins(aw_set_left(u)), most = n / wanted + 1;
    size_t bins = 0;
    list_call call = {.u = u, .region = region, .scales = scales};
    AW_TRY(aw_comm_agree(aw_set_grow_bins(u, wanted)));
    for (size_t at = 0; at < n;) { /* a point is not cut */
        u->first[bins] = at;
        at = at + most < n ? at + most : n;
        while (at < n && region[at].point == region[at - 1].point) ++at;
        u->weight[bins] = (double)(at - u->first[bins]);
        u->first[++bins] = at;
    }
    AW_TRY(aw_set_share_out(u, AW_SHARE_SWEEP, sweep_bin, &call, u->weight, bins));
    aw_set_collect(u, AW_SHARE_SWEEP, bins, work);
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
static aw_status exchange_jobs(aw_unit_set *u, aw_job *job, size_t bins)
{
    enum { ERROR = AW_RESULTS, REGIONS, STATUS, NUMBERS };
    const size_t jobs = u->first[bins];
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(aw_set_wire(u, jobs * NUMBERS)));
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

aw_status aw_set_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                        const aw_scales *scales, aw_work *work)
{
    aw_unit_set *u = state;
    aw_status status = AW_OK;
    const size_t wanted = aw_set_bins(u->everyone), bins = jobs < wanted ? jobs : wanted;
    list_call call = {.u = u, .region = region, .job = job, .scales = scales};
    AW_TRY(aw_comm_agree(aw_set_grow_bins(u, bins)));
    for (size_t b = 0; b <= bins; ++b) u->first[b] = bins ? b * jobs / bins : 0;
    for (size_t b = 0; b < bins; ++b) u->weight[b] = (double)(u->first[b + 1] - u->first[b]);
    AW_TRY(aw_set_share_out(u, AW_SHARE_REFINE, refine_bin, &call, u->weight, bins));
    if (u->ranks > 1) AW_TRY(exchange_jobs(u, job, bins));
    aw_set_collect(u, AW_SHARE_REFINE, bins, work);
done:
    return status;
}

/* Nodes that all points share: bins are runs of them, each with sums of its own. */
typedef struct shared_call {
    aw_unit_set *u;
    const aw_shared *shared;
    const aw_scales *scales;
    size_t (*tables)[3]; /* [bins]: tables, directions, offsets */
} shared_call;

static aw_status integrate_bin(const aw_device *device, void *call, size_t bin)
{
    const shared_call *c = call;
    aw_unit_set *u = c->u;
    const size_t *first = &u->first[bin], at = bin * u->points;
    aw_shared mine = *c->shared;
    if (!device->ops->integrate) return AW_ERR_BACKEND;
    mine.node += first[0];
    mine.nodes = first[1] - first[0];
    mine.I = u->I + at;
    mine.check = c->shared->check ? u->error + at : NULL;
    memset(mine.I, 0, u->points * sizeof *mine.I);
    memset(u->error + at, 0, u->points * sizeof *u->error);
    const aw_status status = device->ops->integrate(device->state, &mine, c->scales, &u->work[bin]);
    c->tables[bin][0] = mine.tables;
    c->tables[bin][1] = mine.directions;
    c->tables[bin][2] = mine.offsets;
    return status;
}

/* Sums of all bins, in their order, in the wire: of the points, of their checks, and the tables'
 * three numbers; of all ranks. */
static aw_status merge_shared(const shared_call *c, size_t bins, const double **sums)
{
    aw_unit_set *u = c->u;
    const size_t width = AW_RESULTS + 1, n = u->points * width + 3;
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(aw_set_wire(u, n)));
    for (size_t b = 0; b < bins; ++b) {
        if (!u->mine[b]) continue;
        for (size_t p = 0; p < u->points; ++p) {
            const size_t at = b * u->points + p;
            for (unsigned k = 0; k < AW_RESULTS; ++k) u->wire[p * width + k] += u->I[at][k];
            u->wire[p * width + AW_RESULTS] += u->error[at];
        }
        for (size_t i = 0; i < 3; ++i) u->wire[n - 3 + i] += (double)c->tables[b][i];
    }
    aw_comm_sum(u->wire, n);
    *sums = u->wire;
done:
    return status;
}

aw_status aw_set_integrate(void *state, aw_shared *shared, const aw_scales *scales, aw_work *work)
{
    aw_unit_set *u = state;
    aw_status status = AW_OK;
    const size_t units = (size_t)u->everyone, n = shared->nodes;
    const size_t wanted = units > 1 ? units * AW_BLOCKS_A_UNIT : 1;
    const size_t bins = n < wanted ? n : wanted;
    const double *sum;
    shared_call call = {u, shared, scales, aw_alloc(wanted, 3 * sizeof(size_t))};
    AW_TRY(aw_comm_agree(call.tables ? AW_OK : AW_ERR_NOMEM));
    AW_TRY(aw_comm_agree(aw_set_grow_bins(u, bins)));
    AW_TRY(aw_comm_agree(aw_set_grow_sums(u, bins)));
    for (size_t b = 0; b <= bins; ++b) u->first[b] = bins ? b * n / bins : 0;
    for (size_t b = 0; b < bins; ++b) u->weight[b] = (double)(u->first[b + 1] - u->first[b]);
    AW_TRY(aw_set_share_out(u, AW_SHARE_INTEGRATE, integrate_bin, &call, u->weight, bins));
    AW_TRY(merge_shared(&call, bins, &sum));
    for (size_t p = 0; p < u->points; ++p) {
        for (unsigned k = 0; k < AW_RESULTS; ++k) shared->I[p][k] += *sum++;
        if (shared->check) shared->check[p] += *sum;
        ++sum;
    }
    shared->tables = (size_t)sum[0];
    shared->directions = (size_t)sum[1];
    shared->offsets = (size_t)sum[2];
    aw_set_collect(u, AW_SHARE_INTEGRATE, bins, work);
done:
    aw_free(call.tables);
    return status;
}
