/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Form factors on several devices and ranks. Bins are runs of particles, which depend on their
 * number alone; what a bin gives is rounded to whole multiples of a unit, and whole numbers have
 * the same sum in any order. So the bits depend neither on the number of devices and ranks nor on
 * which of them did what, and each rank keeps one sum for all of its bins. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "kernels/multi/multi.h"
#include "src/base/comm.h"
#include "src/base/memory.h"

/* A bin costs some passes over all sums, as long as 150 particles take: 1 % of PARTICLES_LEAST,
 * which up to BINS_FEW bins have. Larger problems have so many bins until each has PARTICLES_MANY;
 * and at most BINS_MOST. */
enum {
    PARTICLES_LEAST = 64 * AW_FORM_BLOCK,
    BINS_FEW = 32,
    PARTICLES_MANY = 256 * AW_FORM_BLOCK,
    BINS_MOST = 256
};
/* A sum of a bin is at most 2^50 units, so that adding AW_FORM_WHOLE makes it a whole number: an
 * error of 1e-15 of the bin. The sum of all bins is then below 2^58. */
enum { UNIT_BITS = 50 };
/* Of weights that are all nearly zero: 2^bits must be a double. */
enum { BITS_MOST = 900 };
/* Bytes of a wave: the sums of a rank, those of a bin, and those inside a second device. */
enum { RANK_BYTES = 16, BIN_BYTES = 16, INSIDE_BYTES = 24 };

typedef struct form_bins {
    const aw_multi *multi; /* NULL: a lone device */
    const aw_form_call *call;
    size_t bins, numbers;        /* numbers: of `sum` of the call */
    size_t first[BINS_MOST + 1]; /* particles */
    double weight[BINS_MOST];    /* their number */
    int bits;                    /* a sum counts as 2^bits times itself, */
    int64_t *total;              /* [numbers], owned: all bins of this rank so far */
    double *sum[AW_DEVICES_MAX]; /* [numbers], owned: of the bin that a device does; or NULL */
    pthread_mutex_t lock;        /* of total */
} form_bins;

size_t aw_multi_form_bytes(const aw_device *device)
{
    const int devices = aw_multi_count(device);
    if (devices == 1 && aw_comm_size() == 1 && !device->ops->on_host) return 0;
    return RANK_BYTES + (size_t)devices * BIN_BYTES + (size_t)(devices - 1) * INSIDE_BYTES;
}

/* ------------------------------------------------------------------------------------ bins */

/* Add sums to the total as whole numbers. @return 0, and nothing is added: one of them is not
 * finite, or larger than sums of these particles can be */
static int add_whole(const form_bins *c, const double *sum)
{
    const double scale = ldexp(1.0, c->bits), most = ldexp(1.0, UNIT_BITS + 1);
    int good = 1;
    for (size_t i = 0; i < c->numbers; ++i) good &= fabs(scale * sum[i]) <= most;
    for (size_t i = 0; good && i < c->numbers; ++i) {
        const double shifted = scale * sum[i] + AW_FORM_WHOLE, zero = AW_FORM_WHOLE;
        int64_t bits, none;
        memcpy(&bits, &shifted, sizeof bits);
        memcpy(&none, &zero, sizeof none);
        c->total[i] += bits - none;
    }
    return good;
}

/* Do a bin on a device, with a buffer for its sums. */
static aw_status do_bin(form_bins *c, const aw_device *device, double **sum, size_t bin)
{
    aw_form_call part = *c->call;
    if (!device->ops->form_factor) return AW_ERR_BACKEND;
    if (!*sum) *sum = aw_alloc(c->numbers, sizeof **sum);
    if (!*sum) return AW_ERR_NOMEM;
    memset(*sum, 0, c->numbers * sizeof **sum);
    for (int i = 0; i < 3; ++i) part.at[i] += c->first[bin];
    part.weight += c->first[bin];
    part.particles = c->first[bin + 1] - c->first[bin];
    part.sum = *sum;
    const aw_status status = device->ops->form_factor(device->state, &part);
    if (status != AW_OK) return status;
    pthread_mutex_lock(&c->lock);
    const int good = add_whole(c, *sum);
    pthread_mutex_unlock(&c->lock);
    return good ? AW_OK : AW_ERR_NONFINITE;
}

static aw_status form_bin(const aw_device *device, void *context, size_t bin)
{
    form_bins *c = context;
    int i = 0;
    while (&c->multi->member[i].named.device != device) ++i;
    return do_bin(c, device, &c->sum[i], bin);
}

/* ------------------------------------------------------------------------------------ call */

/* Whole blocks of particles for each bin, and the unit: from the largest sum of magnitudes of the
 * weights of a bin, which bounds its sums. */
static aw_status cut(form_bins *c)
{
    const aw_form_call *call = c->call;
    const size_t n = call->particles, blocks = (n + AW_FORM_BLOCK - 1) / AW_FORM_BLOCK;
    const size_t few = (n + PARTICLES_LEAST - 1) / PARTICLES_LEAST;
    const size_t many = n / PARTICLES_MANY < BINS_MOST ? n / PARTICLES_MANY : BINS_MOST;
    double most = 0.0;
    int exponent = 0;
    c->bins = few < BINS_FEW ? few : (many > BINS_FEW ? many : BINS_FEW);
    for (size_t b = 0; b <= c->bins; ++b) {
        const size_t at = b * blocks / c->bins * AW_FORM_BLOCK;
        c->first[b] = at < n ? at : n;
    }
    for (size_t b = 0; b < c->bins; ++b) {
        double all = 0.0;
        for (size_t j = c->first[b]; j < c->first[b + 1]; ++j) all += fabs(call->weight[j]);
        if (!isfinite(all)) return AW_ERR_NONFINITE;
        most = fmax(most, all);
        c->weight[b] = (double)(c->first[b + 1] - c->first[b]);
    }
    frexp(most, &exponent); /* most < 2^exponent */
    c->bits = UNIT_BITS - exponent < BITS_MOST ? UNIT_BITS - exponent : BITS_MOST;
    c->numbers = aw_form_numbers(call);
    c->total = aw_alloc(c->numbers, sizeof *c->total);
    return c->total ? AW_OK : AW_ERR_NOMEM;
}

static void finish(const form_bins *c)
{
    for (size_t i = 0; i < c->numbers; ++i) c->call->sum[i] += ldexp((double)c->total[i], -c->bits);
}

static void release(form_bins *c)
{
    for (int i = 0; i < AW_DEVICES_MAX; ++i) aw_free(c->sum[i]);
    aw_free(c->total);
    pthread_mutex_destroy(&c->lock);
}

aw_status aw_multi_form_factor(void *state, const aw_form_call *call)
{
    aw_multi *multi = state;
    form_bins c = {.multi = multi, .call = call, .lock = PTHREAD_MUTEX_INITIALIZER};
    aw_status status = AW_OK;
    if (call->particles == 0) return AW_OK;
    status = cut(&c);
    if (status == AW_OK) status = aw_multi_grow_bins(multi, c.bins);
    AW_TRY(aw_comm_agree(status));
    if (aw_multi_working(multi) == 0) AW_TRY(AW_ERR_BACKEND); /* all devices are lost */
    const aw_bin_list list = {AW_WORK_FORM, form_bin, &c, c.weight, c.bins, SIZE_MAX};
    AW_TRY(aw_multi_run_bins(multi, &list));
    if (multi->ranks > 1) aw_comm_sum_whole(c.total, c.numbers);
    finish(&c);
done:
    release(&c);
    return status;
}

aw_status aw_multi_form_sum(const aw_device *device, const aw_form_call *call)
{
    form_bins c = {.call = call, .lock = PTHREAD_MUTEX_INITIALIZER};
    aw_status status = AW_OK;
    if (device->ops->form_factor == aw_multi_form_factor || !device->ops->on_host ||
        call->particles == 0)
        return device->ops->form_factor(device->state, call);
    AW_TRY(cut(&c));
    for (size_t b = 0; b < c.bins; ++b) AW_TRY(do_bin(&c, device, &c.sum[0], b));
    finish(&c);
done:
    release(&c);
    return status;
}
