/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A text that grows as formatted strings are appended, for files that are written whole. */
#ifndef AW_IO_TEXT_H
#define AW_IO_TEXT_H
#include <stddef.h>

#include "src/base/log.h"

AW_BEGIN_DECLS

/** A text in memory. Zeroed it is empty. Free with aw_text_free. */
typedef struct aw_text {
    char *bytes;        /* owned, [capacity]; NULL while nothing has been appended */
    size_t n, capacity; /* bytes in use, without the terminating 0, and allocated */
    aw_status status;   /* AW_ERR_NOMEM once memory has run out, else AW_OK */
} aw_text;

void aw_text_free(aw_text *text);

/** Append a formatted string; once memory has run out, nothing more is appended (see status). */
void aw_text_add(aw_text *text, const char *format, ...) AW_PRINTF(2, 3);

/** Write the text to a file, all or nothing.
 *  @return AW_OK; AW_ERR_NOMEM: the text is not complete; AW_ERR_IO (each with a message). */
aw_status aw_text_save(const aw_text *text, const char *path);

AW_END_DECLS
#endif
