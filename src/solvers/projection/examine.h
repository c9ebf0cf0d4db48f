/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which panels of a zone of the strategy `projection` are too long: at a few points with large
 * errors each is integrated finely by itself. */
#ifndef AW_SOLVERS_PROJECTION_EXAMINE_H
#define AW_SOLVERS_PROJECTION_EXAMINE_H
#include "src/solvers/projection/zone.h"

/** Points at which panels are examined, and the result. */
typedef struct aw_panel_test {
    const size_t *point; /* [points], borrowed: points with a large error, the largest first */
    size_t points;       /* at least 1 */
    int capped;          /* out: 1 if a panel was too long and has got a cap */
    double error;        /* out: scaled error of all panels together at the first point */
} aw_panel_test;

/** Compare the far zone's panels one by one with Simpson's rule between their nodes, at some
 *  points, and cap those that are too long from now on.
 *  @return AW_OK, AW_ERR_NOMEM, or what the device returns */
aw_status aw_zone_examine(aw_solver *solver, const aw_problem *problem, aw_zone *zone,
                          aw_panel_test *test, aw_work *work);

#endif
