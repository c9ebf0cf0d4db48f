/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Not MPI_Win_allocate_shared: where /dev/shm is small, as in containers, OpenMPI 4.1 fails on
 * one rank and leaves the others waiting. */
#include "src/base/shared_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"

enum { NAME = 64 };

/* The node's first rank makes it, with all its pages, so that no write fails later. */
static aw_status make(const char *name, size_t bytes, void **at)
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

static aw_status find(const char *name, size_t bytes, void **at)
{
    const int file = shm_open(name, O_RDWR, 0);
    if (file < 0) return AW_ERR_NOMEM;
    *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return *at != MAP_FAILED ? AW_OK : AW_ERR_NOMEM;
}

/* Nothing of it is left when the last rank ends, however that happens: its name goes first, so that
 * the next one can have it. */
static int make_common(size_t bytes, aw_shared_memory *room)
{
    const int first = aw_comm_local() == 0;
    char name[NAME] = "";
    void *at = MAP_FAILED;
    aw_status status = AW_OK;
    if (first) {
        snprintf(name, sizeof name, "/arcwake.%ld", (long)getpid());
        status = make(name, bytes, &at);
    }
    aw_comm_node_broadcast(name, sizeof name);
    status = aw_comm_node_agree(status);
    if (status == AW_OK && !first) status = find(name, bytes, &at);
    status = aw_comm_node_agree(status);
    if (first && at != MAP_FAILED) shm_unlink(name); /* it is this rank's own */
    if (status != AW_OK) {
        if (at != MAP_FAILED) munmap(at, bytes);
        return 0;
    }
    *room = (aw_shared_memory){at, bytes, 1};
    return 1;
}

aw_status aw_shared_memory_new(size_t bytes, aw_shared_memory *out)
{
    if (aw_comm_node_size() > 1) {
        if (make_common(bytes, out)) return AW_OK;
        if (aw_comm_local() == 0)
            aw_info_once("too little shared memory (/dev/shm): each rank holds the history");
    }
    *out = (aw_shared_memory){aw_alloc(1, bytes), bytes, 0};
    return out->at ? AW_OK : AW_ERR_NOMEM;
}

void aw_shared_memory_free(aw_shared_memory *room)
{
    if (room->common)
        munmap(room->at, room->bytes);
    else
        aw_free(room->at);
    *room = (aw_shared_memory){NULL, 0, 0};
}
