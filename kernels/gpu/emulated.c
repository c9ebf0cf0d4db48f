/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU that is none: what its threads would do is done by the host's, block by block, with the
 * same source. Slow; for tests of what GPUs do on machines without one. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/blocks/clusters.h"
#include "kernels/gpu/blocks/common_nodes.h"
#include "kernels/gpu/blocks/cuhre.h"
#include "kernels/gpu/blocks/lists.h"
#include "kernels/gpu/blocks/particles.h"
#include "kernels/gpu/blocks/peak.h"
#include "kernels/gpu/blocks/upload.h"
#include "kernels/gpu/runtime.h"
#include "src/base/memory.h"

typedef struct emulated {
    int threads;
} emulated;

static int emulated_count(char *why, size_t n)
{
    (void)why;
    (void)n;
    return 16;
}

static aw_status emulated_open(int index, int threads, aw_gpu_info *info, void **context)
{
    emulated *e = aw_alloc(1, sizeof *e);
    (void)index;
    *context = e;
    if (!e) return AW_ERR_NOMEM;
    e->threads = threads > 0 ? threads : omp_get_max_threads();
    snprintf(info->name, sizeof info->name, "a GPU's work on %d thread%s, for tests", e->threads,
             e->threads > 1 ? "s" : "");
    info->processors = e->threads;
    info->memory = (size_t)1 << 32;
    return AW_OK;
}

static void emulated_close(void *context) { aw_free(context); }

static aw_status emulated_alloc(void *context, size_t bytes, void **room)
{
    (void)context;
    *room = aw_alloc(1, bytes);
    return *room ? AW_OK : AW_ERR_NOMEM;
}

static void emulated_free(void *context, void *room)
{
    (void)context;
    aw_free(room);
}

static aw_status emulated_alloc_host(void *context, size_t bytes, void **room, void **seen)
{
    const aw_status status = emulated_alloc(context, bytes, room);
    *seen = *room;
    return status;
}

static aw_status emulated_copy(void *context, int stream, void *to, const void *from, size_t bytes)
{
    (void)context;
    (void)stream;
    memcpy(to, from, bytes);
    return AW_OK;
}

/* A function that goes through the blocks of a kernel. What blocks share begins as it does on a
 * GPU: with anything. */
#define AW_GPU_LAUNCH(name, arguments, declare, share)                                            \
    static void launch_##name(const emulated *e, size_t blocks, const void *a)                    \
    {                                                                                             \
        _Pragma(                                                                                  \
            "omp parallel for schedule(dynamic) num_threads(e->threads)") for (ptrdiff_t block =  \
                                                                                   0;             \
                                                                               block <            \
                                                                               (ptrdiff_t)blocks; \
                                                                               ++block)           \
        {                                                                                         \
            const aw_gpu_##arguments *call = a;                                                   \
            declare aw_gpu_##name##_block(call share, (int)block);                                \
        }                                                                                         \
    }
#define AW_GPU_ALONE(name, arguments) AW_GPU_LAUNCH(name, arguments, , )
#define AW_GPU_SHARING(name, arguments)                         \
    AW_GPU_LAUNCH(name, arguments, aw_gpu_##name##_space space; \
                  memset(&space, 0xa5, sizeof space);, AW_GPU_COMMA & space)
#define AW_GPU_COMMA ,
AW_GPU_KERNELS(AW_GPU_ALONE, AW_GPU_SHARING)

static aw_status emulated_launch(void *context, int stream, aw_gpu_kernel kernel, size_t blocks,
                                 const void *arguments)
{
#define AW_GPU_ENTRY(name, arguments) launch_##name,
    static void (*const launch[])(const emulated *, size_t,
                                  const void *) = {AW_GPU_KERNELS(AW_GPU_ENTRY, AW_GPU_ENTRY)};
#undef AW_GPU_ENTRY
    (void)stream;
    launch[kernel](context, blocks, arguments);
    return AW_OK;
}

static aw_status emulated_wait(void *context, int stream)
{
    (void)context;
    (void)stream;
    return AW_OK;
}

extern const aw_gpu_runtime aw_emulated_runtime;
const aw_gpu_runtime aw_emulated_runtime = {
    .count = emulated_count,
    .open = emulated_open,
    .close = emulated_close,
    .alloc = emulated_alloc,
    .free = emulated_free,
    .alloc_host = emulated_alloc_host,
    .free_host = emulated_free,
    .to_device = emulated_copy,
    .to_host = emulated_copy,
    .launch = emulated_launch,
    .wait = emulated_wait,
};
