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

#include "src/base/log.h"
#include "src/io/file.h"

struct aw_monitor {
    int fd;
    off_t end;  /* of the last whole row */
    char *path; /* owned; for messages */
};

/* Longest row: a long and 23 numbers of at most 24 characters with their commas. */
typedef struct line {
    char text[1024];
    size_t n;
} line;

static const char HEADER[] =
    "step,time_s,s_ref_m,charge_C,energy_change_mean_eV,energy_change_rms_eV,sigma_s_m,sigma_x_m,"
    "emittance_x_m,emittance_x_dispersion_free_m,F_s_mean_eV_per_m,F_s_peak_eV_per_m,"
    "F_x_mean_eV_per_m,F_x_peak_eV_per_m,evaluations,error_estimate,error_sampled,"
    "fell_back,seconds_deposit,seconds_potentials,seconds_forces,seconds_gather,seconds_push,"
    "seconds_output\n";

const char *aw_part_name(aw_part part)
{
    static const char *const name[AW_PARTS] = {"deposit", "potentials", "forces",
                                               "gather",  "push",       "output"};
    return part >= 0 && part < AW_PARTS ? name[part] : "?";
}

void aw_monitor_row_clear(aw_monitor_row *row)
{
    memset(row, 0, sizeof *row);
    row->time = row->s_ref = row->charge = NAN;
    row->energy_change_mean = row->energy_change_rms = NAN;
    row->sigma_s = row->sigma_x = row->emittance_x = row->emittance_x_dispersion_free = NAN;
    row->F_s_mean = row->F_s_peak = row->F_x_mean = row->F_x_peak = row->evaluations = NAN;
    row->error_estimate = row->error_sampled = row->fell_back = NAN;
    for (int i = 0; i < AW_PARTS; ++i) row->seconds[i] = NAN;
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
    int code = aw_file_write_all(monitor->fd, text, n);
    if (code == 0) {
        monitor->end += (off_t)n;
        return AW_OK;
    }
    /* half a row would be read as numbers */
    if (ftruncate(monitor->fd, monitor->end) == 0) lseek(monitor->fd, monitor->end, SEEK_SET);
    return aw_error(AW_ERR_IO, "%s: cannot be written: %s", monitor->path, strerror(code));
}

aw_status aw_monitor_open(const char *path, aw_monitor **out)
{
    aw_status status = AW_OK;
    *out = NULL;
    aw_file_size_signal_ignore();
    aw_monitor *monitor = calloc(1, sizeof *monitor);
    char *copy = strdup(path);
    if (!monitor || !copy) {
        free(monitor);
        free(copy);
        return aw_error(AW_ERR_NOMEM, "%s: no memory to open it", path);
    }
    monitor->path = copy;
    monitor->fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    if (monitor->fd < 0) {
        status = aw_error(AW_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
        goto done;
    }
    AW_TRY(append(monitor, HEADER, sizeof HEADER - 1));
    *out = monitor;
    monitor = NULL;
done:
    aw_monitor_close(monitor);
    return status;
}

aw_status aw_monitor_write(aw_monitor *monitor, const aw_monitor_row *row)
{
    const double value[] = {row->time,
                            row->s_ref,
                            row->charge,
                            row->energy_change_mean,
                            row->energy_change_rms,
                            row->sigma_s,
                            row->sigma_x,
                            row->emittance_x,
                            row->emittance_x_dispersion_free,
                            row->F_s_mean,
                            row->F_s_peak,
                            row->F_x_mean,
                            row->F_x_peak,
                            row->evaluations,
                            row->error_estimate,
                            row->error_sampled,
                            row->fell_back};
    line l;
    l.n = (size_t)snprintf(l.text, sizeof l.text, "%ld", row->step);
    for (size_t i = 0; i < sizeof value / sizeof *value; ++i) add_exact(&l, value[i]);
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
