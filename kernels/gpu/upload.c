/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: slices stay on the device from step to step, so that of a step only the new one goes
 * there. What the device has no room for it reads from the host's memory. */
#include "kernels/gpu/blocks/upload.h"

#include <string.h>

#include "kernels/device/slice_cache.h"
#include "kernels/gpu/device.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Room for a slice, of what is not kept for the work on them: a quarter of the memory. */
static aw_status take_slice(aw_gpu_state *g, size_t bytes, void **room)
{
    if (g->resident + bytes > g->info.memory - g->info.memory / 4) return AW_ERR_NOMEM;
    const aw_status status = g->runtime->alloc(g->context, bytes, room);
    if (status == AW_OK) g->resident += bytes;
    return status;
}

static void cached_slice_free(aw_gpu_state *g, aw_gpu_slice *cached)
{
    if (cached->room) g->runtime->free(g->context, cached->room);
    if (cached->host) g->runtime->free_host(g->context, cached->host);
    if (cached->narrow) g->runtime->free(g->context, cached->narrow);
    memset(cached, 0, sizeof *cached);
}

static void drop_all(aw_gpu_state *g)
{
    for (size_t i = 0; i < g->cached_slices; ++i) cached_slice_free(g, &g->cached[i]);
    g->on_host = g->resident = 0;
}

void aw_gpu_upload_free(aw_gpu_state *g)
{
    aw_gpu_array *const all[] = {&g->at, &g->orbit, &g->slices, &g->narrows, &g->staging};
    drop_all(g);
    aw_free(g->cached);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) aw_gpu_array_free(g, all[i]);
}

/* Room for slice i of n. The newest slices, which are read most, are not the ones that the device
 * has no room for: it takes that of the oldest which has some. */
static aw_status make_room(aw_gpu_state *g, size_t i, size_t n)
{
    aw_gpu_slice *cached = &g->cached[i];
    aw_status status = AW_OK;
    if (!cached->room && !cached->host) {
        const aw_status taken = take_slice(g, g->slice_bytes, &cached->room);
        if (taken != AW_ERR_NOMEM) return taken;
        AW_TRY(g->runtime->alloc_host(g->context, g->slice_bytes, &cached->host, &cached->seen));
        if (g->on_host++ == 0)
            aw_warn(
                "%s: it has room for %zu of %zu slices and reads the others from the host, which "
                "is slow (use a smaller numerics.grid, or --device cpu)",
                g->text, i, n);
    }
    for (size_t old = n; cached->host && old-- > i + 1;) {
        aw_gpu_slice *other = &g->cached[old];
        if (!other->room) continue;
        cached->room = other->room;
        other->host = cached->host;
        other->seen = cached->seen;
        other->room = cached->host = cached->seen = NULL;
        other->id = cached->id = 0; /* both are brought again */
    }
done:
    return status;
}

/* Bring the cells of a slice. Those in the host's memory are not read by anyone now. */
static aw_status bring(aw_gpu_state *g, aw_gpu_slice *cached, const aw_slice *slice)
{
    aw_status status = AW_OK;
    if (cached->host) {
        memcpy(cached->host, slice->cells, g->slice_bytes);
    } else {
        AW_TRY(aw_gpu_wait(g, 0)); /* what is in the staging area may be on its way */
        memcpy(g->staging.host, slice->cells, g->slice_bytes);
        AW_TRY(g->runtime->to_device(g->context, 0, cached->room, g->staging.host, g->slice_bytes));
    }
    cached->id = slice->id;
    cached->narrow_id = 0;
done:
    return status;
}

/* The slices as the device sees them. */
static aw_status push_slices(aw_gpu_state *g, const aw_history_view *h)
{
    const size_t n = (size_t)h->n, pieces = (size_t)h->orbit.n * sizeof *h->orbit.piece;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, &g->slices, n * sizeof(aw_slice)));
    aw_slice *slice = g->slices.host;
    for (size_t i = 0; i < n; ++i) {
        slice[i] = h->slice[i];
        slice[i].cells = g->cached[i].room ? g->cached[i].room : g->cached[i].seen;
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
    if (bytes != g->slice_bytes) drop_all(g);
    g->slice_bytes = bytes;
    g->point = point;
    g->points = points;
    AW_TRY(aw_gpu_grow(g, &g->staging, bytes));
    AW_TRY(aw_grow((void **)&g->cached, &g->cached_slices, n, sizeof *g->cached));
    aw_slice_cache_match(g->cached, sizeof *g->cached, g->cached_slices, h, n);
    for (size_t i = 0; i < n; ++i) AW_TRY(make_room(g, i, n));
    for (size_t i = 0; i < n; ++i)
        if (g->cached[i].id == 0 || g->cached[i].id != h->slice[i].id)
            AW_TRY(bring(g, &g->cached[i], &h->slice[i]));
    AW_TRY(push_slices(g, h));
done:
    return status;
}

/* The cells of slice i in single precision. @return AW_ERR_NOMEM: there is no room */
static aw_status narrow(aw_gpu_state *g, size_t i, size_t numbers)
{
    aw_gpu_slice *cached = &g->cached[i];
    aw_status status = AW_OK;
    if (!cached->narrow) AW_TRY(take_slice(g, numbers * sizeof(float), &cached->narrow));
    if (cached->narrow_id == 0 || cached->narrow_id != cached->id) {
        const aw_gpu_narrow call = {
            .from = cached->room ? cached->room : cached->seen, .to = cached->narrow, .n = numbers};
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
        if (status == AW_ERR_NOMEM) return aw_gpu_wait(g, 0); /* as they are given, then */
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
