/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: integrals in several dimensions. */
#include "kernels/gpu/blocks/cuhre.h"

#include <string.h>

#include "kernels/gpu/device.h"

aw_status aw_gpu_device_cuhre_apply(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                                    aw_cuhre_region *region, size_t n)
{
    aw_gpu_state *g = state;
    aw_gpu_workspace *w = &g->workspace[0];
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_wait(g, 0));
    AW_TRY(aw_gpu_send(g, &w->region, region, n * sizeof *region));
    const aw_gpu_cuhre call = {.rule = *rule, .f = *f, .region = w->region.device, .n = n};
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_cuhre_apply, (n + AW_GPU_WARPS - 1) / AW_GPU_WARPS, &call));
    AW_TRY(aw_gpu_to_host(g, 0, &w->region, n * sizeof *region));
    AW_TRY(aw_gpu_wait(g, 0));
    memcpy(region, w->region.host, n * sizeof *region);
done:
    return status;
}

/* Pack the queues that want more cuts, one after the other, each with its full capacity; their
 * pointers become addresses on the device. */
static void pack(aw_gpu_state *g, const aw_cuhre_queue *queue, size_t n)
{
    aw_gpu_workspace *w = &g->workspace[0];
    aw_cuhre_region *region = w->region.host;
    uint32_t *heap = w->heap.host;
    aw_cuhre_queue *packed = w->job.host;
    size_t first = 0;
    for (const aw_cuhre_queue *q = queue; q < queue + n; ++q) {
        if (!aw_cuhre_queue_wants(q)) continue;
        memcpy(&region[first], q->region, q->n * sizeof *region);
        memcpy(&heap[first], q->heap, q->n * sizeof *heap);
        *packed = *q;
        packed->region = (aw_cuhre_region *)w->region.device + first;
        packed->heap = (uint32_t *)w->heap.device + first;
        packed++;
        first += q->capacity;
    }
}

static void unpack(const aw_gpu_state *g, aw_cuhre_queue *queue, size_t n)
{
    const aw_gpu_workspace *w = &g->workspace[0];
    const aw_cuhre_region *region = w->region.host;
    const uint32_t *heap = w->heap.host;
    const aw_cuhre_queue *packed = w->job.host;
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
        first += q->capacity;
    }
}

aw_status aw_gpu_device_cuhre_cut(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                                  aw_cuhre_queue *queue, size_t n)
{
    aw_gpu_state *g = state;
    aw_gpu_workspace *w = &g->workspace[0];
    aw_status status = AW_OK;
    size_t regions = 0, queues = 0;
    for (size_t i = 0; i < n; ++i) {
        if (!aw_cuhre_queue_wants(&queue[i])) continue;
        regions += queue[i].capacity;
        queues++;
    }
    AW_TRY(aw_gpu_wait(g, 0));
    AW_TRY(aw_gpu_grow(g, &w->region, regions * sizeof(aw_cuhre_region)));
    AW_TRY(aw_gpu_grow(g, &w->heap, regions * sizeof(uint32_t)));
    AW_TRY(aw_gpu_grow(g, &w->job, queues * sizeof *queue));
    pack(g, queue, n);
    const aw_gpu_cuhre call = {.rule = *rule, .f = *f, .queue = w->job.device, .n = queues};
    AW_TRY(aw_gpu_to_device(g, 0, &w->region, regions * sizeof(aw_cuhre_region)));
    AW_TRY(aw_gpu_to_device(g, 0, &w->heap, regions * sizeof(uint32_t)));
    AW_TRY(aw_gpu_to_device(g, 0, &w->job, queues * sizeof *queue));
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_cuhre_cut, queues, &call));
    AW_TRY(aw_gpu_to_host(g, 0, &w->region, regions * sizeof(aw_cuhre_region)));
    AW_TRY(aw_gpu_to_host(g, 0, &w->heap, regions * sizeof(uint32_t)));
    AW_TRY(aw_gpu_to_host(g, 0, &w->job, queues * sizeof *queue));
    AW_TRY(aw_gpu_wait(g, 0));
    unpack(g, queue, n);
done:
    return status;
}
