/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/form_factor/waves.h"

#include <stdint.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"

size_t aw_waves_count(const aw_waves *w)
{
    size_t all = 1;
    for (int a = 0; a < 3; ++a) {
        if (w->n[a] == 0 || all > SIZE_MAX / 64 / w->n[a]) return 0;
        all *= w->n[a];
    }
    return all;
}

/* The three indices of wave number i. */
static void split(const size_t n[3], size_t i, size_t at[3])
{
    at[2] = i % n[2];
    at[1] = i / n[2] % n[1];
    at[0] = i / n[2] / n[1];
}

void aw_waves_at(const aw_waves *w, size_t i, double k[3])
{
    size_t at[3];
    if (w->list) {
        memcpy(k, w->list[i], 3 * sizeof *k);
        return;
    }
    split(w->n, i, at);
    for (int c = 0; c < 3; ++c) {
        k[c] = w->origin[c];
        for (int a = 0; a < 3; ++a) k[c] += (double)(w->from[a] + at[a]) * w->step[a][c];
    }
}

void aw_waves_reach(const aw_waves *w, double reach[3])
{
    const size_t all = aw_waves_count(w);
    double k[3];
    memset(reach, 0, 3 * sizeof *reach);
    for (size_t i = 0; i < (w->list ? all : 8); ++i) { /* of a lattice the corners suffice */
        const size_t corner =
            ((i & 4 ? w->n[0] - 1 : 0) * w->n[1] + (i & 2 ? w->n[1] - 1 : 0)) * w->n[2] +
            (i & 1 ? w->n[2] - 1 : 0);
        aw_waves_at(w, w->list ? i : corner, k);
        for (int c = 0; c < 3; ++c)
            if (!(fabs(k[c]) <= reach[c])) reach[c] = fabs(k[c]); /* a NaN stays */
    }
}

aw_status aw_waves_check(const aw_waves *w)
{
    double reach[3];
    if (aw_waves_count(w) == 0)
        return aw_error(AW_ERR_ARG, "form factor: no wave vectors, or more than can be counted "
                                    "(give each axis at least one point)");
    aw_waves_reach(w, reach);
    if (!isfinite(reach[0]) || !isfinite(reach[1]) || !isfinite(reach[2]))
        return aw_error(AW_ERR_ARG, "form factor: a wave vector is not finite (check the range)");
    return AW_OK;
}

int aw_waves_part(const aw_waves *w, size_t most, size_t *next, aw_waves *part, size_t *first)
{
    size_t size[3] = {w->n[0], w->n[1], w->n[2]}, at[3], below = aw_waves_count(w);
    if (*next >= below) return 0;
    for (int a = 0; a < 3; ++a) { /* cut the slowest axes first, into parts of equal length */
        const size_t rest = below / w->n[a], fit = most / rest > 0 ? most / rest : 1;
        const size_t parts = (w->n[a] + fit - 1) / fit;
        size[a] = (w->n[a] + parts - 1) / parts;
        below = rest;
        if (size[a] > 1) break;
    }
    split(w->n, *next, at);
    *part = *w;
    *first = *next;
    for (int a = 0; a < 3; ++a) {
        part->n[a] = size[a] < w->n[a] - at[a] ? size[a] : w->n[a] - at[a];
        part->from[a] += at[a];
    }
    if (w->list) part->list = w->list + *next;
    *next += part->n[0] * part->n[1] * part->n[2];
    return 1;
}

/* A component of a wave vector as a wave's: in quarter turns. */
static void set_component(aw_wave *wave, int c, long double k)
{
    const long double turns = k * 0.636619772367581343075535053490057448L; /* 2/pi */
    wave->hi[c] = (double)turns;
    wave->lo[c] = (double)(turns - (long double)wave->hi[c]);
}

/* The axis whose blocks are cut in two halves: the fastest one of more than one point. */
static int halved(const aw_waves *w)
{
    return w->n[2] > 1 ? 2 : (w->n[1] > 1 ? 1 : (w->n[0] > 1 ? 0 : 2));
}

/* Set the length of the blocks along axis a. */
static void set_blocks(const aw_waves *w, aw_wave_pairs *p, int a, size_t blocks)
{
    const size_t size = (w->n[a] + blocks - 1) / blocks;
    p->block[a] = a == halved(w) ? size + size % 2 : size;
    p->blocks[a] = (w->n[a] + p->block[a] - 1) / p->block[a];
}

/* Cost of a particle: products, for whole tiles of three outer and panels of 32 inner waves, and
 * cosines and sines. Unit: a lane of a multiply-add. Measured: a cosine and a sine take 40. */
static double cost_of(const aw_wave_pairs *p)
{
    const double outers = (double)(p->blocks[0] * p->blocks[1] * p->blocks[2]);
    const double inners = 0.5 * (double)(p->block[0] * p->block[1] * p->block[2]);
    return 4.0 * 3.0 * ceil(outers / 3.0) * 32.0 * ceil(inners / 32.0) +
           40.0 * (outers + 32.0 * ceil(inners / 32.0));
}

/* The next number of blocks along an axis that makes them shorter; 0: none. */
static size_t more_blocks(size_t points, size_t blocks)
{
    const size_t size = (points + blocks - 1) / blocks;
    return size > 1 ? (points + size - 2) / (size - 1) : 0;
}

/* The blocks of least cost. */
static void choose_blocks(const aw_waves *w, aw_wave_pairs *p)
{
    aw_wave_pairs trial = *p;
    double least = HUGE_VAL;
    for (size_t a = 1; a > 0; a = more_blocks(w->n[0], a)) {
        set_blocks(w, &trial, 0, a);
        for (size_t b = 1; b > 0; b = more_blocks(w->n[1], b)) {
            set_blocks(w, &trial, 1, b);
            for (size_t c = 1; c > 0; c = more_blocks(w->n[2], c)) {
                set_blocks(w, &trial, 2, c);
                if (!(cost_of(&trial) < least)) continue;
                least = cost_of(&trial);
                *p = trial;
            }
        }
    }
}

/* Steps along axis a that lead from the origin to the middle of a block. */
static long double middle(const aw_wave_pairs *p, int a, size_t block)
{
    return (long double)(block * p->block[a]) + 0.5L * (long double)(p->block[a] - 1);
}

static void fill_lattice(const aw_waves *w, aw_wave_pairs *p)
{
    const int fold = halved(w);
    const size_t half[3] = {p->block[0] / (fold == 0 ? 2 : 1), p->block[1] / (fold == 1 ? 2 : 1),
                            p->block[2] / (fold == 2 ? 2 : 1)};
    size_t at[3];
    for (int c = 0; c < 3; ++c) {
        for (size_t i = 0; i < p->outers; ++i) {
            long double k = w->origin[c];
            split(p->blocks, i, at);
            for (int a = 0; a < 3; ++a)
                k += ((long double)w->from[a] + middle(p, a, at[a])) * (long double)w->step[a][c];
            set_component(&p->outer[i], c, k);
        }
        for (size_t i = 0; i < p->inners; ++i) {
            long double k = 0.0L;
            split(half, i, at);
            at[fold] += half[fold];
            for (int a = 0; a < 3; ++a)
                k += ((long double)at[a] - middle(p, a, 0)) * (long double)w->step[a][c];
            set_component(&p->inner[i], c, k);
        }
    }
}

aw_status aw_wave_pairs_new(const aw_waves *w, aw_wave_pairs *p)
{
    memset(p, 0, sizeof *p);
    if (w->list) {
        p->outers = aw_waves_count(w);
    } else {
        choose_blocks(w, p);
        p->outers = p->blocks[0] * p->blocks[1] * p->blocks[2];
        p->inners = p->block[0] * p->block[1] * p->block[2] / 2;
    }
    p->outer = aw_alloc(p->outers, sizeof *p->outer);
    p->inner = aw_alloc(p->inners, sizeof *p->inner);
    if (!p->outer || !p->inner) {
        aw_wave_pairs_free(p);
        return AW_ERR_NOMEM;
    }
    if (!w->list) fill_lattice(w, p);
    for (size_t i = 0; w->list && i < p->outers; ++i)
        for (int c = 0; c < 3; ++c) set_component(&p->outer[i], c, w->list[i][c]);
    return AW_OK;
}

void aw_wave_pairs_free(aw_wave_pairs *p)
{
    aw_free(p->outer);
    aw_free(p->inner);
    p->outer = p->inner = NULL;
}

void aw_wave_pairs_index(const aw_waves *w, const aw_wave_pairs *p, size_t outer, size_t inner,
                         size_t index[2])
{
    const int fold = halved(w);
    size_t half[3] = {p->block[0], p->block[1], p->block[2]}, corner[3], at[3];
    half[fold] /= 2;
    split(p->blocks, outer, corner);
    split(half, inner, at);
    at[fold] += half[fold];
    for (int side = 0; side < 2; ++side) {
        index[side] = 0;
        for (int a = 0; a < 3; ++a) {
            const size_t i = corner[a] * p->block[a] + (side ? p->block[a] - 1 - at[a] : at[a]);
            if (i >= w->n[a]) index[side] = SIZE_MAX;
            if (index[side] != SIZE_MAX) index[side] = index[side] * w->n[a] + i;
        }
    }
}
