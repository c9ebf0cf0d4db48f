/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* State of the process, as the terminal and the log file are. */
static FILE *log_file;
static int log_quiet, log_muted;
static char log_last[256]; /* line last printed by aw_info_once */
static long log_errors;
static char log_stored[4096]; /* errors that were muted, as lines */
static size_t log_stored_end;

static atomic_int log_silent; /* 1: no thread prints */

/* What errors of this thread begin with, and who takes its messages; NULL: they are printed. */
static _Thread_local char log_context[66]; /* with its colon */
static _Thread_local const aw_log_sink *log_sink;
static _Thread_local long log_taken; /* errors that it took */

/* The text of a message, to be freed; NULL if out of memory. */
static char *text_of(const char *format, va_list args)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    vfprintf(out, format, args);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

static void print_on(FILE *stream, const char *prefix, const char *text)
{
    fprintf(stream, "%s%s\n", prefix, text);
    fflush(stream);
}

static void print_line(FILE *stream, const char *prefix, const char *text)
{
    if (atomic_load(&log_silent)) return;
    if (stream && !log_muted) print_on(stream, prefix, text);
    if (log_file) print_on(log_file, prefix, text);
}

/* Store an error that is muted; one that does not fit is lost. */
static void store(const char *text)
{
    char *to = log_stored + log_stored_end;
    const size_t space = sizeof log_stored - log_stored_end;
    const int n = snprintf(to, space, "%s%s\n", log_context, text);
    if (n < 0 || (size_t)n >= space)
        *to = '\0';
    else
        log_stored_end += (size_t)n;
}

const aw_log_sink *aw_log_capture(const aw_log_sink *sink)
{
    const aw_log_sink *before = log_sink;
    log_sink = sink;
    return before;
}

void aw_log_silence(void) { atomic_store(&log_silent, 1); }

void aw_log_context(const char *where)
{
    log_context[0] = '\0';
    if (where) snprintf(log_context, sizeof log_context, "%.63s: ", where);
}

/* Hand a message to who takes it, or print it. Without memory for the text its format is printed,
 * which says what happened, too. */
static void tell(aw_log_kind kind, const char *format, va_list args)
{
    char prefix[sizeof "arcwake: error: " + sizeof log_context];
    char *made = text_of(format, args);
    const char *text = made ? made : format;
    if (log_sink) {
        log_taken += kind == AW_LOG_ERROR;
        log_sink->take(log_sink->to, kind, kind == AW_LOG_ERROR ? log_context : "", text);
    } else if (kind == AW_LOG_ERROR) {
        snprintf(prefix, sizeof prefix, "arcwake: error: %s", log_context);
        log_errors++;
        if (log_muted) store(text);
        print_line(stderr, prefix, text);
    } else if (kind == AW_LOG_WARNING) {
        print_line(stderr, "arcwake: warning: ", text);
    } else {
        print_line(log_quiet ? NULL : stdout, "", text);
    }
    free(made);
}

void aw_one_line(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; ++c)
        if (*c < 0x20 || *c == 0x7f) *c = '?';
}

void aw_error_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(AW_LOG_ERROR, format, args);
    va_end(args);
}

void aw_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(AW_LOG_WARNING, format, args);
    va_end(args);
}

void aw_info(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(AW_LOG_INFO, format, args);
    va_end(args);
}

void aw_info_once(const char *format, ...)
{
    char line[sizeof log_last];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (!log_sink && strcmp(line, log_last) == 0) return;
    if (!log_sink) memcpy(log_last, line, sizeof line);
    aw_info("%s", line);
}

void aw_log_quiet(int quiet) { log_quiet = quiet; }

void aw_log_mute(int mute) { log_muted = mute; }

void aw_log_show_muted(void)
{
    for (char *line = log_stored; *line;) {
        char *end = strchr(line, '\n');
        *end = '\0';
        fprintf(stderr, "arcwake: error: %s\n", line);
        line = end + 1;
    }
    log_stored[0] = '\0';
    log_stored_end = 0;
}

long aw_log_errors(void) { return log_errors + log_taken; }

/* @param[in] how  O_EXCL: never over a file that is there; or O_APPEND */
static aw_status open_log(const char *path, int how)
{
    aw_log_close();
    /* never through a symbolic link */
    const int fd = open(path, O_CREAT | O_NOFOLLOW | O_WRONLY | O_CLOEXEC | how, 0666);
    log_file = fd < 0 ? NULL : fdopen(fd, "w");
    if (log_file) return AW_OK;
    const aw_status status =
        aw_error(AW_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return status;
}

aw_status aw_log_open(const char *path) { return open_log(path, O_EXCL); }

aw_status aw_log_reopen(const char *path) { return open_log(path, O_APPEND); }

aw_status aw_log_close(void)
{
    if (!log_file) return AW_OK;
    FILE *closing = log_file;
    log_file = NULL;
    const int lost = ferror(closing);
    if (fclose(closing) == 0 && !lost) return AW_OK;
    return aw_error(AW_ERR_IO, "run.log: could not be written in full");
}
