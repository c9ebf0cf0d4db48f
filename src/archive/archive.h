/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of objects as bytes in a file or in memory: each object has one function that saves and
 * loads it, item by item in the same order, so that the two cannot differ. */
#ifndef AW_ARCHIVE_ARCHIVE_H
#define AW_ARCHIVE_ARCHIVE_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

typedef enum aw_archive_way {
    AW_ARCHIVE_SAVE,
    AW_ARCHIVE_LOAD,
    AW_ARCHIVE_TAKE_PART /* on a rank that only sends what is its own to the rank that saves */
} aw_archive_way;

enum { AW_ARCHIVE_BUFFER = 1 << 16 };

/** An archive that is being written or read. The first failure is kept in `status`, and every later
 *  call does nothing: the caller tests it once, at the end. A file begins with a mark, its size and
 *  a hash of the rest, which aw_archive_load compares before anything is read: what is damaged or
 *  cut off is never interpreted. Numbers are as in memory: an archive is for the program that wrote
 *  it, on the same kind of machine. */
typedef struct aw_archive {
    aw_archive_way way;
    aw_status status;  /* AW_OK, AW_ERR_IO, AW_ERR_NOMEM; AW_ERR_INPUT: the items differ from those
                       * that the objects would save */
    int code;          /* errno of the system, with AW_ERR_IO */
    int fd;            /* borrowed; -1: in memory, */
    unsigned char *to; /* [length] saving, borrowed; NULL: only counts */
    const unsigned char *from; /* [length] loading, borrowed */
    size_t length, place;
    uint64_t size, hash;   /* saving: of what has left the buffer */
    size_t at, filled;     /* in the buffer */
    unsigned char *buffer; /* [AW_ARCHIVE_BUFFER], owned */
} aw_archive;

/** Begin to save into an empty file that is open for reading and writing. */
void aw_archive_save(aw_archive *archive, int fd);

/** The same into `length` bytes of memory, borrowed until the end. With NULL and 0 nothing is saved
 *  but aw_archive_length is known afterwards: how many bytes there have to be. */
void aw_archive_save_memory(aw_archive *archive, void *bytes, size_t length);
size_t aw_archive_length(const aw_archive *archive);

/** Begin to load a file from its beginning.
 *  @return NULL, or what is wrong with the file, to follow its name: static storage */
const char *aw_archive_load(aw_archive *archive, int fd);

/** The same from memory, borrowed until the end. */
const char *aw_archive_load_memory(aw_archive *archive, const void *bytes, size_t length);

/** Begin to take part in the saving of another rank. */
void aw_archive_take_part(aw_archive *archive);

/** End: complete the file that is saved, and free the buffer. Loading, items that were not read are
 *  an error. No message is printed. @return archive->status */
aw_status aw_archive_end(aw_archive *archive);

/** End without completing anything. */
void aw_archive_abandon(aw_archive *archive);

/** Save n bytes, or load them: there must be just as many. */
void aw_archive_bytes(aw_archive *archive, void *at, size_t n);
#define AW_ARCHIVE_ITEM(archive, object) aw_archive_bytes(archive, &(object), sizeof(object))

/** The same for *n items of `size` bytes in a block of aw_grow, which grows as needed. */
void aw_archive_array(aw_archive *archive, void **block, size_t *n, size_t *capacity, size_t size);

/** The same for an array of which each rank has items first .. first + n - 1 of `all`. Saving, all
 *  ranks must call this; loading, each reads the whole file. */
typedef struct aw_archive_part {
    size_t first, n, all;
    int distributed; /* 0: this rank has all */
} aw_archive_part;
void aw_archive_spread(aw_archive *archive, const aw_archive_part *part, void *mine, size_t size);

/** A value that does not change, but decides whether the rest fits: loading, another one is an
 *  error. */
void aw_archive_expect(aw_archive *archive, uint64_t value);

AW_END_DECLS
#endif
