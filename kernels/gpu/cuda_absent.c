/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replaces kernels/gpu/cuda.cu in a program that is built without CUDA. */
#include "kernels/gpu/runtime.h"

static int no_devices(char *why, size_t n)
{
    (void)why; /* stays empty: built without CUDA (runtime.h) */
    (void)n;
    return 0;
}

extern const aw_gpu_runtime aw_cuda_runtime;
const aw_gpu_runtime aw_cuda_runtime = {.count = no_devices};
