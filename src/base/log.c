/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* State of the process, as the terminal and the log file are. */
static FILE *log_file;
static int log_quiet, log_muted;
static char log_last[256];   /* line last printed by aw_info_once */
static char log_context[66]; /* with its colon */
static long log_errors;
static char log_stored[4096]; /* errors that were muted, as lines */
static size_t log_stored_end;

/* Where this thread's first error goes; NULL: messages are printed. */
static _Thread_local char *log_captured;
static _Thread_local size_t log_captured_size;

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

void aw_log_capture(char *text, size_t size)
{
    log_captured = text;
    log_captured_size = size;
}

/* Copy an error to who captures it. @return 0: nobody does */
static int capture(const char *format, va_list args)
{
    if (!log_captured) return 0;
    if (!log_captured[0]) vsnprintf(log_captured, log_captured_size, format, args);
    return 1;
}

void aw_log_context(const char *where)
{
    log_context[0] = '\0';
    if (where) snprintf(log_context, sizeof log_context, "%.63s: ", where);
}

/* Without memory for the text its format is printed, which says what happened, too. */
void aw_error_print(const char *format, ...)
{
    char prefix[sizeof "arcwake: error: " + sizeof log_context];
    va_list args;
    va_start(args, format);
    const int captured = capture(format, args);
    va_end(args);
    if (captured) return;
    va_start(args, format);
    char *text = text_of(format, args);
    va_end(args);
    snprintf(prefix, sizeof prefix, "arcwake: error: %s", log_context);
    log_errors++;
    if (log_muted) store(text ? text : format);
    print_line(stderr, prefix, text ? text : format);
    free(text);
}

void aw_warn(const char *format, ...)
{
    va_list args;
    if (log_captured) return;
    va_start(args, format);
    char *text = text_of(format, args);
    va_end(args);
    print_line(stderr, "arcwake: warning: ", text ? text : format);
    free(text);
}

void aw_info(const char *format, ...)
{
    va_list args;
    if (log_captured) return;
    va_start(args, format);
    char *text = text_of(format, args);
    va_end(args);
    print_line(log_quiet ? NULL : stdout, "", text ? text : format);
    free(text);
}

void aw_info_once(const char *format, ...)
{
    char line[sizeof log_last];
    va_list args;
    if (log_captured) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (strcmp(line, log_last) == 0) return;
    memcpy(log_last, line, sizeof line);
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

long aw_log_errors(void) { return log_errors; }

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
