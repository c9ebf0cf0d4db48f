/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU kernels for form factors. A block has a tile of 32 outer by 32 inner waves, and a part of the
 * particles: its threads compute the cosines and sines of a few particles into shared memory, and
 * each adds up the products of one inner wave with eight outer ones. Sums in single precision go to
 * sums in double after a chunk of particles. Without inner waves, a thread has a wave. */
#ifndef AW_KERNELS_GPU_BLOCKS_FORM_FACTOR_H
#define AW_KERNELS_GPU_BLOCKS_FORM_FACTOR_H
#include <stddef.h>

#include "kernels/device/form_factor.h"
#include "kernels/gpu/blocks/block.h"

/* Waves along either side of a tile, outer waves of a thread, particles in shared memory, and those
 * of a chunk. */
enum { AW_GPU_FORM_TILE = 32, AW_GPU_FORM_OUTER = AW_GPU_FORM_TILE / AW_GPU_WARPS };
enum { AW_GPU_FORM_STEP = 16, AW_GPU_FORM_CHUNK = 2 * AW_FORM_BLOCK };

/** Arguments of all three kernels. */
typedef struct aw_gpu_form {
    aw_form_call call; /* with addresses of the device; sum: [parts][aw_form_numbers] */
    size_t parts;      /* into which the particles are cut: of whole chunks */
    size_t tiles;      /* blocks of a part */
    int begin;         /* of form_add: 1: set all sums to zero */
} aw_gpu_form;

/* Particles of a part: *first to the result - 1. */
AW_GPU_FN size_t aw_gpu_form_range(const aw_gpu_form *c, size_t part, size_t *first)
{
    const size_t n = c->call.particles;
    const size_t chunks = (n + AW_GPU_FORM_CHUNK - 1) / AW_GPU_FORM_CHUNK;
    const size_t end = (part + 1) * chunks / c->parts * AW_GPU_FORM_CHUNK;
    *first = part * chunks / c->parts * AW_GPU_FORM_CHUNK;
    return end < n ? end : n;
}

#define AW_REAL float
#define AW_LETTER f
#include "kernels/gpu/blocks/form_tile.h"
#undef AW_REAL
#undef AW_LETTER
#define AW_REAL double
#define AW_LETTER d
#include "kernels/gpu/blocks/form_tile.h"
#undef AW_REAL
#undef AW_LETTER

typedef struct aw_gpu_form_pairs_shared {
    union {
        aw_gpu_form_factors_f single;
        aw_gpu_form_factors_d exact;
    } factors;
} aw_gpu_form_pairs_shared;

AW_GPU_FN void aw_gpu_form_pairs_block(const aw_gpu_form *g, aw_gpu_form_pairs_shared *s, int block)
{
    const size_t part = (size_t)block / g->tiles, tile = (size_t)block % g->tiles;
    double *sum = g->call.sum + part * aw_form_numbers(&g->call);
    if (g->call.single)
        aw_gpu_form_tile_f(g, part, tile, sum, &s->factors.single);
    else
        aw_gpu_form_tile_d(g, part, tile, sum, &s->factors.exact);
}

AW_GPU_FN void aw_gpu_form_list_block(const aw_gpu_form *g, int block)
{
    const size_t part = (size_t)block / g->tiles, first = (size_t)block % g->tiles * AW_GPU_THREADS;
    double *sum = g->call.sum + part * aw_form_numbers(&g->call);
    AW_GPU_EACH(t)
    {
        const size_t wave = first + (size_t)t;
        if (wave < g->call.outers && g->call.single)
            aw_gpu_form_wave_f(g, part, wave, sum);
        else if (wave < g->call.outers)
            aw_gpu_form_wave_d(g, part, wave, sum);
    }
}

/* Zero the sums of all parts (begin = 1), or add those of the others to the first part, in
 * order. */
AW_GPU_FN void aw_gpu_form_add_block(const aw_gpu_form *g, int block)
{
    const size_t numbers = aw_form_numbers(&g->call);
    AW_GPU_EACH(t)
    {
        const size_t i = (size_t)block * AW_GPU_THREADS + (size_t)t;
        for (size_t part = 0; i < numbers && part < g->parts; ++part) {
            if (g->begin)
                g->call.sum[part * numbers + i] = 0.0;
            else if (part > 0)
                g->call.sum[i] += g->call.sum[part * numbers + i];
        }
    }
}

#endif
