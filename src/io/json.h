/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A writer of JSON: it sets commas, line breaks and escapes. */
#ifndef AW_IO_JSON_H
#define AW_IO_JSON_H
#include "src/io/text.h"

AW_BEGIN_DECLS

/** A JSON document, written from its first character to its last: one object or array with all
 *  that is in it. Zeroed it is empty. Free with aw_json_free.
 *
 *  `key` is the name of a member of an object, and NULL for an element of an array. Keys and texts
 *  are UTF-8, are copied and may contain any character. When memory runs out, text.status becomes
 *  AW_ERR_NOMEM and nothing more is added. Each element of the outermost array or object, and each
 *  array or object in an array, begins on a line of its own. */
typedef struct aw_json {
    aw_text text;
    int depth;    /* arrays and objects that are open */
    int has_item; /* the innermost of them is not empty */
} aw_json;

void aw_json_free(aw_json *json);

void aw_json_begin_object(aw_json *json, const char *key);
void aw_json_end_object(aw_json *json);
void aw_json_begin_array(aw_json *json, const char *key);
void aw_json_end_array(aw_json *json);

void aw_json_string(aw_json *json, const char *key, const char *value);
void aw_json_integer(aw_json *json, const char *key, long long value);
void aw_json_boolean(aw_json *json, const char *key, int value);

/** A number with this many significant digits (17 keep every bit); null for NaN and infinity,
 *  which JSON does not have. */
void aw_json_number(aw_json *json, const char *key, double value, int digits);

/** Write the document to a file, all or nothing. @return as aw_text_save. */
aw_status aw_json_save(const aw_json *json, const char *path);

AW_END_DECLS
#endif
