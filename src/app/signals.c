/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
enum { STOPPING = sizeof stopping / sizeof stopping[0] };

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

void aw_signals_catch(void)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = request_stop;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART); /* no read or write is to fail */
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
