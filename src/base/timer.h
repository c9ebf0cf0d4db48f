/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wall-clock time, and time at work. */
#ifndef AW_BASE_TIMER_H
#define AW_BASE_TIMER_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Seconds of a monotonic clock; only differences mean anything. */
double aw_now(void);

/** The same of the time for which the calling thread has had a core. */
double aw_worked(void);

AW_END_DECLS
#endif
