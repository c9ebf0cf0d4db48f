/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several devices: form factors. Bins are runs of particles, each with sums of its own for all
 * waves; the sums are added in the order of the bins. */
#include <string.h>

#include "kernels/multi/multi.h"
#include "src/base/comm.h"
#include "src/base/memory.h"

/* Bins of a device, and particles that a bin should have: it costs a pass over all sums. */
enum { BINS_PER_DEVICE = 8, PARTICLES_PER_BIN = 32 * AW_FORM_BLOCK };

typedef struct form_bins {
    aw_multi *multi;
    const aw_form_call *call;
    double **sum; /* [bins]: owned; NULL: of another rank */
    size_t bins;
} form_bins;

size_t aw_multi_form_copies(const aw_device *device)
{
    const int devices = aw_multi_count(device);
    return devices > 1 || aw_comm_size() > 1 ? (size_t)devices * BINS_PER_DEVICE : 1;
}

static aw_status form_bin(const aw_device *device, void *context, size_t bin)
{
    const form_bins *c = context;
    const size_t *first = &c->multi->first[bin], numbers = aw_form_numbers(c->call);
    aw_form_call part = *c->call;
    if (!device->ops->form_factor) return AW_ERR_BACKEND;
    if (!c->sum[bin]) c->sum[bin] = aw_alloc(numbers, sizeof **c->sum);
    if (!c->sum[bin]) return AW_ERR_NOMEM;
    memset(c->sum[bin], 0, numbers * sizeof **c->sum); /* a device that failed may have begun */
    for (int i = 0; i < 3; ++i) part.at[i] += first[0];
    part.weight += first[0];
    part.particles = first[1] - first[0];
    part.sum = c->sum[bin];
    return device->ops->form_factor(device->state, &part);
}

/* Whole blocks of particles for each bin. */
static aw_status cut(form_bins *c)
{
    aw_multi *multi = c->multi;
    const size_t blocks = (c->call->particles + AW_FORM_BLOCK - 1) / AW_FORM_BLOCK;
    aw_status status = AW_OK;
    AW_TRY(aw_multi_grow_bins(multi, c->bins));
    c->sum = aw_alloc(c->bins, sizeof *c->sum);
    AW_TRY(c->sum ? AW_OK : AW_ERR_NOMEM);
    for (size_t b = 0; b <= c->bins; ++b) {
        const size_t at = b * blocks / c->bins * AW_FORM_BLOCK;
        multi->first[b] = at < c->call->particles ? at : c->call->particles;
    }
    for (size_t b = 0; b < c->bins; ++b)
        multi->weight[b] = (double)(multi->first[b + 1] - multi->first[b]);
done:
    return status;
}

static void merge(const form_bins *c)
{
    const size_t numbers = aw_form_numbers(c->call);
    for (size_t b = 0; b < c->bins; ++b)
        for (size_t i = 0; c->sum[b] && i < numbers; ++i) c->call->sum[i] += c->sum[b][i];
}

/* The same over the bins of all ranks, with the same bits whichever rank did which bin. */
static aw_status merge_ranks(const form_bins *c)
{
    const size_t numbers = aw_form_numbers(c->call);
    aw_exchange *exact = &c->multi->exact;
    aw_status status = AW_OK;
    aw_exchange_begin(exact, 1);
    for (size_t b = 0; b < c->bins; ++b)
        for (size_t i = 0; c->multi->mine[b] && i < numbers; ++i)
            aw_exchange_note(exact, 0, c->sum[b][i]);
    AW_TRY(aw_exchange_open(exact, numbers, c->bins));
    for (size_t b = 0; b < c->bins; ++b)
        for (size_t i = 0; c->multi->mine[b] && i < numbers; ++i)
            aw_exchange_add(exact, i, 0, c->sum[b][i]);
    aw_exchange_sum(exact);
    for (size_t i = 0; i < numbers; ++i) c->call->sum[i] += aw_exchange_get(exact, i, 0);
done:
    return status;
}

aw_status aw_multi_form_factor(void *state, const aw_form_call *call)
{
    aw_multi *multi = state;
    const size_t most = (size_t)aw_multi_working(multi) * BINS_PER_DEVICE;
    const size_t full = (call->particles + PARTICLES_PER_BIN - 1) / PARTICLES_PER_BIN;
    form_bins c = {.multi = multi, .call = call, .bins = full < most ? full : most};
    aw_status status = AW_OK;
    if (call->particles == 0) return AW_OK;
    if (c.bins == 0) return AW_ERR_BACKEND; /* all devices are lost */
    AW_TRY(aw_comm_agree(cut(&c)));
    const aw_bin_list list = {AW_WORK_FORM, form_bin, &c, multi->weight, c.bins, SIZE_MAX};
    AW_TRY(aw_multi_run_bins(multi, &list));
    if (multi->ranks > 1)
        AW_TRY(merge_ranks(&c));
    else
        merge(&c);
done:
    for (size_t b = 0; c.sum && b < c.bins; ++b) aw_free(c.sum[b]);
    aw_free(c.sum);
    return status;
}
