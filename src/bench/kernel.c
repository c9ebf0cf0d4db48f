/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench --kernel`: the sums over the nodes of a tile alone, for every SIMD variant. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/peak.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/device/tuning.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/bench/bench.h"
#include "src/io/json.h"

/* The best of RUNS runs, each of at least RUN_TIME [s], counts. */
#define RUN_TIME 0.01
enum { RUNS = 5 };

/* What a line of the table times. */
typedef struct kernel_case {
    const aw_variant *variant;
    int single; /* 1: moments in single precision */
    int circle; /* as make_arc */
    int rates;  /* 1: with the rates of the moments */
} kernel_case;

/* Moments of random size in the cells of a slice interpolated in time, in both precisions. */
typedef struct kernel_cells {
    aw_history_view history; /* only its sides are set */
    double *in_double;       /* owned, [aw_interpolated_lines_size] */
    float *in_single;        /* owned, the same */
} kernel_cells;

static aw_status cells_make(int side, kernel_cells *cells)
{
    cells->history = (aw_history_view){.ns = side, .nx = side};
    const size_t n = aw_interpolated_lines_size(&cells->history);
    uint32_t random = 1; /* Knuth's linear congruential generator: any numbers will do */
    aw_status status = AW_OK;
    cells->in_double = aw_alloc(n, sizeof *cells->in_double);
    cells->in_single = aw_alloc(n, sizeof *cells->in_single);
    AW_TRY(cells->in_double && cells->in_single ? AW_OK : AW_ERR_NOMEM);
    for (size_t i = 0; i < n; ++i) {
        random = 1664525U * random + 1013904223U;
        cells->in_single[i] = (float)(random >> 8) * 0x1p-24F;
        cells->in_double[i] = (double)cells->in_single[i];
    }
done:
    return status;
}

static void cells_free(kernel_cells *cells)
{
    aw_free(cells->in_double);
    aw_free(cells->in_single);
}

/* The two kinds of arc that a run mostly evaluates. circle = 0: a nearly straight arc of a distant
 * circle across the grid (one node per cell); rows of points are rotated against the rows of the
 * grid, and the lanes are shifted so that they read the same cells. circle = 1: a circle inside the
 * grid (three nodes per cell); rows are hardly rotated, and lanes occasionally read different
 * cells. */
static void make_arc(int side, int circle, aw_tile_arc *arc)
{
    const double n = side, r = circle ? 0.4 * n : 20.0 * n;
    memset(arc, 0, sizeof *arc);
    arc->r_s = arc->r_x = r;
    arc->a = circle ? 0.45 * n : 0.45 * n - r - 7.0;
    arc->b = 0.5 * n + 0.3;
    arc->n = circle ? (int)(3.0 * 2.0 * AW_PI * r) : side;
    arc->step = circle ? 2.0 * AW_PI / arc->n : 1.0 / r;
    arc->first = circle ? 0.1 : -0.5 * n * arc->step;
    arc->turn_s = 0.3;
    arc->turn_x = 0.2;
    for (int l = 0; l < AW_TILE; ++l) {
        arc->da[l] = 1e-3 * (l - 7.5);
        arc->db[l] = (circle ? 1e-3 : 0.02) * (l - 7.5);
        arc->ud[l] = 0.3 + 0.01 * l;
        arc->wd[l] = -0.2 + 0.01 * l;
    }
    if (!circle) aw_tile_shift(n * arc->step, 0.0, 0, HUGE_VAL, arc);
}

/* Time of an evaluation [ns]. */
static double time_arc(const aw_variant *variant, const kernel_cells *cells,
                       const aw_tile_options *options, const aw_tile_arc *arc)
{
    const void *moments =
        options->single ? (const void *)cells->in_single : (const void *)cells->in_double;
    double sum[AW_LINE_COMPONENTS][AW_TILE], best = HUGE_VAL;
    for (int run = 0; run < RUNS; ++run) {
        const double begin = aw_now();
        double seconds = 0.0, evaluations = 0.0;
        while (!(seconds >= RUN_TIME)) {
            for (int i = 0; i < 8; ++i)
                variant->tile_sum(&cells->history, arc, moments, NULL, options, sum);
            evaluations += 8.0 * (double)arc->n * AW_TILE;
            seconds = aw_now() - begin;
        }
        best = fmin(best, seconds / evaluations);
    }
    return 1e9 * best;
}

static void add_json(aw_json *json, const kernel_case *c, long grid, double nanoseconds,
                     double operations, double share)
{
    aw_json_begin_object(json, NULL);
    aw_json_string(json, "variant", c->variant->name);
    aw_json_string(json, "moments", c->single ? "single" : "double");
    aw_json_string(json, "arc", c->circle ? "circle" : "line");
    aw_json_boolean(json, "rates", c->rates);
    aw_json_integer(json, "grid", grid);
    aw_json_number(json, "nanoseconds", nanoseconds, AW_BENCH_DIGITS);
    aw_json_number(json, "gflops", operations / nanoseconds, AW_BENCH_DIGITS);
    aw_json_number(json, "peak_share", share, AW_BENCH_DIGITS);
    aw_json_end_object(json);
}

/* One line of the table: a case on all grids. */
static aw_status run_line(const aw_bench *b, const kernel_case *c, const aw_peak *peak,
                          aw_text *line, aw_json *json)
{
    aw_status status = AW_OK;
    const aw_tile_options options = {
        .single = c->single, .rates = c->rates, .batch = aw_tuning_find("cluster_batch")->initial};
    const double operations = c->rates ? AW_OPERATIONS_COMBINED : AW_OPERATIONS_VALUES;
    double share = 0.0;
    aw_text_add(line, "%-9s %-7s %-7s %-6s", c->variant->name, c->single ? "single" : "double",
                c->circle ? "circle" : "line", c->rates ? "yes" : "no");
    for (int g = 0; g < b->grids; ++g) {
        kernel_cells cells = {.in_double = NULL};
        aw_tile_arc arc;
        status = cells_make((int)b->grid[g], &cells);
        if (status == AW_OK) {
            make_arc((int)b->grid[g], c->circle, &arc);
            const double ns = time_arc(c->variant, &cells, &options, &arc);
            share = operations / ns / peak->arithmetic[c->single];
            aw_text_add(line, " %8.2f", ns);
            add_json(json, c, b->grid[g], ns, operations, share);
        }
        cells_free(&cells);
        AW_TRY(status);
    }
    AW_TRY(line->status);
    aw_info("%s %7.0f%%", line->bytes, 100.0 * share);
    line->n = 0;
done:
    return status;
}

/* All lines of one variant. */
static aw_status run_variant(const aw_bench *b, const aw_variant *variant, aw_text *line,
                             aw_json *json)
{
    aw_status status = AW_OK;
    aw_peak peak;
    AW_TRY(aw_peak_arithmetic(variant->name, 1, &peak));
    for (int i = 0; i < 8; ++i) {
        const kernel_case c = {variant, i >> 2 & 1, i >> 1 & 1, i & 1};
        AW_TRY(run_line(b, &c, &peak, line, json));
    }
done:
    return status;
}

aw_status aw_bench_kernel(const aw_bench *b)
{
    aw_status status = AW_OK;
    aw_text line = {.bytes = NULL};
    aw_json json = {.depth = 0};
    aw_info("nanoseconds of an evaluation in the sums of a tile (16 points), one thread, random "
            "moments");
    aw_text_add(&line, "%-9s %-7s %-7s %-6s", "variant", "moments", "nodes", "rates");
    for (int g = 0; g < b->grids; ++g) aw_text_add(&line, " %6ld^2", b->grid[g]);
    AW_TRY(line.status);
    aw_info("%s  %s", line.bytes, "of peak");
    line.n = 0;
    aw_json_begin_array(&json, NULL);
    for (int i = 0; aw_variant_list(i); ++i)
        AW_TRY(run_variant(b, aw_variant_list(i), &line, &json));
    aw_json_end_array(&json);
    aw_info("with rates %.0f operations on nine cells of six numbers, without %.0f on three; the "
            "peak is that of multiply-adds alone, on the last grid",
            AW_OPERATIONS_COMBINED, AW_OPERATIONS_VALUES);
    if (b->json) AW_TRY(aw_json_save(&json, b->json));
done:
    aw_text_free(&line);
    aw_json_free(&json);
    return status;
}
