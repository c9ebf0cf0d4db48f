/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A zone of the strategy `projection`: a range of r' that is integrated at every point of the grid
 * with nodes in r' that all points have in common. Owns the panels of these nodes, their caps, and
 * the rules of the zone. Read first: aw_zone_begin and aw_zone_integrate, which are one pass. */
#ifndef AW_SOLVERS_PROJECTION_ZONE_H
#define AW_SOLVERS_PROJECTION_ZONE_H
#include "quadrature/panels.h"
#include "src/solvers/internal.h"
#include "src/solvers/projection/blocks.h"
#include "src/solvers/projection/constants.h"
#include "src/solvers/projection/density.h"
#include "src/solvers/projection/rules.h"

typedef struct aw_zone {
    aw_rules rules;
    aw_panels panels;   /* of the last pass, without the convolution's; owned: aw_zone_free */
    aw_panel_caps caps; /* where panels of the rule were too long for some points */
    aw_blocks blocks;   /* of the convolution of the last pass, */
    double *cut;        /* and [cuts] radii between its panels [m]; owned: aw_zone_free */
    size_t cuts, cut_capacity;
    aw_probes probes;            /* of the step: points at which its panels were examined */
    const unsigned char *needed; /* points whose integrals are needed; NULL: all. Borrowed for the
                                  * step */
    /* Set by the caller before each pass; arrays are [points] and borrowed: */
    double from, to;                 /* range of r' [m]; the far zone has from > 0 */
    double (*sum)[AW_RESULTS];       /* the integrals; filled by the pass */
    double *check;                   /* sums with the weights of the null rule (aw_common_rule) */
    int check_rates;                 /* 1: check the rates, 0: the potentials */
    double (*workspace)[AW_RESULTS]; /* may be the same for all zones */
} aw_zone;

void aw_zone_free(aw_zone *zone);

/** Begin a pass: set the sums to zero and start the convolution of some blocks, unless the rule
 *  excludes it. It may run on the device until aw_zone_integrate of this zone; other zones may be
 *  integrated in between.
 *  @param[in] blocks  NULL: no convolution
 *  @return AW_OK, AW_ERR_NOMEM, or what the device returns */
aw_status aw_zone_begin(aw_solver *solver, const aw_problem *problem, aw_zone *zone,
                        const aw_blocks *blocks);

/** Finish the pass that has begun: integrate the rest of the range, from the end of the convolution
 *  if there is one.
 *  @return AW_OK, AW_ERR_NOMEM, or what the device returns */
aw_status aw_zone_integrate(aw_solver *solver, const aw_problem *problem, aw_zone *zone,
                            aw_report *report);

/** Part of the zone's cost that its next coarser rule would save, with the panels of the last pass
 *  and the caps as they are; a lower density level is thought to save AW_COARSER_GAIN.
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_zone_coarser_saving(const aw_solver *solver, const aw_problem *problem,
                                 const aw_zone *zone, double *saving);

/** Replace `panels` by those of the zone at one of its rules, with passages in the far zone if the
 *  device knows them. @return AW_OK, AW_ERR_NOMEM */
aw_status aw_zone_panels(const aw_solver *solver, const aw_problem *problem, const aw_zone *zone,
                         int level, aw_panels *panels);

/** Some of the zone's nodes, of which there are `all`, as a rule without sums. */
aw_common_rule aw_zone_common_rule(const aw_problem *problem, const aw_zone *zone,
                                   const aw_common_node *node, size_t nodes, size_t all);

#endif
