/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU's kernels with a thread of the host for each of the GPU's, and barriers between them,
 * under the thread sanitizer: a barrier that is missing is a race, which it reports. */
#include <pthread.h>
#include <string.h>

static _Thread_local int aw_gpu_thread;
static pthread_barrier_t barrier;

static void aw_gpu_barrier(void) { pthread_barrier_wait(&barrier); }

#include "kernels/gpu/device.h"
#include "tests/assert_close.h"
#include "tests/kernels/gpu_bodies.h"

extern const aw_gpu_runtime aw_emulated_runtime;
extern const aw_device_ops aw_emulated_ops;

/* What the threads of a block have in common. */
typedef struct block {
    gpu_body run;
    const void *call;
    int number;
} block;

typedef struct thread {
    const block *block;
    int t;
} thread;

static gpu_shared space;

static void *be_a_thread(void *argument)
{
    const thread *me = argument;
    aw_gpu_thread = me->t;
    me->block->run(me->block->call, me->block->number, &space);
    return NULL;
}

static aw_status threaded_launch(void *context, int stream, aw_gpu_kernel kernel, size_t blocks,
                                 const void *arguments)
{
    pthread_t id[AW_GPU_THREADS];
    thread each[AW_GPU_THREADS];
    (void)context;
    (void)stream;
    for (size_t b = 0; b < blocks; ++b) {
        const block mine = {gpu_bodies[kernel], arguments, (int)b};
        memset(&space, 0xa5, sizeof space);
        for (int t = 0; t < AW_GPU_THREADS; ++t) {
            each[t] = (thread){&mine, t};
            assert_int_equal(pthread_create(&id[t], NULL, be_a_thread, &each[t]), 0);
        }
        for (int t = 0; t < AW_GPU_THREADS; ++t) pthread_join(id[t], NULL);
    }
    return AW_OK;
}

/* The trial that a device has to stand (kernels/gpu/self_test.c): every operation, held against
 * what one thread does after the other. The sanitizer ends the program with an exit status of its
 * own, whatever cmocka says. */
static void threads_do_not_disturb_each_other(void **state)
{
    const aw_device_params params = {.threads = 1, .inner_density = 1.0};
    aw_gpu_runtime threads = aw_emulated_runtime;
    void *unit = NULL;
    (void)state;
    threads.launch = threaded_launch;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, AW_GPU_THREADS), 0);
    assert_ok(aw_gpu_open(&threads, "threads", 1, &params, &unit));
    aw_emulated_ops.close(unit);
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_do_not_disturb_each_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
