/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checkpoints of a run: DIR/checkpoints/arcwake_<step>.ckpt, the two newest. */
#ifndef AW_IO_CHECKPOINT_FILE_H
#define AW_IO_CHECKPOINT_FILE_H
#include "src/archive/archive.h"

AW_BEGIN_DECLS

#define AW_CHECKPOINT_FOLDER "checkpoints"

/** A checkpoint that is being written or read; all pointers are owned. */
typedef struct aw_checkpoint {
    aw_archive archive; /* for the caller to save into, or to load from */
    char *text;         /* of one that is read: what aw_checkpoint_create was given; else NULL */
    char *path;
    char *directory; /* of one that is written, for the older ones */
    char *temporary; /* of one that is written: its name until it is complete */
} aw_checkpoint;

/** Begin the checkpoint of a step in DIRECTORY/checkpoints, which is made where there is none. It
 *  is under a temporary name until aw_checkpoint_commit: a run that is killed leaves the older one.
 *  @param[in] text  describes the run; stored first
 *  @return AW_OK, AW_ERR_IO, AW_ERR_NOMEM (one line with the path and the system's reason) */
aw_status aw_checkpoint_create(const char *directory, long step, const char *text,
                               aw_checkpoint *c);

/** Complete the file, flush it to the disk, give it its name, and remove all but the two newest of
 *  its folder. Frees, whatever happened. @return as aw_checkpoint_create */
aw_status aw_checkpoint_commit(aw_checkpoint *checkpoint);

/** Remove the checkpoints of later steps, which a run that goes on from this one writes anew: the
 *  newest of the folder must be its own. */
void aw_checkpoint_remove_later(const char *directory, long step);

/** Open a checkpoint, after its size and hash have been compared.
 *  @param[in] file  its path; NULL: the newest of DIRECTORY/checkpoints that is whole; others are
 *                   named in a warning
 *  @return AW_OK; AW_ERR_INPUT (none there, not one, damaged); AW_ERR_IO, AW_ERR_NOMEM (one line
 *          each) */
aw_status aw_checkpoint_open(const char *directory, const char *file, aw_checkpoint *c);

/** End the reading and free. @return AW_OK; AW_ERR_INPUT (its items do not fit), AW_ERR_IO,
 *  AW_ERR_NOMEM (one line each) */
aw_status aw_checkpoint_close(aw_checkpoint *checkpoint);

/** Stop reading, at any place, and free; nothing if it is closed already. */
void aw_checkpoint_abandon(aw_checkpoint *checkpoint);

/** Whether this is the name of a checkpoint, or of one that was not completed. */
int aw_checkpoint_is_file(const char *name);

AW_END_DECLS
#endif
