/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file in which `arcwake tune` stores the parameters of a machine, and which runs read. */
#ifndef AW_TUNING_FILE_H
#define AW_TUNING_FILE_H
#include "kernels/device/tuning.h"

AW_BEGIN_DECLS

/** Program and machine of a measurement. A file with another version, CPU or variant is stale. The
 *  number of threads is not compared, or results would depend on it. */
typedef struct aw_tuning_key {
    char version[32]; /* of the program */
    char cpu[128];    /* model; printable ASCII without quotes and backslashes */
    char variant[32]; /* SIMD variant */
    int threads;
} aw_tuning_key;

/** The key of this program on this machine. The CPU model is that of /proc/cpuinfo ("model name",
 *  "Model" or "cpu"), or else the hardware name of the machine (uname). */
void aw_tuning_key_here(int threads, aw_tuning_key *key);

/** Path of the file: $ARCWAKE_TUNING, else arcwake/tuning.yaml in $XDG_CACHE_HOME (if that is
 *  absolute), else in $HOME/.cache.
 *  @param[out] path  [size]
 *  @return 1; 0: there is none (ARCWAKE_TUNING=none, no home directory, too long a path). */
int aw_tuning_path(char *path, size_t size);

/** Read a file.
 *  @param[in]  here    compared with the key of the file
 *  @param[out] tuning  zeros (the defaults) unless AW_OK
 *  @return AW_OK; AW_ERR_IO: no such file (no message); AW_ERR_INPUT: stale, or a key is missing,
 *          unknown or out of range (one warning with the remedy). */
aw_status aw_tuning_read(const char *path, const aw_tuning_key *here, aw_tuning *tuning);

/** Write a file, all or nothing, and create the directories above it.
 *  @param[in] tuning  resolved (aw_tuning_resolve): no zeros
 *  @return AW_OK, AW_ERR_IO (message), AW_ERR_NOMEM. */
aw_status aw_tuning_write(const char *path, const aw_tuning_key *key, const aw_tuning *tuning);

/** The tuning for a run: that of the user's file, or zeros (the defaults) if there is no file or it
 *  must be ignored (one warning). Call it once per command. */
void aw_tuning_load(aw_tuning *tuning);

AW_END_DECLS
#endif
