/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharing a point's tolerance among its subregions. */
#ifndef AW_QUADRATURE_SHARE_H
#define AW_QUADRATURE_SHARE_H
#include "quadrature/rules/simpson.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Estimate of one point in the making. */
typedef struct aw_estimate {
    double I[AW_RESULTS];
    double error;     /* of what has been accepted, in scales */
    uint32_t regions; /* accepted */
    aw_status status; /* AW_OK, AW_ERR_MAXEVAL, AW_ERR_NONFINITE */
} aw_estimate;

/** Accept regions of one point, smallest error first, as long as what is accepted in all stays
 *  within half of the tolerance that was left (all of it, if that takes every region): the sum of
 *  the errors of a point, not each region's, is held to the tolerance.
 *  @param[in,out] region  n regions of one point; the refused ones are moved to the front, in order
 *  @param[in,out] order   scratch, room for n
 *  @param[in,out] estimate  takes what is accepted, in the order of the regions
 *  @return the number of refused regions; a region whose error is NaN is always refused. */
size_t aw_share_accept(aw_region *region, size_t n, uint32_t *order, double tolerance,
                       aw_estimate *estimate);

AW_END_DECLS
#endif
