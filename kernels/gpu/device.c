/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: opening a device, memory, and the tables of operations. */
#include "kernels/gpu/device.h"

#include <stdio.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"

extern const aw_gpu_runtime aw_cuda_runtime, aw_emulated_runtime;

void aw_gpu_array_free(aw_gpu_state *g, aw_gpu_array *a)
{
    if (a->device) g->runtime->free(g->context, a->device);
    if (a->host) g->runtime->free_host(g->context, a->host);
    memset(a, 0, sizeof *a);
}

static aw_status grow(aw_gpu_state *g, aw_gpu_array *a, size_t bytes, int host)
{
    void *mapped;
    aw_status status = AW_OK;
    if (bytes <= a->bytes && (a->host || !host)) return AW_OK;
    const size_t wanted = bytes + bytes / 4;
    aw_gpu_array_free(g, a);
    AW_TRY(g->runtime->alloc(g->context, wanted, &a->device));
    if (host) AW_TRY(g->runtime->alloc_host(g->context, wanted, &a->host, &mapped));
    a->bytes = wanted;
done:
    if (status != AW_OK) aw_gpu_array_free(g, a);
    if (status == AW_ERR_NOMEM)
        return aw_error(status,
                        "%s: it lacks the memory for %.1f MiB that a step needs (use a smaller "
                        "numerics.grid, or --device cpu)",
                        g->text, (double)wanted / 1048576.0);
    return status;
}

aw_status aw_gpu_grow(aw_gpu_state *g, aw_gpu_array *a, size_t bytes)
{
    return grow(g, a, bytes, 1);
}

aw_status aw_gpu_grow_device(aw_gpu_state *g, aw_gpu_array *a, size_t bytes)
{
    return grow(g, a, bytes, 0);
}

aw_status aw_gpu_to_device(aw_gpu_state *g, int stream, const aw_gpu_array *a, size_t bytes)
{
    return g->runtime->to_device(g->context, stream, a->device, a->host, bytes);
}

aw_status aw_gpu_send(aw_gpu_state *g, aw_gpu_array *a, const void *from, size_t bytes)
{
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, a, bytes));
    memcpy(a->host, from, bytes);
    AW_TRY(aw_gpu_to_device(g, 0, a, bytes));
done:
    return status;
}

aw_status aw_gpu_to_host(aw_gpu_state *g, int stream, const aw_gpu_array *a, size_t bytes)
{
    return g->runtime->to_host(g->context, stream, a->host, a->device, bytes);
}

aw_status aw_gpu_launch(aw_gpu_state *g, int stream, aw_gpu_kernel kernel, size_t blocks,
                        const void *arguments)
{
    return blocks > 0 ? g->runtime->launch(g->context, stream, kernel, blocks, arguments) : AW_OK;
}

aw_status aw_gpu_wait(aw_gpu_state *g, int stream) { return g->runtime->wait(g->context, stream); }

void aw_gpu_work_sum(const aw_gpu_array *done, size_t blocks, aw_work *work)
{
    const aw_work none = {0}, *each = done->host;
    for (size_t b = 0; b < blocks; ++b) aw_work_add(work, &each[b], &none);
}

static void workspace_free(aw_gpu_state *g, aw_gpu_workspace *w)
{
    aw_gpu_array *const all[] = {
        &w->region, &w->work, &w->job,   &w->leaves,  &w->pool,   &w->heap,   &w->tile,  &w->chunk,
        &w->result, &w->sums, &w->worst, &w->refused, &w->coarse, &w->points, &w->waves, &w->form};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) aw_gpu_array_free(g, all[i]);
    aw_free(w->origin);
}

static void gpu_close(void *state)
{
    aw_gpu_state *g = state;
    if (!g) return;
    for (int stream = 0; g->context && stream < AW_GPU_STREAMS; ++stream) {
        g->runtime->wait(g->context, stream); /* errors no longer matter */
        workspace_free(g, &g->workspace[stream]);
    }
    if (g->context) {
        aw_gpu_upload_free(g);
        aw_gpu_particles_free(g);
        aw_gpu_array_free(g, &g->node);
        aw_gpu_array_free(g, &g->edge);
        g->runtime->close(g->context);
    }
    aw_free(g);
}

/* Run the self-test of a device that was just opened, against an emulated one. */
static aw_status run_self_test(aw_gpu_state *g)
{
    const aw_device_params params = {.threads = 1, .inner_density = g->density};
    void *emulated = NULL;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_open(&aw_emulated_runtime, "emulated", 0, &params, &emulated));
    AW_TRY(aw_gpu_self_test(g, emulated));
done:
    gpu_close(emulated);
    return status;
}

aw_status aw_gpu_open(const aw_gpu_runtime *runtime, const char *kind, int self_test,
                      const aw_device_params *params, void **state)
{
    char why[200] = "";
    aw_status status = AW_OK;
    aw_gpu_state *g = NULL;
    *state = NULL;
    const int devices = runtime->count(why, sizeof why);
    if (devices == 0)
        return aw_error(AW_ERR_BACKEND, "device '%s': %s (use --device cpu)", kind,
                        why[0] ? why : "this program was built without CUDA");
    if (params->index >= devices)
        return aw_error(AW_ERR_BACKEND, "device '%s:%d': there %s %d (use %s:0%s)", kind,
                        params->index, devices > 1 ? "are" : "is", devices, kind,
                        devices > 1 ? " and so on" : "");
    g = aw_alloc(1, sizeof *g);
    if (!g) return AW_ERR_NOMEM;
    g->runtime = runtime;
    g->density = params->inner_density;
    AW_TRY(runtime->open(params->index, params->threads, &g->info, &g->context));
    snprintf(g->text, sizeof g->text, "%s: %s", kind, g->info.name);
    if (self_test) AW_TRY(run_self_test(g));
    *state = g;
    return AW_OK;
done:
    gpu_close(g);
    return status;
}

static const char *gpu_describe(const void *state) { return ((const aw_gpu_state *)state)->text; }

/* The more tiles a cluster has, the more blocks read the same slices at the same time. */
static size_t gpu_cluster_tiles(const void *state)
{
    (void)state;
    return AW_CLUSTER_TILES;
}

/* One block refines one point, and some hundred blocks run at a time. */
static size_t gpu_list_points(const void *state)
{
    (void)state;
    return AW_GPU_LIST_POINTS;
}

static aw_status gpu_wait(void *state)
{
    aw_status status = AW_OK;
    for (int stream = 0; stream < AW_GPU_STREAMS; ++stream) AW_TRY(aw_gpu_wait(state, stream));
done:
    return status;
}

static aw_status cuda_open(const aw_device_params *params, void **state)
{
    return aw_gpu_open(&aw_cuda_runtime, "cuda", 1, params, state);
}

static int cuda_count(char *why, size_t n) { return aw_cuda_runtime.count(why, n); }

static aw_status emulated_open(const aw_device_params *params, void **state)
{
    return aw_gpu_open(&aw_emulated_runtime, "emulated", 0, params, state);
}

#define AW_GPU_OPERATIONS                                                           \
    .close = gpu_close, .describe = gpu_describe, .upload = aw_gpu_upload,          \
    .cluster_tiles = gpu_cluster_tiles, .list_points = gpu_list_points,             \
    .sweep = aw_gpu_device_sweep, .refine = aw_gpu_device_refine,                   \
    .evaluate = aw_gpu_device_evaluate, .integrate = aw_gpu_device_integrate,       \
    .cuhre_apply = aw_gpu_device_cuhre_apply, .cuhre_cut = aw_gpu_device_cuhre_cut, \
    .form_factor = aw_gpu_device_form_factor, .wait = gpu_wait, .peak = aw_gpu_device_peak

extern const aw_device_ops aw_cuda_ops, aw_emulated_ops;
const aw_device_ops aw_cuda_ops = {.kind = "cuda",
                                   .heavy = 1,
                                   .count = cuda_count,
                                   .open = cuda_open,
                                   .particles = &aw_cuda_particles,
                                   AW_GPU_OPERATIONS};
const aw_device_ops aw_emulated_ops = {.kind = "emulated",
                                       .heavy = 1,
                                       .on_host = 1,
                                       .open = emulated_open,
                                       .particles = &aw_emulated_particles,
                                       AW_GPU_OPERATIONS};
