/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/archive/archive.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "src/archive/descriptor.h"
#include "src/archive/hash.h"
#include "src/base/comm.h"
#include "src/base/memory.h"

typedef struct header {
    char mark[24];
    uint64_t size, hash; /* of what follows */
} header;

static const char mark[24] = "arcwake checkpoint 1\n";

static int is_active(const aw_archive *a)
{
    return a->status == AW_OK && a->way != AW_ARCHIVE_TAKE_PART;
}

static void fail(aw_archive *a, aw_status status, int code)
{
    if (a->status != AW_OK) return;
    a->status = status;
    a->code = code;
}

/* @return 0, or the errno */
static int write_memory(aw_archive *a, const void *bytes, size_t n)
{
    if (!a->to) return 0; /* measures */
    if (n > a->length - a->place) return ENOSPC;
    memcpy(a->to + a->place, bytes, n);
    a->place += n;
    return 0;
}

static void write_bytes(aw_archive *a, const void *bytes, size_t n)
{
    if (a->status != AW_OK) return;
    const int code = a->fd < 0 ? write_memory(a, bytes, n) : aw_write_all(a->fd, bytes, n);
    if (code != 0) fail(a, AW_ERR_IO, code);
}

/* @return bytes read: fewer than n at the end only */
static size_t read_bytes(aw_archive *a, void *bytes, size_t n)
{
    size_t got = 0;
    if (a->fd < 0) {
        got = n < a->length - a->place ? n : a->length - a->place;
        if (got > 0) memcpy(bytes, a->from + a->place, got);
        a->place += got;
        return got;
    }
    const int code = aw_read_all(a->fd, bytes, n, &got);
    if (code != 0) fail(a, AW_ERR_IO, code);
    return got;
}

/* Go to a place, counted from the beginning. @return 0, or the errno */
static int go_to(aw_archive *a, size_t place)
{
    a->place = place;
    return a->fd >= 0 && lseek(a->fd, (off_t)place, SEEK_SET) < 0 ? errno : 0;
}

static void begin(aw_archive *a, const aw_archive *as)
{
    *a = *as;
    if (a->way == AW_ARCHIVE_TAKE_PART) return;
    a->buffer = aw_alloc(1, AW_ARCHIVE_BUFFER);
    if (!a->buffer) fail(a, AW_ERR_NOMEM, 0);
}

void aw_archive_take_part(aw_archive *a)
{
    begin(a, &(aw_archive){.way = AW_ARCHIVE_TAKE_PART, .fd = -1});
}

static void begin_save(aw_archive *a, const aw_archive *as)
{
    const header none = {.size = 0};
    begin(a, as);
    write_bytes(a, &none, sizeof none);
}

void aw_archive_save(aw_archive *a, int fd)
{
    begin_save(a, &(aw_archive){.way = AW_ARCHIVE_SAVE, .fd = fd});
}

void aw_archive_save_memory(aw_archive *a, void *bytes, size_t length)
{
    begin_save(a, &(aw_archive){.way = AW_ARCHIVE_SAVE, .fd = -1, .to = bytes, .length = length});
}

size_t aw_archive_length(const aw_archive *a) { return sizeof(header) + a->size; }

/* Read the next piece of the file, as it was written. */
static void fill(aw_archive *a)
{
    a->filled = read_bytes(a, a->buffer, AW_ARCHIVE_BUFFER);
    if (a->filled > 0) a->hash = aw_hash(a->buffer, a->filled, a->hash);
    a->size += a->filled;
    a->at = 0;
}

static const char *check_file(aw_archive *a)
{
    header h;
    if (read_bytes(a, &h, sizeof h) != sizeof h || memcmp(h.mark, mark, sizeof mark) != 0)
        return "is not a checkpoint of arcwake";
    do fill(a);
    while (a->filled > 0);
    if (a->size < h.size) return "ends too early";
    if (a->size > h.size || a->hash != h.hash) return "is damaged";
    return NULL;
}

static const char *begin_load(aw_archive *a, const aw_archive *as)
{
    begin(a, as);
    if (a->status != AW_OK) return "needs more memory than there is";
    const char *wrong = check_file(a);
    if (a->status != AW_OK) return strerror(a->code);
    const int code = wrong ? 0 : go_to(a, sizeof(header));
    if (code != 0) wrong = strerror(code);
    a->at = a->filled = 0;
    return wrong;
}

const char *aw_archive_load(aw_archive *a, int fd)
{
    return begin_load(a, &(aw_archive){.way = AW_ARCHIVE_LOAD, .fd = fd});
}

const char *aw_archive_load_memory(aw_archive *a, const void *bytes, size_t length)
{
    return begin_load(
        a, &(aw_archive){.way = AW_ARCHIVE_LOAD, .fd = -1, .from = bytes, .length = length});
}

/* Hand the buffer to the file. */
static void flush(aw_archive *a)
{
    if (a->at == 0) return;
    a->hash = aw_hash(a->buffer, a->at, a->hash);
    a->size += a->at;
    write_bytes(a, a->buffer, a->at);
    a->at = 0;
}

void aw_archive_abandon(aw_archive *a)
{
    aw_free(a->buffer);
    a->buffer = NULL;
}

aw_status aw_archive_end(aw_archive *a)
{
    if (is_active(a) && a->way == AW_ARCHIVE_SAVE) {
        flush(a);
        header h = {.size = a->size, .hash = a->hash};
        memcpy(h.mark, mark, sizeof mark);
        const int code = go_to(a, 0);
        if (code != 0) fail(a, AW_ERR_IO, code);
        write_bytes(a, &h, sizeof h);
    } else if (is_active(a)) {
        if (a->at == a->filled) fill(a);
        if (a->at < a->filled) fail(a, AW_ERR_INPUT, 0);
    }
    aw_archive_abandon(a);
    return a->status;
}

static void put(aw_archive *a, const void *bytes, size_t n)
{
    const char *from = bytes;
    while (n > 0 && a->status == AW_OK) {
        const size_t room = AW_ARCHIVE_BUFFER - a->at, some = n < room ? n : room;
        memcpy(a->buffer + a->at, from, some);
        a->at += some;
        from += some;
        n -= some;
        if (a->at == AW_ARCHIVE_BUFFER) flush(a);
    }
}

/* Take n bytes; @param[out] bytes  NULL: leave them out */
static void get(aw_archive *a, void *bytes, size_t n)
{
    char *to = bytes;
    while (n > 0 && a->status == AW_OK) {
        if (a->at == a->filled) fill(a);
        if (a->at == a->filled) fail(a, AW_ERR_INPUT, 0);
        const size_t room = a->filled - a->at, some = n < room ? n : room;
        if (to && some > 0) memcpy(to, a->buffer + a->at, some);
        if (to) to += some;
        a->at += some;
        n -= some;
    }
}

static void pass(aw_archive *a, void *bytes, size_t n)
{
    if (a->way == AW_ARCHIVE_SAVE)
        put(a, bytes, n);
    else
        get(a, bytes, n);
}

void aw_archive_expect(aw_archive *a, uint64_t value)
{
    uint64_t there = value;
    if (!is_active(a)) return;
    pass(a, &there, sizeof there);
    if (there != value) fail(a, AW_ERR_INPUT, 0);
}

void aw_archive_bytes(aw_archive *a, void *at, size_t n)
{
    aw_archive_expect(a, n);
    if (is_active(a)) pass(a, at, n);
}

void aw_archive_array(aw_archive *a, void **block, size_t *n, size_t *capacity, size_t size)
{
    uint64_t items = *n;
    aw_archive_expect(a, size);
    AW_ARCHIVE_ITEM(a, items);
    if (!is_active(a)) return;
    if (items > SIZE_MAX / size)
        fail(a, AW_ERR_INPUT, 0);
    else if (aw_grow(block, capacity, (size_t)items, size) != AW_OK)
        fail(a, AW_ERR_NOMEM, 0);
    *n = (size_t)items;
    if (is_active(a)) pass(a, *block, (size_t)items * size);
}

/* Gather the parts of all ranks on this one and save them. */
static void gather(aw_archive *a, const aw_archive_part *part, const void *mine, size_t size)
{
    const int saves = a->way == AW_ARCHIVE_SAVE;
    void *all = saves ? aw_alloc(part->all, size) : NULL;
    if (saves && !all) fail(a, AW_ERR_NOMEM, 0);
    if (aw_comm_agree(saves && !all ? AW_ERR_NOMEM : AW_OK) == AW_OK) {
        aw_comm_gather(mine, part->n * size, all);
        if (all && is_active(a)) put(a, all, part->all * size);
    }
    aw_free(all);
}

void aw_archive_spread(aw_archive *a, const aw_archive_part *part, void *mine, size_t size)
{
    aw_archive_expect(a, part->all * size);
    if (a->way != AW_ARCHIVE_LOAD) {
        if (part->distributed)
            gather(a, part, mine, size);
        else if (is_active(a))
            put(a, mine, part->n * size);
    } else if (is_active(a)) {
        get(a, NULL, part->first * size);
        get(a, mine, part->n * size);
        get(a, NULL, (part->all - part->first - part->n) * size);
    }
}
