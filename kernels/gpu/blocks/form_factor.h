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

/* Cosine and sine of a wave at a particle. */
#define AW_GPU_FORM_TERM(real, letter)                                                            \
    AW_GPU_FN void aw_gpu_form_term_##letter(const aw_form_call *call, const aw_wave *k, size_t j, \
                                             real *c, real *s)                                    \
    {                                                                                             \
        aw_phase_turn_##letter(                                                                   \
            aw_wave_phase_##letter(k->hi, k->lo, call->at[0][j], call->at[1][j], call->at[2][j]), \
            c, s);                                                                                \
    }
AW_GPU_FORM_TERM(float, f)
AW_GPU_FORM_TERM(double, d)
#undef AW_GPU_FORM_TERM

/* Factors in shared memory, [particle][cosine, sine][wave], and the sums of the threads. */
#define AW_GPU_FORM_FACTORS(real, letter)                                                \
    typedef struct aw_gpu_form_factors_##letter {                                        \
        real outer[AW_GPU_FORM_STEP][2][AW_GPU_FORM_TILE];                               \
        real inner[AW_GPU_FORM_STEP][2][AW_GPU_FORM_TILE];                               \
    } aw_gpu_form_factors_##letter;                                                      \
                                                                                         \
    /* The factors of particles `first` to `end` - 1; particles and waves that are not   \
     * there have zeros. Called by all threads. */                                       \
    AW_GPU_FN void aw_gpu_form_fill_##letter(const aw_gpu_form *g, size_t tile,          \
                                             size_t first, size_t end,                   \
                                             aw_gpu_form_factors_##letter *s)            \
    {                                                                                    \
        const aw_form_call *call = &g->call;                                             \
        const size_t across = (call->inners + AW_GPU_FORM_TILE - 1) / AW_GPU_FORM_TILE;  \
        AW_GPU_EACH(t)                                                                   \
        {                                                                                \
            for (int i = t; i < 2 * AW_GPU_FORM_STEP * AW_GPU_FORM_TILE;                 \
                 i += AW_GPU_THREADS) {                                                  \
                const int wave = i % AW_GPU_FORM_TILE, other = i / AW_GPU_FORM_TILE;     \
                const int step = other % AW_GPU_FORM_STEP;                               \
                const int is_inner = other / AW_GPU_FORM_STEP;                           \
                const size_t j = first + (size_t)step;                                   \
                const size_t k = (is_inner ? tile % across : tile / across) *            \
                                     AW_GPU_FORM_TILE +                                  \
                                 (size_t)wave;                                           \
                real c = 0, sine = 0;                                                    \
                if (j < end && k < (is_inner ? call->inners : call->outers)) {           \
                    const real weight = is_inner ? (real)1 : (real)call->weight[j];      \
                    aw_gpu_form_term_##letter(                                           \
                        call, is_inner ? &call->inner[k] : &call->outer[k], j, &c,       \
                        &sine);                                                          \
                    c *= weight;                                                         \
                    sine *= weight;                                                      \
                }                                                                        \
                real(*to)[AW_GPU_FORM_TILE] = is_inner ? s->inner[step] : s->outer[step]; \
                to[0][wave] = c;                                                         \
                to[1][wave] = sine;                                                      \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
                                                                                         \
    /* Add the products of the particles in shared memory to the sums of a thread. */    \
    AW_GPU_FN void aw_gpu_form_multiply_##letter(const aw_gpu_form_factors_##letter *s,  \
                                                 int t, real acc[AW_GPU_FORM_OUTER][4])  \
    {                                                                                    \
        const int b = t % AW_GPU_WARP, first = t / AW_GPU_WARP * AW_GPU_FORM_OUTER;      \
        for (int j = 0; j < AW_GPU_FORM_STEP; ++j) {                                     \
            const real c = s->inner[j][0][b], sine = s->inner[j][1][b];                  \
            for (int a = 0; a < AW_GPU_FORM_OUTER; ++a) {                                \
                const real e = s->outer[j][0][first + a], f = s->outer[j][1][first + a]; \
                acc[a][0] += e * c;                                                      \
                acc[a][1] += e * sine;                                                   \
                acc[a][2] += f * c;                                                      \
                acc[a][3] += f * sine;                                                   \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
                                                                                         \
    /* Add the sums of a thread to those of the part, and begin them anew. */            \
    AW_GPU_FN void aw_gpu_form_flush_##letter(const aw_gpu_form *g, size_t tile,         \
                                              double *sum, int t,                        \
                                              real acc[AW_GPU_FORM_OUTER][4])            \
    {                                                                                    \
        const aw_form_call *call = &g->call;                                             \
        const size_t across = (call->inners + AW_GPU_FORM_TILE - 1) / AW_GPU_FORM_TILE;  \
        const size_t b = tile % across * AW_GPU_FORM_TILE + (size_t)(t % AW_GPU_WARP);   \
        for (int i = 0; i < AW_GPU_FORM_OUTER; ++i) {                                    \
            const size_t a = tile / across * AW_GPU_FORM_TILE +                          \
                             (size_t)(t / AW_GPU_WARP * AW_GPU_FORM_OUTER + i);          \
            if (a < call->outers && b < call->inners)                                    \
                aw_form_pair_add(acc[i][0], acc[i][1], acc[i][2], acc[i][3],             \
                                 &sum[4 * (a * call->inners + b)]);                      \
            for (int k = 0; k < 4; ++k) acc[i][k] = 0;                                   \
        }                                                                                \
    }                                                                                    \
                                                                                         \
    /* A tile of a part. */                                                              \
    AW_GPU_FN void aw_gpu_form_tile_##letter(const aw_gpu_form *g, size_t part,          \
                                             size_t tile, double *sum,                   \
                                             aw_gpu_form_factors_##letter *s)            \
    {                                                                                    \
        real acc[AW_GPU_PRIVATE][AW_GPU_FORM_OUTER][4];                                  \
        size_t first;                                                                    \
        const size_t end = aw_gpu_form_range(g, part, &first);                           \
        AW_GPU_EACH(t)                                                                   \
        {                                                                                \
            for (int i = 0; i < AW_GPU_FORM_OUTER; ++i)                                  \
                for (int k = 0; k < 4; ++k) acc[AW_GPU_INDEX(t)][i][k] = 0;              \
        }                                                                                \
        for (size_t j = first; j < end; j += AW_GPU_FORM_STEP) {                         \
            const size_t next = j + AW_GPU_FORM_STEP;                                    \
            aw_gpu_form_fill_##letter(g, tile, j, end, s);                               \
            AW_GPU_BARRIER();                                                            \
            AW_GPU_EACH(t)                                                               \
            {                                                                            \
                aw_gpu_form_multiply_##letter(s, t, acc[AW_GPU_INDEX(t)]);               \
                if (next >= end || (next - first) % AW_GPU_FORM_CHUNK == 0)              \
                    aw_gpu_form_flush_##letter(g, tile, sum, t, acc[AW_GPU_INDEX(t)]);   \
            }                                                                            \
            AW_GPU_BARRIER();                                                            \
        }                                                                                \
    }                                                                                    \
                                                                                         \
    /* A wave without inner waves: its thread goes through the particles of the part. */ \
    AW_GPU_FN void aw_gpu_form_wave_##letter(const aw_gpu_form *g, size_t part,          \
                                             size_t wave, double *sum)                   \
    {                                                                                    \
        size_t first;                                                                    \
        const size_t end = aw_gpu_form_range(g, part, &first);                           \
        real re = 0, im = 0;                                                             \
        for (size_t j = first; j < end; ++j) {                                           \
            const real weight = (real)g->call.weight[j];                                 \
            real c, s;                                                                   \
            aw_gpu_form_term_##letter(&g->call, &g->call.outer[wave], j, &c, &s);        \
            re += weight * c;                                                            \
            im += weight * s;                                                            \
            if (j + 1 < end && (j + 1 - first) % AW_FORM_BLOCK != 0) continue;           \
            sum[2 * wave] += (double)re;                                                 \
            sum[2 * wave + 1] += (double)im;                                             \
            re = im = 0;                                                                 \
        }                                                                                \
    }
AW_GPU_FORM_FACTORS(float, f)
AW_GPU_FORM_FACTORS(double, d)
#undef AW_GPU_FORM_FACTORS

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
