/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static size_t status_line(const char *key)
{
    char line[256];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) {
            kib = strtoul(line + strlen(key), NULL, 10);
            break;
        }
    fclose(file);
    return kib * 1024;
}

size_t aw_memory_peak(void) { return status_line("VmHWM:"); }

size_t aw_memory_now(void) { return status_line("VmRSS:"); }

size_t aw_memory_physical(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
}
