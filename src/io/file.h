/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are complete or absent. */
#ifndef AW_IO_FILE_H
#define AW_IO_FILE_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/* Longest path that the program handles, with its end. */
#define AW_PATH_MAX_LEN 4096

enum { AW_TEMPORARY_RANDOM = 6 }; /* letters in the name of a temporary file */

/** Create or replace the file `path` atomically: write path.XXXXXX.tmp (aw_file_temporary), fsync,
 *  rename, fsync of the directory. On failure the temporary file is removed and the old file
 *  remains. A symbolic link at `path` is replaced, not followed; devices, pipes and /dev/stdout are
 *  written in place. SIGXFSZ is ignored from now on (aw_file_size_signal_ignore).
 *  @param[in] bytes  [size], borrowed; may be NULL if size is 0
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (one line with the path and the system's reason). */
aw_status aw_file_replace(const char *path, const void *bytes, size_t size);

/** The same for a file that is written piece by piece: aw_file_begin, writes to the descriptor, and
 *  aw_file_commit, which leaves the old file where `code`, an errno of the caller's, is not 0.
 *  @param[out] temporary  name of the new file until then; freed by aw_file_commit
 *  @return of aw_file_begin the descriptor, or minus an errno; of aw_file_commit 0 or an errno */
int aw_file_begin(const char *path, char **temporary);
int aw_file_commit(const char *path, char *temporary, int fd, int code);

/** Create a file for reading and writing at a path where nothing is, not even a symbolic link.
 *  @param[in] at  directory of a relative path, or AT_FDCWD
 *  @return the descriptor, or minus an errno (EEXIST: something is there) */
int aw_file_create(int at, const char *path);

/** The same under a new name beside `path`: "path.XXXXXX.tmp" with random letters.
 *  @param[out] name  that name, to be freed with free(); NULL on error
 *  @return the descriptor, or minus an errno */
int aw_file_temporary(int at, const char *path, char **name);

/** 1 if `name` is one that aw_file_temporary gives for `of` (or "of.tmp"). */
int aw_file_is_temporary(const char *name, const char *of);

/** Ignore SIGXFSZ, so that a write beyond a file-size limit fails with EFBIG instead of ending the
 *  process. */
void aw_file_size_signal_ignore(void);

/** Create the missing parent directories of the file `path`.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (one line with the path and the system's reason). */
aw_status aw_file_parents(const char *path);

/** Whether a directory is at `path`. */
int aw_file_is_directory(const char *path);

/** Create the directory `path` with its parents; one that is there is fine.
 *  @return 0 or an errno (ENOTDIR: a file is in the way) */
int aw_file_make_directories(const char *path);

AW_END_DECLS
#endif
