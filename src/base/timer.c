/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/timer.h"

#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double aw_now(void) { return read_clock(CLOCK_MONOTONIC); }

double aw_thread_time(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
