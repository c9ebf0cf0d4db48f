/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/log.h"

aw_status aw_streams_open(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        /* open takes the lowest free number, which is fd: those below are open */
        if (open("/dev/null", O_RDWR) != fd) return AW_ERR_IO;
    }
    return AW_OK;
}

/* @return 0 or an errno. Some file systems report a failed write only when a descriptor of the file
 * is closed; a copy will do. */
static int flush_and_close_copy(FILE *stream)
{
    if (fflush(stream) != 0) return errno;
    const int copy = dup(fileno(stream));
    if (copy >= 0 && close(copy) != 0 && errno != EINTR) return errno;
    return 0;
}

aw_status aw_streams_flush(void)
{
    const int lost = ferror(stdout);
    const int code = flush_and_close_copy(stdout);
    if (code == 0 && !lost) return AW_OK;
    return aw_error(AW_ERR_IO, "stdout: cannot be written%s%s", code ? ": " : "",
                    code ? strerror(code) : "");
}
