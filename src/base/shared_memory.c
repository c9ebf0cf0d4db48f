/* SPDX-License-Identifier: GPL-3.0-or-later */
/* POSIX shared memory instead of MPI_Win_allocate_shared: where /dev/shm is small, as in
 * containers, the latter fails on one rank with OpenMPI 4.1, and the other ranks wait forever. */
#include "src/base/shared_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"

enum { NAME_BYTES = 64 };

/* Create the memory, on the node's first rank, with all its pages, so that no write fails later. */
static aw_status create_memory(const char *name, size_t bytes, void **at)
{
    aw_status status = AW_ERR_NOMEM;
    const int file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
    if (file < 0) return status;
    if (posix_fallocate(file, 0, (off_t)bytes) == 0) {
        *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (*at != MAP_FAILED) status = AW_OK;
    }
    close(file);
    if (status != AW_OK) shm_unlink(name);
    return status;
}

static aw_status open_memory(const char *name, size_t bytes, void **at)
{
    const int file = shm_open(name, O_RDWR, 0);
    if (file < 0) return AW_ERR_NOMEM;
    *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return *at != MAP_FAILED ? AW_OK : AW_ERR_NOMEM;
}

/* Allocate memory common to the node's ranks. Its name is unlinked at once: the memory is freed
 * when the last rank ends, even by a crash, and the name can be used again. @return 1; 0: no
 * memory */
static int common_new(size_t bytes, aw_shared_memory *out)
{
    const int first = aw_comm_local() == 0;
    char name[NAME_BYTES] = "";
    void *at = MAP_FAILED;
    aw_status status = AW_OK;
    if (first) {
        snprintf(name, sizeof name, "/arcwake.%ld", (long)getpid());
        status = create_memory(name, bytes, &at);
    }
    aw_comm_node_broadcast(name, sizeof name);
    status = aw_comm_node_agree(status);
    if (status == AW_OK && !first) status = open_memory(name, bytes, &at);
    status = aw_comm_node_agree(status);
    if (first && at != MAP_FAILED) shm_unlink(name); /* created by this rank */
    if (status != AW_OK) {
        if (at != MAP_FAILED) munmap(at, bytes);
        return 0;
    }
    *out = (aw_shared_memory){at, bytes, 1};
    return 1;
}

aw_status aw_shared_memory_new(size_t bytes, aw_shared_memory *out)
{
    if (aw_comm_node_size() > 1) {
        if (common_new(bytes, out)) return AW_OK;
        if (aw_comm_local() == 0)
            aw_info_once("too little shared memory (/dev/shm): each rank holds the history");
    }
    *out = (aw_shared_memory){aw_alloc(1, bytes), bytes, 0};
    return out->at ? AW_OK : AW_ERR_NOMEM;
}

void aw_shared_memory_free(aw_shared_memory *memory)
{
    if (memory->common)
        munmap(memory->at, memory->bytes);
    else
        aw_free(memory->at);
    *memory = (aw_shared_memory){NULL, 0, 0};
}
