/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: measured peaks of arithmetic and of reading. */
#include "kernels/gpu/blocks/peak.h"

#include <math.h>
#include <string.h>

#include "kernels/gpu/device.h"
#include "src/base/timer.h"

/* Shortest run that is timed [s]; number of runs, of which the fastest counts; blocks for each
 * multiprocessor. */
#define RUN_TIME 0.005
enum { RUNS = 8, BLOCKS = 16 };

/* A kernel that is timed, and its arguments. */
typedef struct loop {
    aw_gpu_kernel kernel;
    size_t blocks;
    aw_gpu_multiply multiply;
    aw_gpu_read_all read;
} loop;

static aw_status run(aw_gpu_state *g, loop *l, size_t turns, double *seconds)
{
    aw_status status = AW_OK;
    const double begin = aw_now();
    l->multiply.turns = l->read.passes = turns;
    const void *call = l->kernel == AW_GPU_multiply ? (void *)&l->multiply : (void *)&l->read;
    AW_TRY(aw_gpu_launch(g, 0, l->kernel, l->blocks, call));
    AW_TRY(aw_gpu_wait(g, 0));
    *seconds = aw_now() - begin;
done:
    return status;
}

/* Time of the fastest of `runs` runs [s]. */
static aw_status quickest(aw_gpu_state *g, loop *l, size_t turns, int runs, double *best)
{
    aw_status status = AW_OK;
    *best = HUGE_VAL;
    for (int i = 0; i < runs; ++i) {
        double seconds;
        AW_TRY(run(g, l, turns, &seconds));
        *best = fmin(*best, seconds);
    }
done:
    return status;
}

/* Turns of the kernel's loop per second. */
static aw_status best_rate(aw_gpu_state *g, loop *l, double *rate)
{
    aw_status status = AW_OK;
    double seconds = 0.0;
    size_t turns = 1;
    for (; seconds < RUN_TIME && turns < (size_t)1 << 30; turns *= 2)
        AW_TRY(quickest(g, l, turns, 3, &seconds));
    AW_TRY(quickest(g, l, turns, RUNS, &seconds));
    *rate = (double)turns / seconds;
done:
    return status;
}

aw_status aw_gpu_device_peak(void *state, aw_peak *out)
{
    aw_gpu_state *g = state;
    const size_t max_bytes = aw_peak_bytes(AW_PEAK_ARRAYS - 1);
    loop l = {.kernel = AW_GPU_multiply, .blocks = BLOCKS * (size_t)g->info.processors};
    aw_gpu_array array = {.bytes = 0};
    aw_status status = AW_OK;
    double rate;
    *out = (aw_peak){.threads = 1};
    AW_TRY(aw_gpu_grow_device(g, &array, max_bytes + sizeof(double)));
    l.multiply.out = l.read.out = (double *)array.device + max_bytes / sizeof(double);
    for (l.multiply.single = 0; l.multiply.single < 2; ++l.multiply.single) {
        AW_TRY(best_rate(g, &l, &rate));
        out->arithmetic[l.multiply.single] =
            1e-9 * 2.0 * AW_GPU_CHAINS * AW_GPU_THREADS * (double)l.blocks * rate;
    }
    l.kernel = AW_GPU_read_all;
    l.read.from = array.device;
    l.read.blocks = l.blocks;
    for (int i = 0; i < AW_PEAK_ARRAYS; ++i) {
        const size_t bytes = aw_peak_bytes(i);
        l.read.n = bytes / sizeof(double);
        l.read.each = bytes < (size_t)1 << 20; /* it fits into the L1 cache of a multiprocessor */
        AW_TRY(best_rate(g, &l, &rate));
        out->read[i] = 1e-9 * (double)(bytes * (l.read.each ? l.blocks : 1)) * rate;
    }
done:
    aw_gpu_array_free(g, &array);
    return status;
}
