/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory the process uses, and how much more it may have. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/log.h"
#include "src/base/memory.h"

/* Number after `key` in a file of the kernel; SIZE_MAX: there is none (as for "max"). */
static size_t number_in(const char *path, const char *key)
{
    char line[256], *end;
    size_t value = SIZE_MAX;
    FILE *file = fopen(path, "r");
    if (!file) return value;
    while (value == SIZE_MAX && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        const unsigned long long number = strtoull(line + strlen(key), &end, 10);
        if (end == line + strlen(key)) break;
        value = number < SIZE_MAX ? (size_t)number : SIZE_MAX;
    }
    fclose(file);
    return value;
}

/* A line of /proc/self/status [bytes]; 0: unknown. */
static size_t status_line(const char *key)
{
    const size_t kib = number_in("/proc/self/status", key);
    return kib == SIZE_MAX ? 0 : kib * 1024;
}

size_t aw_memory_peak(void) { return status_line("VmHWM:"); }

size_t aw_memory_now(void) { return status_line("VmRSS:"); }

size_t aw_memory_physical(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
}

static void lower(size_t left, const char *name, size_t *least, const char **limit)
{
    if (left >= *least) return;
    *least = left;
    *limit = name;
}

/* Limit of this process's control group less its use without cached files; SIZE_MAX: none. */
static size_t left_in_group(void)
{
    char line[512], path[640];
    size_t left = SIZE_MAX;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) != 0) continue;
        const char *const place[] = {line + 3, ""}; /* in containers, "" is this one's group */
        for (size_t i = 0; i < 2 && left == SIZE_MAX; ++i) {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", place[i]);
            const size_t most = number_in(path, "");
            if (most == SIZE_MAX) continue;
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.stat", place[i]);
            const size_t cached = number_in(path, "file ");
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", place[i]);
            size_t used = number_in(path, "");
            if (used == SIZE_MAX) used = 0;
            if (cached != SIZE_MAX) used -= cached < used ? cached : used;
            left = most > used ? most - used : 0;
        }
    }
    if (file) fclose(file);
    return left;
}

/* Limit of this process on a resource less its use, a line of /proc/self/status. */
static size_t left_of(const struct rlimit *r, const char *used)
{
    if (r->rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    const size_t now = status_line(used);
    return r->rlim_cur > now ? (size_t)r->rlim_cur - now : 0;
}

size_t aw_memory_addresses_left(void)
{
    struct rlimit r;
    return getrlimit(RLIMIT_AS, &r) == 0 ? left_of(&r, "VmSize:") : SIZE_MAX;
}

size_t aw_memory_left(const char **limit)
{
    struct rlimit r;
    size_t least = SIZE_MAX;
    *limit = "nothing";
    lower(aw_memory_addresses_left(), "the address space (ulimit -v)", &least, limit);
    if (getrlimit(RLIMIT_DATA, &r) == 0)
        lower(left_of(&r, "VmData:"), "the limit on data (ulimit -d)", &least, limit);
    lower(left_in_group(), "the control group (memory.max)", &least, limit);
    const size_t kib = number_in("/proc/meminfo", "MemAvailable:");
    if (kib != SIZE_MAX) lower(kib * 1024, "the machine (MemAvailable)", &least, limit);
    return least;
}

aw_status aw_memory_require(const char *what, size_t bytes)
{
    const char *limit;
    const size_t left = aw_memory_left(&limit);
    if (bytes <= left) return AW_OK;
    return aw_error(AW_ERR_NOMEM, "%s needs about %.0f MiB of memory, but %s leaves %.0f MiB", what,
                    (double)bytes / 1048576.0, limit, (double)left / 1048576.0);
}
