/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A text that grows by formatted pieces, for files that are written whole. */
#ifndef AW_IO_TEXT_H
#define AW_IO_TEXT_H
#include <stddef.h>

#include "src/base/log.h"

AW_BEGIN_DECLS

/** Zeroed it is empty. Free with aw_text_free. */
typedef struct aw_text {
    char *bytes; /* owned; ends with a 0 */
    size_t n, capacity;
    aw_status status; /* AW_ERR_NOMEM from the first piece for which there was no memory */
} aw_text;

void aw_text_free(aw_text *text);

/** Append; after a failure nothing more is. */
void aw_text_add(aw_text *text, const char *format, ...) AW_PRINTF(2, 3);

/** Append "key": value of a JSON object, after a comma unless the object has just been opened; null
 *  for a NaN or an infinity, which JSON has not. */
void aw_text_add_number(aw_text *text, const char *key, double value);

/** Write it to a file, all or nothing. @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (messages). */
aw_status aw_text_save(const aw_text *text, const char *path);

AW_END_DECLS
#endif
