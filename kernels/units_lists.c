/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists that a set of units shares out: regions, jobs, and nodes that all points share. */
#include <string.h>

#include "kernels/units_set.h"

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
    c->u->work[bin] = (aw_work){0};
    return device->ops->sweep(device->state, c->region + first[0], first[1] - first[0], c->scales,
                              &c->u->work[bin]);
}

aw_status aw_set_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                       aw_work *work)
{
    aw_unit_set *u = state;
    aw_status status = AW_OK;
    const size_t most = n / aw_set_bins(u) + 1;
    size_t bins = 0;
    list_call call = {.u = u, .region = region, .scales = scales};
    AW_TRY(aw_set_grow_bins(u, aw_set_bins(u)));
    for (size_t at = 0; at < n;) { /* a point is not cut */
        u->first[bins] = at;
        at = at + most < n ? at + most : n;
        while (at < n && region[at].point == region[at - 1].point) ++at;
        u->weight[bins] = (double)(at - u->first[bins]);
        u->first[++bins] = at;
    }
    AW_TRY(aw_set_share_out(u, AW_SHARE_SWEEP, sweep_bin, &call, u->weight, bins));
    aw_set_collect(u, bins, work);
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

aw_status aw_set_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                        const aw_scales *scales, aw_work *work)
{
    aw_unit_set *u = state;
    aw_status status = AW_OK;
    const size_t wanted = aw_set_bins(u), bins = jobs < wanted ? jobs : wanted;
    list_call call = {.u = u, .region = region, .job = job, .scales = scales};
    AW_TRY(aw_set_grow_bins(u, bins));
    for (size_t b = 0; b <= bins; ++b) u->first[b] = bins ? b * jobs / bins : 0;
    for (size_t b = 0; b < bins; ++b) u->weight[b] = (double)(u->first[b + 1] - u->first[b]);
    AW_TRY(aw_set_share_out(u, AW_SHARE_REFINE, refine_bin, &call, u->weight, bins));
    aw_set_collect(u, bins, work);
done:
    return status;
}

/* Nodes that all points share: bins are runs of them, each with sums of its own. */
typedef struct shared_call {
    aw_unit_set *u;
    const aw_shared *shared;
    const aw_scales *scales;
    size_t *tables; /* [bins][3]: tables, directions, offsets */
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
    u->work[bin] = (aw_work){0};
    const aw_status status = device->ops->integrate(device->state, &mine, c->scales, &u->work[bin]);
    c->tables[3 * bin] = mine.tables;
    c->tables[3 * bin + 1] = mine.directions;
    c->tables[3 * bin + 2] = mine.offsets;
    return status;
}

static void merge_shared(const shared_call *c, aw_shared *shared, size_t bins)
{
    const aw_unit_set *u = c->u;
    shared->tables = shared->directions = shared->offsets = 0;
    for (size_t b = 0; b < bins; ++b) {
        const size_t at = b * u->points;
        for (size_t p = 0; p < u->points; ++p) {
            for (unsigned k = 0; k < AW_RESULTS; ++k) shared->I[p][k] += u->I[at + p][k];
            if (shared->check) shared->check[p] += u->error[at + p];
        }
        shared->tables += c->tables[3 * b];
        shared->directions += c->tables[3 * b + 1];
        shared->offsets += c->tables[3 * b + 2];
    }
}

aw_status aw_set_integrate(void *state, aw_shared *shared, const aw_scales *scales, aw_work *work)
{
    aw_unit_set *u = state;
    aw_status status = AW_OK;
    const size_t left = (size_t)aw_set_left(u);
    const size_t wanted = left > 1 ? left * AW_BLOCKS_A_UNIT : 1, n = shared->nodes;
    const size_t bins = n < wanted ? n : wanted;
    size_t tables[AW_UNITS_MAX * AW_BLOCKS_A_UNIT][3];
    shared_call call = {u, shared, scales, tables[0]};
    AW_TRY(aw_set_grow_bins(u, bins));
    AW_TRY(aw_set_grow_sums(u, bins));
    for (size_t b = 0; b <= bins; ++b) u->first[b] = bins ? b * n / bins : 0;
    for (size_t b = 0; b < bins; ++b) u->weight[b] = (double)(u->first[b + 1] - u->first[b]);
    AW_TRY(aw_set_share_out(u, AW_SHARE_INTEGRATE, integrate_bin, &call, u->weight, bins));
    merge_shared(&call, shared, bins);
    aw_set_collect(u, bins, work);
done:
    return status;
}
