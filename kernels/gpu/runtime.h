/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a GPU wants of the system under it: memory, transfers, launches. There are two: CUDA
 * (kernels/gpu/cuda.cu), and a processor that does what the GPU's threads would do
 * (kernels/gpu/emulated.c), so that everything but the launch itself runs on any machine. */
#ifndef AW_KERNELS_GPU_RUNTIME_H
#define AW_KERNELS_GPU_RUNTIME_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Kernels, each with a struct of that name for its arguments, aw_gpu_<struct>, and a body,
 *  aw_gpu_<name>_block: X(name, struct), and S(name, struct) where blocks share memory, which is
 *  an aw_gpu_<name>_space. */
#define AW_GPU_KERNELS(X, S)        \
    S(sweep, sweep)                 \
    S(refine, refine)               \
    S(evaluate, evaluate)           \
    S(accept, evaluate)             \
    S(common, common)               \
    X(common_add, common)           \
    S(cuhre_apply, cuhre)           \
    S(cuhre_cut, cuhre)             \
    X(narrow, narrow)               \
    S(particles_places, particles)  \
    S(particles_reach, particles)   \
    S(particles_look, particles)    \
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

/** Queues of a device: what is put into one is done in order, what is in two may be at once. */
#define AW_GPU_STREAMS 2

/** A device, as it was opened. */
typedef struct aw_gpu_info {
    char name[96];  /* "NVIDIA H200, 132 multiprocessors, sm_90" */
    int processors; /* multiprocessors */
    size_t memory;  /* bytes that are free */
} aw_gpu_info;

/** A system of devices. Errors are reported (with the device's name) where they are found. */
typedef struct aw_gpu_runtime {
    /** How many devices there are. If none, `why` says why [n], unless the program was built
     *  without the system. */
    int (*count)(char *why, size_t n);

    /** @param[in] threads  of the host, for a device that is emulated
     *  @return AW_OK, AW_ERR_NOMEM; AW_ERR_BACKEND: the device does not work (message) */
    aw_status (*open)(int index, int threads, aw_gpu_info *info, void **context);
    void (*close)(void *context);

    /** Memory of the device. @return AW_OK; AW_ERR_NOMEM: there is not so much (no message);
     *  AW_ERR_BACKEND */
    aw_status (*alloc)(void *context, size_t bytes, void **room);
    void (*free)(void *context, void *room);

    /** Memory of the host that transfers from and to it do not wait for, and which the device can
     *  read at `seen`. @return as take */
    aw_status (*alloc_host)(void *context, size_t bytes, void **room, void **seen);
    void (*free_host)(void *context, void *room);

    /** Copy to and from the device: put into a queue. */
    aw_status (*to_device)(void *context, int stream, void *device, const void *host, size_t bytes);
    aw_status (*to_host)(void *context, int stream, void *host, const void *device, size_t bytes);

    /** Start blocks of a kernel: put into a queue. `arguments` are copied. */
    aw_status (*launch)(void *context, int stream, aw_gpu_kernel kernel, size_t blocks,
                        const void *arguments);

    /** Wait until a queue is empty. @return the first error of what was put into it */
    aw_status (*wait)(void *context, int stream);
} aw_gpu_runtime;

AW_END_DECLS
#endif
