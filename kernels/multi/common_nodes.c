/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that all points share, which several devices shares out: in runs of them, each with sums of
 * its own. What is to be convolved next to the points is one more bin, for a device that can: it
 * waits for the nodes that come next, so that the other units have something to do beside it. */
#include <string.h>

#include "kernels/multi/multi.h"
#include "src/base/comm.h"
#include "src/base/memory.h"

/* Runs of nodes and, after them, what is to be convolved. */
typedef struct shared_call {
    aw_multi *u;
    const aw_common_rule *shared; /* NULL: no nodes */
    const aw_scales *scales;
    size_t runs;
    size_t (*tables)[3]; /* [runs]: tables, directions, offsets */
} shared_call;

/* Whether something is to be convolved. */
static int convolves(const aw_multi *u) { return u->near.nodes > 0; }

static aw_status convolve_bin(const aw_device *device, aw_multi *u, size_t bin)
{
    aw_common_rule near = u->near;
    near.I = u->I + bin * u->points;
    memset(near.I, 0, u->points * sizeof *near.I);
    return device->ops->convolve(device->state, &near);
}

static aw_status integrate_bin(const aw_device *device, void *call, size_t bin)
{
    const shared_call *c = call;
    aw_multi *u = c->u;
    const size_t *first = &u->first[bin], at = bin * u->points;
    if (bin == c->runs) return convolve_bin(device, u, bin);
    aw_common_rule mine = *c->shared;
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

/* How many nodes took as long as what was convolved: on the same unit, if it had nodes too. */
static double weigh_near(const aw_multi *u, size_t runs)
{
    double nodes[2] = {0.0}, seconds[2] = {0.0}; /* of all devices, of the one */
    if (!u->mine[runs]) return 0.0;
    for (size_t b = 0; b < runs; ++b) {
        if (!u->mine[b]) continue;
        const int same = u->by[b] == u->by[runs];
        nodes[0] += u->weight[b];
        seconds[0] += u->spent[b];
        nodes[1] += same ? u->weight[b] : 0.0;
        seconds[1] += same ? u->spent[b] : 0.0;
    }
    const int i = seconds[1] > 0.0;
    return seconds[i] > 0.0 ? u->spent[runs] * nodes[i] / seconds[i] : 0.0;
}

/* Sums of all ranks in the wire: over the runs, in their order, of the points and of their checks,
 * and the tables' three numbers; then what was convolved, and its weight. */
static aw_status merge(const shared_call *c, const double **sums, const double **near)
{
    aw_multi *u = c->u;
    const size_t width = AW_RESULTS + 1, far = u->points * width + 3;
    const size_t n = far + (convolves(u) ? u->points * AW_RESULTS + 1 : 0);
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(aw_multi_grow_exchange(u, n)));
    for (size_t b = 0; b < c->runs; ++b) {
        if (!u->mine[b]) continue;
        for (size_t p = 0; p < u->points; ++p) {
            const size_t at = b * u->points + p;
            for (unsigned k = 0; k < AW_RESULTS; ++k) u->wire[p * width + k] += u->I[at][k];
            u->wire[p * width + AW_RESULTS] += u->error[at];
        }
        for (size_t i = 0; i < 3; ++i) u->wire[far - 3 + i] += (double)c->tables[b][i];
    }
    if (convolves(u) && u->mine[c->runs]) {
        memcpy(&u->wire[far], u->I[c->runs * u->points], u->points * sizeof *u->I);
        u->wire[n - 1] = weigh_near(u, c->runs);
    }
    aw_comm_sum(u->wire, n);
    *sums = u->wire;
    *near = u->wire + far;
done:
    return status;
}

/* How the nodes are cut, and room for what is found. */
static aw_status prepare(const shared_call *c, size_t nodes, size_t bins)
{
    aw_multi *u = c->u;
    aw_status status = AW_OK;
    AW_TRY(aw_multi_grow_bins(u, bins));
    AW_TRY(aw_multi_grow_sums(u, bins));
    for (size_t b = 0; b <= c->runs; ++b) u->first[b] = c->runs ? b * nodes / c->runs : 0;
    for (size_t b = 0; b < c->runs; ++b) u->weight[b] = (double)(u->first[b + 1] - u->first[b]);
    /* Not known: about as much as all nodes, as is usual. */
    if (convolves(u)) u->weight[c->runs] = u->near_weight > 0.0 ? u->near_weight : (double)nodes;
done:
    return status;
}

aw_status aw_multi_integrate(void *state, aw_common_rule *shared, const aw_scales *scales,
                             aw_work *work)
{
    aw_multi *u = state;
    const size_t units = (size_t)u->everyone, nodes = shared ? shared->nodes : 0;
    const size_t wanted = units > 1 ? units * AW_BLOCKS_PER_DEVICE : 1;
    const double *sum, *near;
    aw_status status = AW_OK;
    shared_call call = {u, shared, scales, nodes < wanted ? nodes : wanted,
                        aw_alloc(wanted, 3 * sizeof(size_t))};
    const size_t bins = call.runs + (convolves(u) ? 1 : 0);
    AW_TRY(aw_comm_agree(call.tables ? AW_OK : AW_ERR_NOMEM));
    AW_TRY(aw_comm_agree(prepare(&call, nodes, bins)));
    AW_TRY(aw_multi_run_bins(u, AW_WORK_INTEGRATE, integrate_bin, &call, u->weight, bins,
                             convolves(u) ? call.runs : SIZE_MAX));
    AW_TRY(merge(&call, &sum, &near));
    for (size_t p = 0; shared && p < u->points; ++p, sum += AW_RESULTS + 1) {
        for (unsigned k = 0; k < AW_RESULTS; ++k) shared->I[p][k] += sum[k];
        if (shared->check) shared->check[p] += sum[AW_RESULTS];
    }
    if (shared) {
        shared->tables = (size_t)sum[0];
        shared->directions = (size_t)sum[1];
        shared->offsets = (size_t)sum[2];
    }
    if (convolves(u)) {
        for (size_t p = 0; p < u->points; ++p)
            for (unsigned k = 0; k < AW_RESULTS; ++k) u->near.I[p][k] += *near++;
        if (*near > 0.0) u->near_weight = *near;
    }
    aw_multi_work_sum(u, call.runs, work);
done:
    u->near.nodes = 0;
    aw_free(call.tables);
    return status;
}

aw_status aw_multi_convolve(void *state, const aw_common_rule *shared)
{
    aw_multi *u = state;
    u->near = *shared;
    return AW_OK;
}

aw_status aw_multi_wait(void *state)
{
    aw_multi *u = state;
    aw_work none = {0};
    return convolves(u) ? aw_multi_integrate(u, NULL, NULL, &none)
                        : AW_OK; /* bins have been waited for */
}
