/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/archive/descriptor.h"

#include <errno.h>
#include <unistd.h>

int aw_write_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n > 0) {
        const ssize_t done = write(fd, at, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        if (done == 0) return ENOSPC; /* or the loop would never end */
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

int aw_read_all(int fd, void *bytes, size_t n, size_t *got)
{
    char *at = bytes;
    for (*got = 0; *got < n;) {
        const ssize_t done = read(fd, at + *got, n - *got);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        if (done == 0) break;
        *got += (size_t)done;
    }
    return 0;
}
