/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A heap of region indices with the largest error on top, and the lowest index among equal errors,
 * so that the order depends on nothing but the regions. */
#ifndef AW_QUADRATURE_RULES_HEAP_H
#define AW_QUADRATURE_RULES_HEAP_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/port.h"

/** A heap; all pointers are borrowed. */
typedef struct aw_heap {
    const double *error; /* of region 0 */
    size_t stride;       /* from the error of a region to that of the next, in doubles */
    uint32_t *place;     /* [n] region indices in heap order */
    uint32_t n;
} aw_heap;

/* Whether region a belongs above region b. */
AW_FN int aw_heap_above(const aw_heap *h, uint32_t a, uint32_t b)
{
    const double p = h->error[a * h->stride], q = h->error[b * h->stride];
    return p > q || (p == q && a < b);
}

/** Restore the order after the error of the region on top has changed. */
AW_FN void aw_heap_sift_down(const aw_heap *h)
{
    const uint32_t moving = h->place[0];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= h->n) break;
        if (child + 1 < h->n && aw_heap_above(h, h->place[child + 1], h->place[child])) child++;
        if (!aw_heap_above(h, h->place[child], moving)) break;
        h->place[i] = h->place[child];
        i = child;
    }
    h->place[i] = moving;
}

/** Insert region `index`; `place` must have the capacity for it. */
AW_FN void aw_heap_push(aw_heap *h, uint32_t index)
{
    uint32_t i = h->n++;
    while (i > 0 && aw_heap_above(h, index, h->place[(i - 1) / 2])) {
        h->place[i] = h->place[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h->place[i] = index;
}

#endif
