/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device: OpenMP over regions and points, the fastest SIMD variant inside. */
#include <omp.h>
#include <stdio.h>

#include "kernels/cpu/device.h"
#include "src/base/log.h"
#include "src/base/memory.h"

typedef struct cpu_context {
    const aw_cpu_state *cpu;
    double density;
    aw_work *work;
} cpu_context;

static void cpu_node(void *context, uint32_t point, double r, double f_in[AW_RESULTS])
{
    const cpu_context *c = context;
    c->cpu->variant->inner(&c->cpu->history, &c->cpu->point[point], r, c->density, f_in, c->work);
}

static void cpu_close(void *state)
{
    aw_cpu_state *cpu = state;
    if (!cpu) return;
    for (int i = 0; cpu->workspace && i < cpu->threads; ++i) {
        aw_refine_space_free(&cpu->workspace[i].refine);
        aw_free(cpu->workspace[i].cells);
        aw_free(cpu->workspace[i].directions);
        aw_passage_free(&cpu->workspace[i].passage);
        aw_cpu_cluster_workspace_free(&cpu->workspace[i].cluster);
    }
    aw_free(cpu->workspace);
    aw_free(cpu->group);
    for (int i = 0; i < AW_ALONG_COUNT; ++i) aw_cpu_line_cache_free(&cpu->line_cache[i]);
    aw_cpu_integrate_free(cpu);
    aw_cpu_convolver_free(cpu->convolver);
    aw_free(cpu->lattices);
    aw_free(cpu);
}

/* "cpu: 2 threads, avx512", and the tuning parameters that differ from their defaults. */
static void write_text(aw_cpu_state *cpu)
{
    const size_t size = sizeof cpu->text;
    int at = snprintf(cpu->text, size, "cpu: %d thread%s, %s", cpu->threads,
                      cpu->threads > 1 ? "s" : "", cpu->variant->name);
    for (int i = 0; aw_tuning_list(i); ++i) {
        const aw_tuning_field *field = aw_tuning_list(i);
        const int value = aw_tuning_get(&cpu->tuning, field);
        if (value == field->initial || at < 0 || (size_t)at >= size) continue;
        at += snprintf(cpu->text + at, size - (size_t)at, ", %s %d", field->name, value);
    }
}

static aw_status cpu_open(const aw_device_params *params, void **state)
{
    aw_tuning tuning;
    *state = NULL;
    if (aw_tuning_resolve(&params->tuning, &tuning) != AW_OK) return AW_ERR_ARG;
    aw_cpu_state *cpu = aw_alloc(1, sizeof *cpu);
    if (!cpu) return AW_ERR_NOMEM;
    cpu->tuning = tuning;
    cpu->variant = aw_variant_find(params->variant);
    if (!cpu->variant) {
        cpu_close(cpu);
        return aw_error(AW_ERR_BACKEND, "SIMD variant '%s' is not known or not for this processor",
                        params->variant);
    }
    cpu->threads = params->threads > 0 ? params->threads : omp_get_max_threads();
    cpu->density = params->inner_density;
    cpu->workspace = aw_alloc((size_t)cpu->threads, sizeof *cpu->workspace);
    for (int i = 0; cpu->workspace && i < cpu->threads; ++i) {
        if (aw_refine_space_make(&cpu->workspace[i].refine) == AW_OK) continue;
        cpu_close(cpu);
        return AW_ERR_NOMEM;
    }
    if (!cpu->workspace) {
        cpu_close(cpu);
        return AW_ERR_NOMEM;
    }
    write_text(cpu);
    *state = cpu;
    return AW_OK;
}

static const char *cpu_describe(const void *state) { return ((const aw_cpu_state *)state)->text; }

static aw_status cpu_upload(void *state, const aw_history_view *history,
                            const aw_field_point *point, size_t points)
{
    aw_cpu_state *cpu = state;
    aw_status status = AW_OK;
    cpu->history = *history;
    cpu->point = point;
    cpu->points = points;
    for (int i = 0; i < cpu->threads; ++i) {
        aw_cpu_workspace *workspace = &cpu->workspace[i];
        AW_TRY(aw_grow((void **)&workspace->cells, &workspace->cells_capacity,
                       aw_interpolated_cells_size(history), sizeof *workspace->cells));
    }
done:
    return status;
}

static size_t cpu_cluster_tiles(const void *state)
{
    return (size_t)((const aw_cpu_state *)state)->tuning.cluster_tiles;
}

void aw_cpu_work_sum(aw_cpu_state *cpu, aw_work *work)
{
    const aw_work none = {0};
    for (int i = 0; i < cpu->threads; ++i) {
        aw_work *counted = &cpu->workspace[i].work;
        aw_work_add(work, counted, &none);
        *counted = none;
    }
}

/* The nodes of a job, for the calling thread. */
static cpu_context context_of(const aw_cpu_state *cpu, const aw_job *job)
{
    return (cpu_context){.cpu = cpu,
                         .density = cpu->density * (job->density > 0.0 ? job->density : 1.0),
                         .work = &cpu->workspace[omp_get_thread_num()].work};
}

/* Evaluate the nodes of a job's initial region i that no region before it has. */
static void complete_region(cpu_context *context, aw_region *region, size_t i)
{
    aw_region *q = &region[i];
    const int follows = i > 0 && q->a == region[i - 1].b;
    for (int k = follows; k < 5; ++k) {
        if (q->known & (1u << k)) continue;
        cpu_node(context, q->point, aw_region_node(q, k), q->f[k]);
        q->known |= 1u << k;
    }
}

/* Evaluate the nodes of the initial regions, in parallel: with few jobs threads would be idle while
 * one of them did. The same nodes are evaluated as without it. */
static void complete_regions(const aw_cpu_state *cpu, aw_region *region, const aw_job *job,
                             size_t jobs)
{
#pragma omp parallel num_threads(cpu->threads)
    for (size_t j = 0; j < jobs; ++j) {
        if (job[j].count < 2) continue;
        cpu_context context = context_of(cpu, &job[j]);
#pragma omp for schedule(dynamic) nowait
        for (ptrdiff_t i = 0; i < (ptrdiff_t)job[j].count; ++i)
            complete_region(&context, &region[job[j].first], (size_t)i);
    }
}

/* Jobs a thread below which their initial regions are shared out. */
enum { FEW_JOBS = 8 };

static aw_status cpu_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                            const aw_scales *scales, aw_work *work)
{
    aw_cpu_state *cpu = state;
    if (cpu->threads > 1 && jobs / FEW_JOBS < (size_t)cpu->threads)
        complete_regions(cpu, region, job, jobs);
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
    for (ptrdiff_t i = 0; i < (ptrdiff_t)jobs; ++i) {
        aw_cpu_workspace *workspace = &cpu->workspace[omp_get_thread_num()];
        cpu_context context = context_of(cpu, &job[i]);
        aw_refine_job(&region[job[i].first], &job[i], &(aw_nodes){cpu_node, &context}, scales,
                      &workspace->refine, &workspace->work);
    }
    aw_cpu_work_sum(cpu, work);
    return AW_OK;
}

static aw_status cpu_wait(void *state)
{
    (void)state; /* every operation has done its work when it returns */
    return AW_OK;
}

extern const aw_device_ops aw_cpu_ops;
const aw_device_ops aw_cpu_ops = {
    .kind = "cpu",
    .on_host = 1,
    .interpolates = 1,
    .passes = 1,
    .open = cpu_open,
    .close = cpu_close,
    .describe = cpu_describe,
    .upload = cpu_upload,
    .cluster_tiles = cpu_cluster_tiles,
    .sweep = aw_cpu_sweep,
    .refine = cpu_refine,
    .evaluate = aw_cpu_evaluate,
    .integrate = aw_cpu_integrate,
    .convolve = aw_cpu_convolve,
    .form_factor = aw_cpu_form_factor,
    .wait = cpu_wait,
};
