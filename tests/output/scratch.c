/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/output/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/assert_close.h"

static rlim_t size_limit;
static int stderr_saved = -1;
static char stderr_path[SCRATCH_PATH];

void scratch_make(char path[SCRATCH_PATH])
{
    snprintf(path, SCRATCH_PATH, "scratch_XXXXXX");
    assert_non_null(mkdtemp(path));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

void scratch_remove(const char *path)
{
    assert_int_equal(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int scratch_setup(void **state)
{
    scratch_fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    scratch_make(f->dir);
    *state = f;
    return 0;
}

int scratch_teardown(void **state)
{
    scratch_fixture *f = *state;
    scratch_remove(f->dir);
    free(f);
    return 0;
}

const char *scratch_path(const char *directory, const char *name)
{
    static char buffer[4][SCRATCH_PATH];
    static int next;
    char *path = buffer[next++ % 4];
    snprintf(path, SCRATCH_PATH, "%s/%s", directory, name);
    return path;
}

int scratch_exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

int scratch_count(const char *directory)
{
    DIR *d = opendir(directory);
    assert_non_null(d);
    int n = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) ++n;
    closedir(d);
    return n - 2;
}

void scratch_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

char *scratch_read(const char *path, size_t *size)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    char *bytes = calloc((size_t)info.st_size + 1, 1);
    assert_non_null(bytes);
    size_t n = fread(bytes, 1, (size_t)info.st_size, file);
    assert_int_equal(n, (size_t)info.st_size);
    fclose(file);
    if (size) *size = n;
    return bytes;
}

void scratch_disk_full(size_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    size_limit = limit.rlim_cur;
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

void scratch_disk_free(void)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size_limit;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

void scratch_stderr_begin(const char *directory)
{
    snprintf(stderr_path, sizeof stderr_path, "%s.stderr", directory);
    int fd = open(stderr_path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(fd >= 0);
    fflush(stderr);
    stderr_saved = dup(STDERR_FILENO);
    assert_true(stderr_saved >= 0);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

char *scratch_stderr_end(void)
{
    fflush(stderr);
    dup2(stderr_saved, STDERR_FILENO);
    close(stderr_saved);
    char *text = scratch_read(stderr_path, NULL);
    unlink(stderr_path);
    return text;
}
