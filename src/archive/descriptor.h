/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and writing of whole pieces through file descriptors. */
#ifndef AW_ARCHIVE_DESCRIPTOR_H
#define AW_ARCHIVE_DESCRIPTOR_H
#include <stddef.h>

#include "src/base/port.h"

AW_BEGIN_DECLS

/** Write all bytes to an open file descriptor, resuming after signals and partial writes.
 *  @return 0, or the errno of the write that failed; a part may have been written then. */
int aw_write_all(int fd, const void *bytes, size_t n);

/** Read n bytes, or what there is up to the end of the file, resuming after signals.
 *  @param[out] got  bytes that were read
 *  @return 0, or the errno of the read that failed */
int aw_read_all(int fd, void *bytes, size_t n, size_t *got);

AW_END_DECLS
#endif
