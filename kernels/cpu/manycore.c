/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The many-core device, in place of the Xeon Phi of the dissertation. It runs the operations of the
 * CPU device, with threads of its own, AVX-512 where the processor has it, and copies of the slices
 * in its own memory, so that, like an accelerator, it reads uploaded data only. */
#include <stdio.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/device/slice_cache.h"
#include "src/base/memory.h"

extern const aw_device_ops aw_cpu_ops, aw_manycore_ops;

/* Copy of the cells of a slice. */
typedef struct copy {
    uint64_t id; /* of the slice; 0: none, or of a slice without an id, which is never reused */
    void *cells; /* owned */
} copy;

typedef struct manycore {
    void *cpu;
    copy *copy;                   /* [copies], owned; copy i is slice i of the history */
    aw_slice *slice;              /* [slices], owned; with the cells of the copies */
    size_t copies, slices, bytes; /* bytes: of the cells of one copy */
    char text[224];
} manycore;

static void drop_copies(manycore *m)
{
    for (size_t i = 0; i < m->copies; ++i) aw_free(m->copy[i].cells);
    aw_free(m->copy);
    m->copy = NULL;
    m->copies = 0;
}

static void manycore_close(void *state)
{
    manycore *m = state;
    if (!m) return;
    if (m->cpu) aw_cpu_ops.close(m->cpu);
    drop_copies(m);
    aw_free(m->slice);
    aw_free(m);
}

static aw_status manycore_open(const aw_device_params *params, void **state)
{
    const int wide = aw_variant_find("avx512") != NULL;
    aw_device_params own = *params;
    aw_status status = AW_OK;
    manycore *m = aw_alloc(1, sizeof *m);
    *state = NULL;
    if (!m) return AW_ERR_NOMEM;
    if (!own.variant && wide) own.variant = "avx512";
    AW_TRY(aw_cpu_ops.open(&own, &m->cpu));
    snprintf(m->text, sizeof m->text, "manycore: %s%s", aw_cpu_ops.describe(m->cpu) + 5,
             wide ? "" : " (this processor has no vectors of 512 bits)");
    *state = m;
    return AW_OK;
done:
    manycore_close(m);
    return status;
}

static const char *manycore_describe(const void *state) { return ((const manycore *)state)->text; }

/* Only slices without a copy are copied: one per time step. */
static aw_status manycore_upload(void *state, const aw_history_view *history,
                                 const aw_field_point *point, size_t points)
{
    manycore *m = state;
    const size_t n = (size_t)history->n,
                 bytes = aw_slice_bytes(history->ns, history->nx, history->single);
    aw_history_view own = *history;
    aw_status status = AW_OK;
    if (bytes != m->bytes) drop_copies(m);
    m->bytes = bytes;
    AW_TRY(aw_grow((void **)&m->copy, &m->copies, n, sizeof *m->copy));
    AW_TRY(aw_grow((void **)&m->slice, &m->slices, n, sizeof *m->slice));
    aw_slice_cache_match(m->copy, sizeof *m->copy, m->copies, history, n);
    for (size_t i = 0; i < n; ++i) {
        copy *c = &m->copy[i];
        m->slice[i] = history->slice[i];
        if (!c->cells) {
            if (!(c->cells = aw_alloc(1, bytes))) AW_TRY(AW_ERR_NOMEM);
            c->id = 0;
        }
        if (c->id == 0 || c->id != history->slice[i].id)
            memcpy(c->cells, history->slice[i].cells, bytes);
        c->id = history->slice[i].id;
        m->slice[i].cells = c->cells;
    }
    own.slice = m->slice;
    AW_TRY(aw_cpu_ops.upload(m->cpu, &own, point, points));
done:
    return status;
}

static size_t manycore_cluster_tiles(const void *state)
{
    return aw_cpu_ops.cluster_tiles(((const manycore *)state)->cpu);
}

static aw_status manycore_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                                aw_work *work)
{
    return aw_cpu_ops.sweep(((manycore *)state)->cpu, region, n, scales, work);
}

static aw_status manycore_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                                 const aw_scales *scales, aw_work *work)
{
    return aw_cpu_ops.refine(((manycore *)state)->cpu, region, job, jobs, scales, work);
}

static aw_status manycore_evaluate(void *state, const aw_cluster_call *call, aw_work *work)
{
    return aw_cpu_ops.evaluate(((manycore *)state)->cpu, call, work);
}

static aw_status manycore_integrate(void *state, aw_common_rule *common, const aw_scales *scales,
                                    aw_work *work)
{
    return aw_cpu_ops.integrate(((manycore *)state)->cpu, common, scales, work);
}

static aw_status manycore_convolve(void *state, const aw_common_rule *common)
{
    return aw_cpu_ops.convolve(((manycore *)state)->cpu, common);
}

static aw_status manycore_form_factor(void *state, const aw_form_call *call)
{
    return aw_cpu_ops.form_factor(((manycore *)state)->cpu, call);
}

static aw_status manycore_wait(void *state) { return aw_cpu_ops.wait(((manycore *)state)->cpu); }

const aw_device_ops aw_manycore_ops = {
    .kind = "manycore",
    .heavy = 1,
    .on_host = 1,
    .interpolates = 1,
    .open = manycore_open,
    .close = manycore_close,
    .describe = manycore_describe,
    .upload = manycore_upload,
    .cluster_tiles = manycore_cluster_tiles,
    .sweep = manycore_sweep,
    .refine = manycore_refine,
    .evaluate = manycore_evaluate,
    .integrate = manycore_integrate,
    .convolve = manycore_convolve,
    .form_factor = manycore_form_factor,
    .wait = manycore_wait,
};
