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

/** The columns between `step` and the seconds: X(member, name in the header line). A column is a
 *  row here, and a line in aw_simulation_monitor (src/simulation/simulation.c) that fills it. Means
 *  and rms values are over the particles.
 *  - energy_change_mean: since the start; energy_change_rms: about that mean
 *  - charge: of all particles, a magnitude
 *  - emittance_x: geometric, of x and x'; _dispersion_free: with the part linear in delta taken out
 *  - F_s, F_x: along the design tangent and normal; a peak has its sign
 *  - evaluations: of the integrand, a whole number
 *  - error_estimate: the worst of a point, in the solver's scales
 *  - error_sampled: the worst of the points that the solver recomputed, where it does that
 *  - fell_back: 1: the solver left the step to another one; 0: it did not
 *  - F_s_error, F_x_error: estimated largest errors of the forces, where they are measured
 *  - current_peak: the largest current of the deposited bunch, and how wide its peak is
 *    (src/simulation/current.h)
 *  - F_s_eff_mean: of the effective force, over the deposited bunch; none of the line model
 *  - isr_loss_mean: taken by incoherent radiation since the start; isr_rms: about that mean
 *  - sigma_y: the rms height of the field's sources, 0 of a sheet; none of the line model
 *  - wake_loss_mean: taken by the wakes of the machine since the start
 *  - energy_mean: of the particles, as it is; cavity_gain_mean: what cavities gave since the start
 */
#define AW_MONITOR_COLUMNS(X)                                       \
    X(time, "time_s")                                               \
    X(s_ref, "s_ref_m")                                             \
    X(charge, "charge_C")                                           \
    X(energy_change_mean, "energy_change_mean_eV")                  \
    X(energy_change_rms, "energy_change_rms_eV")                    \
    X(sigma_s, "sigma_s_m")                                         \
    X(sigma_x, "sigma_x_m")                                         \
    X(emittance_x, "emittance_x_m")                                 \
    X(emittance_x_dispersion_free, "emittance_x_dispersion_free_m") \
    X(F_s_mean, "F_s_mean_eV_per_m")                                \
    X(F_s_peak, "F_s_peak_eV_per_m")                                \
    X(F_x_mean, "F_x_mean_eV_per_m")                                \
    X(F_x_peak, "F_x_peak_eV_per_m")                                \
    X(evaluations, "evaluations")                                   \
    X(error_estimate, "error_estimate")                             \
    X(error_sampled, "error_sampled")                               \
    X(fell_back, "fell_back")                                       \
    X(F_s_error, "F_s_error_eV_per_m")                              \
    X(F_x_error, "F_x_error_eV_per_m")                              \
    X(current_peak, "current_peak_A")                               \
    X(current_peak_width, "current_peak_width_m")                   \
    X(F_s_eff_mean, "F_s_eff_mean_eV_per_m")                        \
    X(isr_loss_mean, "isr_loss_mean_eV")                            \
    X(isr_rms, "isr_rms_eV")                                        \
    X(sigma_y, "sigma_y_m")                                         \
    X(wake_loss_mean, "wake_loss_mean_eV")                          \
    X(energy_mean, "energy_mean_eV")                                \
    X(cavity_gain_mean, "cavity_gain_mean_eV")

#define AW_MONITOR_MEMBER_(member, name) double member;

/** One row. A number that this step did not compute is NaN and becomes an empty cell; set all with
 *  aw_monitor_row_clear first. */
typedef struct aw_monitor_row {
    long step;
    AW_MONITOR_COLUMNS(AW_MONITOR_MEMBER_)
    double seconds[AW_PARTS]; /* of wall time, of this step */
} aw_monitor_row;
#undef AW_MONITOR_MEMBER_

/** All numbers "not computed". */
void aw_monitor_row_clear(aw_monitor_row *row);

/** An open monitor.csv; opaque. */
typedef struct aw_monitor aw_monitor;

/** Create the file, where nothing may be, and write its header line. Free with aw_monitor_close.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO. *out is NULL unless AW_OK. */
aw_status aw_monitor_open(const char *path, aw_monitor **out);

/** Go on with a file that such a monitor has written, behind the row of a step; later rows are
 *  removed. @return AW_OK, AW_ERR_NOMEM; AW_ERR_IO (not there, or without that row: message) */
aw_status aw_monitor_reopen(const char *path, long step, aw_monitor **out);

/** Append one row, which reaches the file at once. Physical numbers have as many digits as it takes
 *  to read back the same double. A row that does not fit on the disk is taken back whole.
 *  @return AW_OK, AW_ERR_IO. */
aw_status aw_monitor_write(aw_monitor *monitor, const aw_monitor_row *row);

/** Close and free; NULL is fine. @return AW_OK, AW_ERR_IO (a delayed write error). */
aw_status aw_monitor_close(aw_monitor *monitor);

AW_END_DECLS
#endif
