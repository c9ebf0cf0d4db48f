/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU runtime as strict as a real device: the memories of host and device are separate, allocated
 * memory is uninitialized, and the operations of a stream run as late as possible, when the host
 * waits for the stream. An emulated device forgives errors in all of these. */
#ifndef AW_TESTS_KERNELS_GPU_APART_H
#define AW_TESTS_KERNELS_GPU_APART_H
#include "kernels/gpu/runtime.h"

/* The runtime, for devices that report `memory` bytes. Frees all memory of earlier calls. A kernel
 * that accesses memory of the host (heap and stack; static data are not noticed) makes `wait`
 * return AW_ERR_BACKEND; a host that accesses memory of the device crashes. */
aw_gpu_runtime gpu_apart(size_t memory);

#endif
