/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/io/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/log.h"
#include "src/io/checkpoint_file.h"
#include "src/io/file.h"
#include "src/io/lock.h"

#define RESOLVED "resolved.yaml"

enum { WATCHED = 4, HEAD_BYTES = 65536 };

enum { DIAG, CHECKPOINTS, FOLDERS };

struct aw_directory {
    char *path;             /* owned */
    int fd, below[FOLDERS]; /* folders of `folders` */
    aw_lock lock;
    struct {
        const char *name;
        int fd; /* open, so that no other file can get the same number */
    } watched[WATCHED];
    int n_watched;
};

static int is_dot(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

static int is_mesh_file(const char *name)
{
    static const char head[] = "arcwake_", tail[] = ".h5";
    if (strncmp(name, head, sizeof head - 1) != 0) return 0;
    const char *end = strstr(name, tail);
    if (!end) return 0;
    end += sizeof tail - 1;
    if (*end == '\0') return 1;
    char whole[256];
    const size_t n = (size_t)(end - name);
    if (n >= sizeof whole) return 0;
    memcpy(whole, name, n);
    whole[n] = '\0';
    return aw_file_is_temporary(name, whole);
}

/* One of them that is complete. */
static int is_complete_mesh_file(const struct dirent *entry)
{
    static const char tail[] = ".h5";
    const size_t n = strlen(entry->d_name), end = sizeof tail - 1;
    return n > end && strcmp(entry->d_name + n - end, tail) == 0 && is_mesh_file(entry->d_name);
}

size_t aw_directory_meshes(const char *directory, struct dirent ***out)
{
    char diag[PATH_MAX];
    *out = NULL;
    if (snprintf(diag, sizeof diag, "%s/diag", directory) >= (int)sizeof diag) return 0;
    const int n = scandir(diag, out, is_complete_mesh_file, alphasort);
    if (n > 0) return (size_t)n;
    free(*out);
    *out = NULL;
    return 0;
}

/* The folders of an output directory, and the files that a run leaves there. */
static const struct {
    const char *name;
    int (*is_ours)(const char *name);
} folders[FOLDERS] = {{"diag", is_mesh_file}, {AW_CHECKPOINT_FOLDER, aw_checkpoint_is_file}};

/* A file that a run leaves, or one of its temporary files; resolved.yaml apart. */
static int is_run_file(const char *name)
{
    static const char *const ours[] = {"monitor.csv", "run.log",          "report.html",
                                       "forces.png",  "spectrum.csv",     "spectrum.json",
                                       "spectrum.h5", "certificate.json", "certificate.csv"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; ++i)
        if (strcmp(name, ours[i]) == 0 || aw_file_is_temporary(name, ours[i])) return 1;
    return 0;
}

/* What a run leaves that was killed before resolved.yaml was there: locks being made, the text. */
static int is_early_file(const char *name)
{
    return aw_file_is_temporary(name, AW_LOCK_NAME) || aw_file_is_temporary(name, RESOLVED);
}

static int is_resolved(const char *name) { return strcmp(name, RESOLVED) == 0; }

static int is_lock(const char *name)
{
    return strcmp(name, AW_LOCK_NAME) == 0 || strcmp(name, AW_LOCK_GUARD) == 0 ||
           aw_file_is_temporary(name, AW_LOCK_NAME);
}

/* Open the entries of a directory anew. @return NULL with errno set */
static DIR *entries_of(int directory)
{
    const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !entries) close(fd);
    return entries;
}

/* The first entry for which `wanted` returns 1, or "" for none. @return 0 or an errno */
static int find(int directory, int (*wanted)(const char *name), char name[256])
{
    DIR *entries = entries_of(directory);
    *name = '\0';
    if (!entries) return errno;
    errno = 0;
    for (struct dirent *e = readdir(entries); e && !*name; e = readdir(entries))
        if (!is_dot(e->d_name) && wanted(e->d_name)) memcpy(name, e->d_name, strlen(e->d_name) + 1);
    const int code = errno;
    closedir(entries);
    return code;
}

static int is_anything_but_a_lock(const char *name) { return !is_lock(name); }

static int begins_with(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

/* Did arcwake write this text? Before it wrote its mark, the first lines were these. */
static int is_ours(const char *text)
{
    if (begins_with(text, AW_DIRECTORY_MARK)) return 1;
    const char *lattice = strchr(text, '\n');
    const char *beam = lattice ? strchr(lattice + 1, '\n') : NULL;
    return begins_with(text, "title: \"") && lattice && begins_with(lattice, "\nlattice: \"") &&
           beam && begins_with(beam, "\nbeam:\n  charge_C: ");
}

/* Is there a resolved.yaml that arcwake wrote? */
static int has_our_input(int directory)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int fd = openat(directory, RESOLVED, flags);
    struct stat info;
    int ours = 0;
    char *text = fd < 0 ? NULL : malloc(HEAD_BYTES);
    if (text && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        const ssize_t n = read(fd, text, HEAD_BYTES - 1);
        text[n > 0 ? n : 0] = '\0';
        ours = is_ours(text);
    }
    free(text);
    if (fd >= 0) close(fd);
    return ours;
}

static aw_status unreadable(const char *path, int code)
{
    return aw_error(AW_ERR_IO, "%s: cannot be the output directory: %s", path, strerror(code));
}

static int open_folder(const aw_directory *d, int k)
{
    return openat(d->fd, folders[k].name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Refuse a directory with a file that a run would remove or replace, unless arcwake wrote it. */
static aw_status refuse_foreign(const aw_directory *d)
{
    char name[256];
    if (has_our_input(d->fd)) return AW_OK;
    const char *below = "", *slash = "";
    int code = find(d->fd, is_resolved, name);
    if (code == 0 && !*name) code = find(d->fd, is_run_file, name);
    for (int k = 0; k < FOLDERS && code == 0 && !*name; ++k)
        if (d->below[k] >= 0) {
            code = find(d->below[k], folders[k].is_ours, name);
            below = folders[k].name;
            slash = "/";
        }
    if (code != 0) return unreadable(d->path, code);
    if (!*name) return AW_OK;
    return aw_error(AW_ERR_ARG,
                    "%s/%s%s%s: is in the way, and may be yours: there is no resolved.yaml of "
                    "arcwake (move it away, or choose another directory with -o DIR)",
                    d->path, below, slash, name);
}

/* May a run write there? Nothing is changed. */
static aw_status may_write(aw_directory *d, aw_directory_mode mode)
{
    char name[256];
    const int code = find(d->fd, is_anything_but_a_lock, name);
    if (code != 0) return unreadable(d->path, code);
    if (mode == AW_DIRECTORY_CONTINUE && !has_our_input(d->fd))
        return aw_error(AW_ERR_ARG,
                        "%s: there is no run to go on with (expected the output directory of the "
                        "run that was stopped: -o DIR)",
                        d->path);
    if (!*name) return AW_OK;
    if (mode == AW_DIRECTORY_EMPTY)
        return aw_error(AW_ERR_ARG,
                        "%s: the output directory is not empty (choose another with -o DIR, or "
                        "--force to replace the files of an earlier run)",
                        d->path);
    for (int k = 0; k < FOLDERS; ++k)
        if (d->below[k] < 0 && (d->below[k] = open_folder(d, k)) < 0 && errno != ENOENT)
            return aw_error(AW_ERR_ARG,
                            "%s/%s: is not a directory (move it away; symbolic links are not "
                            "followed)",
                            d->path, folders[k].name);
    return refuse_foreign(d);
}

/* Remove the entries for which `ours` returns 1. */
static aw_status remove_ours(int directory, int (*ours)(const char *name), const char *path)
{
    DIR *entries = entries_of(directory);
    if (!entries) return aw_error(AW_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    aw_status status = AW_OK;
    for (struct dirent *e = readdir(entries); e && status == AW_OK; e = readdir(entries))
        if (ours(e->d_name) && unlinkat(directory, e->d_name, 0) != 0 && errno != ENOENT)
            status = aw_error(AW_ERR_IO, "%s: the old file %s cannot be removed: %s", path,
                              e->d_name, strerror(errno));
    closedir(entries);
    return status;
}

static aw_status clear(const aw_directory *d)
{
    aw_status status = AW_OK;
    for (int k = 0; k < FOLDERS; ++k)
        if (d->below[k] >= 0) AW_TRY(remove_ours(d->below[k], folders[k].is_ours, d->path));
    AW_TRY(remove_ours(d->fd, is_run_file, d->path));
    AW_TRY(remove_ours(d->fd, is_early_file, d->path));
    AW_TRY(remove_ours(d->fd, is_resolved, d->path));
done:
    return status;
}

static aw_status prepare(aw_directory *d, aw_directory_mode mode)
{
    const char *diag = folders[DIAG].name;
    aw_status status = AW_OK;
    AW_TRY(may_write(d, mode));
    AW_TRY(aw_lock_take(d->fd, d->path, &d->lock));
    AW_TRY(may_write(d, mode)); /* another run may have come and gone in between */
    if (d->below[DIAG] < 0) {
        if (mkdirat(d->fd, diag, 0777) == 0 || errno == EEXIST)
            d->below[DIAG] = open_folder(d, DIAG);
        if (d->below[DIAG] < 0)
            AW_TRY(
                aw_error(AW_ERR_IO, "%s/%s: cannot be made: %s", d->path, diag, strerror(errno)));
    }
    if (mode != AW_DIRECTORY_CONTINUE) AW_TRY(clear(d));
done:
    return status;
}

aw_status aw_directory_open(const char *path, aw_directory_mode mode, aw_directory **out)
{
    aw_status status = AW_OK;
    *out = NULL;
    if (!path || !*path) return aw_error(AW_ERR_ARG, "the output directory has no name");
    aw_file_size_signal_ignore();
    aw_directory *d = calloc(1, sizeof *d);
    if (!d) return aw_error(AW_ERR_NOMEM, "%s: no memory for its name", path);
    d->fd = d->lock.fd = -1;
    for (int k = 0; k < FOLDERS; ++k) d->below[k] = -1;
    d->path = strdup(path);
    if (!d->path) AW_TRY(aw_error(AW_ERR_NOMEM, "%s: no memory for its name", path));
    int code = aw_file_make_directories(path);
    if (code == 0 && (d->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) code = errno;
    if (code != 0) AW_TRY(unreadable(path, code));
    AW_TRY(prepare(d, mode));
    *out = d;
    d = NULL;
done:
    aw_directory_close(d);
    return status;
}

static int same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

aw_status aw_directory_watch(aw_directory *d, const char *name)
{
    if (d->n_watched == WATCHED) return aw_error(AW_ERR_ARG, "%s: too many files to watch", name);
    const int fd = openat(d->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return aw_error(AW_ERR_IO, "%s/%s: cannot be read: %s", d->path, name, strerror(errno));
    d->watched[d->n_watched].name = name;
    d->watched[d->n_watched++].fd = fd;
    return AW_OK;
}

static aw_status lost(const aw_directory *d, const char *slash, const char *name)
{
    return aw_error(AW_ERR_IO,
                    "%s%s%s: was removed or replaced during the run (leave the output directory "
                    "alone while a run writes to it)",
                    d->path, slash, name);
}

aw_status aw_directory_check(const aw_directory *d)
{
    struct stat there, here;
    if (stat(d->path, &there) != 0 || fstat(d->fd, &here) != 0 || !same_file(&there, &here))
        return lost(d, "", "");
    if (!aw_lock_is_held(&d->lock)) return lost(d, "/", AW_LOCK_NAME);
    for (int i = 0; i < d->n_watched; ++i)
        if (fstatat(d->fd, d->watched[i].name, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
            fstat(d->watched[i].fd, &here) != 0 || !same_file(&there, &here))
            return lost(d, "/", d->watched[i].name);
    return AW_OK;
}

void aw_directory_close(aw_directory *d)
{
    if (!d) return;
    for (int i = 0; i < d->n_watched; ++i) close(d->watched[i].fd);
    aw_lock_release(&d->lock);
    for (int k = 0; k < FOLDERS; ++k)
        if (d->below[k] >= 0) close(d->below[k]);
    if (d->fd >= 0) close(d->fd);
    free(d->path);
    free(d);
}
