/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU kernels with one thread of the host for each thread of a block, and real barriers, under
 * the thread sanitizer: it reports a missing barrier as a race. */
#include <pthread.h>
#include <string.h>

static _Thread_local int aw_gpu_thread;
static pthread_barrier_t barrier;        /* of a kernel */
static pthread_barrier_t between_blocks; /* another one: no kernel can wait there by mistake */

static void aw_gpu_barrier(void) { pthread_barrier_wait(&barrier); }

#include "kernels/gpu/device.h"
#include "tests/assert_close.h"
#include "tests/kernels/gpu_bodies.h"

extern const aw_gpu_runtime aw_emulated_runtime;
extern const aw_device_ops aw_emulated_ops;

/* The blocks of a kernel, for all its threads. */
typedef struct launch {
    gpu_block_fn run;
    const void *call;
    size_t blocks;
} launch;

typedef struct thread {
    const launch *launch;
    int t;
} thread;

static gpu_shared space;

static void *run_thread(void *argument)
{
    const thread *self = argument;
    const launch *mine = self->launch;
    aw_gpu_thread = self->t;
    for (size_t b = 0; b < mine->blocks; ++b) {
        pthread_barrier_wait(&between_blocks);
        if (self->t == 0) memset(&space, 0xa5, sizeof space);
        pthread_barrier_wait(&between_blocks);
        mine->run(mine->call, (int)b, &space);
    }
    return NULL;
}

/* Threads of a launch, not of each block: under the sanitizer, to make one takes long. */
static aw_status threaded_launch(void *context, int stream, aw_gpu_kernel kernel, size_t blocks,
                                 const void *arguments)
{
    const launch mine = {gpu_blocks[kernel], arguments, blocks};
    pthread_t id[AW_GPU_THREADS];
    thread each[AW_GPU_THREADS];
    (void)context;
    (void)stream;
    for (int t = 0; t < AW_GPU_THREADS; ++t) {
        each[t] = (thread){&mine, t};
        assert_int_equal(pthread_create(&id[t], NULL, run_thread, &each[t]), 0);
    }
    for (int t = 0; t < AW_GPU_THREADS; ++t) pthread_join(id[t], NULL);
    return AW_OK;
}

/* The self-test of a device (kernels/gpu/self_test.c): it runs every operation and compares the
 * results with those of one thread. If the sanitizer finds a race, it ends the program with an exit
 * status of its own, whatever cmocka reports. */
static void kernels_have_no_races(void **state)
{
    const aw_device_params params = {.threads = 1, .inner_density = 1.0};
    aw_gpu_runtime threads = aw_emulated_runtime;
    void *device = NULL;
    (void)state;
    threads.launch = threaded_launch;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, AW_GPU_THREADS), 0);
    assert_int_equal(pthread_barrier_init(&between_blocks, NULL, AW_GPU_THREADS), 0);
    assert_ok(aw_gpu_open(&threads, "threads", 1, &params, &device));
    aw_emulated_ops.close(device);
    pthread_barrier_destroy(&between_blocks);
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_have_no_races)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
