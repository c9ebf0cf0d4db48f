/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Atomic replacement of files; creating and clearing the output directory. */
#include "src/io/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/log.h"

void aw_file_size_signal_ignore(void) { signal(SIGXFSZ, SIG_IGN); }

int aw_file_write_all(int fd, const void *bytes, size_t size)
{
    const char *next = bytes;
    while (size > 0) {
        ssize_t n = write(fd, next, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return ENOSPC; /* or the loop would never end */
        next += n;
        size -= (size_t)n;
    }
    return 0;
}

/* "a<between>b", allocated with malloc; NULL if out of memory. */
static char *joined(const char *a, const char *between, const char *b)
{
    size_t size = strlen(a) + strlen(between) + strlen(b) + 1;
    char *text = malloc(size);
    if (text) snprintf(text, size, "%s%s%s", a, between, b);
    return text;
}

/* Create `path` with these bytes and flush it to the disk. @return 0 or an errno. */
static int write_synced(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0) return errno;
    int code = aw_file_write_all(fd, bytes, size);
    if (code == 0 && fsync(fd) != 0) code = errno;
    /* close can report a delayed write error (NFS, quota) */
    if (close(fd) != 0 && code == 0) code = errno;
    return code;
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

aw_status aw_file_replace(const char *path, const void *bytes, size_t size)
{
    aw_file_size_signal_ignore();
    char *temporary = joined(path, "", ".tmp");
    if (!temporary) return aw_error(AW_ERR_NOMEM, "%s: no memory for its name", path);
    int code = write_synced(temporary, bytes, size);
    if (code == 0 && rename(temporary, path) != 0) code = errno;
    if (code != 0) unlink(temporary);
    if (code == 0) code = sync_directory_of(path);
    free(temporary);
    if (code != 0) return aw_error(AW_ERR_IO, "%s: cannot be written: %s", path, strerror(code));
    return AW_OK;
}

/* mkdir -p. @return 0 or an errno. */
static int make_with_parents(const char *path)
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
    int code = make_with_parents(parent);
    if (code != 0) status = aw_error(AW_ERR_IO, "%s: cannot be made: %s", parent, strerror(code));
    free(parent);
    return status;
}

static int is_dot(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/* @return 0 or an errno; *empty is 1 for a directory without entries. */
static int is_empty(const char *path, int *empty)
{
    DIR *directory = opendir(path);
    if (!directory) return errno;
    *empty = 1;
    errno = 0;
    for (struct dirent *e = readdir(directory); e && *empty; e = readdir(directory))
        if (!is_dot(e->d_name)) *empty = 0;
    int code = errno;
    closedir(directory);
    return code;
}

static int ends_with(const char *name, const char *tail)
{
    size_t n = strlen(name), m = strlen(tail);
    return n >= m && strcmp(name + n - m, tail) == 0;
}

static int is_mesh_file(const char *name)
{
    return strncmp(name, "arcwake_", 8) == 0 &&
           (ends_with(name, ".h5") || ends_with(name, ".h5.tmp"));
}

static int is_run_file(const char *name)
{
    static const char *const ours[] = {"monitor.csv", "run.log", "resolved.yaml", "report.html",
                                       "forces.png"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; ++i) {
        size_t n = strlen(ours[i]);
        if (strncmp(name, ours[i], n) != 0) continue;
        if (name[n] == '\0' || strcmp(name + n, ".tmp") == 0) return 1;
    }
    return 0;
}

/* Remove the entries of a directory for which `ours` returns 1. */
static aw_status remove_ours(const char *path, int (*ours)(const char *name))
{
    DIR *directory = opendir(path);
    if (!directory) return aw_error(AW_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    aw_status status = AW_OK;
    for (struct dirent *e = readdir(directory); e && status == AW_OK; e = readdir(directory)) {
        if (ours(e->d_name) && unlinkat(dirfd(directory), e->d_name, 0) != 0)
            status = aw_error(AW_ERR_IO, "%s/%s: the old file cannot be removed: %s", path,
                              e->d_name, strerror(errno));
    }
    closedir(directory);
    return status;
}

aw_status aw_directory_make(const char *path, int force)
{
    if (!path || !*path) return aw_error(AW_ERR_ARG, "the output directory has no name");
    aw_file_size_signal_ignore();
    aw_status status = AW_OK;
    int empty = 0, code = make_with_parents(path);
    if (code == 0) code = is_empty(path, &empty);
    if (code != 0)
        return aw_error(AW_ERR_IO, "%s: cannot be the output directory: %s", path, strerror(code));
    if (!empty && !force)
        return aw_error(AW_ERR_ARG,
                        "%s: the output directory is not empty (choose another with -o DIR, or "
                        "--force to replace the files of an earlier run)",
                        path);
    char *diag = joined(path, "/", "diag");
    if (!diag) return aw_error(AW_ERR_NOMEM, "%s: no memory for its name", path);
    code = make_with_parents(diag);
    if (code != 0) {
        status = aw_error(AW_ERR_IO, "%s: cannot be made: %s", diag, strerror(code));
        goto done;
    }
    if (!empty) {
        AW_TRY(remove_ours(path, is_run_file));
        AW_TRY(remove_ours(diag, is_mesh_file));
    }
done:
    free(diag);
    return status;
}
