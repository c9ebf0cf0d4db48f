/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/io/checkpoint_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/log.h"
#include "src/io/file.h"

enum { KEPT = 2 };

static const char head[] = "arcwake_", tail[] = ".ckpt";

/* Step of a checkpoint, from its name. @return -1: it is none */
static long step_of(const char *name)
{
    char *end;
    if (strncmp(name, head, sizeof head - 1) != 0) return -1;
    const char *digits = name + sizeof head - 1;
    if (strspn(digits, "0123456789") == 0) return -1;
    errno = 0;
    const long step = strtol(digits, &end, 10);
    return strcmp(end, tail) == 0 && errno == 0 ? step : -1;
}

/* Whether it is the temporary name of a checkpoint. */
static int is_unfinished(const char *name)
{
    const char *end = strstr(name, tail);
    char whole[256];
    if (!end) return 0;
    const size_t n = (size_t)(end - name) + sizeof tail - 1;
    if (n >= sizeof whole) return 0;
    memcpy(whole, name, n);
    whole[n] = '\0';
    return step_of(whole) >= 0 && aw_file_is_temporary(name, whole);
}

int aw_checkpoint_is_file(const char *name) { return step_of(name) >= 0 || is_unfinished(name); }

/* "DIRECTORY/checkpoints[/NAME]", malloc'd; NULL: out of memory */
static char *path_of(const char *directory, const char *name)
{
    const size_t n = strlen(directory) + strlen(name) + sizeof AW_CHECKPOINT_FOLDER + 2;
    char *path = malloc(n);
    if (path)
        snprintf(path, n, "%s/" AW_CHECKPOINT_FOLDER "%s%s", directory, *name ? "/" : "", name);
    return path;
}

static void free_strings(aw_checkpoint *c)
{
    free(c->text);
    free(c->path);
    free(c->directory);
    free(c->temporary);
    c->text = c->path = c->directory = c->temporary = NULL;
}

static aw_status no_memory(const char *path)
{
    return aw_error(AW_ERR_NOMEM, "%s: no memory for the checkpoint", path);
}

static void archive_text(aw_archive *archive, char **text)
{
    size_t n = *text ? strlen(*text) : 0, size = n + 1;
    AW_ARCHIVE_ITEM(archive, n);
    if (archive->way == AW_ARCHIVE_LOAD && archive->status == AW_OK) {
        size = n < SIZE_MAX ? n + 1 : n;
        *text = calloc(size, 1);
        if (!*text) archive->status = AW_ERR_NOMEM;
    }
    if (*text) aw_archive_bytes(archive, *text, size - 1);
}

/* ------------------------------------------------------------------------------------- writing */

aw_status aw_checkpoint_create(const char *directory, long step, const char *text, aw_checkpoint *c)
{
    char name[64];
    aw_status status = AW_OK;
    *c = (aw_checkpoint){.text = NULL};
    snprintf(name, sizeof name, "%s%08ld%s", head, step, tail);
    char *folder = path_of(directory, "");
    c->path = path_of(directory, name);
    c->directory = strdup(directory);
    c->text = strdup(text);
    if (!folder || !c->path || !c->directory || !c->text) AW_TRY(no_memory(directory));
    int code = aw_file_make_directories(folder);
    const int fd = code == 0 ? aw_file_begin(c->path, &c->temporary) : -code;
    if (fd < 0) AW_TRY(aw_error(AW_ERR_IO, "%s: cannot be written: %s", c->path, strerror(-fd)));
    aw_archive_save(&c->archive, fd);
    archive_text(&c->archive, &c->text);
done:
    free(folder);
    if (status != AW_OK) free_strings(c);
    return status;
}

/* The newest checkpoint older than `before`. @return its step, or -1 */
static long newest_before(const char *folder, long before, char name[256])
{
    long newest = -1;
    DIR *entries = opendir(folder);
    if (!entries) return -1;
    for (struct dirent *e = readdir(entries); e; e = readdir(entries)) {
        const long step = step_of(e->d_name);
        if (step <= newest || (before >= 0 && step >= before)) continue;
        newest = step;
        memcpy(name, e->d_name, strlen(e->d_name) + 1);
    }
    closedir(entries);
    return newest;
}

/* Remove the checkpoints outside a range of steps, and what earlier runs did not complete. What
 * cannot be removed stays. */
static void remove_outside(const char *folder, long oldest, long newest)
{
    DIR *entries = opendir(folder);
    if (!entries) return;
    for (struct dirent *e = readdir(entries); e; e = readdir(entries)) {
        const long step = step_of(e->d_name);
        if ((step >= 0 && (step < oldest || step > newest)) || is_unfinished(e->d_name))
            unlinkat(dirfd(entries), e->d_name, 0);
    }
    closedir(entries);
}

/* Remove all but the newest. */
static void remove_old(const char *folder)
{
    char name[256];
    long oldest = -1;
    for (int i = 0; i < KEPT; ++i) {
        const long step = newest_before(folder, oldest, name);
        if (step < 0) break;
        oldest = step;
    }
    remove_outside(folder, oldest, LONG_MAX);
}

void aw_checkpoint_remove_later(const char *directory, long step)
{
    char *folder = path_of(directory, "");
    if (folder) remove_outside(folder, 0, step);
    free(folder);
}

aw_status aw_checkpoint_commit(aw_checkpoint *c)
{
    aw_status status = aw_archive_end(&c->archive);
    const int failed = status == AW_ERR_IO ? c->archive.code : status != AW_OK ? ENOMEM : 0;
    const int code = aw_file_commit(c->path, c->temporary, c->archive.fd, failed);
    c->temporary = NULL; /* freed */
    char *folder = path_of(c->directory, "");
    if (code != 0)
        status = aw_error(code == ENOMEM ? AW_ERR_NOMEM : AW_ERR_IO, "%s: cannot be written: %s",
                          c->path, strerror(code));
    else if (folder)
        remove_old(folder);
    free(folder);
    free_strings(c);
    return status;
}

/* ------------------------------------------------------------------------------------- reading */

/* @return NULL, or what is wrong with the file, to follow its name */
static const char *load(aw_checkpoint *c)
{
    const int fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return strerror(errno);
    const char *wrong = aw_archive_load(&c->archive, fd);
    if (!wrong) archive_text(&c->archive, &c->text);
    if (!wrong && c->archive.status != AW_OK) wrong = "is of another version of arcwake";
    if (!wrong) return NULL;
    aw_archive_abandon(&c->archive);
    close(fd);
    return wrong;
}

static aw_status open_file(const char *file, aw_checkpoint *c)
{
    c->path = strdup(file);
    if (!c->path) return no_memory(file);
    const char *wrong = load(c);
    if (!wrong) return AW_OK;
    aw_status status = aw_error(AW_ERR_INPUT,
                                "%s: %s (expected a file of DIR/" AW_CHECKPOINT_FOLDER
                                ", or --restart for the newest that is whole)",
                                file, wrong);
    free_strings(c);
    return status;
}

aw_status aw_checkpoint_open(const char *directory, const char *file, aw_checkpoint *c)
{
    char name[256];
    *c = (aw_checkpoint){.text = NULL};
    if (file) return open_file(file, c);
    char *folder = path_of(directory, "");
    if (!folder) return no_memory(directory);
    aw_status status = AW_ERR_INPUT;
    for (long step = newest_before(folder, -1, name); step >= 0;
         step = newest_before(folder, step, name)) {
        c->path = path_of(directory, name);
        const char *wrong = c->path ? load(c) : "needs more memory than there is";
        if (!wrong) {
            status = AW_OK;
            break;
        }
        aw_warn("%s/%s: %s; the one before it is taken if there is one", folder, name, wrong);
        free_strings(c);
    }
    if (status != AW_OK)
        aw_error_print("%s: there is no checkpoint to go on from (start without --restart)",
                       folder);
    free(folder);
    return status;
}

void aw_checkpoint_abandon(aw_checkpoint *c)
{
    if (!c->path) return;
    aw_archive_abandon(&c->archive);
    close(c->archive.fd);
    free_strings(c);
}

aw_status aw_checkpoint_close(aw_checkpoint *c)
{
    if (!c->path) return AW_OK;
    aw_status status = aw_archive_end(&c->archive);
    if (status == AW_ERR_IO)
        aw_error_print("%s: cannot be read: %s", c->path, strerror(c->archive.code));
    else if (status == AW_ERR_NOMEM)
        no_memory(c->path);
    else if (status != AW_OK)
        aw_error_print("%s: does not fit this run (expected the input, the beam's file and the "
                       "program of the run that wrote it)",
                       c->path);
    close(c->archive.fd);
    free_strings(c);
    return status;
}
