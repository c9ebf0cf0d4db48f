/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/form_factor/form_factor.h"

#include <math.h>
#include <string.h>

#include "kernels/multi/devices.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Bytes of a particle: position and charge. Bytes of a wave: F, the sums of the call, those inside
 * a device and, of a list, the wave itself; without those of bins (aw_multi_form_bytes). */
enum { PARTICLE_BYTES = 4 * sizeof(double), WAVE_BYTES = 104 };
/* Bytes of what does not grow with the parts: factors of blocks of particles. */
#define FIXED_BYTES ((size_t)6 << 20)
/* Largest phase [rad]: below it, quarter turns can be counted (aw_phase_of). */
#define PHASE_MAX 1e15

/* A part of the particles in memory. */
typedef struct particles {
    double *at[3], *charge; /* [most] each, owned */
    size_t most;            /* capacity */
    size_t waves_most;      /* waves of a part */
} particles;

typedef struct task {
    const aw_device *device;
    const aw_form_source *source;
    const aw_form_options *options;
    const aw_form_sink *sink;
    double reach[3]; /* largest components of all waves [1/m] */
    particles part;
    double charge, squares; /* sums of charges, and of their squares; complete after one pass */
    int passed;             /* 1: they are */
} task;

/* Divide the budget. */
static void choose_parts(task *t, size_t waves)
{
    const size_t wanted = t->options->memory ? t->options->memory : AW_FORM_MEMORY;
    const size_t budget = wanted > AW_FORM_MEMORY_LEAST ? wanted : AW_FORM_MEMORY_LEAST;
    const size_t left = budget - FIXED_BYTES;
    const size_t fit = left / 4 / PARTICLE_BYTES / AW_FORM_BLOCK * AW_FORM_BLOCK;
    t->part.most = t->source->n < fit ? t->source->n : fit;
    t->part.waves_most =
        (left - t->part.most * PARTICLE_BYTES) / (WAVE_BYTES + aw_multi_form_bytes(t->device));
    if (t->part.waves_most > waves) t->part.waves_most = waves;
}

static aw_status allocate(particles *p)
{
    for (int i = 0; i < 4; ++i) {
        double *column = aw_alloc(p->most, sizeof *column);
        if (!column) return AW_ERR_NOMEM;
        *(i < 3 ? &p->at[i] : &p->charge) = column;
    }
    return AW_OK;
}

/* Check the particles of a part, and add up their charges at the first pass. */
static aw_status check_part(task *t, size_t first, size_t n)
{
    const particles *p = &t->part;
    double charge = 0.0, squares = 0.0;
    for (size_t j = 0; j < n; ++j) {
        const double phase = t->reach[0] * fabs(p->at[0][j]) + t->reach[1] * fabs(p->at[1][j]) +
                             t->reach[2] * fabs(p->at[2][j]);
        if (!isfinite(phase) || !isfinite(p->charge[j]))
            return aw_error(AW_ERR_ARG, "form factor: particle %zu is not finite (remove it)",
                            first + j + 1);
        if (!(phase <= PHASE_MAX))
            return aw_error(AW_ERR_ARG,
                            "form factor: the phase %.3g of particle %zu is beyond %g (count "
                            "positions from the centre of the bunch, or take smaller wave vectors)",
                            phase, first + j + 1, PHASE_MAX);
        charge += p->charge[j];
        squares += p->charge[j] * p->charge[j];
    }
    if (t->passed) return AW_OK;
    t->charge += charge;
    t->squares += squares;
    return AW_OK;
}

/* The sums of one part of the waves over all particles. */
static aw_status sum_part(task *t, const aw_wave_pairs *pairs, double *sum)
{
    aw_form_call call = {.outer = pairs->outer,
                         .inner = pairs->inner,
                         .outers = pairs->outers,
                         .inners = pairs->inners,
                         .weight = t->part.charge,
                         .single = t->options->single,
                         .sum = sum};
    aw_status status = AW_OK;
    for (int c = 0; c < 3; ++c) call.at[c] = t->part.at[c];
    for (size_t at = 0; at < t->source->n; at += call.particles) {
        const size_t left = t->source->n - at;
        call.particles = left < t->part.most ? left : t->part.most;
        status =
            t->source->read(t->source->context, at, call.particles, t->part.at, t->part.charge);
        if (status == AW_OK) status = check_part(t, at, call.particles);
        AW_TRY(aw_comm_agree(status));
        AW_TRY(aw_multi_form_sum(t->device, &call));
    }
    if (!t->passed && !(fabs(t->charge) > 0.0))
        status = aw_error(AW_ERR_ARG, "form factor: the charges of the particles add up to zero");
    t->passed = 1;
done:
    return status;
}

/* F of a part of the waves in their order. */
static void order_part(const task *t, const aw_waves *part, const aw_wave_pairs *pairs,
                       const double *sum, double (*F)[2])
{
    for (size_t a = 0; a < pairs->outers; ++a) {
        if (pairs->inners == 0)
            for (int i = 0; i < 2; ++i) F[a][i] = sum[2 * a + (size_t)i] / t->charge;
        for (size_t b = 0; b < pairs->inners; ++b) {
            const double *both = &sum[4 * (a * pairs->inners + b)];
            size_t index[2];
            aw_wave_pairs_index(part, pairs, a, b, index);
            for (int side = 0; side < 2; ++side)
                for (int i = 0; index[side] != SIZE_MAX && i < 2; ++i)
                    F[index[side]][i] = both[2 * side + i] / t->charge;
        }
    }
}

static aw_status do_part(task *t, const aw_waves *part, size_t first)
{
    const size_t n = aw_waves_count(part);
    aw_wave_pairs pairs = {.outers = 0};
    double *sum = NULL;
    double(*F)[2] = NULL;
    aw_status status = AW_OK;
    AW_TRY(aw_wave_pairs_new(part, &pairs));
    sum = aw_alloc(pairs.outers * (pairs.inners ? 4 * pairs.inners : 2), sizeof *sum);
    F = aw_alloc(n, sizeof *F);
    AW_TRY(aw_comm_agree(sum && F ? AW_OK : AW_ERR_NOMEM));
    AW_TRY(sum_part(t, &pairs, sum));
    order_part(t, part, &pairs, sum, F);
    AW_TRY(t->sink->write(t->sink->context, first, n, (const double(*)[2])F));
done:
    aw_wave_pairs_free(&pairs);
    aw_free(sum);
    aw_free(F);
    return status;
}

aw_status aw_form_factor(const aw_device *device, const aw_form_source *source,
                         const aw_waves *waves, const aw_form_options *options,
                         const aw_form_sink *sink, aw_form_bunch *bunch)
{
    task t = {.device = device, .source = source, .options = options, .sink = sink};
    aw_status status = AW_OK;
    aw_waves part;
    size_t next = 0, first = 0;
    if (source->n == 0)
        return aw_error(AW_ERR_ARG, "form factor: there are no particles (is the beam file empty, "
                                    "or are all of them lost?)");
    if (!device->ops->form_factor)
        return aw_error(AW_ERR_BACKEND, "form factor: not on device '%s' (use cpu)",
                        device->ops->kind);
    AW_TRY(aw_waves_check(waves));
    aw_waves_reach(waves, t.reach);
    choose_parts(&t, aw_waves_count(waves));
    AW_TRY(aw_comm_agree(allocate(&t.part)));
    while (aw_waves_part(waves, t.part.waves_most, &next, &part, &first))
        AW_TRY(do_part(&t, &part, first));
    *bunch = (aw_form_bunch){.charge = t.charge, .floor = t.squares / t.charge / t.charge};
done:
    for (int i = 0; i < 3; ++i) aw_free(t.part.at[i]);
    aw_free(t.part.charge);
    return status;
}

static aw_status read_arrays(void *context, size_t first, size_t n, double *const at[3],
                             double *charge)
{
    const aw_form_arrays *arrays = context;
    for (int i = 0; i < 3; ++i) {
        if (arrays->at[i])
            memcpy(at[i], arrays->at[i] + first, n * sizeof **at);
        else
            memset(at[i], 0, n * sizeof **at);
    }
    for (size_t j = 0; j < n; ++j) charge[j] = arrays->charge ? arrays->charge[first + j] : 1.0;
    return AW_OK;
}

aw_form_source aw_form_source_of(const aw_form_arrays *arrays, size_t n)
{
    return (aw_form_source){.n = n, .read = read_arrays, .context = (void *)arrays};
}

static aw_status write_array(void *context, size_t first, size_t n, const double (*F)[2])
{
    memcpy((double(*)[2])context + first, F, n * sizeof *F);
    return AW_OK;
}

aw_form_sink aw_form_sink_of(double (*F)[2])
{
    return (aw_form_sink){.write = write_array, .context = F};
}
