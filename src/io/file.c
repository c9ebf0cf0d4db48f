/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Atomic replacement of files, and names that are free. */
#include "src/io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/archive/descriptor.h"
#include "src/base/log.h"

void aw_file_size_signal_ignore(void) { signal(SIGXFSZ, SIG_IGN); }

/* Six letters that nobody can foresee; where the system has none to give, letters of the time. */
static void random_letters(char *out)
{
    uint64_t bits = 0;
    struct timespec now = {0};
    if (getentropy(&bits, sizeof bits) != 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        bits = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid() << 40;
    }
    for (int i = 0; i < AW_TEMPORARY_RANDOM; ++i, bits /= 26) out[i] = (char)('a' + bits % 26);
}

int aw_file_temporary(int at, const char *path, char **name)
{
    const size_t n = strlen(path);
    char *text = malloc(n + AW_TEMPORARY_RANDOM + sizeof "..tmp");
    *name = NULL;
    if (!text) return -ENOMEM;
    for (int tries = 0; tries < 100; ++tries) {
        char letters[AW_TEMPORARY_RANDOM];
        random_letters(letters);
        sprintf(text, "%s.%.*s.tmp", path, AW_TEMPORARY_RANDOM, letters);
        const int fd = aw_file_create(at, text);
        if (fd >= 0) *name = text;
        if (fd != -EEXIST) {
            if (fd < 0) free(text);
            return fd;
        }
    }
    free(text);
    return -EEXIST;
}

int aw_file_create(int at, const char *path)
{
    /* with O_EXCL a symbolic link is not followed, either */
    const int fd = openat(at, path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : fd;
}

int aw_file_is_temporary(const char *name, const char *of)
{
    const size_t n = strlen(of);
    if (strncmp(name, of, n) != 0 || name[n] != '.') return 0;
    const char *rest = name + n + 1;
    if (strcmp(rest, "tmp") == 0) return 1; /* as older versions named them */
    if (strspn(rest, "abcdefghijklmnopqrstuvwxyz") != AW_TEMPORARY_RANDOM) return 0;
    return strcmp(rest + AW_TEMPORARY_RANDOM, ".tmp") == 0;
}

/* Flush to the disk what was written, and close. @return `code` or, if that is 0, an errno */
static int close_synced(int fd, int code)
{
    /* EINVAL: a device or a pipe */
    if (code == 0 && fsync(fd) != 0 && errno != EINVAL) code = errno;
    /* close can report a delayed write error (NFS, quota) */
    if (close(fd) != 0 && code == 0) code = errno;
    return code;
}

/* Is `path` a device, a pipe or an open file (/dev/null, /dev/stdout, /dev/fd/3)? It is written in
 * place: the rename would replace it for everyone. */
static int is_device(const char *path)
{
    static const char *const open_files[] = {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/"};
    struct stat info;
    for (size_t i = 0; i < sizeof open_files / sizeof *open_files; ++i)
        if (strncmp(path, open_files[i], strlen(open_files[i])) == 0) return 1;
    return stat(path, &info) == 0 && (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode));
}

static int write_device(const char *path, const void *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? errno : close_synced(fd, aw_write_all(fd, bytes, size));
}

/* Flush a rename in the directory of `path` to the disk. @return 0 or an errno. */
static int sync_directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!name) return ENOMEM;
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = fd < 0 ? errno : 0;
    free(name);
    if (code) return code;
    /* EINVAL: this file system has no fsync of directories, and there is no substitute */
    if (fsync(fd) != 0 && errno != EINVAL) code = errno;
    close(fd);
    return code;
}

int aw_file_begin(const char *path, char **temporary)
{
    aw_file_size_signal_ignore();
    return aw_file_temporary(AT_FDCWD, path, temporary);
}

int aw_file_commit(const char *path, char *temporary, int fd, int code)
{
    code = close_synced(fd, code);
    if (code == 0 && rename(temporary, path) != 0) code = errno;
    if (code != 0) unlink(temporary);
    if (code == 0) code = sync_directory_of(path);
    free(temporary);
    return code;
}

/* Replace a regular file. @return 0 or an errno */
static int replace(const char *path, const void *bytes, size_t size)
{
    char *temporary = NULL;
    const int fd = aw_file_begin(path, &temporary);
    return fd < 0 ? -fd : aw_file_commit(path, temporary, fd, aw_write_all(fd, bytes, size));
}

aw_status aw_file_replace(const char *path, const void *bytes, size_t size)
{
    aw_file_size_signal_ignore();
    const int code = is_device(path) ? write_device(path, bytes, size) : replace(path, bytes, size);
    if (code == ENOMEM) return aw_error(AW_ERR_NOMEM, "%s: no memory for its name", path);
    if (code != 0) return aw_error(AW_ERR_IO, "%s: cannot be written: %s", path, strerror(code));
    return AW_OK;
}

int aw_file_is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int aw_file_make_directories(const char *path)
{
    char *copy = strdup(path);
    if (!copy) return ENOMEM;
    int code = 0;
    for (char *p = copy + 1; code == 0 && *p; ++p) {
        if (*p != '/') continue;
        *p = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) code = errno;
        *p = '/';
    }
    if (code == 0 && mkdir(copy, 0777) != 0 && errno != EEXIST) code = errno;
    free(copy);
    struct stat info;
    if (code == 0 && stat(path, &info) != 0) code = errno;
    if (code == 0 && !S_ISDIR(info.st_mode)) code = ENOTDIR;
    return code;
}

aw_status aw_file_parents(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path) return AW_OK;
    char *parent = strndup(path, (size_t)(slash - path));
    if (!parent) return aw_error(AW_ERR_NOMEM, "%s: no memory for its name", path);
    aw_status status = AW_OK;
    int code = aw_file_make_directories(parent);
    if (code != 0) status = aw_error(AW_ERR_IO, "%s: cannot be made: %s", parent, strerror(code));
    free(parent);
    return status;
}
