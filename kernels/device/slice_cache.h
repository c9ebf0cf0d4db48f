/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices that a device holds from step to step in a form of its own, each known by its id. */
#ifndef AW_KERNELS_DEVICE_SLICE_CACHE_H
#define AW_KERNELS_DEVICE_SLICE_CACHE_H
#include "kernels/math/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/* Most bytes of an item. */
#define AW_SLICE_CACHE_BYTES 64

/** Move what is held of slices, item i of slice i, to where the history has these slices now.
 *  @param[in,out] held  [room] items of `size` bytes that begin with the id of their slice (a
 *                       uint64_t; 0: none)
 *  @param[in] n  how many slices of the history count, at most room */
void aw_slice_cache_match(void *held, size_t size, size_t room, const aw_history_view *h, size_t n);

AW_END_DECLS
#endif
