/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fast hash of 64 bits, to tell texts, slices and files apart; not against intent. */
#ifndef AW_ARCHIVE_HASH_H
#define AW_ARCHIVE_HASH_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/port.h"

AW_BEGIN_DECLS

/** Hash of n bytes; two different texts have the same one with a probability of 2^-64.
 *  @param[in] seed  0, or the hash of what comes before: a text in pieces has the same hash as long
 *                   as it is cut at the same places */
uint64_t aw_hash(const void *bytes, size_t n, uint64_t seed);

AW_END_DECLS
#endif
