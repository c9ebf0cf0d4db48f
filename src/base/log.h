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

/** Print "arcwake: error: ...". To be called once, where the error is detected.
 *  @return status, for `return aw_error(...)` */
aw_status aw_error(aw_status status, const char *format, ...) AW_PRINTF(2, 3);

/** Print "arcwake: warning: ...". */
void aw_warn(const char *format, ...) AW_PRINTF(1, 2);

/** Print a line of information on stdout (aw_log_quiet). */
void aw_info(const char *format, ...) AW_PRINTF(1, 2);

/** The same, unless the last line that this function printed was equal. */
void aw_info_once(const char *format, ...) AW_PRINTF(1, 2);

/** quiet = 1: aw_info prints to the log file only, not on the terminal. */
void aw_log_quiet(int quiet);

/** mute = 1: no message is printed on the terminal, for ranks whose messages rank 0 prints, too. */
void aw_log_mute(int mute);

/** Copy all further messages to a new file at `path`, where nothing may be; a log file that is open
 *  is closed. @return AW_OK or AW_ERR_IO (message). */
aw_status aw_log_open(const char *path);

/** Close the log file, if one is open. @return AW_OK, AW_ERR_IO (a message got lost: message). */
aw_status aw_log_close(void);

AW_END_DECLS
#endif
