/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are complete or absent, and the output directory of a run. */
#ifndef AW_IO_FILE_H
#define AW_IO_FILE_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Create or replace the file `path` atomically: write path.tmp, fsync, rename, fsync of the
 *  directory. On failure path.tmp is removed and the old file remains. SIGXFSZ is ignored from now
 *  on (aw_file_size_signal_ignore).
 *  @param[in] bytes  [size], borrowed; may be NULL if size is 0
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (one line with the path and the system's reason). */
aw_status aw_file_replace(const char *path, const void *bytes, size_t size);

/** Write all bytes to an open file descriptor, resuming after signals and partial writes.
 *  @return 0, or the errno of the write that failed; a part may have been written then. */
int aw_file_write_all(int fd, const void *bytes, size_t size);

/** Ignore SIGXFSZ, so that a write beyond a file-size limit fails with EFBIG instead of ending the
 *  process. */
void aw_file_size_signal_ignore(void);

/** Create the missing parent directories of the file `path`.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (one line with the path and the system's reason). */
aw_status aw_file_parents(const char *path);

/** Create the output directory of a run: `path` (with its parents) and `path`/diag. A directory
 *  that is not empty is refused unless `force` is 1; then the files of an earlier run are removed,
 *  so that old and new ones never mix: diag/arcwake_*.h5, monitor.csv, run.log, resolved.yaml,
 *  report.html, forces.png (and their .tmp); no others.
 *  @return AW_OK, AW_ERR_ARG (empty path; not empty and no force), AW_ERR_NOMEM, AW_ERR_IO. */
aw_status aw_directory_make(const char *path, int force);

AW_END_DECLS
#endif
