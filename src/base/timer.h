/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wall-clock time, and CPU time of a thread. */
#ifndef AW_BASE_TIMER_H
#define AW_BASE_TIMER_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Time of a monotonic clock with an arbitrary origin [s]. */
double aw_now(void);

/** CPU time of the calling thread [s]. */
double aw_thread_time(void);

AW_END_DECLS
#endif
