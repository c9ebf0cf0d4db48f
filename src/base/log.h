/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages for the user: one line each, on stderr and in run.log once that is open. */
#ifndef AW_BASE_LOG_H
#define AW_BASE_LOG_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** aw_status aw_error(aw_status status, const char *format, ...): print "arcwake: error: ...". To
 *  be called once, where the error is detected.
 *  @return status, for `return aw_error(...)`. A macro, so that compilers and clang's analyzer see
 *          that a function which returns it has failed. */
#define aw_error(status, ...) (aw_error_print(__VA_ARGS__), aw_error_status(status))

/** The two halves of aw_error. */
void aw_error_print(const char *format, ...) AW_PRINTF(1, 2);
static inline aw_status aw_error_status(aw_status status) { return status; }

/** Print "arcwake: warning: ...". */
void aw_warn(const char *format, ...) AW_PRINTF(1, 2);

/** Replace control characters by '?', in place: what a file or a name contains cannot break the
 *  line of a message. */
void aw_one_line(char *text);

/** Print a line of information on stdout (aw_log_quiet). */
void aw_info(const char *format, ...) AW_PRINTF(1, 2);

/** The same, unless the last line that this function printed was equal. */
void aw_info_once(const char *format, ...) AW_PRINTF(1, 2);

/** quiet = 1: aw_info prints to the log file only, not on the terminal. */
void aw_log_quiet(int quiet);

/** mute = 1: no message is printed on the terminal, for ranks whose messages rank 0 prints, too.
 *  The first errors are stored; aw_log_show_muted prints them, for a rank that alone has them. */
void aw_log_mute(int mute);
void aw_log_show_muted(void);

/** Errors of this thread from now on begin with `where` and a colon ("step 3, S = 0.06 m"), so that
 *  one line says what happened and when; at most 63 bytes. NULL: no longer. */
void aw_log_context(const char *where);

typedef enum aw_log_kind { AW_LOG_ERROR, AW_LOG_WARNING, AW_LOG_INFO } aw_log_kind;

/** Who takes the messages of a thread. `where` is that of aw_log_context with its colon, or "";
 *  both texts are borrowed for the call, which may be made within any function of the program. */
typedef struct aw_log_sink {
    void (*take)(void *to, aw_log_kind kind, const char *where, const char *text);
    void *to;
} aw_log_sink;

/** From now on this thread prints nothing: its messages go to `sink`. For a library, whose caller
 *  prints. Threads that it makes have no sink (aw_log_silence).
 *  @param[in] sink  borrowed until the next call; NULL: print again
 *  @return the one that there was, or NULL */
const aw_log_sink *aw_log_capture(const aw_log_sink *sink);

/** From now on no thread of the process prints: what nobody takes is lost. */
void aw_log_silence(void);

/** Number of errors so far, printed, muted or taken from this thread. */
long aw_log_errors(void);

/** Copy all further messages to a new file at `path`, where nothing may be; a log file that is open
 *  is closed. @return AW_OK or AW_ERR_IO (message). */
aw_status aw_log_open(const char *path);

/** The same behind what a log file has, that of a run that goes on; a new file where there is
 *  none. */
aw_status aw_log_reopen(const char *path);

/** Close the log file, if one is open. @return AW_OK, AW_ERR_IO (a message got lost: message). */
aw_status aw_log_close(void);

AW_END_DECLS
#endif
