/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the steps of a run resolve the force on the bunch: after each solve, the error that the
 * trapezium rule of the kicks makes, from the curvature of the force in time. Where it is too large
 * step after step, the following steps are halved (`numerics.step_m: auto`). */
#ifndef AW_SIMULATION_STEP_CHECK_H
#define AW_SIMULATION_STEP_CHECK_H
#include <stddef.h>

#include "src/base/port.h"

AW_BEGIN_DECLS

/* Components of the force along the bunch: its projections on Hermite polynomials. */
enum { AW_CHECK_FORCES = 4 };
/* Steps over which the curvature is averaged: noise of the forces changes its sign from step to
 * step, and a single wrong force cancels in three steps. */
enum { AW_CHECK_WINDOW = 4 };
/* Halvings at most: as often as the schedule has ticks for. */
enum { AW_CHECK_HALVINGS = 3 };

/** State of the check; begins with zeros. */
typedef struct aw_step_check {
    int halved;                                    /* how often steps are halved now */
    int n;                                         /* forces known, at most 2, */
    double ct[2], F[2][AW_CHECK_FORCES];           /* the newest first [m], [eV/m] */
    double bend[AW_CHECK_WINDOW][AW_CHECK_FORCES]; /* of dF/d(ct) between two steps [eV/m^2], */
    double span[AW_CHECK_WINDOW];                  /* from middle to middle [m] */
    int seen;                                      /* bends since the last change of `halved` */
    int over, under; /* steps in a row that err too much, and so little that twice the step is well
                      * within the limit */
    double error;    /* of the last step, in energy: rms over the bunch [eV]; 0: not known yet */
    int full;        /* 1: the run has no room for more steps, and none is halved any more */
    double worst;    /* largest error over its limit of steps in a row that err too much, and that
                      * could not be halved any more; 0: none. Of that step: */
    double worst_step, worst_ct; /* its length, and c times the time of its end [m], */
    int worst_halved;            /* and how often it had been halved */
} aw_step_check;

/** What a run says at its end of steps that erred too much and could not be halved any more: where,
 *  how much, and the key that makes them short enough. The error of a step falls as h^3, and its
 *  share of the limit as h.
 *  @param[in] beta        of the beam
 *  @param[in] step_scale  of the run (numerics.step_scale)
 *  @return 0: there was none, and `text` is unchanged */
int aw_step_check_text(const aw_step_check *check, double beta, double step_scale, char *text,
                       size_t size);

/** Take the force at the time ct/c, and judge the step that ended then.
 *  @param[in] limit  largest error of a step [eV] */
void aw_step_check_add(aw_step_check *check, double ct, const double F[AW_CHECK_FORCES],
                       double limit);

/** Components of the force along an axis of a grid of n columns and `rows` rows: the force,
 *  weighted with the charge, times orthonormal Hermite polynomials of the distance from the mean in
 *  rms lengths; the square sum of all components is the mean square of the force.
 *  @param[in] charge, force  [rows][n], the axis fastest where along is 1, slowest where it is 0 */
void aw_step_check_force(const double *charge, const double *force, const size_t size[2], int along,
                         double out[AW_CHECK_FORCES]);

AW_END_DECLS
#endif
