/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles in a fixed number of chunks, reduced in a fixed order: sums whatever the threads. */
#ifndef AW_PIC_CHUNKS_H
#define AW_PIC_CHUNKS_H
#include <stddef.h>

enum { AW_CHUNKS = 16 };

/** First particle of chunk c of n particles; of AW_CHUNKS: n. */
static inline size_t aw_chunk_begin(size_t n, int c)
{
    return n / AW_CHUNKS * (size_t)c + n % AW_CHUNKS * (size_t)c / AW_CHUNKS;
}

#endif
