/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A zone of the strategy `projection`: a range of r' that is integrated at every point of the grid
 * with nodes in r' that all points have in common. Owns the panels of these nodes, their caps, and
 * the rules of the zone. Read first: aw_zone_begin and aw_zone_integrate, which are one pass. */
#ifndef AW_SOLVERS_PROJECTION_ZONE_H
#define AW_SOLVERS_PROJECTION_ZONE_H
#include "quadrature/panels.h"
#include "src/solvers/internal.h"
#include "src/solvers/projection/constants.h"
#include "src/solvers/projection/density.h"
#include "src/solvers/projection/rules.h"

/** Blocks of the convolution (kernels/math/convolution.h); the first begins at r' = 0. */
typedef struct aw_blocks {
    double end[AW_BLOCKS_MAX]; /* [n], increasing [m] */
    int joins[AW_BLOCKS_MAX];  /* [n]: 1: a block has the lattices of the one before it */
    size_t n;
    int lattices; /* of all of them */
} aw_blocks;

/** How far out in r' the convolution reaches [m]; 0: there is none. */
double aw_blocks_reach(const aw_blocks *blocks);

typedef struct aw_zone {
    aw_rules rules;
    aw_panels panels;   /* of the last pass, without the convolution's; owned: aw_zone_free */
    aw_panel_caps caps; /* where panels of the rule were too long for some points */
    aw_blocks blocks;   /* of the convolution of the last pass, */
    double *cut;        /* and [cuts] radii between its panels [m]; owned: aw_zone_free */
    size_t cuts, cut_capacity;
    aw_probes probes; /* of the step: points at which its panels were examined */
    /* Set by the caller before each pass; arrays are [points] and borrowed: */
    double from, to;                 /* range of r' [m]; the far zone has from > 0 */
    double (*sum)[AW_RESULTS];       /* the integrals; filled by the pass */
    double *check;                   /* sums with the weights of the null rule (aw_common_rule) */
    int check_rates;                 /* 1: check the rates, 0: the potentials */
    double (*workspace)[AW_RESULTS]; /* may be the same for all zones */
} aw_zone;

void aw_zone_free(aw_zone *zone);

/** Blocks of r' in which the slices lie on the lattice of the points closely enough to be
 *  convolved.
 *  @param[in] border  where a far zone could begin at the nearest [m]
 *  @param[in] end     upper limit of r' [m] */
aw_blocks aw_zone_convolution_blocks(const aw_solver *solver, const aw_problem *problem,
                                     const aw_zone *near, double border, double end);

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
aw_status aw_zone_cap_panels(aw_solver *solver, const aw_problem *problem, aw_zone *zone,
                             aw_panel_test *test, aw_work *work);

#endif
