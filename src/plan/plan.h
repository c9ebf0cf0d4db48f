/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps, memory and resolution of a run, known before it starts. */
#ifndef AW_PLAN_PLAN_H
#define AW_PLAN_PLAN_H
#include <stddef.h>

#include "src/base/status.h"
#include "src/input/config.h"

AW_BEGIN_DECLS

/** The bend in which the overtaking length is smallest, with the bunch that the optics predict
 *  without self-force (src/plan/optics.h). */
typedef struct aw_plan_bend {
    char name[64];
    double S;          /* where sigma_s is smallest in it [m] */
    double sigma_s;    /* there [m] */
    double overtaking; /* with this sigma_s [m]; 0 without bends on the way */
} aw_plan_bend;

/** Steps, memory and resolution of a run. */
typedef struct aw_plan {
    long steps;                         /* number of the last step, as planned */
    long most_steps;                    /* of a run that halves steps of its own accord (`auto`) */
    double end;                         /* S at the last step [m] */
    double shortest_step, longest_step; /* [m] */
    double beta;                        /* of the beam's mean energy */
    double upstream_cut; /* retarded distance r' at which the upstream is cut off [m] */
    double overtaking;   /* (24 sigma_s R^2)^(1/3) of the sharpest bend [m]; 0 without bends */
    double radius;       /* of the sharpest bend [m]; 0 without bends */
    aw_plan_bend shortest;
    double sheared;          /* by how much a corner of the grid may be displaced against older
                              * slices, over half the grid, as the bunch turns; infinite: any */
    int resized;             /* 1: the grid's spacings are expected to change */
    double derbenev;         /* sigma_x / (R sigma_s^2)^(1/3); 0 without bends */
    double cells_s, cells_x; /* grid cells per sigma (of the uncut Gaussian) at the start */
    double per_cell;         /* macro-particles per cell */
    size_t history_bytes, other_bytes; /* memory at the end of the run, estimated */
} aw_plan;

/** A run may halve steps until it has taken one step more than planned in so many. */
#define AW_EXTRA_STEPS 4

/** Number of slices that the history of a planned run holds. */
size_t aw_plan_slices(const aw_config *config, const aw_plan *plan);

/** Compute the plan of a resolved input. @return AW_OK, AW_ERR_NOMEM (message) */
aw_status aw_plan_make(const aw_config *config, aw_plan *plan);

/** Refuse, in one line each at the place of the key, a history over the budget history_MiB, more
 *  particles than the machine has memory for, a bunch too large for the sharpest bend, and an
 *  upstream_m below the overtaking length.
 *  @return AW_OK, AW_ERR_INPUT, AW_ERR_NOMEM. */
aw_status aw_plan_check(const aw_config *config, const aw_plan *plan);

/** Warn, in one line each, of a time step (by the shortest bunch of all bends), grid or number of
 *  particles that is too coarse, or an upstream that is too short, for the accuracy claimed in
 *  docs/theory.md, of a large Derbenev number, and of a low gamma.
 *  @return the number of warnings. */
int aw_plan_warn(const aw_config *config, const aw_plan *plan);

/** Rules that a bunch may break while a run goes on. */
enum { AW_RULE_STEP = 1, AW_RULE_CELLS = 2, AW_RULE_SPIKE = 4 };

/** The bunch at a step. */
typedef struct aw_plan_bunch {
    double S, kappa; /* of the design orbit [m], [1/m] */
    double sigma_s;  /* rms length [m] */
    double step;     /* c dt of the last step [m] */
    double spike;    /* rms width of the peak of the current [m]; NaN: not known */
    double h_s;      /* spacing of the grid along s [m]; 0: not known */
} aw_plan_bunch;

/** Grid cells per rms length; infinite where they are not known. */
double aw_plan_cells(const aw_plan_bunch *bunch);

/** Rules that the bunch breaks: it has become too short for the time step (unless aw_plan_warn has
 *  said so), or for the grid, or its current has a spike of which the grid limits the height.
 *  @return a sum of AW_RULE_.. */
int aw_plan_broken(const aw_config *config, const aw_plan *plan, const aw_plan_bunch *bunch);

/** Warn, in one line each, of broken rules. */
void aw_plan_warn_broken(const aw_plan_bunch *bunch, int broken);

AW_END_DECLS
#endif
