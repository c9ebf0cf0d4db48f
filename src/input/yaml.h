/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A YAML document as a tree in which every node knows its place in the file. */
#ifndef AW_INPUT_YAML_H
#define AW_INPUT_YAML_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"
#include "src/input/errors.h"

AW_BEGIN_DECLS

typedef enum aw_yaml_kind { AW_YAML_SCALAR, AW_YAML_LIST, AW_YAML_MAP } aw_yaml_kind;

/** Node of a document, owned by it. Places are 1-based; line 0 is a value of the command line. */
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

#define AW_YAML_BYTES_MAX (4u << 20) /* of a file */
#define AW_YAML_NODES_MAX 500000     /* of a document */
#define AW_YAML_DEPTH_MAX 64         /* of nested lists and mappings */

/** Read a file. One document of UTF-8 without anchors, aliases and tags; problems (also: no such
 *  file, a directory, NUL bytes, too large, too deep, duplicate keys) are noted in `errors`.
 *  @param[in] from  node that named the file and is blamed when it cannot be opened; NULL: the file
 *  @return AW_OK; AW_ERR_INPUT (noted; *out NULL unless only keys were duplicate), AW_ERR_NOMEM. */
aw_status aw_yaml_read(const char *path, const aw_yaml_node *from, aw_input_errors *errors,
                       aw_yaml **out);

/** The same from memory. `name` stands for the file in messages; for AW_INPUT_SET the nodes have
 *  line 0. An empty text gives an empty scalar then, and is refused otherwise. */
aw_status aw_yaml_parse(const char *name, const char *text, size_t length, aw_input_errors *errors,
                        aw_yaml **out);

void aw_yaml_free(aw_yaml *doc);

/** Root node; never NULL for a document that was read. */
aw_yaml_node *aw_yaml_root(aw_yaml *doc);

/** Put `value` (of any document that lives as long) under `key` of `map`, in place of what is
 *  there; NULL removes the key. @return AW_OK or AW_ERR_NOMEM. */
aw_status aw_yaml_put(aw_yaml *doc, aw_yaml_node *map, const char *key, aw_yaml_node *value);

/** A new empty mapping placed at the command line; NULL without memory. */
aw_yaml_node *aw_yaml_new_map(aw_yaml *doc);

/** Child of a mapping by key; NULL if there is none, or `map` is NULL or no mapping. */
const aw_yaml_node *aw_yaml_get(const aw_yaml_node *map, const char *key);

/** A plain empty value, `~` or `null`. */
int aw_yaml_is_null(const aw_yaml_node *node);

/** Note a problem at the value of `node`: `file:line:column: path: text`. */
void aw_yaml_error(aw_input_errors *errors, const aw_yaml_node *node, const char *format, ...)
    AW_PRINTF(3, 4);

/** Note a problem at the key of `node`. */
void aw_yaml_key_error(aw_input_errors *errors, const aw_yaml_node *node, const char *format, ...)
    AW_PRINTF(3, 4);

#define AW_YAML_SHOW 64
/** The value for a message: its text (cut), "a list", "a mapping", "no value". @return buffer */
const char *aw_yaml_show(const aw_yaml_node *node, char buffer[AW_YAML_SHOW]);

/** Decimal number; the whole text must be one (no unit, NaN, Inf, hex, quotes).
 *  @param[in] expected  what the message says was expected
 *  @return 1 and *out, or 0 with the problem noted. */
int aw_yaml_number(aw_input_errors *errors, const aw_yaml_node *node, const char *expected,
                   double *out);

/** Whole number from low to high (at most 2^53 unless written in digits alone; 1e6 is one).
 *  @return 1 and *out, or 0 with the problem noted. */
int aw_yaml_whole(aw_input_errors *errors, const aw_yaml_node *node, const char *expected,
                  uint64_t low, uint64_t high, uint64_t *out);

/** true or false. @return 1 and *out, or 0 with the problem noted. */
int aw_yaml_bool(aw_input_errors *errors, const aw_yaml_node *node, int *out);

/** Text of a scalar that is not null, or NULL with the problem noted. Borrowed. */
const char *aw_yaml_text(aw_input_errors *errors, const aw_yaml_node *node, const char *expected);

/** The word of `words` (n of them) that is nearest to `word` by edit distance, case ignored;
 *  NULL when none is near enough to be meant. */
const char *aw_yaml_nearest(const char *word, const char *const *words, size_t n);

AW_END_DECLS
#endif
