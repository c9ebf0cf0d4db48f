/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are whole or absent, and the directory a run writes into. */
#ifndef AW_IO_FILE_H
#define AW_IO_FILE_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Put `size` bytes under the name `path`, replacing what was there, all or nothing.
 *  Writes path.tmp, fsync, rename, fsync of the directory; when anything fails, path.tmp is removed
 *  and what stood at `path` before stays. SIGXFSZ is set to be ignored, so that a file-size limit
 *  is an ordinary error (EFBIG) here as well.
 *  @param[in] bytes  borrowed; may be NULL when size is 0
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (one line with the path and the system's reason). */
aw_status aw_file_replace(const char *path, const void *bytes, size_t size);

/** Write all bytes to an open file descriptor, going on after signals and partial writes.
 *  @return 0, or the errno of the write that failed (how much was written is then unknown). */
int aw_file_write_all(int fd, const void *bytes, size_t size);

/** From now on a write beyond a file-size limit fails with EFBIG instead of ending the process. */
void aw_file_size_signal_ignore(void);

/** Make the directories above the file `path`, where they are lacking.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (one line with the path and the system's reason). */
aw_status aw_file_parents(const char *path);

/** Make a run's output directory: `path` (with its parents) and `path`/diag.
 *  A directory that has anything in it is refused without `force`. With `force` our own old files
 *  are removed, so that stale ones never mix with new ones: diag/arcwake_*.h5, monitor.csv,
 *  run.log, resolved.yaml, report.html, forces.png (and their .tmp); nothing else is touched.
 *  @return AW_OK, AW_ERR_ARG (empty path; not empty and no force), AW_ERR_NOMEM, AW_ERR_IO. */
aw_status aw_directory_make(const char *path, int force);

AW_END_DECLS
#endif
