/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: integrals in several dimensions. */
#include "kernels/gpu/blocks/cuhre.h"

#include <string.h>

#include "kernels/gpu/device.h"

aw_status aw_gpu_device_cuhre_apply(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                                    aw_cuhre_region *region, size_t n)
{
    aw_gpu_state *g = state;
    aw_gpu_workspace *d = &g->workspace[0];
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_wait(g, 0));
    AW_TRY(aw_gpu_send(g, &d->region, region, n * sizeof *region));
    const aw_gpu_cuhre call = {.rule = *rule, .f = *f, .region = d->region.device, .n = n};
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_cuhre_apply, (n + AW_GPU_WARPS - 1) / AW_GPU_WARPS, &call));
    AW_TRY(aw_gpu_to_host(g, 0, &d->region, n * sizeof *region));
    AW_TRY(aw_gpu_wait(g, 0));
    memcpy(region, d->region.host, n * sizeof *region);
done:
    return status;
}

/* Queues that want something, one after the other, each with all of its room; pointers into the
 * device. */
static void pack(aw_gpu_state *g, const aw_cuhre_queue *queue, size_t n)
{
    aw_gpu_workspace *d = &g->workspace[0];
    aw_cuhre_region *region = d->region.host;
    uint32_t *heap = d->heap.host;
    aw_cuhre_queue *packed = d->job.host;
    size_t first = 0;
    for (const aw_cuhre_queue *q = queue; q < queue + n; ++q) {
        if (!aw_cuhre_queue_wants(q)) continue;
        memcpy(&region[first], q->region, q->n * sizeof *region);
        memcpy(&heap[first], q->heap, q->n * sizeof *heap);
        *packed = *q;
        packed->region = (aw_cuhre_region *)d->region.device + first;
        packed->heap = (uint32_t *)d->heap.device + first;
        packed++;
        first += q->room;
    }
}

static void unpack(const aw_gpu_state *g, aw_cuhre_queue *queue, size_t n)
{
    const aw_gpu_workspace *d = &g->workspace[0];
    const aw_cuhre_region *region = d->region.host;
    const uint32_t *heap = d->heap.host;
    const aw_cuhre_queue *packed = d->job.host;
    size_t first = 0;
    for (aw_cuhre_queue *q = queue; q < queue + n; ++q) {
        if (!aw_cuhre_queue_wants(q)) continue;
        aw_cuhre_region *const own = q->region;
        uint32_t *const places = q->heap;
        *q = *packed++;
        q->region = own;
        q->heap = places;
        memcpy(own, &region[first], q->n * sizeof *region);
        memcpy(places, &heap[first], q->n * sizeof *heap);
        first += q->room;
    }
}

aw_status aw_gpu_device_cuhre_cut(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                                  aw_cuhre_queue *queue, size_t n)
{
    aw_gpu_state *g = state;
    aw_gpu_workspace *d = &g->workspace[0];
    aw_status status = AW_OK;
    size_t room = 0, some = 0;
    for (size_t i = 0; i < n; ++i) {
        if (!aw_cuhre_queue_wants(&queue[i])) continue;
        room += queue[i].room;
        some++;
    }
    AW_TRY(aw_gpu_wait(g, 0));
    AW_TRY(aw_gpu_grow(g, &d->region, room * sizeof(aw_cuhre_region)));
    AW_TRY(aw_gpu_grow(g, &d->heap, room * sizeof(uint32_t)));
    AW_TRY(aw_gpu_grow(g, &d->job, some * sizeof *queue));
    pack(g, queue, n);
    const aw_gpu_cuhre call = {.rule = *rule, .f = *f, .queue = d->job.device, .n = some};
    AW_TRY(aw_gpu_to_device(g, 0, &d->region, room * sizeof(aw_cuhre_region)));
    AW_TRY(aw_gpu_to_device(g, 0, &d->heap, room * sizeof(uint32_t)));
    AW_TRY(aw_gpu_to_device(g, 0, &d->job, some * sizeof *queue));
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_cuhre_cut, some, &call));
    AW_TRY(aw_gpu_to_host(g, 0, &d->region, room * sizeof(aw_cuhre_region)));
    AW_TRY(aw_gpu_to_host(g, 0, &d->heap, room * sizeof(uint32_t)));
    AW_TRY(aw_gpu_to_host(g, 0, &d->job, some * sizeof *queue));
    AW_TRY(aw_gpu_wait(g, 0));
    unpack(g, queue, n);
done:
    return status;
}
