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
/** How much more memory the process can have: the least of the limits of the process (`ulimit -v`,
 *  `ulimit -d`), of its control group, and of the machine.
 *  @param[out] limit  what sets it, for messages; static storage
 *  @return bytes; SIZE_MAX: no limit is known */
size_t aw_memory_left(const char **limit);

/** Bytes of addresses left below `ulimit -v`; SIZE_MAX: no limit. */
size_t aw_memory_addresses_left(void);

/** Require so much memory before the first use of libraries that end the program where they get
 *  none. @return AW_OK, AW_ERR_NOMEM (message: `what` needs it) */
aw_status aw_memory_require(const char *what, size_t bytes);

AW_END_DECLS
#endif
