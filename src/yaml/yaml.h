/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A YAML document as a tree whose nodes have their line and column in the file. */
#ifndef AW_YAML_YAML_H
#define AW_YAML_YAML_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"
#include "src/yaml/errors.h"

AW_BEGIN_DECLS

typedef enum aw_yaml_kind { AW_YAML_SCALAR, AW_YAML_LIST, AW_YAML_MAP } aw_yaml_kind;

/** Node, owned by its document. Lines and columns are 1-based; line 0: a value from --set. */
typedef struct aw_yaml_node {
    aw_yaml_kind kind;
    int quoted; /* scalar in quotes or a block: text, never a number */
    const char *file;
    int line, column; /* of the value */
    const char *key;  /* NULL in a list and at the root */
    int key_line, key_column;
    const char *text; /* of a scalar */
    size_t length;    /* bytes of text */
    int n;            /* children */
    struct aw_yaml_node *parent, *first, *last, *next, *prev;
} aw_yaml_node;

/** Opaque: owns all nodes and texts. */
typedef struct aw_yaml aw_yaml;

/* A resolved lattice of 100000 different bends is below both of these. */
#define AW_YAML_BYTES_MAX (32u << 20) /* of a file */
#define AW_YAML_NODES_MAX 2000000     /* of a document */
#define AW_YAML_DEPTH_MAX 64          /* of nested lists and mappings */

/** Read a regular file with one document in UTF-8 without anchors, aliases and tags. Problems (no
 *  such file, a directory, a pipe or a device, NUL bytes, too large, too deep, duplicate keys, ...)
 *  are noted in `errors`.
 *  @param[in]  from  node with the path, where a file that cannot be opened is reported; NULL:
 *                    report it at the file itself
 *  @param[out] out   free with aw_yaml_free
 *  @return AW_OK; AW_ERR_INPUT (noted; *out NULL unless duplicate keys were the only problem);
 *          AW_ERR_NOMEM. */
aw_status aw_yaml_read(const char *path, const aw_yaml_node *from, aw_input_errors *errors,
                       aw_yaml **out);

/** The same from `length` bytes of memory. `name` stands for the file in messages. If it is
 *  AW_INPUT_SET, all nodes have line 0 and an empty text is an empty scalar; otherwise an empty
 *  text is refused. */
aw_status aw_yaml_parse(const char *name, const char *text, size_t length, aw_input_errors *errors,
                        aw_yaml **out);

void aw_yaml_free(aw_yaml *doc);

/** Root node, not NULL. */
aw_yaml_node *aw_yaml_root(aw_yaml *doc);

/** Set the value of `key` in `map`, replacing an old one; NULL removes the key. `value` may belong
 *  to another document, which must live as long as `doc`. @return AW_OK or AW_ERR_NOMEM. */
aw_status aw_yaml_put(aw_yaml *doc, aw_yaml_node *map, const char *key, aw_yaml_node *value);

/** A new empty mapping at line 0, owned by the document; NULL if out of memory. */
aw_yaml_node *aw_yaml_new_map(aw_yaml *doc);

/** Child of a mapping by key; NULL if there is none, or if `map` is NULL or not a mapping. */
const aw_yaml_node *aw_yaml_get(const aw_yaml_node *map, const char *key);

/** 1 for a plain empty value, `~` or `null`. */
int aw_yaml_is_null(const aw_yaml_node *node);

/** 1 for a plain number that is zero. */
int aw_yaml_is_zero(const aw_yaml_node *node);

/** Note a problem at the value of `node`, as `file:line:column: path: text`. */
void aw_yaml_error(aw_input_errors *errors, const aw_yaml_node *node, const char *format, ...)
    AW_PRINTF(3, 4);

/** Note a problem at the key of `node`. */
void aw_yaml_key_error(aw_input_errors *errors, const aw_yaml_node *node, const char *format, ...)
    AW_PRINTF(3, 4);

#define AW_YAML_SHOW 64
/** The value for a message: its text (shortened), "a list", "a mapping", "no value".
 *  @return buffer */
const char *aw_yaml_show(const aw_yaml_node *node, char buffer[AW_YAML_SHOW]);

/** Decimal number, which must be the whole text (no unit, NaN, Inf, hexadecimal, quotes).
 *  @param[in] expected  the words after "expected" in a message
 *  @return 1 and *out, or 0 with the problem noted. */
int aw_yaml_number(aw_input_errors *errors, const aw_yaml_node *node, const char *expected,
                   double *out);

/** Whole number from low to high; 1e6 is one. Above 2^53 only in digits.
 *  @return 1 and *out, or 0 with the problem noted. */
int aw_yaml_whole(aw_input_errors *errors, const aw_yaml_node *node, const char *expected,
                  uint64_t low, uint64_t high, uint64_t *out);

/** true or false. @return 1 and *out, or 0 with the problem noted. */
int aw_yaml_bool(aw_input_errors *errors, const aw_yaml_node *node, int *out);

/** Text of a scalar that is not null, or NULL with the problem noted. Borrowed. */
const char *aw_yaml_text(aw_input_errors *errors, const aw_yaml_node *node, const char *expected);

/** The word of the n `words` that is nearest to `word` by edit distance, ignoring case; NULL if
 *  none is near enough to be meant. */
const char *aw_yaml_nearest(const char *word, const char *const *words, size_t n);

AW_END_DECLS
#endif
