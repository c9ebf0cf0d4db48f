/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monitor.csv: one row of bunch parameters per step. */
#ifndef AW_OUTPUT_MONITOR_H
#define AW_OUTPUT_MONITOR_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Parts of a step that are timed. */
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

/** The columns of monitor.csv between the step and the times of its parts, in file order:
 *  COLUMN(member of aw_monitor_row, name in the header line). The struct, the header line and the
 *  rows are made from this table; aw_simulation_monitor fills the members.
 *  Means and rms values are over the particles. F_s is along the design tangent, F_x along the
 *  design normal; their peaks are signed. The dispersion-free emittance is that of x and x' without
 *  their parts linear in delta. */
#define AW_MONITOR_COLUMNS(COLUMN)                                                               \
    COLUMN(time, "time_s")                                                                       \
    COLUMN(s_ref, "s_ref_m")                            /* arc length of the bunch centre */     \
    COLUMN(charge, "charge_C")                          /* of all particles, a magnitude */      \
    COLUMN(energy_change_mean, "energy_change_mean_eV") /* since the start */                    \
    COLUMN(energy_change_rms, "energy_change_rms_eV")   /* about that mean */                    \
    COLUMN(sigma_s, "sigma_s_m")                        /* rms */                                \
    COLUMN(sigma_x, "sigma_x_m")                        /* rms */                                \
    COLUMN(emittance_x, "emittance_x_m")                /* geometric [m rad] */                  \
    COLUMN(emittance_x_dispersion_free, "emittance_x_dispersion_free_m")                         \
    COLUMN(F_s_mean, "F_s_mean_eV_per_m")                                                        \
    COLUMN(F_s_peak, "F_s_peak_eV_per_m")                                                        \
    COLUMN(F_x_mean, "F_x_mean_eV_per_m")                                                        \
    COLUMN(F_x_peak, "F_x_peak_eV_per_m")                                                        \
    COLUMN(evaluations, "evaluations")       /* of the integrand, a whole number */              \
    COLUMN(error_estimate, "error_estimate") /* largest of all points, in the solver's scales */ \
    COLUMN(error_sampled, "error_sampled")   /* largest of the recomputed points, if any */      \
    COLUMN(fell_back, "fell_back")           /* 1: solved by the fallback strategy; 0: not */

/** One row. A number that this step did not compute is NaN and gives an empty cell; call
 *  aw_monitor_row_clear first. */
typedef struct aw_monitor_row {
    long step;
#define AW_MONITOR_MEMBER(member, name) double member;
    AW_MONITOR_COLUMNS(AW_MONITOR_MEMBER)
#undef AW_MONITOR_MEMBER
    double seconds[AW_PARTS]; /* wall-clock time of each part of this step; seconds_<part> */
} aw_monitor_row;

/** Set step 0 and all numbers to NaN. */
void aw_monitor_row_clear(aw_monitor_row *row);

/** An open monitor.csv; opaque. */
typedef struct aw_monitor aw_monitor;

/** Create or truncate the file and write its header line. Free with aw_monitor_close.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO. *out is NULL unless AW_OK. */
aw_status aw_monitor_open(const char *path, aw_monitor **out);

/** Append one row, unbuffered. Physical numbers are written with as many digits as are needed to
 *  read back the same double. If a row cannot be written whole, its beginning is removed again.
 *  @return AW_OK, AW_ERR_IO. */
aw_status aw_monitor_write(aw_monitor *monitor, const aw_monitor_row *row);

/** Close and free; NULL is ignored. @return AW_OK, AW_ERR_IO (a delayed write error). */
aw_status aw_monitor_close(aw_monitor *monitor);

AW_END_DECLS
#endif
