/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The block functions of all GPU kernels with one signature, for tests with launchers of their
 * own. */
#ifndef AW_TESTS_KERNELS_GPU_BODIES_H
#define AW_TESTS_KERNELS_GPU_BODIES_H
#include "kernels/gpu/blocks/clusters.h"
#include "kernels/gpu/blocks/common_nodes.h"
#include "kernels/gpu/blocks/cuhre.h"
#include "kernels/gpu/blocks/form_factor.h"
#include "kernels/gpu/blocks/lists.h"
#include "kernels/gpu/blocks/particles.h"
#include "kernels/gpu/blocks/peak.h"
#include "kernels/gpu/blocks/upload.h"
#include "kernels/gpu/runtime.h"

/* Shared memory of a block of any kernel. */
typedef union gpu_shared {
#define GPU_NO_SPACE(name, arguments)
#define GPU_SPACE(name, arguments) aw_gpu_##name##_shared name;
    AW_GPU_KERNELS(GPU_NO_SPACE, GPU_SPACE)
} gpu_shared;

typedef void (*gpu_block_fn)(const void *call, int block, gpu_shared *shared);

#define GPU_WITHOUT_SHARED(name, arguments)                                 \
    static void run_##name(const void *call, int block, gpu_shared *shared) \
    {                                                                       \
        const aw_gpu_##arguments *c = call;                                 \
        (void)shared;                                                       \
        aw_gpu_##name##_block(c, block);                                    \
    }
#define GPU_WITH_SHARED(name, arguments)                                    \
    static void run_##name(const void *call, int block, gpu_shared *shared) \
    {                                                                       \
        const aw_gpu_##arguments *c = call;                                 \
        aw_gpu_##name##_block(c, &shared->name, block);                     \
    }
AW_GPU_KERNELS(GPU_WITHOUT_SHARED, GPU_WITH_SHARED)

/* [kernel] */
#define GPU_BODY(name, arguments) run_##name,
static const gpu_block_fn gpu_blocks[] = {AW_GPU_KERNELS(GPU_BODY, GPU_BODY)};

#endif
