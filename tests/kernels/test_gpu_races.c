/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU's kernels with a thread of the host for each of the GPU's, and barriers between them,
 * under the thread sanitizer: a barrier that is missing is a race, which it reports. */
#include <pthread.h>
#include <string.h>

static _Thread_local int aw_gpu_thread;
static pthread_barrier_t barrier;

static void aw_gpu_barrier(void) { pthread_barrier_wait(&barrier); }

#include "kernels/gpu/beam.h"
#include "kernels/gpu/clusters.h"
#include "kernels/gpu/cuhre.h"
#include "kernels/gpu/lists.h"
#include "kernels/gpu/peak.h"
#include "kernels/gpu/shared.h"
#include "kernels/gpu/unit.h"
#include "kernels/gpu/upload.h"
#include "tests/assert_close.h"

extern const aw_gpu_runtime aw_emulated_runtime;
extern const aw_device_ops aw_emulated_ops;

/* What the threads of a block have in common. */
typedef struct block {
    void (*run)(const void *call, int block, void *space);
    const void *call;
    int number;
    void *space;
} block;

typedef struct thread {
    const block *block;
    int t;
} thread;

static union {
    aw_gpu_sweep_space sweep;
    aw_gpu_refine_space refine;
    aw_gpu_evaluate_space evaluate;
    aw_gpu_accept_space accept;
    aw_gpu_shared_space shared;
    aw_gpu_cuhre_apply_space cuhre_apply;
    aw_gpu_cuhre_cut_space cuhre_cut;
    aw_gpu_beam_moments_space beam_moments;
    aw_gpu_beam_reach_space beam_reach;
    aw_gpu_beam_look_space beam_look;
    aw_gpu_beam_gather_space beam_gather;
    aw_gpu_beam_push_space beam_push;
    aw_gpu_beam_stats_space beam_stats;
} space;

#define ALONE(name, arguments)                                    \
    static void run_##name(const void *call, int number, void *s) \
    {                                                             \
        const aw_gpu_##arguments *c = call;                       \
        (void)s;                                                  \
        aw_gpu_##name##_block(c, number);                         \
    }
#define SHARING(name, arguments)                                  \
    static void run_##name(const void *call, int number, void *s) \
    {                                                             \
        const aw_gpu_##arguments *c = call;                       \
        aw_gpu_##name##_space *mine = s;                          \
        aw_gpu_##name##_block(c, mine, number);                   \
    }
AW_GPU_KERNELS(ALONE, SHARING)

static void *be_a_thread(void *argument)
{
    const thread *me = argument;
    aw_gpu_thread = me->t;
    me->block->run(me->block->call, me->block->number, me->block->space);
    return NULL;
}

static aw_status threaded_launch(void *context, int queue, aw_gpu_kernel kernel, size_t blocks,
                                 const void *arguments)
{
#define ENTRY(name, arguments) run_##name,
    static void (*const run[])(const void *, int, void *) = {AW_GPU_KERNELS(ENTRY, ENTRY)};
    pthread_t id[AW_GPU_THREADS];
    thread each[AW_GPU_THREADS];
    (void)context;
    (void)queue;
    for (size_t b = 0; b < blocks; ++b) {
        const block mine = {run[kernel], arguments, (int)b, &space};
        memset(&space, 0xa5, sizeof space);
        for (int t = 0; t < AW_GPU_THREADS; ++t) {
            each[t] = (thread){&mine, t};
            assert_int_equal(pthread_create(&id[t], NULL, be_a_thread, &each[t]), 0);
        }
        for (int t = 0; t < AW_GPU_THREADS; ++t) pthread_join(id[t], NULL);
    }
    return AW_OK;
}

/* The trial that a device has to stand (kernels/gpu/trial.c): every operation, held against what
 * one thread does after the other. The sanitizer ends the program with an exit status of its own,
 * whatever cmocka says. */
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
