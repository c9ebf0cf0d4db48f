/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of a point's tolerance that a region of a common partition may use. */
#ifndef AW_QUADRATURE_RULES_ACCEPT_H
#define AW_QUADRATURE_RULES_ACCEPT_H
#include <stddef.h>

#include "src/base/port.h"

/** A region of a tile is accepted if, at each point of the tile, the sum of the errors accepted so
 *  far and of its own is within a budget: the error at the start plus `part` of the rest of the
 *  limit, times AW_ACCEPT_FIRST + (1 - AW_ACCEPT_FIRST) (regions done)/(regions). The sum therefore
 *  never exceeds the limit, and follows it region by region as for a partition with equal errors,
 *  with a reserve for regions of larger error. Other regions are refused; their sums are returned,
 *  too, since all regions together may turn out to be within the tolerance. */
#define AW_ACCEPT_FIRST 0.3

/** The last factor of the budget, at region k = 0 .. regions - 1. */
AW_FN double aw_accept_share(size_t k, size_t regions)
{
    return AW_ACCEPT_FIRST + (1.0 - AW_ACCEPT_FIRST) * ((double)(k + 1) / (double)regions);
}

/** The budget: the largest sum of errors with which a region is accepted, in scales. */
AW_FN double aw_accept_budget(double limit, double part, double start, double share)
{
    return start + (limit - start) * part * share;
}

#endif
