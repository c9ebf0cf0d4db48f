/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slice cache: slices that a device keeps from step to step in its own layout, found by id. */
#ifndef AW_KERNELS_DEVICE_SLICE_CACHE_H
#define AW_KERNELS_DEVICE_SLICE_CACHE_H
#include "kernels/math/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/* Largest size of an item [bytes]. */
#define AW_SLICE_CACHE_BYTES 64

/** Reorder the items of a cache so that item i belongs to slice i of the history, for each of its
 *  first n slices that is cached.
 *  @param[in,out] item  [capacity] items of `size` <= AW_SLICE_CACHE_BYTES bytes, each beginning
 *                       with the id of its slice (a uint64_t; 0: empty)
 *  @param[in]     n     at most the capacity */
void aw_slice_cache_match(void *item, size_t size, size_t capacity, const aw_history_view *h,
                          size_t n);

AW_END_DECLS
#endif
