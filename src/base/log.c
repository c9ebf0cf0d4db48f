/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
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

static void print_line(FILE *stream, const char *prefix, const char *format, va_list args)
{
    va_list copy;
    if (stream && !log_muted) {
        va_copy(copy, args);
        fputs(prefix, stream);
        vfprintf(stream, format, copy);
        fputc('\n', stream);
        fflush(stream);
        va_end(copy);
    }
    if (log_file) {
        va_copy(copy, args);
        fputs(prefix, log_file);
        vfprintf(log_file, format, copy);
        fputc('\n', log_file);
        fflush(log_file);
        va_end(copy);
    }
}

/* Store an error that is muted; one that does not fit is lost. */
static void store(const char *format, va_list args)
{
    char *to = log_stored + log_stored_end;
    const size_t space = sizeof log_stored - log_stored_end;
    va_list copy;
    va_copy(copy, args);
    const size_t begin = strlen(log_context);
    const int n = begin < space ? vsnprintf(to + begin, space - begin, format, copy) : -1;
    va_end(copy);
    if (n < 0 || begin + (size_t)n + 2 > space) {
        *to = '\0';
        return;
    }
    memcpy(to, log_context, begin);
    to[begin + (size_t)n] = '\n';
    to[begin + (size_t)n + 1] = '\0';
    log_stored_end += begin + (size_t)n + 1;
}

void aw_log_context(const char *where)
{
    log_context[0] = '\0';
    if (where) snprintf(log_context, sizeof log_context, "%.63s: ", where);
}

void aw_error_print(const char *format, ...)
{
    char prefix[sizeof "arcwake: error: " + sizeof log_context];
    va_list args;
    snprintf(prefix, sizeof prefix, "arcwake: error: %s", log_context);
    log_errors++;
    if (log_muted) {
        va_start(args, format);
        store(format, args);
        va_end(args);
    }
    va_start(args, format);
    print_line(stderr, prefix, format, args);
    va_end(args);
}

void aw_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(stderr, "arcwake: warning: ", format, args);
    va_end(args);
}

void aw_info(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(log_quiet ? NULL : stdout, "", format, args);
    va_end(args);
}

void aw_info_once(const char *format, ...)
{
    char line[sizeof log_last];
    va_list args;
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

aw_status aw_log_open(const char *path)
{
    aw_log_close();
    /* never through a symbolic link, and never over a file that is there */
    const int fd = open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0666);
    log_file = fd < 0 ? NULL : fdopen(fd, "w");
    if (log_file) return AW_OK;
    const aw_status status =
        aw_error(AW_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return status;
}

aw_status aw_log_close(void)
{
    if (!log_file) return AW_OK;
    FILE *closing = log_file;
    log_file = NULL;
    const int lost = ferror(closing);
    if (fclose(closing) == 0 && !lost) return AW_OK;
    return aw_error(AW_ERR_IO, "run.log: could not be written in full");
}
