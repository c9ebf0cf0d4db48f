/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aligned host memory, and how much of it the process uses. */
#ifndef AW_BASE_MEMORY_H
#define AW_BASE_MEMORY_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Allocate `count * size` bytes, 64-byte aligned and zeroed; the caller frees them with aw_free.
 *  @return NULL: out of memory, or the product overflows. For 0 bytes it is not NULL either. */
void *aw_alloc(size_t count, size_t size);

/** Grow `*block` geometrically to a capacity of at least `need` items of `size` bytes. The contents
 *  are copied, new items are zero.
 *  @param[in,out] capacity  of *block [items]
 *  @return AW_OK or AW_ERR_NOMEM (block and capacity unchanged). */
aw_status aw_grow(void **block, size_t *capacity, size_t need, size_t size);

/** Free a block from aw_alloc or aw_grow; NULL is permitted. */
void aw_free(void *block);

/** Largest resident set size of this process so far [bytes]; 0: unknown on this system. */
size_t aw_memory_peak(void);

/** Resident set size of this process now [bytes]; 0: unknown on this system. */
size_t aw_memory_now(void);

/** Physical memory of this machine [bytes]; 0: unknown on this system. */
size_t aw_memory_physical(void);

AW_END_DECLS
#endif
