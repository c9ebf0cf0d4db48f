/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a YAML document is stored: shared by the files yaml_*.c only. */
#ifndef AW_INPUT_YAML_TREE_H
#define AW_INPUT_YAML_TREE_H
#include "src/input/yaml.h"

AW_BEGIN_DECLS

typedef struct aw_yaml_chunk {
    struct aw_yaml_chunk *next;
    size_t used, room;
    char bytes[];
} aw_yaml_chunk;

struct aw_yaml {
    aw_yaml_chunk *chunk; /* newest first; every node and text lives in one */
    aw_yaml_node *root;
    int nodes;
    const char *name; /* of the file, in a chunk */
};

/** Zeroed memory that lives as long as the document; NULL when there is none. */
void *aw_yaml_take(aw_yaml *doc, size_t bytes);

/** Copy of `length` bytes with a NUL behind them, owned by the document; NULL without memory. */
char *aw_yaml_copy(aw_yaml *doc, const char *text, size_t length);

/** Hang `node` behind the last child of `parent`. */
void aw_yaml_append(aw_yaml_node *parent, aw_yaml_node *node);

AW_END_DECLS
#endif
