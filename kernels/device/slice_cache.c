/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/device/slice_cache.h"

#include <string.h>

void aw_slice_cache_match(void *item, size_t size, size_t capacity, const aw_history_view *h,
                          size_t n)
{
    char *bytes = item, moved[AW_SLICE_CACHE_BYTES];
    for (size_t i = n; i-- > 0;) {
        const uint64_t id = h->slice[i].id;
        for (size_t j = 0; id != 0 && j < capacity; ++j) {
            if (*(const uint64_t *)(const void *)&bytes[j * size] != id || j == i) continue;
            memcpy(moved, &bytes[j * size], size);
            memcpy(&bytes[j * size], &bytes[i * size], size);
            memcpy(&bytes[i * size], moved, size);
            break;
        }
    }
}
