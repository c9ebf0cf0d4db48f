/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of monitor.csv. */
#include "src/output/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/archive/descriptor.h"
#include "src/base/log.h"
#include "src/io/file.h"

struct aw_monitor {
    int fd;
    off_t end;  /* of the last whole row */
    char *path; /* owned; for messages */
};

/* Longest row: a long, and numbers of at most 24 characters with their commas. */
typedef struct line {
    char text[2048];
    size_t n;
} line;

#define COUNT(member, name) +1
enum { COLUMNS = 0 AW_MONITOR_COLUMNS(COUNT) };
_Static_assert(sizeof(((line *)0)->text) > 24 * (COLUMNS + AW_PARTS + 1), "a row fits its line");

static const char *const part_name[AW_PARTS] = {"deposit", "potentials", "forces",
                                                "gather",  "push",       "output"};

const char *aw_part_name(aw_part part)
{
    return part >= 0 && part < AW_PARTS ? part_name[part] : "?";
}

void aw_monitor_row_clear(aw_monitor_row *row)
{
    memset(row, 0, sizeof *row);
#define CLEAR(member, name) row->member = NAN;
    AW_MONITOR_COLUMNS(CLEAR)
    for (int i = 0; i < AW_PARTS; ++i) row->seconds[i] = NAN;
}

static void add_text(line *l, const char *text)
{
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%s", text);
}

static void header_line(line *l)
{
    l->n = 0;
    add_text(l, "step");
#define NAME(member, name) add_text(l, "," name);
    AW_MONITOR_COLUMNS(NAME)
    for (int i = 0; i < AW_PARTS; ++i) {
        add_text(l, ",seconds_");
        add_text(l, part_name[i]);
    }
    add_text(l, "\n");
}

/* ",value", or "," alone for a NaN; the fewest of 15 to 17 digits that read back the same. */
static void add_exact(line *l, double value)
{
    l->text[l->n++] = ',';
    if (isnan(value)) return;
    char text[32];
    int n = 0;
    for (int digits = 15; digits <= 17; ++digits) {
        n = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    memcpy(l->text + l->n, text, (size_t)n);
    l->n += (size_t)n;
}

/* Like add_exact, with 4 digits: a wall-clock time is worth no more. */
static void add_seconds(line *l, double value)
{
    l->text[l->n++] = ',';
    if (isnan(value)) return;
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%.4g", value);
}

static aw_status append(aw_monitor *monitor, const char *text, size_t n)
{
    int code = aw_write_all(monitor->fd, text, n);
    if (code == 0) {
        monitor->end += (off_t)n;
        return AW_OK;
    }
    /* half a row would be read as numbers */
    if (ftruncate(monitor->fd, monitor->end) == 0) lseek(monitor->fd, monitor->end, SEEK_SET);
    return aw_error(AW_ERR_IO, "%s: cannot be written: %s", monitor->path, strerror(code));
}

/* A monitor of a file that is open. @param[in] fd  closed on failure; or minus an errno */
static aw_status new_monitor(const char *path, int fd, aw_monitor **out)
{
    *out = NULL;
    aw_file_size_signal_ignore();
    if (fd < 0) return aw_error(AW_ERR_IO, "%s: cannot be written: %s", path, strerror(-fd));
    aw_monitor *monitor = calloc(1, sizeof *monitor);
    char *copy = strdup(path);
    if (!monitor || !copy) {
        free(monitor);
        free(copy);
        close(fd);
        return aw_error(AW_ERR_NOMEM, "%s: no memory to open it", path);
    }
    monitor->path = copy;
    monitor->fd = fd;
    *out = monitor;
    return AW_OK;
}

aw_status aw_monitor_open(const char *path, aw_monitor **out)
{
    line header;
    aw_status status = new_monitor(path, aw_file_create(AT_FDCWD, path), out);
    if (status != AW_OK) return status;
    header_line(&header);
    status = append(*out, header.text, header.n);
    if (status == AW_OK) return AW_OK;
    aw_monitor_close(*out);
    *out = NULL;
    return status;
}

/* End of the row of a step in an open file [bytes], or 0 without such a row. */
static off_t end_of_row(int fd, long step)
{
    const int copy = dup(fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    char *row = NULL;
    size_t size = 0;
    off_t end = 0, found = 0;
    if (!file && copy >= 0) close(copy);
    for (ssize_t n = 0; file && !found && (n = getline(&row, &size, file)) > 0;) {
        char *after;
        const long there = strtol(row, &after, 10);
        end += (off_t)n;
        if (after > row && *after == ',' && there == step && row[n - 1] == '\n') found = end;
    }
    free(row);
    if (file) fclose(file);
    return found;
}

aw_status aw_monitor_reopen(const char *path, long step, aw_monitor **out)
{
    const int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    aw_status status = new_monitor(path, fd < 0 ? -errno : fd, out);
    if (status != AW_OK) return status;
    const off_t end = (*out)->end = end_of_row(fd, step);
    if (end == 0)
        status = aw_error(AW_ERR_IO,
                          "%s: has no row of step %ld (expected the file that the stopped run has "
                          "written)",
                          path, step);
    else if (ftruncate(fd, end) != 0 || lseek(fd, end, SEEK_SET) < 0)
        status = aw_error(AW_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (status == AW_OK) return AW_OK;
    aw_monitor_close(*out);
    *out = NULL;
    return status;
}

aw_status aw_monitor_write(aw_monitor *monitor, const aw_monitor_row *row)
{
    line l;
    l.n = (size_t)snprintf(l.text, sizeof l.text, "%ld", row->step);
#define VALUE(member, name) add_exact(&l, row->member);
    AW_MONITOR_COLUMNS(VALUE)
    for (int i = 0; i < AW_PARTS; ++i) add_seconds(&l, row->seconds[i]);
    l.text[l.n++] = '\n';
    return append(monitor, l.text, l.n);
}

aw_status aw_monitor_close(aw_monitor *monitor)
{
    if (!monitor) return AW_OK;
    aw_status status = AW_OK;
    if (monitor->fd >= 0 && close(monitor->fd) != 0)
        status = aw_error(AW_ERR_IO, "%s: cannot be closed: %s", monitor->path, strerror(errno));
    free(monitor->path);
    free(monitor);
    return status;
}
