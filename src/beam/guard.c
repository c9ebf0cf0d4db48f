/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void *aw_guard_alloc(size_t bytes)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

void aw_guard_free(void *block, size_t bytes)
{
    if (block) munmap(block, bytes);
}

/* How the child ended, in memory that both share: its exit status may be lost where SIGCHLD is
 * ignored, and that of a sanitizer is none of ours. */
typedef struct outcome {
    volatile int ended;
    aw_status status;
} outcome;

/* Neither a core file nor what the C library prints of a broken heap; and an end, also where the
 * process that calls has handlers for faults, which may jump back into it. */
static void be_quiet(double seconds)
{
    static const int fault[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGXCPU};
    const struct rlimit none = {0, 0}, time = {(rlim_t)seconds + 1, (rlim_t)seconds + 2};
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; ++i) signal(fault[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
    if (nowhere < 0) return;
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
}

aw_status aw_guard_run(aw_status (*task)(void *context), void *context, double seconds, int *ended)
{
    outcome *o = aw_guard_alloc(sizeof *o);
    *ended = 1;
    if (!o) return AW_ERR_NOMEM;
    const pid_t child = fork();
    if (child == 0) {
        be_quiet(seconds);
        o->status = task(context);
        o->ended = 1;
        _exit(0);
    }
    if (child < 0) {
        o->status = task(context);
        o->ended = 1;
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    *ended = o->ended;
    const aw_status status = o->ended ? o->status : AW_ERR_INPUT;
    aw_guard_free(o, sizeof *o);
    return status;
}
