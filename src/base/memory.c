/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *aw_alloc(size_t count, size_t size)
{
    void *block = NULL;
    if (size != 0 && count > (SIZE_MAX - 64) / size) return NULL;
    size_t bytes = (count * size + 63) / 64 * 64;
    if (posix_memalign(&block, 64, bytes ? bytes : 64) != 0) return NULL;
    memset(block, 0, bytes ? bytes : 64);
    return block;
}

aw_status aw_grow(void **block, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity) return AW_OK;
    size_t grown = *capacity + *capacity / 2 + 64;
    if (grown < need) grown = need;
    void *bigger = aw_alloc(grown, size);
    if (!bigger) return AW_ERR_NOMEM;
    if (*block) memcpy(bigger, *block, *capacity * size);
    aw_free(*block);
    *block = bigger;
    *capacity = grown;
    return AW_OK;
}

void aw_free(void *block) { free(block); }
