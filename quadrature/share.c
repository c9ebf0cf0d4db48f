/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quadrature/share.h"

#include <string.h>

/* Binary insertion sort: a point has some tens of regions, and qsort would need a global. */
static void sort_by_error(const aw_region *region, uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        size_t lo = 0, hi = i;
        while (lo < hi) {
            size_t middle = lo + (hi - lo) / 2;
            if (region[order[middle]].error > region[i].error)
                hi = middle;
            else
                lo = middle + 1;
        }
        memmove(&order[lo + 1], &order[lo], (i - lo) * sizeof *order);
        order[lo] = (uint32_t)i;
    }
}

size_t aw_share_accept(aw_region *region, size_t n, uint32_t *order, double tolerance,
                       aw_estimate *estimate)
{
    double left = tolerance - estimate->error, all = 0.0, accepted = 0.0;
    size_t refused = 0;
    for (size_t i = 0; i < n; ++i) all += region[i].error;
    const int everything = all <= left; /* false when an error is NaN */
    if (!everything) {
        sort_by_error(region, order, n);
        for (size_t i = 0; i < n; ++i) {
            aw_region *q = &region[order[i]];
            if (!(accepted + q->error <= 0.5 * left)) break;
            accepted += q->error;
            q->known |= 1u << 31; /* accepted */
        }
    }
    for (size_t i = 0; i < n; ++i) {
        aw_region *q = &region[i];
        if (!everything && !(q->known >> 31)) {
            if (refused != i) region[refused] = *q;
            refused++;
            continue;
        }
        for (unsigned k = 0; k < AW_RESULTS; ++k) estimate->I[k] += q->I[k];
        estimate->error += q->error;
        estimate->regions++;
    }
    return refused;
}
