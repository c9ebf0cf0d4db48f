/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output directory of a run: made, locked, cleared of an earlier run's files, and watched. */
#ifndef AW_IO_DIRECTORY_H
#define AW_IO_DIRECTORY_H
#include <dirent.h>
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** First line of a resolved.yaml, by which a directory is known to be one of arcwake's. */
#define AW_DIRECTORY_MARK "# arcwake: resolved input"

/** An output directory in use; opaque. */
typedef struct aw_directory aw_directory;

/** What to do with an output directory in which something is. */
typedef enum aw_directory_mode {
    AW_DIRECTORY_EMPTY,   /* refuse it */
    AW_DIRECTORY_REPLACE, /* remove an earlier run's files */
    AW_DIRECTORY_CONTINUE /* leave them, but refuse a directory without them */
} aw_directory_mode;

/** Make the directory `path` with its parents and `path`/diag, and lock it (src/io/lock.h).
 *  To replace an earlier run its files are removed, so that old and new ones never mix:
 *  diag/arcwake_*.h5, checkpoints/arcwake_*.ckpt, monitor.csv, run.log, report.html,
 *  forces.png, spectrum.csv, .json and .h5, certificate.json and .csv, resolved.yaml and their
 *  temporary files; no others, and none through a symbolic link. resolved.yaml goes last: it is
 *  what shows that those files are arcwake's. Where it does not, a file of such a name is
 *  somebody's, and the directory is refused.
 *  @param[out] out  free with aw_directory_close; NULL unless AW_OK
 *  @return AW_OK; AW_ERR_ARG (no name; refused; not arcwake's; in use: nothing was written);
 *          AW_ERR_NOMEM; AW_ERR_IO (each with one line) */
aw_status aw_directory_open(const char *path, aw_directory_mode mode, aw_directory **out);

/** Mesh files of a run, DIRECTORY/diag/arcwake_*.h5, in the order of their steps. Free the entries
 *  and the list with free(). @return how many; 0: there are none, or no such directory, and *out is
 *  NULL */
size_t aw_directory_meshes(const char *directory, struct dirent ***out);

/** Watch a file of the directory from now on: aw_directory_check wants it to remain the same.
 *  @param[in] name  static, in the directory itself  @return AW_OK, AW_ERR_IO (message) */
aw_status aw_directory_watch(aw_directory *directory, const char *name);

/** Compare directory, lock and the watched files with those that were opened: a few system calls.
 *  @return AW_OK, AW_ERR_IO (one was removed or replaced: message) */
aw_status aw_directory_check(const aw_directory *directory);

/** Remove the lock and free; NULL is fine. */
void aw_directory_close(aw_directory *directory);

AW_END_DECLS
#endif
