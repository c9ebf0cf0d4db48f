/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: form factors. Chunks of particles go through two streams in turn, so that one is uploaded
 * while the other is summed; each stream has sums of its own. */
#include "kernels/gpu/blocks/form_factor.h"

#include <string.h>

#include "kernels/gpu/device.h"

/* Particles of an upload; blocks that occupy a device, for which particles are cut into parts, at
 * most so many. None may depend on the device, as the sums would. */
enum { UPLOAD = 1 << 18, BLOCKS_WANTED = 512, PARTS_MAX = 32 };

static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

/* Waves on the device: outer ones, then inner ones. */
static aw_status send_waves(aw_gpu_state *g, const aw_form_call *call)
{
    aw_gpu_array *waves = &g->workspace[0].waves;
    const size_t outer = call->outers * sizeof(aw_wave), inner = call->inners * sizeof(aw_wave);
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, waves, outer + inner));
    memcpy(waves->host, call->outer, outer);
    if (inner > 0) memcpy((char *)waves->host + outer, call->inner, inner);
    AW_TRY(aw_gpu_to_device(g, 0, waves, outer + inner));
    AW_TRY(aw_gpu_wait(g, 0));
done:
    return status;
}

/* Upload particles `first` to first + n - 1 on a stream; the call gets their addresses. */
static aw_status send_particles(aw_gpu_state *g, int stream, const aw_form_call *call, size_t first,
                                aw_form_call *on_device)
{
    aw_gpu_array *points = &g->workspace[stream].points;
    const size_t n = on_device->particles;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_wait(g, stream)); /* its last upload */
    AW_TRY(aw_gpu_grow(g, points, 4 * n * sizeof(double)));
    double *host = points->host, *device = points->device;
    for (size_t c = 0; c < 4; ++c) {
        memcpy(host + c * n, (c < 3 ? call->at[c] : call->weight) + first, n * sizeof *host);
        *(c < 3 ? &on_device->at[c] : &on_device->weight) = device + c * n;
    }
    AW_TRY(aw_gpu_to_device(g, stream, points, 4 * n * sizeof(double)));
done:
    return status;
}

/* Add the sums of a stream to those of the call. */
static aw_status collect(aw_gpu_state *g, int stream, const aw_gpu_form *form,
                         const aw_form_call *call)
{
    const size_t numbers = aw_form_numbers(call);
    const aw_gpu_array *sums = &g->workspace[stream].form;
    const double *sum = sums->host;
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_launch(g, stream, AW_GPU_form_add, ceil_div(numbers, AW_GPU_THREADS), form));
    AW_TRY(aw_gpu_to_host(g, stream, sums, numbers * sizeof *sum));
    AW_TRY(aw_gpu_wait(g, stream));
    for (size_t i = 0; i < numbers; ++i) call->sum[i] += sum[i];
done:
    return status;
}

aw_status aw_gpu_device_form_factor(void *state, const aw_form_call *call)
{
    aw_gpu_state *g = state;
    const size_t numbers = aw_form_numbers(call);
    const aw_gpu_kernel kernel = call->inners > 0 ? AW_GPU_form_pairs : AW_GPU_form_list;
    aw_gpu_form form = {.call = *call};
    aw_status status = AW_OK;
    if (numbers == 0 || call->particles == 0) return AW_OK;
    form.tiles = call->inners > 0 ? ceil_div(call->outers, AW_GPU_FORM_TILE) *
                                        ceil_div(call->inners, AW_GPU_FORM_TILE)
                                  : ceil_div(call->outers, AW_GPU_THREADS);
    form.parts = ceil_div(BLOCKS_WANTED, form.tiles);
    if (form.parts > PARTS_MAX) form.parts = PARTS_MAX;
    AW_TRY(send_waves(g, call));
    form.call.outer = g->workspace[0].waves.device;
    form.call.inner = form.call.outer + call->outers;
    for (size_t at = 0, turn = 0; at < call->particles; at += UPLOAD, ++turn) {
        const int stream = turn % AW_GPU_STREAMS;
        aw_gpu_array *sums = &g->workspace[stream].form;
        form.call.particles = call->particles - at < UPLOAD ? call->particles - at : (size_t)UPLOAD;
        AW_TRY(send_particles(g, stream, call, at, &form.call));
        AW_TRY(aw_gpu_grow(g, sums, form.parts * numbers * sizeof(double)));
        form.call.sum = sums->device;
        form.begin = 1;
        if (turn < AW_GPU_STREAMS)
            AW_TRY(aw_gpu_launch(g, stream, AW_GPU_form_add, ceil_div(numbers, AW_GPU_THREADS),
                                 &form));
        AW_TRY(aw_gpu_launch(g, stream, kernel, form.parts * form.tiles, &form));
    }
    form.begin = 0;
    for (int stream = 0; stream < AW_GPU_STREAMS; ++stream) {
        if ((size_t)stream * UPLOAD >= call->particles) break; /* not used */
        form.call.sum = g->workspace[stream].form.device;
        AW_TRY(collect(g, stream, &form, call));
    }
done:
    return status;
}
