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
static char log_last[256]; /* line last printed by aw_info_once */

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

aw_status aw_error(aw_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(stderr, "arcwake: error: ", format, args);
    va_end(args);
    return status;
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
