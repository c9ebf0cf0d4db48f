/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aligned host memory and what the process uses of it. */
#ifndef AW_BASE_MEMORY_H
#define AW_BASE_MEMORY_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** 64-byte aligned, zeroed block of `count * size` bytes for the caller to free with aw_free.
 *  @return NULL when it cannot be had (or the product overflows). A count of 0 gives a block. */
void *aw_alloc(size_t count, size_t size);

/** Grow `*block` geometrically so that it holds at least `need` items; contents are kept.
 *  @param[in,out] capacity  items that *block holds
 *  @return AW_OK or AW_ERR_NOMEM (block and capacity unchanged). */
aw_status aw_grow(void **block, size_t *capacity, size_t need, size_t size);

/** Free what aw_alloc or aw_grow gave; NULL is fine. */
void aw_free(void *block);

/** Largest resident size of this process so far [bytes]; 0 where the system does not say. */
size_t aw_memory_peak(void);

/** Resident size of this process now [bytes]; 0 where the system does not say. */
size_t aw_memory_now(void);

AW_END_DECLS
#endif
