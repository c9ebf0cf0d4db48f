/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many nodes in angle each node in r' of the far zone needs. Where many nodes in angle are
 * called for, most of their benefit comes from the few radii at which circles sweep through the
 * beam; this module finds these, and leaves the others as they were. */
#ifndef AW_SOLVERS_PROJECTION_DENSITY_H
#define AW_SOLVERS_PROJECTION_DENSITY_H
#include "quadrature/panels.h"
#include "src/solvers/internal.h"
#include "src/solvers/projection/constants.h"

/** Points of the sample with large errors. */
typedef struct aw_probes {
    size_t point[AW_SPIKE_POINTS];
    size_t n;
} aw_probes;

/** Lower the density of nodes in angle to `sparse` at all radii where that hardly changes the sums
 *  at some points that are spread over the grid, and at others: all of them together by
 *  AW_DENSITY_SHARE of the tolerance.
 *  @param[in] others       further points
 *  @param[in] sparse       density (aw_common_node) that may do
 *  @param[in,out] panels   nodes with the density that is to be had where it may not
 *  @return AW_OK, AW_ERR_NOMEM, or what the device returns */
aw_status aw_density_choose(aw_solver *solver, const aw_problem *problem, const aw_probes *others,
                            double sparse, aw_panels *panels, aw_work *work);

#endif
