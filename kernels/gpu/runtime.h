/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interface to a GPU runtime: memory, transfers, launches. There are two implementations: CUDA
 * (kernels/gpu/cuda.cu), and an emulation that runs the threads of the GPU as loops on the host
 * (kernels/gpu/emulated.c), so that all code but the launches of CUDA runs on any machine. */
#ifndef AW_KERNELS_GPU_RUNTIME_H
#define AW_KERNELS_GPU_RUNTIME_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** The kernels: X(name, struct), or S(name, struct) for kernels with shared memory. A kernel has
 *  arguments of type aw_gpu_<struct>, a function for one thread block, aw_gpu_<name>_block and,
 *  for S, shared memory of type aw_gpu_<name>_shared. */
#define AW_GPU_KERNELS(X, S)        \
    S(sweep, sweep)                 \
    S(refine, refine)               \
    S(evaluate, evaluate)           \
    S(accept, evaluate)             \
    S(common, common)               \
    X(common_add, common)           \
    S(cuhre_apply, cuhre)           \
    S(cuhre_cut, cuhre)             \
    S(form_pairs, form)             \
    X(form_list, form)              \
    X(form_add, form)               \
    X(narrow, narrow)               \
    S(particles_moments, particles) \
    S(particles_reach, particles)   \
    S(particles_bounds, particles)  \
    X(particles_deposit, particles) \
    S(particles_gather, particles)  \
    S(particles_push, particles)    \
    S(particles_stats, particles)   \
    X(multiply, multiply)           \
    X(read_all, read_all)

#define AW_GPU_NUMBER_(name, arguments) AW_GPU_##name,
typedef enum aw_gpu_kernel {
    AW_GPU_KERNELS(AW_GPU_NUMBER_, AW_GPU_NUMBER_) AW_GPU_KERNEL_COUNT
} aw_gpu_kernel;
#undef AW_GPU_NUMBER_

/** Streams of a device: operations on one stream run in order, those on two may overlap. */
#define AW_GPU_STREAMS 2

/** Properties of an open device. */
typedef struct aw_gpu_info {
    char name[96];  /* "NVIDIA H200, 132 multiprocessors, sm_90" */
    int processors; /* multiprocessors */
    size_t memory;  /* free memory [bytes] */
} aw_gpu_info;

/** Operations of a runtime. Failing operations write a message with the device's name, unless
 *  stated otherwise. */
typedef struct aw_gpu_runtime {
    /** Number of devices. If 0, the reason is in `why` [n], which stays empty where the program
     *  was built without the runtime. */
    int (*count)(char *why, size_t n);

    /** @param[in] threads  threads of the host that an emulated device uses; 0: all
     *  @return AW_OK, AW_ERR_NOMEM; AW_ERR_BACKEND: the device does not work (message) */
    aw_status (*open)(int index, int threads, aw_gpu_info *info, void **context);
    void (*close)(void *context);

    /** Allocate memory of the device.
     *  @return AW_OK; AW_ERR_NOMEM: not enough memory (no message); AW_ERR_BACKEND */
    aw_status (*alloc)(void *context, size_t bytes, void **memory);
    void (*free)(void *context, void *memory);

    /** Allocate pinned memory of the host, for asynchronous transfers. The device can read it at
     *  the address `mapped`. @return as alloc */
    aw_status (*alloc_host)(void *context, size_t bytes, void **memory, void **mapped);
    void (*free_host)(void *context, void *memory);

    /** Enqueue a copy to or from the device on a stream. */
    aw_status (*to_device)(void *context, int stream, void *device, const void *host, size_t bytes);
    aw_status (*to_host)(void *context, int stream, void *host, const void *device, size_t bytes);

    /** Enqueue a kernel of `blocks` thread blocks on a stream. `arguments` are copied. */
    aw_status (*launch)(void *context, int stream, aw_gpu_kernel kernel, size_t blocks,
                        const void *arguments);

    /** Wait for all operations of a stream. @return AW_OK, or the first error of one of them */
    aw_status (*wait)(void *context, int stream);
} aw_gpu_runtime;

AW_END_DECLS
#endif
