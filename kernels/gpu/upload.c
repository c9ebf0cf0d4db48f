/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: the slice cache. Slices stay on the device from step to step, so that each step uploads the
 * new slice only. Slices that do not fit into the device's memory are read from the host's. */
#include "kernels/gpu/blocks/upload.h"

#include <string.h>

#include "kernels/device/slice_cache.h"
#include "kernels/gpu/device.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Allocate memory for a slice. A quarter of the device's memory is reserved for workspaces.
 * @return AW_OK, AW_ERR_NOMEM (no message), AW_ERR_BACKEND */
static aw_status slice_alloc(aw_gpu_state *g, size_t bytes, void **memory)
{
    if (g->resident + bytes > g->info.memory - g->info.memory / 4) return AW_ERR_NOMEM;
    const aw_status status = g->runtime->alloc(g->context, bytes, memory);
    if (status == AW_OK) g->resident += bytes;
    return status;
}

static void cached_slice_free(aw_gpu_state *g, aw_gpu_slice *cached)
{
    if (cached->device) g->runtime->free(g->context, cached->device);
    if (cached->host) g->runtime->free_host(g->context, cached->host);
    if (cached->narrow) g->runtime->free(g->context, cached->narrow);
    memset(cached, 0, sizeof *cached);
}

static void cache_clear(aw_gpu_state *g)
{
    for (size_t i = 0; i < g->cached_slices; ++i) cached_slice_free(g, &g->cached[i]);
    g->on_host = g->resident = 0;
}

void aw_gpu_upload_free(aw_gpu_state *g)
{
    aw_gpu_array *const all[] = {&g->at, &g->orbit, &g->slices, &g->narrows, &g->staging};
    cache_clear(g);
    aw_free(g->cached);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) aw_gpu_array_free(g, all[i]);
}

/* Allocate memory for slice i of n, on the host if the device's memory is full. The newest slices
 * are read most: if slice i is on the host, it trades places with the oldest slice on the
 * device. */
static aw_status cache_reserve(aw_gpu_state *g, size_t i, size_t n)
{
    aw_gpu_slice *cached = &g->cached[i];
    aw_status status = AW_OK;
    if (!cached->device && !cached->host) {
        const aw_status allocated = slice_alloc(g, g->slice_bytes, &cached->device);
        if (allocated != AW_ERR_NOMEM) return allocated;
        AW_TRY(g->runtime->alloc_host(g->context, g->slice_bytes, &cached->host, &cached->mapped));
        if (g->on_host++ == 0)
            aw_warn(
                "%s: its memory holds %zu of %zu slices; the others are read from the host, which "
                "is slow (use a smaller numerics.grid, or --device cpu)",
                g->text, i, n);
    }
    for (size_t old = n; cached->host && old-- > i + 1;) {
        aw_gpu_slice *other = &g->cached[old];
        if (!other->device) continue;
        cached->device = other->device;
        other->host = cached->host;
        other->mapped = cached->mapped;
        other->device = cached->host = cached->mapped = NULL;
        other->id = cached->id = 0; /* both are uploaded again */
    }
done:
    return status;
}

/* Upload the cells of a slice. No kernel is reading those on the host: the caller has waited. */
static aw_status slice_upload(aw_gpu_state *g, aw_gpu_slice *cached, const aw_slice *slice)
{
    aw_status status = AW_OK;
    if (cached->host) {
        memcpy(cached->host, slice->cells, g->slice_bytes);
    } else {
        AW_TRY(aw_gpu_wait(g, 0)); /* for the last transfer from `staging` */
        memcpy(g->staging.host, slice->cells, g->slice_bytes);
        AW_TRY(
            g->runtime->to_device(g->context, 0, cached->device, g->staging.host, g->slice_bytes));
    }
    cached->id = slice->id;
    cached->narrow_id = 0;
done:
    return status;
}

/* Upload the tables of slices and of orbit pieces, and the points; make the device's view of
 * them. */
static aw_status view_upload(aw_gpu_state *g, const aw_history_view *h)
{
    const size_t n = (size_t)h->n, pieces = (size_t)h->orbit.n * sizeof *h->orbit.piece;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, &g->slices, n * sizeof(aw_slice)));
    aw_slice *slice = g->slices.host;
    for (size_t i = 0; i < n; ++i) {
        slice[i] = h->slice[i];
        slice[i].cells = g->cached[i].device ? g->cached[i].device : g->cached[i].mapped;
    }
    AW_TRY(aw_gpu_to_device(g, 0, &g->slices, n * sizeof(aw_slice)));
    AW_TRY(aw_gpu_send(g, &g->orbit, h->orbit.piece, pieces));
    AW_TRY(aw_gpu_send(g, &g->at, g->point, g->points * sizeof *g->point));
    g->exact = *h;
    g->exact.slice = g->slices.device;
    g->exact.orbit.piece = g->orbit.device;
    g->narrowed = 0;
done:
    return status;
}

aw_status aw_gpu_upload(void *state, const aw_history_view *h, const aw_field_point *point,
                        size_t points)
{
    aw_gpu_state *g = state;
    const size_t n = (size_t)h->n, bytes = aw_slice_bytes(h->ns, h->nx, h->single);
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_wait(g, 0));
    if (bytes != g->slice_bytes) cache_clear(g);
    g->slice_bytes = bytes;
    g->point = point;
    g->points = points;
    AW_TRY(aw_gpu_grow(g, &g->staging, bytes));
    AW_TRY(aw_grow((void **)&g->cached, &g->cached_slices, n, sizeof *g->cached));
    aw_slice_cache_match(g->cached, sizeof *g->cached, g->cached_slices, h, n);
    for (size_t i = 0; i < n; ++i) AW_TRY(cache_reserve(g, i, n));
    for (size_t i = 0; i < n; ++i)
        if (g->cached[i].id == 0 || g->cached[i].id != h->slice[i].id)
            AW_TRY(slice_upload(g, &g->cached[i], &h->slice[i]));
    AW_TRY(view_upload(g, h));
done:
    return status;
}

/* Convert the `numbers` numbers of slice i to single precision.
 * @return AW_OK, AW_ERR_NOMEM (no message), AW_ERR_BACKEND */
static aw_status narrow(aw_gpu_state *g, size_t i, size_t numbers)
{
    aw_gpu_slice *cached = &g->cached[i];
    aw_status status = AW_OK;
    if (!cached->narrow) AW_TRY(slice_alloc(g, numbers * sizeof(float), &cached->narrow));
    if (cached->narrow_id == 0 || cached->narrow_id != cached->id) {
        const aw_gpu_narrow call = {.from = cached->device ? cached->device : cached->mapped,
                                    .to = cached->narrow,
                                    .n = numbers};
        AW_TRY(aw_gpu_launch(g, 0, AW_GPU_narrow, (numbers + AW_GPU_NARROW - 1) / AW_GPU_NARROW,
                             &call));
    }
    cached->narrow_id = cached->id;
done:
    return status;
}

aw_status aw_gpu_narrow_view(aw_gpu_state *g, aw_history_view *view)
{
    const size_t n = (size_t)g->exact.n, numbers = g->slice_bytes / sizeof(double);
    aw_status status = AW_OK;
    *view = g->exact;
    if (g->exact.single) return AW_OK;
    if (g->narrowed) {
        *view = g->narrow;
        return AW_OK;
    }
    AW_TRY(aw_gpu_wait(g, 0));
    AW_TRY(aw_gpu_grow(g, &g->narrows, n * sizeof(aw_slice)));
    memcpy(g->narrows.host, g->slices.host, n * sizeof(aw_slice));
    for (size_t i = 0; i < n; ++i) {
        status = narrow(g, i, numbers);
        if (status == AW_ERR_NOMEM) return aw_gpu_wait(g, 0); /* keep the view as uploaded */
        AW_TRY(status);
        ((aw_slice *)g->narrows.host)[i].cells = g->cached[i].narrow;
    }
    AW_TRY(aw_gpu_to_device(g, 0, &g->narrows, n * sizeof(aw_slice)));
    AW_TRY(aw_gpu_wait(g, 0));
    g->narrow = g->exact;
    g->narrow.slice = g->narrows.device;
    g->narrow.single = 1;
    g->narrowed = 1;
    *view = g->narrow;
done:
    return status;
}
