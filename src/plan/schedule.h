/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time steps of a run: equal ones, or on a ladder of 1, 1.5, 2, 3, 4, 6 .. chosen from lattice
 * and bunch before the run (docs/theory.md, "Steps"). Times are whole numbers of ticks, so that
 * every step and place is exact and the same on all ranks. */
#ifndef AW_PLAN_SCHEDULE_H
#define AW_PLAN_SCHEDULE_H
#include <stdint.h>

#include "src/base/status.h"
#include "src/input/config.h"

AW_BEGIN_DECLS

/** Time steps in an overtaking length, at least, wherever forces in edges matter. */
#define AW_STEPS_PER_OVERTAKING 22.0

/** Steps of a run; the step from tick a to tick b lasts (b - a) tick/c. */
typedef struct aw_schedule {
    double begin;              /* arc length of the start [m] */
    double tick;               /* c times a tick [m] */
    double beta;               /* of the beam's mean energy */
    int64_t end;               /* tick of the last step */
    long steps;                /* from the start to the end, as planned */
    int64_t shortest, longest; /* of the planned steps [ticks] */
    unsigned char *rung; /* owned, [cells], or NULL for equal steps of one tick: of the longest step
                          * that may cover a cell of AW_CELL_TICKS ticks */
    size_t cells;
    double
        energy; /* that the bunch is expected to lose to its field, of a ladder [eV]; 0: no bend */
} aw_schedule;

/** Ticks of the shortest planned step of a ladder: a run may halve one and a half of it three
 *  times. */
#define AW_CELL_TICKS ((int64_t)16)

/** Make the schedule of an input: equal steps of numerics.step_m, or for `auto` a ladder. It is a
 *  function of lattice, beam and motion alone, and does not depend on how elements are split. Free
 *  with aw_schedule_free.
 *  @return AW_OK, AW_ERR_NOMEM (message) */
aw_status aw_schedule_new(const aw_config *config, aw_schedule **out);
void aw_schedule_free(aw_schedule *schedule);

/** The step that begins at `now`, before the end [ticks]: the longest one that the ladder permits
 *  there, at most twice the one before it.
 *  @param[in] last    the step before [ticks]; 0 at the start
 *  @param[in] halved  how often what the ladder permits is halved (a run's own finding); 0: as
 *                     planned */
int64_t aw_schedule_step(const aw_schedule *schedule, int64_t now, int64_t last, int halved);

/** c times the time of a tick, and the arc length of the reference then [m]. */
double aw_schedule_ct(const aw_schedule *schedule, int64_t tick);
double aw_schedule_S(const aw_schedule *schedule, int64_t tick);

AW_END_DECLS
#endif
