/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages for the user: one line each, on stderr and in run.log once that is open. */
#ifndef AW_BASE_LOG_H
#define AW_BASE_LOG_H
#include "src/base/status.h"

AW_BEGIN_DECLS

#if defined(__GNUC__)
#define AW_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define AW_PRINTF(f, a)
#endif

/** Print "arcwake: error: ..." once, where the error is born; returns `status` for `return`. */
aw_status aw_error(aw_status status, const char *format, ...) AW_PRINTF(2, 3);

/** Print "arcwake: warning: ...". */
void aw_warn(const char *format, ...) AW_PRINTF(1, 2);

/** Print a line of information on stdout, unless quiet. */
void aw_info(const char *format, ...) AW_PRINTF(1, 2);

/** The same, but not again as long as the last line of its kind was this one. */
void aw_info_once(const char *format, ...) AW_PRINTF(1, 2);

/** With quiet, aw_info prints nothing on the terminal (the log file still gets it). */
void aw_log_quiet(int quiet);

/** With mute, nothing is printed at all: other ranks say the same. */
void aw_log_mute(int mute);

/** Copy every further message to the file at `path` (truncated). @return AW_OK or AW_ERR_IO. */
aw_status aw_log_open(const char *path);

/** Close the log file, if one is open. */
void aw_log_close(void);

AW_END_DECLS
#endif
