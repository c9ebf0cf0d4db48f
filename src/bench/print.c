/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that `arcwake bench` prints: the plain one, and those of --tables and of several
 * devices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/bench/bench.h"

/* Width of a column. */
enum { CELL = 12 };

void aw_bench_print_head(const aw_bench *b)
{
    aw_info("potentials of the LCLS bend in steady state, %s beam, %d step%s after %d, tolerance "
            "%.1g, %s start",
            aw_bench_beam_name[b->beam], b->repeat, b->repeat > 1 ? "s" : "", b->skip, b->tolerance,
            b->random ? "random" : "quiet");
    aw_info("%5s %9s %-10s %9s %9s %9s %11s %9s %9s %9s", "grid", "particles", "solver", "mean s",
            "best s", "refine s", "evals/point", "r' nodes", "GF/s", "leftover");
}

/* What each of several devices did. */
static void print_devices(const aw_bench_row *row)
{
    for (int i = 0; i < row->devices; ++i)
        aw_info("      %-12s alone %.3f s; its part of the work %.3f s, %.1f bins",
                row->each[i].name, row->each[i].alone, row->each[i].busy, row->each[i].bins);
}

/* Speed is relative to the first device alone, which has the row after that of all devices. */
void aw_bench_print_sets(const aw_bench_row *row, int rows)
{
    const aw_bench_row *first = row;
    aw_info(" ");
    aw_info("several devices (tables 8 to 12); ideal: 1/sum(1/t) over the devices alone (eq. 20)");
    aw_info("%5s %9s %-10s %9s %9s %10s %6s  %s", "grid", "particles", "solver", "mean s",
            "ideal s", "efficiency", "speed", "devices");
    for (int i = 0; i < rows; ++i) {
        const aw_bench_row *r = &row[i];
        if (r->devices > 0 && i + 1 < rows && row[i + 1].devices == 0) first = r + 1;
        char ideal[24] = "-", efficiency[24] = "-";
        if (r->devices > 0) {
            snprintf(ideal, sizeof ideal, "%.3f", r->ideal);
            snprintf(efficiency, sizeof efficiency, "%.1f %%", 100.0 * r->ideal / r->mean);
        }
        aw_info("%5d %9zu %-10s %9.3f %9s %10s %6.2f  %s", r->grid, r->particles, r->solver,
                r->mean, ideal, efficiency, first->mean / r->mean, r->device);
    }
}

void aw_bench_print_row(const aw_bench *b, const aw_bench_row *row)
{
    const double nodes = (double)row->nodes;
    aw_bench_figures f;
    aw_bench_figure(row, NULL, &f);
    aw_info("%5d %9zu %-10s %9.3f %9.3f %9.3f %11.0f %9.1f %9.2f %8.2f%%", row->grid,
            row->particles, row->solver, row->mean, row->best, row->refine,
            row->evaluations / nodes, row->outer_nodes / nodes, f.equivalent, 100.0 * f.leftover);
    if (!isnan(row->sampled) || row->fell_back > 0)
        aw_info(
            "      largest sampled error %.2g; rules %d near and %d far; %d of %d solves fell back",
            row->sampled, row->rule[0], row->rule[1], row->fell_back, row->solves);
    print_devices(row);
    if (!isnan(row->error_phi))
        aw_info(
            "      against adaptive at %.1g: phi %.2g, psi %.2g of their maxima (requested %.1g)",
            b->tolerance * 1e-3, row->error_phi, row->error_psi, b->tolerance);
}

static const aw_bench_row *find(const aw_bench_row *row, int rows, const char *solver, long grid,
                                long particles)
{
    for (int i = 0; i < rows; ++i)
        if (strcmp(row[i].solver, solver) == 0 && row[i].grid == grid &&
            row[i].particles == (size_t)particles)
            return &row[i];
    return NULL;
}

/* Append a number to a line, or "-" for a NaN. */
static void put(aw_text *line, const char *format, double value)
{
    char cell[32] = "-";
    if (isfinite(value)) snprintf(cell, sizeof cell, format, value);
    aw_text_add(line, " %*s", CELL, cell);
}

/* Print the line and begin a new one. */
static void end_line(aw_text *line)
{
    if (line->status == AW_OK) aw_info("%s", line->bytes);
    line->n = 0;
}

/* Times of all strategies. */
static void print_times(const aw_bench *b, const aw_bench_row *row, int rows, aw_text *line)
{
    aw_info(" ");
    aw_info("potentials: mean seconds per step, and how many times faster predictive is (table 7)");
    aw_text_add(line, "%9s %9s", "particles", "grid");
    for (int s = 0; s < b->solvers; ++s) aw_text_add(line, " %*s", CELL, b->solver[s]);
    aw_text_add(line, " %*s %*s", CELL, "two-phase/", CELL, "heuristic/");
    end_line(line);
    for (int n = 0; n < b->counts; ++n)
        for (int g = 0; g < b->grids; ++g) {
            const aw_bench_row *ours = find(row, rows, "predictive", b->grid[g], b->particles[n]);
            aw_text_add(line, "%9ld %4ld^2   ", b->particles[n], b->grid[g]);
            for (int s = 0; s < b->solvers; ++s)
                put(line, "%.3f", find(row, rows, b->solver[s], b->grid[g], b->particles[n])->mean);
            for (int s = 0; s < 2; ++s) {
                const aw_bench_row *other =
                    find(row, rows, s ? "heuristic" : "two-phase", b->grid[g], b->particles[n]);
                put(line, "%.2f", ours && other ? other->mean / ours->mean : (double)NAN);
            }
            end_line(line);
        }
}

/* Parts of the time of one strategy. */
static void print_parts(const aw_bench *b, const aw_bench_row *row, int rows, const char *solver,
                        aw_text *line)
{
    static const char *const head[] = {"clustering", "evaluation", "leftovers",  "predict+train",
                                       "rest",       "overall",    "share c+p+t"};
    aw_info(" ");
    aw_info("%s: seconds per step, by part (table 6)", solver);
    aw_text_add(line, "%9s %9s", "particles", "grid");
    for (size_t i = 0; i < sizeof head / sizeof *head; ++i)
        aw_text_add(line, " %*s", CELL, head[i]);
    end_line(line);
    for (int n = 0; n < b->counts; ++n)
        for (int g = 0; g < b->grids; ++g) {
            const aw_bench_row *r = find(row, rows, solver, b->grid[g], b->particles[n]);
            aw_bench_figures f;
            aw_bench_figure(r, NULL, &f);
            const double learn = r->predict + r->learn;
            aw_text_add(line, "%9ld %4ld^2   ", b->particles[n], b->grid[g]);
            put(line, "%.4f", r->cluster);
            put(line, "%.4f", r->evaluate);
            put(line, "%.4f", r->refine);
            put(line, "%.4f", learn);
            put(line, "%.4f", r->mean - r->cluster - r->evaluate - r->refine - learn);
            put(line, "%.4f", r->mean);
            put(line, "%.1f%%", 100.0 * f.learning);
            end_line(line);
        }
    aw_info("rest: the coarse pass that finds the scales of the errors, and ordering the work");
}

/* A line of print_kernel: a figure for every grid. */
typedef struct kernel_line {
    const char *name, *format;
    double value[AW_BENCH_LIST];
} kernel_line;

/* How a strategy uses the processor. */
static void print_kernel(const aw_bench *b, const aw_bench_row *row, int rows, const char *solver,
                         const aw_peak *peak, aw_text *line)
{
    kernel_line table[] = {{"counted operations, part that evaluates [GF/s]", "%.1f", {0}},
                           {"  share of the processor's best", "%.1f%%", {0}},
                           {"27-point equivalents, all parts [GF/s]", "%.1f", {0}},
                           {"operations per byte read (counted, from cache)", "%.2f", {0}},
                           {"time of one core for an evaluation [ns]", "%.2f", {0}},
                           {"regions left over", "%.2f%%", {0}},
                           {"evaluations per point", "%.0f", {0}},
                           {"  share with rates", "%.1f%%", {0}},
                           {"  over those of the adaptive partition", "%.2f", {0}},
                           {"forecast off, by cell", "%.1f%%", {0}},
                           {"forecast off, by slice", "%.1f%%", {0}}};
    for (int g = 0; g < b->grids; ++g) {
        const aw_bench_row *r = find(row, rows, solver, b->grid[g], b->particles[0]);
        aw_bench_figures f;
        aw_bench_figure(r, peak, &f);
        const double value[] = {f.kernel,
                                100.0 * f.peak_share,
                                f.equivalent,
                                f.intensity,
                                f.nanoseconds,
                                100.0 * f.leftover,
                                r->evaluations / (double)r->nodes,
                                100.0 * f.rated,
                                f.over,
                                100.0 * r->forecast_cells,
                                100.0 * r->forecast_slices};
        for (size_t i = 0; i < sizeof value / sizeof *value; ++i) table[i].value[g] = value[i];
    }
    const aw_bench_row *any = find(row, rows, solver, b->grid[0], b->particles[0]);
    aw_info(" ");
    aw_info("%s, %ld particles, moments of %s precision (tables 3 to 5)", solver, b->particles[0],
            any->single ? "single" : "double");
    aw_text_add(line, "%-46s", "grid");
    for (int g = 0; g < b->grids; ++g) put(line, "%.0f^2", (double)b->grid[g]);
    end_line(line);
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        aw_text_add(line, "%-46s", table[i].name);
        for (int g = 0; g < b->grids; ++g) put(line, table[i].format, table[i].value[g]);
        end_line(line);
    }
}

void aw_bench_print_tables(const aw_bench *b, const aw_bench_row *row, int rows,
                           const aw_peak *peak)
{
    aw_text line = {.bytes = NULL};
    print_times(b, row, rows, &line);
    for (int s = 0; s < b->solvers; ++s) print_parts(b, row, rows, b->solver[s], &line);
    for (int s = 0; s < b->solvers; ++s) print_kernel(b, row, rows, b->solver[s], peak, &line);
    aw_info(" ");
    aw_info("%s: peak of a core %.1f GF/s in double, %.1f in single precision", row->device,
            peak->arithmetic[0], peak->arithmetic[1]);
    for (int i = 0; i < AW_PEAK_ARRAYS; ++i)
        aw_text_add(&line, "%s %.1f GB/s from %zu KiB", i == 0 ? "  a core reads" : ",",
                    peak->read[i], aw_peak_bytes(i) >> 10);
    end_line(&line);
    aw_info("an evaluation counts as %.0f operations on interpolated cells (%.0f without rates), "
            "as %.0f in a refinement",
            AW_OPERATIONS_COMBINED, AW_OPERATIONS_VALUES, AW_OPERATIONS_27);
    aw_text_free(&line);
}
