/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several devices: common nodes, cut into runs that have sums of their own. A convolution is one
 * more bin, for a device that convolves. It is deferred to the next integration of common nodes, so
 * that the other devices have work at the same time. */
#include <string.h>

#include "kernels/multi/multi.h"
#include "src/base/comm.h"
#include "src/base/memory.h"

/* Bins: the runs of nodes and then, if pending, the convolution. */
typedef struct integrate_call {
    aw_multi *multi;
    aw_common_rule *rule; /* NULL: no nodes; its sums are added to */
    const aw_scales *scales;
    size_t runs;
    size_t (*tables)[3]; /* [runs]: tables, directions, offsets */
} integrate_call;

/* Whether a convolution is pending. */
static int is_pending(const aw_multi *multi) { return multi->convolution.nodes > 0; }

static aw_status convolve_bin(const aw_device *device, aw_multi *multi, size_t bin)
{
    aw_common_rule rule = multi->convolution;
    rule.I = multi->I + bin * multi->points;
    memset(rule.I, 0, multi->points * sizeof *rule.I);
    return device->ops->convolve(device->state, &rule);
}

static aw_status integrate_bin(const aw_device *device, void *call, size_t bin)
{
    const integrate_call *c = call;
    aw_multi *multi = c->multi;
    const size_t *first = &multi->first[bin], at = bin * multi->points;
    if (bin == c->runs) return convolve_bin(device, multi, bin);
    aw_common_rule mine = *c->rule;
    if (!device->ops->integrate) return AW_ERR_BACKEND;
    mine.node += first[0];
    mine.nodes = first[1] - first[0];
    mine.I = multi->I + at;
    mine.check = c->rule->check ? multi->error + at : NULL;
    memset(mine.I, 0, multi->points * sizeof *mine.I);
    memset(multi->error + at, 0, multi->points * sizeof *multi->error);
    const aw_status status =
        device->ops->integrate(device->state, &mine, c->scales, &multi->work[bin]);
    c->tables[bin][0] = mine.tables;
    c->tables[bin][1] = mine.directions;
    c->tables[bin][2] = mine.offsets;
    return status;
}

/* Cost of the convolution, as the number of nodes that took the same time: on the same device, if
 * it had nodes, too. */
static double convolution_cost(const aw_multi *multi, size_t runs)
{
    double nodes[2] = {0.0}, seconds[2] = {0.0}; /* on all devices, on the same device */
    if (!multi->mine[runs]) return 0.0;
    for (size_t b = 0; b < runs; ++b) {
        if (!multi->mine[b]) continue;
        const int same = multi->done_by[b] == multi->done_by[runs];
        nodes[0] += multi->weight[b];
        seconds[0] += multi->seconds[b];
        nodes[1] += same ? multi->weight[b] : 0.0;
        seconds[1] += same ? multi->seconds[b] : 0.0;
    }
    const int i = seconds[1] > 0.0;
    return seconds[i] > 0.0 ? multi->seconds[runs] * nodes[i] / seconds[i] : 0.0;
}

/* Sums at a point: the results, and the check. */
enum { NUMBERS = AW_RESULTS + 1 };

/* Add the sums of this rank's runs to those of the rule, in the order of the runs. */
static void merge_runs(const integrate_call *c)
{
    const aw_multi *multi = c->multi;
    const aw_common_rule *rule = c->rule;
    for (size_t p = 0; rule && p < multi->points; ++p) {
        double sum[NUMBERS] = {0.0};
        for (size_t b = 0; b < c->runs; ++b) {
            for (unsigned k = 0; k < AW_RESULTS; ++k) sum[k] += multi->I[b * multi->points + p][k];
            sum[AW_RESULTS] += multi->error[b * multi->points + p];
        }
        for (unsigned k = 0; k < AW_RESULTS; ++k) rule->I[p][k] += sum[k];
        if (rule->check) rule->check[p] += sum[AW_RESULTS];
    }
}

/* Note, or add, the numbers of this rank's runs. */
static void pass_runs(const integrate_call *c, int add)
{
    aw_multi *multi = c->multi;
    for (size_t b = 0; b < c->runs; ++b) {
        for (size_t p = 0; multi->mine[b] && p < multi->points; ++p)
            for (unsigned k = 0; k < NUMBERS; ++k) {
                const size_t at = b * multi->points + p;
                const double term = k < AW_RESULTS ? multi->I[at][k] : multi->error[at];
                if (add)
                    aw_exchange_add(&multi->exact, p, k, term);
                else
                    aw_exchange_note(&multi->exact, k, term);
            }
    }
}

/* The same for the runs of all ranks. */
static aw_status merge_ranks(const integrate_call *c)
{
    aw_multi *multi = c->multi;
    const aw_common_rule *rule = c->rule;
    aw_exchange *exact = &multi->exact;
    aw_status status = AW_OK;
    if (!rule) return AW_OK;
    aw_exchange_begin(exact, NUMBERS);
    pass_runs(c, 0);
    AW_TRY(aw_exchange_open(exact, multi->points, c->runs));
    pass_runs(c, 1);
    aw_exchange_sum(exact);
    for (size_t p = 0; p < multi->points; ++p) {
        for (unsigned k = 0; k < AW_RESULTS; ++k) rule->I[p][k] += aw_exchange_get(exact, p, k);
        if (rule->check) rule->check[p] += aw_exchange_get(exact, p, AW_RESULTS);
    }
done:
    return status;
}

/* Give all ranks the numbers of the tables, and the convolution, which rank 0 has done, with its
 * cost. @param[out] convolved  the convolution for each point; then its cost */
static aw_status share_rest(const integrate_call *c, double tables[3], const double **convolved)
{
    aw_multi *multi = c->multi;
    const size_t n = 3 + (is_pending(multi) ? multi->points * AW_RESULTS + 1 : 0);
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(aw_multi_grow_exchange(multi, n)));
    for (size_t b = 0; b < c->runs; ++b)
        for (size_t i = 0; multi->mine[b] && i < 3; ++i)
            multi->exchange[i] += (double)c->tables[b][i];
    if (is_pending(multi) && multi->mine[c->runs]) {
        memcpy(&multi->exchange[3], multi->I[c->runs * multi->points],
               multi->points * sizeof *multi->I);
        multi->exchange[n - 1] = convolution_cost(multi, c->runs);
    }
    aw_comm_sum(multi->exchange, n);
    memcpy(tables, multi->exchange, 3 * sizeof *tables);
    *convolved = multi->exchange + 3;
done:
    return status;
}

/* Cut the nodes into runs, and grow the arrays. */
static aw_status prepare(const integrate_call *c, size_t nodes, size_t bins)
{
    aw_multi *multi = c->multi;
    aw_status status = AW_OK;
    AW_TRY(aw_multi_grow_bins(multi, bins));
    AW_TRY(aw_multi_grow_sums(multi, bins));
    for (size_t b = 0; b <= c->runs; ++b) multi->first[b] = c->runs ? b * nodes / c->runs : 0;
    for (size_t b = 0; b < c->runs; ++b)
        multi->weight[b] = (double)(multi->first[b + 1] - multi->first[b]);
    /* If not known, assume the cost of all nodes, a usual value. */
    if (is_pending(multi))
        multi->weight[c->runs] =
            multi->convolution_weight > 0.0 ? multi->convolution_weight : (double)nodes;
done:
    return status;
}

aw_status aw_multi_integrate(void *state, aw_common_rule *rule, const aw_scales *scales,
                             aw_work *work)
{
    aw_multi *multi = state;
    const size_t devices = (size_t)multi->working, nodes = rule ? rule->nodes : 0;
    const size_t wanted = devices > 1 ? devices * AW_BLOCKS_PER_DEVICE : 1;
    const double *convolved;
    double tables[3];
    aw_status status = AW_OK;
    integrate_call call = {multi, rule, scales, nodes < wanted ? nodes : wanted,
                           aw_alloc(wanted, 3 * sizeof(size_t))};
    const size_t bins = call.runs + (is_pending(multi) ? 1 : 0);
    AW_TRY(aw_comm_agree(call.tables ? AW_OK : AW_ERR_NOMEM));
    AW_TRY(aw_comm_agree(prepare(&call, nodes, bins)));
    const aw_bin_list list = {
        AW_WORK_INTEGRATE, integrate_bin, &call,
        multi->weight,     bins,          is_pending(multi) ? call.runs : SIZE_MAX};
    AW_TRY(aw_multi_run_bins(multi, &list));
    AW_TRY(share_rest(&call, tables, &convolved));
    if (multi->ranks > 1)
        AW_TRY(merge_ranks(&call));
    else
        merge_runs(&call);
    if (rule) {
        rule->tables = (size_t)tables[0];
        rule->directions = (size_t)tables[1];
        rule->offsets = (size_t)tables[2];
    }
    if (is_pending(multi)) {
        for (size_t p = 0; p < multi->points; ++p)
            for (unsigned k = 0; k < AW_RESULTS; ++k) multi->convolution.I[p][k] += *convolved++;
        if (*convolved > 0.0) multi->convolution_weight = *convolved;
    }
    aw_multi_work_sum(multi, call.runs, work);
done:
    multi->convolution.nodes = 0;
    aw_free(call.tables);
    return status;
}

aw_status aw_multi_convolve(void *state, const aw_common_rule *rule)
{
    aw_multi *multi = state;
    multi->convolution = *rule;
    return AW_OK;
}

aw_status aw_multi_wait(void *state)
{
    aw_multi *multi = state;
    aw_work none = {0};
    return is_pending(multi) ? aw_multi_integrate(multi, NULL, NULL, &none)
                             : AW_OK; /* aw_multi_run_bins has waited for all bins */
}
