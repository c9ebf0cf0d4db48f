/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device: form factors. Particles are taken in blocks; all threads first compute the
 * cosines and sines of a few blocks, then the products, tile by tile. Each sum has one thread at a
 * time, which adds the blocks in their order, so that the number of threads changes no bit. */
#include <omp.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "src/base/memory.h"

/* Particles that stay in the cache while a thread goes through the waves of a list. */
enum { LIST_CHUNK = 16 * AW_FORM_BLOCK };
/* Blocks side by side: as many as have about `form_sums` sums (kernels/device/tuning.h), so that
 * there is work for all threads between two barriers, and their factors stay in the second-level
 * cache (docs/form-factor.md, "Block sizes"); and at most so many. */
enum { BLOCKS_MAX = 64 };
/* Parts into which the columns of a panel are cut for the threads. */
enum { PANEL_PARTS = 8, PART = AW_FORM_BLOCK / PANEL_PARTS };

enum { TILE = AW_FORM_ROWS * AW_FORM_COLUMNS };

/* The products of a call. */
typedef struct products {
    const aw_form_call *call;
    const aw_variant *variant;
    aw_form_panel *panel; /* [panels]; waves beyond the last are zero */
    size_t panels, tiles; /* panels of inner waves, tiles of outer ones */
    size_t blocks;        /* side by side */
    size_t real;          /* bytes of a factor */
    char *row;            /* [blocks][tiles][AW_FORM_ROWS][AW_FORM_BLOCK] */
    char *column;         /* [blocks][panels][AW_FORM_BLOCK][AW_FORM_COLUMNS] */
    double *sum;          /* [blocks][panels][tiles][AW_FORM_ROWS][AW_FORM_COLUMNS] */
} products;

/* Particles `first` to `end` - 1 of a call. */
static aw_form_points points_of(const aw_form_call *call, size_t first, size_t end)
{
    aw_form_points p = {.weight = call->weight + first, .n = (int)(end - first)};
    for (int i = 0; i < 3; ++i) p.at[i] = call->at[i] + first;
    return p;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Block number b; without particles past the last. */
static aw_form_points block_of(const aw_form_call *call, size_t b)
{
    const size_t n = call->particles, first = least(b * AW_FORM_BLOCK, n);
    return points_of(call, first, least(first + AW_FORM_BLOCK, n));
}

/* A sum of cosines and sines for each wave. */
static void sum_waves(const aw_cpu_state *cpu, const aw_form_call *call)
{
#pragma omp parallel for schedule(static) num_threads(cpu->threads)
    for (ptrdiff_t k = 0; k < (ptrdiff_t)cpu->threads; ++k) {
        const size_t from = call->outers * (size_t)k / (size_t)cpu->threads;
        const size_t to = call->outers * (size_t)(k + 1) / (size_t)cpu->threads;
        for (size_t chunk = 0; chunk < call->particles; chunk += LIST_CHUNK)
            for (size_t w = from; w < to; ++w)
                for (size_t at = chunk; at < least(chunk + LIST_CHUNK, call->particles);
                     at += AW_FORM_BLOCK) {
                    const aw_form_points p = block_of(call, at / AW_FORM_BLOCK);
                    cpu->variant->form_sum[call->single](&call->outer[w], &p, &call->sum[2 * w]);
                }
    }
}

static char *row_of(const products *p, size_t block, size_t tile)
{
    return p->row + (block * p->tiles + tile) * AW_FORM_ROWS * AW_FORM_BLOCK * p->real;
}

static char *column_of(const products *p, size_t block, size_t panel)
{
    return p->column + (block * p->panels + panel) * AW_FORM_BLOCK * AW_FORM_COLUMNS * p->real;
}

static double *sum_of(const products *p, size_t block, size_t panel, size_t tile)
{
    return p->sum + ((block * p->panels + panel) * p->tiles + tile) * TILE;
}

/* Rows of a tile or, for items beyond the tiles, a part of the columns of a panel. */
static void make_factors(const products *p, const aw_form_points *points, size_t block, size_t item)
{
    const aw_form_call *call = p->call;
    if (item < p->tiles) {
        const size_t first = item * AW_FORM_WAVES;
        for (size_t w = first; w < least(first + AW_FORM_WAVES, call->outers); ++w)
            p->variant->form_row[call->single](&call->outer[w], points,
                                               row_of(p, block, item) +
                                                   2 * (w - first) * AW_FORM_BLOCK * p->real);
    } else {
        const size_t panel = (item - p->tiles) / PANEL_PARTS;
        const int first = (int)((item - p->tiles) % PANEL_PARTS) * PART;
        const int end = first + PART < points->n ? first + PART : points->n;
        p->variant->form_columns[call->single](&p->panel[panel], points, first, end,
                                               column_of(p, block, panel));
    }
}

/* All blocks, `blocks` of them at a time. */
static void sum_products(const products *p, int threads)
{
    const size_t all = (p->call->particles + AW_FORM_BLOCK - 1) / AW_FORM_BLOCK;
    const size_t items = p->tiles + p->panels * PANEL_PARTS, sums = p->panels * p->tiles;
#pragma omp parallel num_threads(threads)
    for (size_t done = 0; done < all; done += p->blocks) {
        const size_t n = least(p->blocks, all - done);
#pragma omp for schedule(static)
        for (size_t i = 0; i < n * items; ++i) {
            const aw_form_points points = block_of(p->call, done + i / items);
            make_factors(p, &points, i / items, i % items);
        }
#pragma omp for schedule(static)
        for (size_t i = 0; i < n * sums; ++i) {
            const size_t block = i / sums, panel = i % sums / p->tiles, tile = i % p->tiles;
            p->variant->form_tile[p->call->single](
                row_of(p, block, tile), column_of(p, block, panel),
                block_of(p->call, done + block).n, sum_of(p, block, panel, tile));
        }
    }
}

/* Add the tiles to the sums of the pairs of waves, block by block. */
static void add_pairs(const products *p, int threads)
{
    const aw_form_call *call = p->call;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t a = 0; a < call->outers; ++a)
        for (size_t b = 0; b < call->inners; ++b)
            for (size_t block = 0; block < p->blocks; ++block) {
                const double *c = sum_of(p, block, b / AW_FORM_PANEL, a / AW_FORM_WAVES) +
                                  2 * (a % AW_FORM_WAVES) * AW_FORM_COLUMNS + b % AW_FORM_PANEL;
                const double *s = c + AW_FORM_COLUMNS;
                aw_form_pair_add(c[0], c[AW_FORM_PANEL], s[0], s[AW_FORM_PANEL],
                                 &call->sum[4 * (a * call->inners + b)]);
            }
}

static void fill_panels(const aw_form_call *call, aw_form_panel *panel)
{
    for (size_t b = 0; b < call->inners; ++b)
        for (int i = 0; i < 3; ++i) {
            panel[b / AW_FORM_PANEL].hi[i][b % AW_FORM_PANEL] = call->inner[b].hi[i];
            panel[b / AW_FORM_PANEL].lo[i][b % AW_FORM_PANEL] = call->inner[b].lo[i];
        }
}

static aw_status product_sums(const aw_cpu_state *cpu, const aw_form_call *call)
{
    products p = {.call = call,
                  .variant = cpu->variant,
                  .panels = (call->inners + AW_FORM_PANEL - 1) / AW_FORM_PANEL,
                  .tiles = (call->outers + AW_FORM_WAVES - 1) / AW_FORM_WAVES,
                  .real = call->single ? sizeof(float) : sizeof(double)};
    const size_t sums = p.panels * p.tiles * TILE;
    const size_t wanted = (size_t)cpu->tuning.form_sums / sums;
    p.blocks = least(wanted > 0 ? wanted : 1, BLOCKS_MAX);
    p.panel = aw_alloc(p.panels, sizeof *p.panel);
    p.row = aw_alloc(p.blocks * p.tiles * AW_FORM_ROWS * AW_FORM_BLOCK, p.real);
    p.column = aw_alloc(p.blocks * p.panels * AW_FORM_COLUMNS * AW_FORM_BLOCK, p.real);
    p.sum = aw_alloc(p.blocks * sums, sizeof *p.sum);
    aw_status status = AW_OK;
    AW_TRY(p.panel && p.row && p.column && p.sum ? AW_OK : AW_ERR_NOMEM);
    fill_panels(call, p.panel);
    sum_products(&p, cpu->threads);
    add_pairs(&p, cpu->threads);
done:
    aw_free(p.panel);
    aw_free(p.row);
    aw_free(p.column);
    aw_free(p.sum);
    return status;
}

aw_status aw_cpu_form_factor(void *state, const aw_form_call *call)
{
    const aw_cpu_state *cpu = state;
    if (call->outers == 0 || call->particles == 0) return AW_OK;
    if (call->inners > 0) return product_sums(cpu, call);
    sum_waves(cpu, call);
    return AW_OK;
}
