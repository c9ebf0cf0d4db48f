/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A runtime for GPUs that is as strict as a real device: its memory is not the host's, nor the
 * other way round; it begins with anything; and what is put into a queue is done as late as can be,
 * when the queue is waited for. An emulated device forgives all of that. */
#ifndef AW_TESTS_KERNELS_GPU_APART_H
#define AW_TESTS_KERNELS_GPU_APART_H
#include "kernels/gpu/runtime.h"

/* The runtime, of devices that say they have so much memory. All rooms that were taken before are
 * given back. A kernel that reads or writes what is the host's (heap and stack; static data are not
 * noticed) makes `wait` return AW_ERR_BACKEND; a host that does so with the device's memory ends
 * the program. */
aw_gpu_runtime gpu_apart(size_t memory);

#endif
