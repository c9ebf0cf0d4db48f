/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A range of r' that the strategy `projection` integrates over nodes common to all points: from a
 * rule to panels, from panels to sums, by convolution, tables or tiles. Owns the panels and the
 * caps on their length; read aw_zone_begin and aw_zone_integrate first. */
#ifndef AW_SOLVERS_ZONE_H
#define AW_SOLVERS_ZONE_H
#include "quadrature/panels.h"
#include "src/solvers/internal.h"
#include "src/solvers/rules.h"

typedef struct aw_zone {
    aw_rules rules;
    aw_panels panels;          /* owned: aw_panels_free */
    aw_panel_caps caps;        /* where its rule's panels were too long for some points */
    double (*sum)[AW_RESULTS]; /* [points], borrowed */
    double *check;             /* [points], borrowed: of its nodes (aw_common_rule) */
    double from, to;           /* in r' [m]; the near zone begins at 0 */
    double convolved;          /* it is, up to this r' [m] */
} aw_zone;

/** How far out slices lie as the points do, so that they can be convolved; 0: not at all.
 *  @param[in] border  where a far zone could begin [m] */
double aw_zone_convolution(const aw_solver *solver, const aw_problem *problem, const aw_zone *near,
                           double border);

/** Begin a zone with its rule: its sums are zeros, to which is added, from r' = 0 to `reach`, what
 *  a convolution gives, if the rule is not against it. That may go on until aw_zone_integrate of
 *  this zone; other zones may be integrated in between.
 *  @return AW_OK, AW_ERR_NOMEM, or what the device returns */
aw_status aw_zone_begin(aw_solver *solver, const aw_problem *problem, aw_zone *z, double reach);

/** Integrate the rest of a zone that has begun, between its ends; the near zone begins where its
 *  convolution ended. The far zone is the one that does not begin at r' = 0.
 *  @param[in] check_rates  1: the check is of the rates, 0: of the potentials
 *  @param[in] scratch  [points], of no meaning before and after
 *  @return AW_OK, AW_ERR_NOMEM, or what the device returns */
aw_status aw_zone_integrate(aw_solver *solver, const aw_problem *problem, aw_zone *z,
                            int check_rates, double (*scratch)[AW_RESULTS], aw_report *report);

/** Points at which the panels of the far zone are checked one by one. */
typedef struct aw_panel_check {
    const size_t *point; /* [points], at least one: where the zone's sum is off, the worst first */
    size_t points;
    int shortened; /* out: 1: some panels were too long, and are capped from now on */
    double off;    /* out: by how much all panels together are off at the worst point, in scales */
} aw_panel_check;

/** Find the panels of the far zone that are too long for some points, and cap them from now on.
 *  @return AW_OK, AW_ERR_NOMEM, or what the device returns */
aw_status aw_zone_sharpen(aw_solver *solver, const aw_problem *problem, aw_zone *z,
                          aw_panel_check *check, aw_work *work);

#endif
