/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps, memory and resolution of a run, known before it starts. */
#ifndef AW_SIMULATION_PLAN_H
#define AW_SIMULATION_PLAN_H
#include <stddef.h>

#include "src/base/status.h"
#include "src/input/config.h"

AW_BEGIN_DECLS

/** Steps, memory and resolution of a run. */
typedef struct aw_plan {
    long steps;              /* number of the last step; step k is at S = k beta step_m */
    double beta;             /* of the beam's mean energy */
    double upstream_cut;     /* retarded distance r' at which the upstream is cut off [m] */
    double overtaking;       /* (24 sigma_s R^2)^(1/3) of the sharpest bend [m]; 0 without bends */
    double radius;           /* of the sharpest bend [m]; 0 without bends */
    double derbenev;         /* sigma_x / (R sigma_s^2)^(1/3); 0 without bends */
    double cells_s, cells_x; /* grid cells per sigma at the start */
    double per_cell;         /* macro-particles per cell */
    size_t history_bytes, other_bytes; /* memory at the end of the run, estimated */
} aw_plan;

/** Compute the plan of a resolved input. */
void aw_plan_make(const aw_config *config, aw_plan *plan);

/** Refuse, in one line each at the place of the key, a history over the budget history_MiB, more
 *  particles than the machine has memory for, a bunch too large for the sharpest bend, and an
 *  upstream_m below the overtaking length.
 *  @return AW_OK, AW_ERR_INPUT, AW_ERR_NOMEM. */
aw_status aw_plan_check(const aw_config *config, const aw_plan *plan);

/** Warn, in one line each, of a time step, grid or number of particles that is too coarse, or an
 *  upstream that is too short, for the accuracy claimed in docs/theory.md, of a large Derbenev
 *  number, and of a low gamma.
 *  @return the number of warnings. */
int aw_plan_warn(const aw_config *config, const aw_plan *plan);

AW_END_DECLS
#endif
