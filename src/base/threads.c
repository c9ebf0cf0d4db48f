/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Number and stacks of threads, and whether the system can make them. */
#include "src/base/threads.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "src/base/log.h"
#include "src/base/memory.h"

/* Stack that the main thread is given if it has too little, and a new thread in its place. */
#define AW_ROOMY_BYTES ((size_t)8 << 20)

int aw_threads_limit(const char *origin, int wanted)
{
    const int processors = omp_get_num_procs();
    const int most = 4 * processors > 64 ? 4 * processors : 64;
    if (wanted <= most) return wanted;
    aw_warn("%s: %d threads on %d processor%s are limited to %d", origin, wanted, processors,
            processors > 1 ? "s" : "", most);
    return most;
}

/* Value of OMP_STACKSIZE [bytes], as OpenMP defines it; 0: not set, or not understood. */
static size_t requested_stack(const char **name)
{
    static const char *const names[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        const char *text = getenv(names[i]);
        char *end = NULL;
        if (!text) continue;
        const double number = strtod(text, &end);
        if (end == text || !(number > 0.0 && number < 1e15)) continue;
        end += strspn(end, " \t");
        const char unit = *end ? *end : 'k';
        const char *found = strchr("bBkKmMgG", unit);
        if (!found) continue;
        const int power = (int)(found - "bBkKmMgG") / 2;
        *name = names[i];
        return (size_t)number << (10 * power);
    }
    return 0;
}

static size_t default_stack(void)
{
    pthread_attr_t attributes;
    size_t bytes = 0;
    if (pthread_attr_init(&attributes) != 0) return AW_ROOMY_BYTES;
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    return bytes;
}

size_t aw_threads_stack(void)
{
    const char *name;
    const size_t requested = requested_stack(&name);
    return requested > 0 ? requested : default_stack();
}

aw_status aw_threads_check_stack(void)
{
    const char *name = "";
    const size_t requested = requested_stack(&name);
    if (requested == 0 || requested >= AW_STACK_BYTES) return AW_OK;
    return aw_error(AW_ERR_NOMEM,
                    "%s: stacks of %zu KiB are too small, threads need %zu KiB "
                    "(unset it, or set it to 1M or more)",
                    name, requested >> 10, AW_STACK_BYTES >> 10);
}

aw_status aw_threads_begin(void)
{
    const int wanted = omp_get_max_threads();
    const int allowed = aw_threads_limit("OMP_NUM_THREADS", wanted);
    if (allowed < wanted) omp_set_num_threads(allowed);
    const aw_status status = aw_threads_check_stack();
    if (status != AW_OK) return status;
#ifdef __GLIBC__
    const char *limit;
    /* By default every thread reserves 64 MiB of addresses for a heap of its own. */
    if (aw_memory_left(&limit) < (size_t)8 << 30) mallopt(M_ARENA_MAX, 1);
    pthread_attr_t attributes; /* threads take the size of `ulimit -s` by default */
    if (default_stack() >= AW_STACK_BYTES || pthread_attr_init(&attributes) != 0) return AW_OK;
    pthread_attr_setstacksize(&attributes, AW_STACK_BYTES);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
#endif
    return AW_OK;
}

/* The process in which several threads have worked for a library. */
static _Atomic pid_t threads_of;

aw_status aw_threads_claim(int n)
{
    pid_t owner = 0;
    if (n == 1 || atomic_compare_exchange_strong(&threads_of, &owner, getpid()) ||
        owner == getpid())
        return AW_OK;
    return aw_error(AW_ERR_ARG, "threads have worked for arcwake in this process before fork() "
                                "(expected a process that is started anew (spawn), or threads: 1)");
}

/* Threads that wait until all of them exist. */
typedef struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    int open;
} gate;

static void *wait_at_gate(void *argument)
{
    gate *g = argument;
    pthread_mutex_lock(&g->mutex);
    while (!g->open) pthread_cond_wait(&g->opened, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
    return NULL;
}

aw_status aw_threads_try(int n)
{
    gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    const char *name;
    const size_t requested = requested_stack(&name);
    int made = 0, reason = 0;
    pthread_attr_t attributes;
    pthread_t *thread = n > 1 ? calloc((size_t)n, sizeof *thread) : NULL;
    if (n <= 1) return AW_OK;
    if (!thread) return aw_error(AW_ERR_NOMEM, "out of memory");
    pthread_attr_init(&attributes);
    if (requested > 0) pthread_attr_setstacksize(&attributes, requested);
    while (made < n - 1 && reason == 0) { /* this thread is one of them */
        reason = pthread_create(&thread[made], &attributes, wait_at_gate, &g);
        made += reason == 0;
    }
    pthread_mutex_lock(&g.mutex);
    g.open = 1;
    pthread_cond_broadcast(&g.opened);
    pthread_mutex_unlock(&g.mutex);
    for (int i = 0; i < made; ++i) pthread_join(thread[i], NULL);
    pthread_attr_destroy(&attributes);
    free(thread);
    if (reason == 0) return AW_OK;
    return aw_error(AW_ERR_NOMEM,
                    "%d threads with stacks of %.3g MiB cannot be made, only %d: %s "
                    "(fewer --threads, a smaller OMP_STACKSIZE, or larger limits: "
                    "ulimit -u, ulimit -v)",
                    n, (double)aw_threads_stack() / 1048576.0, made + 1, strerror(reason));
}

/* A call on another thread. */
typedef struct errand {
    void (*f)(void *argument);
    void *argument;
} errand;

static void *run_errand(void *argument)
{
    const errand *e = argument;
    e->f(e->argument);
    return NULL;
}

aw_status aw_threads_roomy(void (*f)(void *argument), void *argument)
{
    struct rlimit stack;
    pthread_attr_t attributes;
    pthread_t thread;
    errand e = {f, argument};
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= AW_STACK_BYTES) {
        f(argument);
        return AW_OK;
    }
    int reason = pthread_attr_init(&attributes);
    if (reason == 0) {
        pthread_attr_setstacksize(&attributes, AW_ROOMY_BYTES);
        reason = pthread_create(&thread, &attributes, run_errand, &e);
        pthread_attr_destroy(&attributes);
    }
    if (reason != 0)
        return aw_error(AW_ERR_NOMEM, "no memory for a stack of %zu KiB (ulimit -s: %zu KiB): %s",
                        AW_ROOMY_BYTES >> 10, (size_t)stack.rlim_cur >> 10, strerror(reason));
    pthread_join(thread, NULL);
    return AW_OK;
}
