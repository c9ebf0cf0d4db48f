/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops over particles in a fixed number of chunks, whose sums are added in a fixed order: the
 * result does not depend on the number of threads. */
#ifndef AW_PIC_CHUNKS_H
#define AW_PIC_CHUNKS_H
#include "pic/simd/simd.h"

/* Chunks of a loop over all particles: enough for many cores; their sums fit on the stack. */
enum { AW_CHUNKS = 256 };

/** First of the particles of chunk k, 0 <= k <= chunks, when n particles are divided into chunks of
 *  whole blocks; n for k = chunks. */
static inline size_t aw_chunk_begin(size_t n, int chunks, int k)
{
    const size_t blocks = n / AW_BLOCK + (n % AW_BLOCK != 0);
    const size_t first =
        blocks / (size_t)chunks * (size_t)k + blocks % (size_t)chunks * (size_t)k / (size_t)chunks;
    return first * AW_BLOCK < n ? first * AW_BLOCK : n;
}

/** Number of particles in the block that begins at i, in a chunk that ends at `end`. */
static inline size_t aw_block_size(size_t i, size_t end)
{
    return end - i < AW_BLOCK ? end - i : AW_BLOCK;
}

#endif
