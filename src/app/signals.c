/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
enum { STOPPING = sizeof stopping / sizeof stopping[0] };

static volatile sig_atomic_t stop_requested;

static volatile time_t first_second;

/* timeout(1) and batch systems send the same signal to the process and to its group: what comes in
 * the same second is one request. Only functions that are safe in a handler. */
static void request_stop(int signal_number)
{
    struct timespec now;
    const int known = clock_gettime(CLOCK_MONOTONIC, &now) == 0;
    if (stop_requested && known && now.tv_sec > first_second + 1) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    if (!stop_requested) first_second = known ? now.tv_sec : 0;
    stop_requested = 1;
}

void aw_signals_catch(void)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = request_stop;
    action.sa_flags = SA_RESTART; /* no read or write is to fail */
    for (int i = 0; i < STOPPING; ++i) {
        sigaction(stopping[i], &action, &before);
        if (stopping[i] == SIGHUP && before.sa_handler == SIG_IGN) sigaction(SIGHUP, &before, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
}

void aw_signals_ignore(void)
{
    for (int i = 0; i < STOPPING; ++i) signal(stopping[i], SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

int aw_signals_stop(void) { return stop_requested; }
