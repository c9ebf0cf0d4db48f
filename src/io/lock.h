/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lock of an output directory: one run at a time. */
#ifndef AW_IO_LOCK_H
#define AW_IO_LOCK_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Name of the lock in its directory. Its text says which process on which host made it. */
#define AW_LOCK_NAME "run.lock"

/** Name of a file that is there while a stale lock is replaced, on a file system without flock. */
#define AW_LOCK_GUARD AW_LOCK_NAME ".guard"

/** A lock that is held; private to lock.c. Zeroed, with `fd` = -1, it is none. */
typedef struct aw_lock {
    int at, fd; /* the directory, borrowed, and the open lock */
} aw_lock;

/** Take the lock of the directory `at`, without waiting. The lock of a run that was killed on this
 *  host is replaced; on another host nothing can be known about a process, so that lock is named.
 *
 *  The lock is written under another name and linked to its own, which is atomic on NFS too: it is
 *  never seen half-written, and of two runs one gets it. The owner holds a flock(2) on it, which
 *  the system drops when the process ends, however it ends: a lock of this host whose flock is free
 *  is stale, even where the number of its process was used again, or belongs to another container.
 *  Only who has that flock replaces the lock. On a file system without flock the process is looked
 *  up, and who creates AW_LOCK_GUARD replaces the lock.
 *  @param[in] path  of the directory, for messages
 *  @return AW_OK; AW_ERR_ARG: another run has it (message with the remedy); AW_ERR_IO (message) */
aw_status aw_lock_take(int at, const char *path, aw_lock *lock);

/** 1: the lock is still in its place; 0: it was removed or replaced. */
int aw_lock_is_held(const aw_lock *lock);

/** Remove the lock, unless it was replaced. None is fine. */
void aw_lock_release(aw_lock *lock);

AW_END_DECLS
#endif
