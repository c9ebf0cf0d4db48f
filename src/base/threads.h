/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads: how many are sensible, and whether the system can make them. */
#ifndef AW_BASE_THREADS_H
#define AW_BASE_THREADS_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Threads for each of which workspaces are allocated: at most four times the processors that the
 *  process may use, or 64 if that is more. @return `wanted`, or the limit (with a warning that
 *  names `origin`, e.g. "--threads") */
int aw_threads_limit(const char *origin, int wanted);

/** Prepare the threads of OpenMP, once and before its first use: limit their number
 *  (OMP_NUM_THREADS), and give them stacks of at least AW_STACK_BYTES.
 *  @return AW_OK; AW_ERR_NOMEM: OMP_STACKSIZE is too small (message) */
aw_status aw_threads_begin(void);

/** Refuse stacks that OMP_STACKSIZE makes too small. @return AW_OK, AW_ERR_NOMEM (message) */
aw_status aw_threads_check_stack(void);

/** Remember that n threads are going to work in this process: those of OpenMP do not survive
 *  fork(), and a child would wait for them for ever. For a library.
 *  @return AW_OK; AW_ERR_ARG: several have worked for a process that this one was forked from, and
 *          n > 1 (message) */
aw_status aw_threads_claim(int n);

/** Stack of a thread of OpenMP [bytes]. */
size_t aw_threads_stack(void);

/** Try whether the system can make n threads, since OpenMP ends the program where it cannot.
 *  @return AW_OK, AW_ERR_NOMEM (message) */
aw_status aw_threads_try(int n);

/** Call f(argument) with a stack of at least AW_STACK_BYTES: on this thread if that has it or can
 *  get it, else on another one. @return AW_OK, AW_ERR_NOMEM (message; f was not called) */
aw_status aw_threads_roomy(void (*f)(void *argument), void *argument);

/** Stack that suffices for every thread: they use less than 64 KiB, the emulated GPU more. */
#define AW_STACK_BYTES ((size_t)1 << 20)

AW_END_DECLS
#endif
