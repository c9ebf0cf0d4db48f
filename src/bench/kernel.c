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

/* Best of so many runs of at least so long [s]. */
#define RUN_TIME 0.01
enum { RUNS = 5 };

/* Planes with numbers everywhere, as double and as float. */
typedef struct kernel_planes {
    aw_history_view history; /* sides only */
    double *wide;
    float *narrow;
} kernel_planes;

static aw_status planes_make(int side, kernel_planes *planes)
{
    planes->history = (aw_history_view){.ns = side, .nx = side};
    const size_t n = aw_interpolated_lines_size(&planes->history);
    uint32_t random = 1; /* Knuth's linear congruences: any numbers do */
    aw_status status = AW_OK;
    planes->wide = aw_alloc(n, sizeof *planes->wide);
    planes->narrow = aw_alloc(n, sizeof *planes->narrow);
    AW_TRY(planes->wide && planes->narrow ? AW_OK : AW_ERR_NOMEM);
    for (size_t i = 0; i < n; ++i) {
        random = 1664525U * random + 1013904223U;
        planes->narrow[i] = (float)(random >> 8) * 0x1p-24F;
        planes->wide[i] = (double)planes->narrow[i];
    }
done:
    return status;
}

static void planes_free(kernel_planes *planes)
{
    aw_free(planes->wide);
    aw_free(planes->narrow);
}

/* What production has most of: across the grid a nearly straight arc of a distant circle (one node
 * a cell), whose lanes are shifted to read the same cells, because rows of points are turned
 * against the grid's; and a circle inside the grid (three nodes a cell), where rows are hardly
 * turned and lanes now and then read different cells. */
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

/* Nanoseconds of an evaluation. */
static double time_arc(const aw_variant *variant, const kernel_planes *planes,
                       const aw_tile_how *how, const aw_tile_arc *arc)
{
    const void *cells = how->single ? (const void *)planes->narrow : (const void *)planes->wide;
    double sum[AW_LINE_COMPONENTS][AW_TILE], best = HUGE_VAL;
    for (int run = 0; run < RUNS; ++run) {
        const double begin = aw_now();
        double seconds = 0.0, evaluations = 0.0;
        while (!(seconds >= RUN_TIME)) {
            for (int i = 0; i < 8; ++i)
                variant->tile_sum(&planes->history, arc, cells, NULL, how, sum);
            evaluations += 8.0 * (double)arc->n * AW_TILE;
            seconds = aw_now() - begin;
        }
        best = fmin(best, seconds / evaluations);
    }
    return 1e9 * best;
}

/* One line: a variant and precision on all grids. */
static aw_status run_line(const aw_bench *b, const aw_variant *variant, int single, int circle,
                          int rates, const aw_peak *peak, aw_text *line, aw_text *json)
{
    aw_status status = AW_OK;
    const aw_tile_how how = {
        .single = single, .rates = rates, .batch = aw_tuning_find("cluster_batch")->initial};
    const double operations = rates ? AW_OPERATIONS_COMBINED : AW_OPERATIONS_VALUES;
    double share = 0.0;
    aw_text_add(line, "%-9s %-7s %-7s %-6s", variant->name, single ? "single" : "double",
                circle ? "circle" : "line", rates ? "yes" : "no");
    for (int g = 0; g < b->grids; ++g) {
        kernel_planes planes = {.wide = NULL};
        aw_tile_arc arc;
        status = planes_make((int)b->grid[g], &planes);
        if (status == AW_OK) {
            make_arc((int)b->grid[g], circle, &arc);
            const double ns = time_arc(variant, &planes, &how, &arc);
            share = operations / ns / peak->arithmetic[single];
            aw_text_add(line, " %8.2f", ns);
            aw_text_add(json,
                        "%s  {\"variant\": \"%s\", \"moments\": \"%s\", \"arc\": \"%s\", "
                        "\"rates\": %s, \"grid\": %ld, \"nanoseconds\": %.6g, \"gflops\": %.6g, "
                        "\"peak_share\": %.6g}",
                        json->n > 0 ? ",\n" : "[\n", variant->name, single ? "single" : "double",
                        circle ? "circle" : "line", rates ? "true" : "false", b->grid[g], ns,
                        operations / ns, share);
        }
        planes_free(&planes);
        AW_TRY(status);
    }
    aw_info("%s %7.0f%%", line->bytes, 100.0 * share);
    line->n = 0;
done:
    return status;
}

aw_status aw_bench_kernel(const aw_bench *b)
{
    aw_status status = AW_OK;
    aw_text line = {.bytes = NULL}, json = {.bytes = NULL};
    aw_info("nanoseconds of an evaluation in the sums of a tile (16 points), one thread, random "
            "planes");
    aw_text_add(&line, "%-9s %-7s %-7s %-6s", "variant", "moments", "nodes", "rates");
    for (int g = 0; g < b->grids; ++g) aw_text_add(&line, " %6ld^2", b->grid[g]);
    AW_TRY(line.status);
    aw_info("%s  %s", line.bytes, "of peak");
    line.n = 0;
    for (int i = 0; aw_variant_list(i); ++i) {
        aw_peak peak;
        AW_TRY(aw_peak_arithmetic(aw_variant_list(i)->name, 1, &peak));
        for (int single = 0; single < 2; ++single)
            for (int circle = 0; circle < 2; ++circle)
                for (int rates = 0; rates < 2; ++rates)
                    AW_TRY(run_line(b, aw_variant_list(i), single, circle, rates, &peak, &line,
                                    &json));
    }
    aw_info("with rates %.0f operations on nine cells of six numbers, "
            "without %.0f on three; of peak: multiply-adds alone, last grid",
            AW_OPERATIONS_COMBINED, AW_OPERATIONS_VALUES);
    aw_text_add(&json, "\n]\n");
    if (b->json) AW_TRY(aw_text_save(&json, b->json));
done:
    aw_text_free(&line);
    aw_text_free(&json);
    return status;
}
