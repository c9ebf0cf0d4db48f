/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/io/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/archive/descriptor.h"
#include "src/base/log.h"
#include "src/io/file.h"

#define TEXT "arcwake: process %ld on host %s\n"
#define TEXT_READ "arcwake: process %ld on host %255s"

enum { HOST = 256, TRIES = 100 };

/* What is known of the lock that is in the way. */
typedef enum verdict {
    GONE,    /* there is none any more */
    STALE,   /* its run is dead */
    ALIVE,   /* its run is alive */
    HELD,    /* somebody has it, though its run cannot be seen: most likely who is replacing it */
    ABROAD,  /* its run is on another host */
    UNKNOWN, /* it cannot be read, or is none of ours */
} verdict;

typedef struct owner {
    long process;
    char host[HOST];
    int by_flock; /* 1: this process has the flock of that lock */
} owner;

static void this_host(char host[HOST])
{
    if (gethostname(host, HOST) != 0 || !*host) snprintf(host, HOST, "unknown");
    host[HOST - 1] = '\0';
}

static int same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the file `name` still the one that is open? */
static int in_place(int at, const char *name, int fd)
{
    struct stat there, here;
    return fstatat(at, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &here) == 0 &&
           same_file(&there, &here);
}

/* Write a lock of this process under a temporary name. @return its descriptor, or minus an errno */
static int prepare(int at, char **name)
{
    char text[HOST + 64], host[HOST];
    const int fd = aw_file_temporary(at, AW_LOCK_NAME, name);
    if (fd < 0) return fd;
    this_host(host);
    const int n = snprintf(text, sizeof text, TEXT, (long)getpid(), host);
    const int code = aw_write_all(fd, text, (size_t)n);
    flock(fd, LOCK_EX | LOCK_NB); /* where the file system has none, aw_lock_take does without */
    if (code == 0) return fd;
    unlinkat(at, *name, 0);
    free(*name);
    *name = NULL;
    close(fd);
    return -code;
}

/* Put the lock that was prepared in its place. @return 0 or an errno (EEXIST: there is one) */
static int place(int at, const char *name, int fd)
{
    struct stat info;
    if (linkat(at, name, at, AW_LOCK_NAME, 0) == 0) return 0;
    const int code = errno;
    /* the answer of a server can get lost, and the repeated request then fails */
    if (fstat(fd, &info) == 0 && info.st_nlink == 2) return 0;
    if (code != EPERM && code != EOPNOTSUPP && code != ENOSYS && code != EMLINK) return code;
    /* A file system without links: reserve the name. */
    const int reserved = aw_file_create(at, AW_LOCK_NAME);
    if (reserved < 0) return -reserved;
    close(reserved);
    return renameat(at, name, at, AW_LOCK_NAME) == 0 ? 0 : errno;
}

static int read_owner(int fd, owner *of)
{
    char text[HOST + 64];
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0) return 0;
    text[n] = '\0';
    return text[n - 1] == '\n' && sscanf(text, TEXT_READ, &of->process, of->host) == 2;
}

/* Judge the lock that is in the way, open as `fd`. */
static verdict judge(int at, int fd, owner *of)
{
    char host[HOST];
    if (!read_owner(fd, of)) return in_place(at, AW_LOCK_NAME, fd) ? UNKNOWN : GONE;
    this_host(host);
    if (strcmp(host, of->host) != 0) return ABROAD;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        of->by_flock = 1;
        /* its run may have ended, or another may have replaced it, before the flock was ours */
        return in_place(at, AW_LOCK_NAME, fd) ? STALE : GONE;
    }
    const int held = errno == EWOULDBLOCK;
    if (kill((pid_t)of->process, 0) == 0 || errno != ESRCH) return ALIVE;
    return held ? HELD : STALE;
}

/* Replace the stale lock `old` by the one that was prepared. @return 0, or an errno (EEXIST:
 * another run was faster, or is at it) */
static int replace(int at, const char *name, const owner *of, int old)
{
    if (of->by_flock) return renameat(at, name, at, AW_LOCK_NAME) == 0 ? 0 : errno;
    /* One at a time, or a late one would take the lock of the first for the stale one. */
    const int guard = aw_file_create(at, AW_LOCK_GUARD);
    if (guard < 0) return -guard;
    close(guard);
    int code = EEXIST;
    if (in_place(at, AW_LOCK_NAME, old))
        code = renameat(at, name, at, AW_LOCK_NAME) == 0 ? 0 : errno;
    unlinkat(at, AW_LOCK_GUARD, 0);
    return code;
}

static aw_status refuse(verdict what, const owner *of, const char *path)
{
    if (what == ALIVE)
        return aw_error(AW_ERR_ARG,
                        "%s: process %ld is writing its results there (choose another directory "
                        "with -o DIR, or wait)",
                        path, of->process);
    if (what == ABROAD)
        return aw_error(AW_ERR_ARG,
                        "%s: process %ld on host %s is writing its results there (choose another "
                        "directory with -o DIR; if that process has ended, remove %s/" AW_LOCK_NAME
                        ")",
                        path, of->process, of->host, path);
    if (what == HELD)
        return aw_error(AW_ERR_ARG,
                        "%s: another run is taking it from process %ld (choose another directory "
                        "with -o DIR; if no run uses it, remove %s/" AW_LOCK_NAME "*)",
                        path, of->process, path);
    return aw_error(AW_ERR_ARG,
                    "%s/" AW_LOCK_NAME ": is not readable as a run's lock (choose another "
                    "directory with -o DIR, or remove it if no run is using the directory)",
                    path);
}

/* Try once. @return 0, or an errno (EEXIST, ENOENT: try again); *what and *of say who is in the
 * way. */
static int try_once(int at, aw_lock *lock, verdict *what, owner *of)
{
    char *name = NULL;
    const int fd = prepare(at, &name);
    *what = GONE;
    *of = (owner){0};
    if (!name) return -fd;
    int code = place(at, name, fd);
    if (code == EEXIST) {
        /* for writing, because flock on NFS wants that */
        const int old = openat(at, AW_LOCK_NAME, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        *what = old >= 0 ? judge(at, old, of) : errno == ENOENT ? GONE : UNKNOWN;
        if (*what == STALE) {
            code = replace(at, name, of, old);
            if (code == EEXIST) *what = HELD;
        }
        if (old >= 0) close(old);
    }
    unlinkat(at, name, 0);
    free(name);
    if (code == 0)
        *lock = (aw_lock){.at = at, .fd = fd};
    else
        close(fd);
    return code;
}

aw_status aw_lock_take(int at, const char *path, aw_lock *lock)
{
    const struct timespec pause = {0, 1000000};
    verdict what = GONE;
    owner of;
    *lock = (aw_lock){.at = at, .fd = -1};
    for (int i = 0; i < TRIES; ++i) {
        const int code = try_once(at, lock, &what, &of);
        if (code == 0) return AW_OK;
        if (code != EEXIST && code != ENOENT)
            return aw_error(AW_ERR_IO, "%s/" AW_LOCK_NAME ": cannot be made: %s", path,
                            strerror(code));
        if (what == ALIVE || what == ABROAD || what == UNKNOWN) break;
        if (what == HELD) nanosleep(&pause, NULL);
    }
    return refuse(what, &of, path);
}

int aw_lock_is_held(const aw_lock *lock)
{
    return lock->fd >= 0 && in_place(lock->at, AW_LOCK_NAME, lock->fd);
}

void aw_lock_release(aw_lock *lock)
{
    if (aw_lock_is_held(lock)) unlinkat(lock->at, AW_LOCK_NAME, 0);
    if (lock->fd >= 0) close(lock->fd);
    lock->fd = -1;
}
