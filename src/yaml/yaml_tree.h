/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Storage of a YAML document, private to yaml.c and yaml_read.c. */
#ifndef AW_YAML_YAML_TREE_H
#define AW_YAML_YAML_TREE_H
#include "src/yaml/yaml.h"

AW_BEGIN_DECLS

typedef struct aw_yaml_chunk {
    struct aw_yaml_chunk *next;
    size_t used, capacity; /* bytes */
    char bytes[];
} aw_yaml_chunk;

struct aw_yaml {
    aw_yaml_chunk *chunk; /* newest first; own all nodes and texts */
    aw_yaml_node *root;
    int nodes;
    const char *name; /* of the file, stored in a chunk */
};

/** Allocate zeroed memory owned by the document; NULL if out of memory. */
void *aw_yaml_alloc(aw_yaml *doc, size_t bytes);

/** NUL-terminated copy of `length` bytes, owned by the document; NULL if out of memory. */
char *aw_yaml_copy(aw_yaml *doc, const char *text, size_t length);

/** Append `node` to the children of `parent`. */
void aw_yaml_append(aw_yaml_node *parent, aw_yaml_node *node);

AW_END_DECLS
#endif
