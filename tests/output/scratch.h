/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A temporary directory for a test, capture of stderr, and a simulated full disk. */
#ifndef AW_TESTS_OUTPUT_SCRATCH_H
#define AW_TESTS_OUTPUT_SCRATCH_H
#include <stddef.h>

enum { SCRATCH_PATH = 512 };

/** Create an empty directory in the test's working directory. */
void scratch_make(char path[SCRATCH_PATH]);

/** Remove a directory with all its contents. */
void scratch_remove(const char *path);

/** State of a test that has such a directory, and cmocka's functions that make and remove it. */
typedef struct scratch_fixture {
    char dir[SCRATCH_PATH];
} scratch_fixture;
int scratch_setup(void **state);
int scratch_teardown(void **state);

/** "directory/name" in one of four static buffers, valid until the fourth call after this one. */
const char *scratch_path(const char *directory, const char *name);

int scratch_exists(const char *path);

/** Number of entries of a directory, without . and .. */
int scratch_count(const char *directory);

/** Write a text file. */
void scratch_write(const char *path, const char *text);

/** The bytes of a file followed by a null byte, allocated with malloc; size may be NULL. */
char *scratch_read(const char *path, size_t *size);

/** Simulate a full disk: until scratch_disk_free, files of this process cannot exceed `bytes`. */
void scratch_disk_full(size_t bytes);
void scratch_disk_free(void);

/** Redirect stderr to a file beside `directory` until scratch_stderr_end, which returns the text
 *  (allocated with malloc). */
void scratch_stderr_begin(const char *directory);
char *scratch_stderr_end(void);

#endif
