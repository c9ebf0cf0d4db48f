/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals that stop a run between two steps. */
#ifndef AW_APP_SIGNALS_H
#define AW_APP_SIGNALS_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** From now on INT (^C), TERM, HUP and USR1 only note that the run shall stop; another one that
 *  comes two seconds or more later ends the process at once. HUP stays ignored where it was at the
 *  start (nohup). Writing to a broken pipe becomes an error of that write instead of the end of the
 *  process.
 *
 *  USR1 is for mpirun, which passes it on to the ranks and then ends with their exit status; mpirun
 *  that gets INT, TERM or HUP passes on TERM, and ends with 1 whatever the ranks do. */
void aw_signals_catch(void);

/** The same signals are ignored: for a rank that another one tells when to stop. */
void aw_signals_ignore(void);

/** 1 once a signal has asked the run to stop. */
int aw_signals_stop(void);

AW_END_DECLS
#endif
