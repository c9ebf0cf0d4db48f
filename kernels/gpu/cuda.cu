/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CUDA runtime: its calls, and launches of the kernels. */
#include <cuda_runtime.h>
#include <stdio.h>

#include "kernels/gpu/blocks/clusters.h"
#include "kernels/gpu/blocks/common_nodes.h"
#include "kernels/gpu/blocks/cuhre.h"
#include "kernels/gpu/blocks/form_factor.h"
#include "kernels/gpu/blocks/lists.h"
#include "kernels/gpu/blocks/particles.h"
#include "kernels/gpu/blocks/peak.h"
#include "kernels/gpu/blocks/upload.h"
#include "kernels/gpu/runtime.h"
#include "src/base/log.h"
#include "src/base/memory.h"

namespace
{

struct cuda_device {
    int index;
    cudaStream_t stream[AW_GPU_STREAMS];
};

/* Report a failing call. CUDA repeats the first error of a device in all later calls. */
aw_status check(const cuda_device *d, cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return AW_OK;
    return aw_error(AW_ERR_BACKEND, "cuda:%d: %s failed: %s (%s)", d->index, what,
                    cudaGetErrorString(error), cudaGetErrorName(error));
}

/* New threads of the host have device 0 selected. */
aw_status select_device(const cuda_device *d)
{
    return check(d, cudaSetDevice(d->index), "selecting the device");
}

int cuda_count(char *why, size_t n)
{
    int devices = 0, driver = 0, runtime = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    (void)cudaGetLastError(); /* clear it, or the next call returns it */
    if (error == cudaSuccess && devices > 0) return devices;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (error == cudaErrorInsufficientDriver && driver == 0)
        snprintf(why, n, "there is no NVIDIA driver");
    else if (error == cudaErrorInsufficientDriver)
        snprintf(why, n,
                 "the NVIDIA driver is for CUDA %d.%d, and this program needs one for %d.%d",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else if (error == cudaErrorNoDevice || error == cudaSuccess)
        snprintf(why, n, "no GPU is visible (see nvidia-smi, CUDA_VISIBLE_DEVICES)");
    else
        snprintf(why, n, "the NVIDIA driver says: %s", cudaGetErrorString(error));
    return 0;
}

__global__ void nothing() {}

/* Launch a kernel: it fails if the program was not built for the device's architecture. */
aw_status check_kernels(const cuda_device *d, const cudaDeviceProp *properties)
{
    nothing<<<1, 1, 0, d->stream[0]>>>();
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaStreamSynchronize(d->stream[0]);
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
        error == cudaErrorUnsupportedPtxVersion)
        return aw_error(
            AW_ERR_BACKEND,
            "cuda:%d: this program has no kernels for %s, which is an sm_%d%d (build it "
            "with -DCMAKE_CUDA_ARCHITECTURES=%d%d)",
            d->index, properties->name, properties->major, properties->minor, properties->major,
            properties->minor);
    return check(d, error, "launching the first kernel");
}

void cuda_close(void *context)
{
    cuda_device *d = (cuda_device *)context;
    if (!d) return;
    cudaSetDevice(d->index);
    for (int i = 0; i < AW_GPU_STREAMS; ++i)
        if (d->stream[i]) cudaStreamDestroy(d->stream[i]);
    aw_free(d);
}

aw_status cuda_open(int index, int threads, aw_gpu_info *info, void **context)
{
    cuda_device *d = (cuda_device *)aw_alloc(1, sizeof *d);
    cudaDeviceProp properties;
    size_t total = 0;
    aw_status status = AW_OK;
    (void)threads;
    *context = nullptr;
    if (!d) return AW_ERR_NOMEM;
    d->index = index;
    AW_TRY(select_device(d));
    AW_TRY(check(d, cudaGetDeviceProperties(&properties, index), "reading its properties"));
    for (int i = 0; i < AW_GPU_STREAMS; ++i)
        AW_TRY(check(d, cudaStreamCreateWithFlags(&d->stream[i], cudaStreamNonBlocking),
                     "creating a stream"));
    AW_TRY(check_kernels(d, &properties));
    AW_TRY(check(d, cudaMemGetInfo(&info->memory, &total), "querying its memory"));
    info->processors = properties.multiProcessorCount;
    snprintf(info->name, sizeof info->name, "%.48s, %d multiprocessors, sm_%d%d, %zu GiB",
             properties.name, info->processors, properties.major, properties.minor,
             (total + ((size_t)1 << 29)) >> 30);
    *context = d;
    return AW_OK;
done:
    cuda_close(d);
    return status;
}

/* As check, but without a message where memory is short. */
aw_status check_memory(const cuda_device *d, cudaError_t error, const char *what)
{
    if (error != cudaErrorMemoryAllocation) return check(d, error, what);
    (void)cudaGetLastError();
    return AW_ERR_NOMEM;
}

aw_status cuda_alloc(void *context, size_t bytes, void **memory)
{
    const cuda_device *d = (const cuda_device *)context;
    const aw_status status = select_device(d);
    *memory = nullptr;
    return status == AW_OK ? check_memory(d, cudaMalloc(memory, bytes), "allocating memory")
                           : status;
}

void cuda_free(void *context, void *memory)
{
    if (select_device((const cuda_device *)context) == AW_OK) cudaFree(memory);
}

aw_status cuda_alloc_host(void *context, size_t bytes, void **memory, void **mapped)
{
    const cuda_device *d = (const cuda_device *)context;
    aw_status status = AW_OK;
    *memory = *mapped = nullptr;
    AW_TRY(select_device(d));
    AW_TRY(check_memory(d,
                        cudaHostAlloc(memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable),
                        "allocating host memory"));
    AW_TRY(check(d, cudaHostGetDevicePointer(mapped, *memory, 0), "mapping host memory"));
done:
    return status;
}

void cuda_free_host(void *context, void *memory)
{
    if (select_device((const cuda_device *)context) == AW_OK) cudaFreeHost(memory);
}

aw_status copy(void *context, int stream, void *to, const void *from, size_t bytes,
               cudaMemcpyKind kind)
{
    const cuda_device *d = (const cuda_device *)context;
    const aw_status status = select_device(d);
    if (status != AW_OK || bytes == 0) return status;
    return check(d, cudaMemcpyAsync(to, from, bytes, kind, d->stream[stream]), "a transfer");
}

aw_status cuda_to_device(void *context, int stream, void *device, const void *host, size_t bytes)
{
    return copy(context, stream, device, host, bytes, cudaMemcpyHostToDevice);
}

aw_status cuda_to_host(void *context, int stream, void *host, const void *device, size_t bytes)
{
    return copy(context, stream, host, device, bytes, cudaMemcpyDeviceToHost);
}

/* Three blocks to a multiprocessor: 168 registers a thread, with which nothing is spilled. */
#define AW_GPU_WITHOUT_SHARED(name, arguments)                         \
    __global__ void __launch_bounds__(AW_GPU_THREADS, 3)               \
        kernel_##name(const __grid_constant__ aw_gpu_##arguments call) \
    {                                                                  \
        aw_gpu_##name##_block(&call, (int)blockIdx.x);                 \
    }
#define AW_GPU_WITH_SHARED(name, arguments)                            \
    __global__ void __launch_bounds__(AW_GPU_THREADS, 3)               \
        kernel_##name(const __grid_constant__ aw_gpu_##arguments call) \
    {                                                                  \
        __shared__ aw_gpu_##name##_shared space;                       \
        aw_gpu_##name##_block(&call, &space, (int)blockIdx.x);         \
    }
AW_GPU_KERNELS(AW_GPU_WITHOUT_SHARED, AW_GPU_WITH_SHARED)

aw_status cuda_launch(void *context, int stream, aw_gpu_kernel kernel, size_t blocks,
                      const void *arguments)
{
    const cuda_device *d = (const cuda_device *)context;
    const aw_status status = select_device(d);
    if (status != AW_OK) return status;
    const unsigned n = (unsigned)blocks;
#define AW_GPU_CASE(name, type)                                     \
    case AW_GPU_##name:                                             \
        kernel_##name<<<n, AW_GPU_THREADS, 0, d->stream[stream]>>>( \
            *(const aw_gpu_##type *)arguments);                     \
        break;
    switch (kernel) {
        AW_GPU_KERNELS(AW_GPU_CASE, AW_GPU_CASE)
    case AW_GPU_KERNEL_COUNT: break;
    }
#undef AW_GPU_CASE
    return check(d, cudaGetLastError(), "launching a kernel");
}

aw_status cuda_wait(void *context, int stream)
{
    const cuda_device *d = (const cuda_device *)context;
    const aw_status status = select_device(d);
    return status == AW_OK
               ? check(d, cudaStreamSynchronize(d->stream[stream]), "a kernel or transfer")
               : status;
}

} // namespace

extern "C" {
extern const aw_gpu_runtime aw_cuda_runtime;
const aw_gpu_runtime aw_cuda_runtime = {
    cuda_count,     cuda_open,      cuda_close,   cuda_alloc,  cuda_free, cuda_alloc_host,
    cuda_free_host, cuda_to_device, cuda_to_host, cuda_launch, cuda_wait};
}
