/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Division of a point's tolerance among its regions: which of them to accept. */
#ifndef AW_QUADRATURE_SHARE_H
#define AW_QUADRATURE_SHARE_H
#include "quadrature/rules/simpson.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Estimate at one point, from the regions accepted so far. */
typedef struct aw_estimate {
    double I[AW_RESULTS]; /* sum of their integrals */
    double error;         /* sum of their errors, in scales */
    uint32_t regions;     /* their number */
    aw_status status;     /* AW_OK, AW_ERR_MAXEVAL, AW_ERR_NONFINITE */
} aw_estimate;

/** Accept regions of one point, smallest error first, as long as their errors sum to at most half
 *  of what is left of the tolerance; all of them, if their sum is within all of it. So the sum of
 *  the errors of a point, not the error of each region, is held to the tolerance.
 *  @param[in,out] region    n regions of one point; refused ones are moved to the front, in order
 *  @param[out]    order     [n] workspace
 *  @param[in,out] estimate  accepted regions are added, in their order
 *  @return the number of refused regions; a region whose error is NaN is always refused. */
size_t aw_share_accept(aw_region *region, size_t n, uint32_t *order, double tolerance,
                       aw_estimate *estimate);

AW_END_DECLS
#endif
