/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FNV-1a by words, in four chains that the processor computes in parallel, and by bytes for the
 * rest. */
#include "src/archive/hash.h"

#include <string.h>

enum { CHAINS = 4 };

static const uint64_t prime = 1099511628211U;

/* A product only moves bits up; the shift moves them down. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * prime;
    return hash ^ hash >> 32;
}

uint64_t aw_hash(const void *bytes, size_t n, uint64_t seed)
{
    const unsigned char *at = bytes;
    uint64_t word[CHAINS], chain[CHAINS], hash = 14695981039346656037U ^ seed;
    size_t i = 0;
    for (size_t k = 0; k < CHAINS; ++k) chain[k] = hash + k;
    for (; i + sizeof word <= n; i += sizeof word) {
        memcpy(word, at + i, sizeof word);
        for (size_t k = 0; k < CHAINS; ++k) chain[k] = mix(chain[k], word[k]);
    }
    for (size_t k = 0; k < CHAINS; ++k) hash = mix(hash, chain[k]);
    for (; i < n; ++i) hash = mix(hash, at[i]);
    return mix(hash, n);
}
