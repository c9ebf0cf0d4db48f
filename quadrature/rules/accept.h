/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of a point's tolerance a region of a shared partition may use. */
#ifndef AW_QUADRATURE_RULES_ACCEPT_H
#define AW_QUADRATURE_RULES_ACCEPT_H
#include <stddef.h>

#include "src/base/port.h"

/** A region of a tile is accepted if at each of its points the errors accepted so far and its own
 *  are within the error at the start plus `part` of what is left of the limit then, times
 *  AW_ACCEPT_FIRST + (1 - AW_ACCEPT_FIRST) (regions done)/(regions). So their sum is never
 *  above the limit, and is held to it region by region as a partition with equal errors would be,
 *  with room for some that have more. The others are refused; their sums are given too, since all
 *  together may turn out to be within the tolerance. */
#define AW_ACCEPT_FIRST 0.3

/** That last factor, with region k of so many. */
AW_FN double aw_accept_share(size_t k, size_t regions)
{
    return AW_ACCEPT_FIRST + (1.0 - AW_ACCEPT_FIRST) * ((double)(k + 1) / (double)regions);
}

/** The largest sum of errors with which a region is accepted. */
AW_FN double aw_accept_budget(double limit, double part, double start, double share)
{
    return start + (limit - start) * part * share;
}

#endif
