/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the ranks of a node have in common. */
#ifndef AW_BASE_SHARED_MEMORY_H
#define AW_BASE_SHARED_MEMORY_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Room in POSIX shared memory; of a rank that is alone on its node, or where too little of that
 *  is left (a line says so), each has its own. */
typedef struct aw_shared_memory {
    void *at; /* 64-byte aligned; where it is differs from rank to rank */
    size_t bytes;
    int common; /* 1: all ranks of the node see it, 0: this one alone */
} aw_shared_memory;

/** Of so many bytes, all zeros. What one rank writes others may read after aw_comm_node_wait. All
 *  ranks of a node call this alike. @return AW_OK, AW_ERR_NOMEM */
aw_status aw_shared_memory_new(size_t bytes, aw_shared_memory *out);

/** Each rank when it likes. */
void aw_shared_memory_free(aw_shared_memory *room);

AW_END_DECLS
#endif
