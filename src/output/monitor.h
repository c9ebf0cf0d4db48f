/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monitor.csv: one row of bunch parameters per step. */
#ifndef AW_OUTPUT_MONITOR_H
#define AW_OUTPUT_MONITOR_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Parts of a step whose time is taken. */
typedef enum aw_part {
    AW_PART_DEPOSIT,
    AW_PART_POTENTIALS,
    AW_PART_FORCES,
    AW_PART_GATHER,
    AW_PART_PUSH,
    AW_PART_OUTPUT,
    AW_PARTS
} aw_part;

/** "deposit", "potentials" ..; static storage. */
const char *aw_part_name(aw_part part);

/** One row. A number that this step did not compute is NaN and becomes an empty cell; set all with
 *  aw_monitor_row_clear first. Means and rms values are over the particles. */
typedef struct aw_monitor_row {
    long step;
    double time;                        /* [s] */
    double s_ref;                       /* arc length of the bunch centre [m] */
    double charge;                      /* of all particles [C], a magnitude */
    double energy_change_mean;          /* since the start [eV] */
    double energy_change_rms;           /* about that mean [eV] */
    double sigma_s, sigma_x;            /* rms [m] */
    double emittance_x;                 /* geometric, of x and x' [m rad] */
    double emittance_x_dispersion_free; /* the same with the part linear in delta taken out */
    double F_s_mean, F_s_peak;          /* along the design tangent [eV/m]; the peak is signed */
    double F_x_mean, F_x_peak;          /* along the design normal [eV/m] */
    double evaluations;                 /* of the integrand, a whole number */
    double error_estimate;              /* worst of a point, in the solver's scales */
    double error_sampled;     /* worst of the points recomputed, where a solver does that */
    double fell_back;         /* 1: the solver left the step to another; 0: it did not */
    double seconds[AW_PARTS]; /* of this step */
} aw_monitor_row;

/** All numbers "not computed". */
void aw_monitor_row_clear(aw_monitor_row *row);

/** An open monitor.csv; opaque. */
typedef struct aw_monitor aw_monitor;

/** Create the file (truncated) and write its header line. Free with aw_monitor_close.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO. *out is NULL unless AW_OK. */
aw_status aw_monitor_open(const char *path, aw_monitor **out);

/** Append one row, which reaches the file at once. Physical numbers have as many digits as it takes
 *  to read back the same double. A row that does not fit on the disk is taken back whole.
 *  @return AW_OK, AW_ERR_IO. */
aw_status aw_monitor_write(aw_monitor *monitor, const aw_monitor_row *row);

/** Close and free; NULL is fine. @return AW_OK, AW_ERR_IO (a delayed write error). */
aw_status aw_monitor_close(aw_monitor *monitor);

AW_END_DECLS
#endif
