/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory common to the ranks of a node. */
#ifndef AW_BASE_SHARED_MEMORY_H
#define AW_BASE_SHARED_MEMORY_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** POSIX shared memory. For a single rank on a node, or where too little shared memory is free
 *  (which is logged), each rank has memory of its own. */
typedef struct aw_shared_memory {
    void *at; /* owned, 64-byte aligned; the address differs from rank to rank */
    size_t bytes;
    int common; /* 1: common to the ranks of the node; 0: this rank's own */
} aw_shared_memory;

/** Allocate zeroed memory. The ranks of a node see each other's writes after aw_comm_node_wait. All
 *  ranks of a node must call this, with the same size; aw_shared_memory_free frees it.
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_shared_memory_new(size_t bytes, aw_shared_memory *out);

/** Free this rank's mapping; not collective. */
void aw_shared_memory_free(aw_shared_memory *memory);

AW_END_DECLS
#endif
