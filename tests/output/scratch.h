/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A directory of a test's own, what it says on stderr, and a disk that is full. */
#ifndef AW_TESTS_OUTPUT_SCRATCH_H
#define AW_TESTS_OUTPUT_SCRATCH_H
#include <stddef.h>

enum { SCRATCH_PATH = 512 };

/** New empty directory beside the test's working directory. */
void scratch_make(char path[SCRATCH_PATH]);

/** Remove it with all that is in it. */
void scratch_remove(const char *path);

/** "directory/name" in one of a few static buffers, good until the fourth call after. */
const char *scratch_path(const char *directory, const char *name);

int scratch_exists(const char *path);

/** Entries of a directory, without . and .. */
int scratch_count(const char *directory);

/** Write a text file. */
void scratch_write(const char *path, const char *text);

/** Whole file in a malloc'd buffer with a null byte behind it. */
char *scratch_read(const char *path, size_t *size);

/** Files of this process cannot grow beyond `bytes` until scratch_disk_free: a full disk. */
void scratch_disk_full(size_t bytes);
void scratch_disk_free(void);

/** Send stderr to a file in `directory` until scratch_stderr_end, which gives what was written:
 *  malloc'd text. */
void scratch_stderr_begin(const char *directory);
char *scratch_stderr_end(void);

#endif
