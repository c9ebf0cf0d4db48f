/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/device/slice_cache.h"

#include <string.h>

void aw_slice_cache_match(void *held, size_t size, size_t room, const aw_history_view *h, size_t n)
{
    char *item = held, moved[AW_SLICE_CACHE_BYTES];
    for (size_t i = n; i-- > 0;) {
        const uint64_t id = h->slice[i].id;
        for (size_t j = 0; id != 0 && j < room; ++j) {
            if (*(const uint64_t *)(const void *)&item[j * size] != id || j == i) continue;
            memcpy(moved, &item[j * size], size);
            memcpy(&item[j * size], &item[i * size], size);
            memcpy(&item[i * size], moved, size);
            break;
        }
    }
}
