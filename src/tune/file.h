/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file in which `arcwake tune` leaves what suits a machine, and from which runs take it. */
#ifndef AW_TUNE_FILE_H
#define AW_TUNE_FILE_H
#include "kernels/device/tuning.h"

AW_BEGIN_DECLS

/** What a tuning was measured with. A file whose version, CPU or variant is another is stale. The
 *  number of threads is not compared: results would depend on it. */
typedef struct aw_tuning_key {
    char version[32]; /* of the program */
    char cpu[128];    /* model; printable ASCII without quotes and backslashes */
    char variant[32]; /* SIMD variant */
    int threads;
} aw_tuning_key;

/** The key of this program on this machine: the model is that of /proc/cpuinfo ("model name",
 *  "Model" or "cpu"), else the machine's hardware name (uname). */
void aw_tuning_key_here(int threads, aw_tuning_key *key);

/** Where the file is: $ARCWAKE_TUNING, else arcwake/tuning.yaml in $XDG_CACHE_HOME (if that is
 *  absolute), else in $HOME/.cache.
 *  @param[out] path  [size]
 *  @return 1; 0: nowhere (ARCWAKE_TUNING=none, no home, a path that is too long). */
int aw_tuning_path(char *path, size_t size);

/** Read a file.
 *  @param[in]  here    to which the file's key is compared
 *  @param[out] tuning  zeros (the defaults) unless AW_OK
 *  @return AW_OK; AW_ERR_IO: there is none (no message); AW_ERR_INPUT: it is stale, or not all and
 *  only what aw_tuning_write writes, or out of range (one warning, which names the remedy). */
aw_status aw_tuning_read(const char *path, const aw_tuning_key *here, aw_tuning *tuning);

/** Write a file, all or nothing; the directories above it are made.
 *  @param[in] tuning  resolved: no zeros
 *  @return AW_OK, AW_ERR_IO (message), AW_ERR_NOMEM. */
aw_status aw_tuning_write(const char *path, const aw_tuning_key *key, const aw_tuning *tuning);

/** What a run takes: the tuning of the user's file, or zeros (the defaults) when there is none or
 *  it must be ignored (one warning). Once per command. */
void aw_tuning_load(aw_tuning *tuning);

AW_END_DECLS
#endif
