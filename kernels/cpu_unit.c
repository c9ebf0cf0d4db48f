/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU unit: OpenMP over regions and points, the fastest SIMD variant inside. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "kernels/refine.h"
#include "kernels/variant.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Regions per piece of work: some tens of points of a long list; of a short one fewer, so that
 * there is enough for many threads. It depends on the list alone. */
enum { AW_CHUNK_MOST = 2048, AW_CHUNK_LEAST = 16, AW_CHUNKS_WANTED = 64, AW_SWEEP_POINTS = 256 };

static size_t chunk_size(size_t regions)
{
    size_t size = regions / AW_CHUNKS_WANTED;
    return size > AW_CHUNK_MOST ? AW_CHUNK_MOST : size < AW_CHUNK_LEAST ? AW_CHUNK_LEAST : size;
}

typedef struct cpu_state {
    const aw_variant *variant;
    int threads;
    double density;
    aw_history_view history;
    const aw_field_point *point;
    size_t points;
    aw_refine_space *space; /* [threads] */
    char text[96];
} cpu_state;

/* Radii whose frames are kept: neighbouring points ask for the same few, one after the other. */
enum { AW_FRAMES_KEPT = 8 };

typedef struct cpu_context {
    const cpu_state *cpu;
    aw_work *work;
    aw_retarded kept[AW_FRAMES_KEPT];
    int n, next; /* frames kept, and the place of the next one */
} cpu_context;

static const aw_retarded *frame_at(cpu_context *c, double r)
{
    for (int i = 0; i < c->n; ++i)
        if (c->kept[i].r == r) return &c->kept[i];
    aw_retarded *f = &c->kept[c->next];
    *f = aw_retarded_at(&c->cpu->history, r);
    c->next = (c->next + 1) % AW_FRAMES_KEPT;
    if (c->n < AW_FRAMES_KEPT) c->n++;
    return f;
}

static void cpu_node(void *context, uint32_t point, double r, double f_in[AW_RESULTS])
{
    cpu_context *c = context;
    c->cpu->variant->inner_at(&c->cpu->history, frame_at(c, r), &c->cpu->point[point],
                              c->cpu->density, f_in, c->work);
}

static void cpu_close(void *state)
{
    cpu_state *cpu = state;
    if (!cpu) return;
    for (int i = 0; cpu->space && i < cpu->threads; ++i) {
        aw_free(cpu->space[i].region);
        aw_free(cpu->space[i].heap);
    }
    aw_free(cpu->space);
    aw_free(cpu);
}

static aw_status cpu_open(const aw_device_params *params, void **state)
{
    cpu_state *cpu = aw_alloc(1, sizeof *cpu);
    *state = NULL;
    if (!cpu) return AW_ERR_NOMEM;
    cpu->variant = aw_variant_find(params->variant);
    if (!cpu->variant) {
        cpu_close(cpu);
        return aw_error(AW_ERR_BACKEND, "SIMD variant '%s' is not known or not for this processor",
                        params->variant);
    }
    cpu->threads = params->threads > 0 ? params->threads : omp_get_max_threads();
    cpu->density = params->inner_density;
    cpu->space = aw_alloc((size_t)cpu->threads, sizeof *cpu->space);
    for (int i = 0; cpu->space && i < cpu->threads; ++i) {
        cpu->space[i].region = aw_alloc(AW_REFINE_MAX, sizeof(aw_region));
        cpu->space[i].heap = aw_alloc(AW_REFINE_MAX, sizeof(uint32_t));
        if (cpu->space[i].region && cpu->space[i].heap) continue;
        cpu_close(cpu);
        return AW_ERR_NOMEM;
    }
    if (!cpu->space) {
        cpu_close(cpu);
        return AW_ERR_NOMEM;
    }
    snprintf(cpu->text, sizeof cpu->text, "cpu: %d thread%s, %s", cpu->threads,
             cpu->threads > 1 ? "s" : "", cpu->variant->name);
    *state = cpu;
    return AW_OK;
}

static const char *cpu_describe(const void *state) { return ((const cpu_state *)state)->text; }

static aw_status cpu_upload(void *state, const aw_history_view *history,
                            const aw_field_point *point, size_t points)
{
    cpu_state *cpu = state;
    cpu->history = *history;
    cpu->point = point;
    cpu->points = points;
    return AW_OK;
}

/* First region at or after `i` that begins a point. */
static size_t point_begin(const aw_region *region, size_t n, size_t i)
{
    while (i > 0 && i < n && region[i].point == region[i - 1].point) ++i;
    return i < n ? i : n;
}

/* Regions of a few points, radius by radius: neighbouring points then read the same cells of the
 * same slices one after the other, from the nearest cache. */
static void sweep_points(const cpu_state *cpu, aw_region *region, const size_t *begin, int points,
                         const aw_scales *scales, aw_work *work)
{
    cpu_context context = {.cpu = cpu, .work = work};
    size_t most = 0;
    for (int p = 0; p < points; ++p)
        most = begin[p + 1] - begin[p] > most ? begin[p + 1] - begin[p] : most;
    for (size_t j = 0; j < most; ++j)
        for (int p = 0; p < points; ++p) {
            if (begin[p] + j >= begin[p + 1]) continue;
            aw_region *q = &region[begin[p] + j];
            if (j > 0 && !(q->known & 1u) && q[-1].b == q->a) {
                memcpy(q->f[0], q[-1].f[4], sizeof q->f[0]);
                q->known |= 1u;
            }
            aw_region_complete(q, cpu_node, &context, scales);
        }
    work->regions += begin[points] - begin[0];
}

static void sweep_chunk(const cpu_state *cpu, aw_region *region, size_t first, size_t last,
                        const aw_scales *scales, aw_work *work)
{
    size_t begin[AW_SWEEP_POINTS + 1];
    while (first < last) {
        int points = 0;
        begin[0] = first;
        while (first < last && points < AW_SWEEP_POINTS) {
            first = point_begin(region, last, first + 1);
            begin[++points] = first;
        }
        sweep_points(cpu, region, begin, points, scales, work);
    }
}

static aw_status cpu_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                           aw_work *work)
{
    const cpu_state *cpu = state;
    uint64_t evaluations = 0, nodes = 0, regions = 0;
    size_t size = chunk_size(n);
    ptrdiff_t chunks = (ptrdiff_t)((n + size - 1) / size);
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads) \
    reduction(+ : evaluations, nodes, regions)
    for (ptrdiff_t c = 0; c < chunks; ++c) {
        aw_work mine = {0, 0, 0};
        size_t first = point_begin(region, n, (size_t)c * size);
        size_t last = point_begin(region, n, (size_t)(c + 1) * size);
        sweep_chunk(cpu, region, first, last, scales, &mine);
        evaluations += mine.evaluations;
        nodes += mine.nodes;
        regions += mine.regions;
    }
    work->evaluations += evaluations;
    work->nodes += nodes;
    work->regions += regions;
    return AW_OK;
}

static aw_status cpu_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                            const aw_scales *scales, aw_work *work)
{
    const cpu_state *cpu = state;
    uint64_t evaluations = 0, nodes = 0, regions = 0;
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads) \
    reduction(+ : evaluations, nodes, regions)
    for (ptrdiff_t i = 0; i < (ptrdiff_t)jobs; ++i) {
        aw_work mine = {0, 0, 0};
        cpu_context context = {.cpu = cpu, .work = &mine};
        aw_refine_job(&region[job[i].first], &job[i], cpu_node, &context, scales,
                      &cpu->space[omp_get_thread_num()], &mine);
        evaluations += mine.evaluations;
        nodes += mine.nodes;
        regions += mine.regions;
    }
    work->evaluations += evaluations;
    work->nodes += nodes;
    work->regions += regions;
    return AW_OK;
}

static aw_status cpu_wait(void *state)
{
    (void)state; /* every call above returns when its work is done */
    return AW_OK;
}

extern const aw_device_ops aw_cpu_ops;
const aw_device_ops aw_cpu_ops = {
    .kind = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .describe = cpu_describe,
    .upload = cpu_upload,
    .sweep = cpu_sweep,
    .refine = cpu_refine,
    .wait = cpu_wait,
};
