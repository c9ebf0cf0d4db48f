/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An emulated GPU: the host's threads run the kernels block by block, from the same source. Slow;
 * for tests of the GPU code on machines without a GPU. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/blocks/clusters.h"
#include "kernels/gpu/blocks/common_nodes.h"
#include "kernels/gpu/blocks/cuhre.h"
#include "kernels/gpu/blocks/form_factor.h"
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
    snprintf(info->name, sizeof info->name, "emulated GPU on %d thread%s, for tests", e->threads,
             e->threads > 1 ? "s" : "");
    info->processors = e->threads;
    info->memory = (size_t)1 << 32;
    return AW_OK;
}

static void emulated_close(void *context) { aw_free(context); }

static aw_status emulated_alloc(void *context, size_t bytes, void **memory)
{
    (void)context;
    *memory = aw_alloc(1, bytes);
    return *memory ? AW_OK : AW_ERR_NOMEM;
}

static void emulated_free(void *context, void *memory)
{
    (void)context;
    aw_free(memory);
}

static aw_status emulated_alloc_host(void *context, size_t bytes, void **memory, void **mapped)
{
    const aw_status status = emulated_alloc(context, bytes, memory);
    *mapped = *memory;
    return status;
}

static aw_status emulated_copy(void *context, int stream, void *to, const void *from, size_t bytes)
{
    (void)context;
    (void)stream;
    memcpy(to, from, bytes);
    return AW_OK;
}

/* A function that runs the blocks of a kernel. Shared memory is uninitialized on a GPU: here it is
 * filled with a pattern. */
#define AW_GPU_PARALLEL _Pragma("omp parallel for schedule(dynamic) num_threads(e->threads)")
#define AW_GPU_LAUNCH(name, arguments, declare, share)                         \
    static void launch_##name(const emulated *e, size_t blocks, const void *a) \
    {                                                                          \
        AW_GPU_PARALLEL                                                        \
        for (ptrdiff_t block = 0; block < (ptrdiff_t)blocks; ++block) {        \
            const aw_gpu_##arguments *call = a;                                \
            declare aw_gpu_##name##_block(call share, (int)block);             \
        }                                                                      \
    }
#define AW_GPU_WITHOUT_SHARED(name, arguments) AW_GPU_LAUNCH(name, arguments, , )
#define AW_GPU_WITH_SHARED(name, arguments)                      \
    AW_GPU_LAUNCH(name, arguments, aw_gpu_##name##_shared space; \
                  memset(&space, 0xa5, sizeof space);, AW_GPU_COMMA & space)
#define AW_GPU_COMMA ,
AW_GPU_KERNELS(AW_GPU_WITHOUT_SHARED, AW_GPU_WITH_SHARED)

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
