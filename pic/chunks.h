/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles in a fixed number of pieces, reduced in a fixed order: sums whatever the threads. */
#ifndef AW_PIC_CHUNKS_H
#define AW_PIC_CHUNKS_H
#include "pic/simd/simd.h"

/* Of loops over all particles: enough for many cores, and their sums still fit the stack. */
enum { AW_CHUNKS = 256 };

/** First particle of piece k of `pieces` of n particles, in whole blocks; of k = pieces: n. */
static inline size_t aw_chunk_begin(size_t n, int pieces, int k)
{
    const size_t blocks = n / AW_BLOCK + (n % AW_BLOCK != 0);
    const size_t first =
        blocks / (size_t)pieces * (size_t)k + blocks % (size_t)pieces * (size_t)k / (size_t)pieces;
    return first * AW_BLOCK < n ? first * AW_BLOCK : n;
}

/** Particles of the block at i of a piece that ends at `end`. */
static inline size_t aw_block_size(size_t i, size_t end)
{
    return end - i < AW_BLOCK ? end - i : AW_BLOCK;
}

#endif
