/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench --json`: the measurements as a list of objects. */
#include <math.h>

#include "src/bench/bench.h"

/* What --tables adds. */
static void add_figures(aw_text *text, const aw_bench_row *row, const aw_peak *peak)
{
    aw_bench_figures f;
    aw_bench_figure(row, peak, &f);
    aw_text_add(text, ", \"moments\": \"%s\"", row->single ? "single" : "double");
    aw_text_add_number(text, "gflops_kernel", f.kernel);
    aw_text_add_number(text, "kernel_rated", f.kernel_rated);
    aw_text_add_number(text, "intensity", f.intensity);
    aw_text_add_number(text, "nanoseconds", f.nanoseconds);
    aw_text_add_number(text, "over_adaptive", f.over);
    aw_text_add_number(text, "forecast_cells", row->forecast_cells);
    aw_text_add_number(text, "forecast_slices", row->forecast_slices);
    aw_text_add_number(text, "peak_share", f.peak_share);
    aw_text_add(text, ", \"peak\": {");
    aw_text_add_number(text, "double", peak->arithmetic[0]);
    aw_text_add_number(text, "single", peak->arithmetic[1]);
    aw_text_add(text, ", \"read\": [");
    for (int i = 0; i < AW_PEAK_ARRAYS; ++i)
        aw_text_add(text, "%s[%zu, %.6g]", i > 0 ? ", " : "", aw_peak_bytes(i), peak->read[i]);
    aw_text_add(text, "]}");
}

/* Of several devices together. */
static void add_units(aw_text *text, const aw_bench_row *row)
{
    aw_text_add(text, ", \"t_alone\": {");
    for (int i = 0; i < row->devices; ++i)
        aw_text_add_number(text, row->each[i].name, row->each[i].alone);
    aw_text_add(text, "}, \"busy\": {");
    for (int i = 0; i < row->devices; ++i)
        aw_text_add_number(text, row->each[i].name, row->each[i].busy);
    aw_text_add(text, "}");
    aw_text_add_number(text, "ideal", row->ideal);
    aw_text_add_number(text, "efficiency", row->ideal / row->mean);
}

static void add_row(aw_text *text, const aw_bench_row *row, const aw_peak *peak)
{
    aw_bench_figures f;
    aw_bench_figure(row, peak, &f);
    aw_text_add(text,
                "  {\"grid\": %d, \"particles\": %zu, \"solver\": \"%s\", \"device\": \"%s\", "
                "\"threads\": %d, \"tolerance\": %.6g, \"solves\": %d, \"seconds\": {",
                row->grid, row->particles, row->solver, row->device, row->threads, row->tolerance,
                row->solves);
    aw_text_add_number(text, "total", row->mean);
    aw_text_add_number(text, "best", row->best);
    aw_text_add_number(text, "predict", row->predict);
    aw_text_add_number(text, "cluster", row->cluster);
    aw_text_add_number(text, "upload", row->upload);
    aw_text_add_number(text, "evaluate", row->evaluate);
    aw_text_add_number(text, "refine", row->refine);
    aw_text_add_number(text, "learn", row->learn);
    aw_text_add(text, "}, \"evaluations\": %.0f", row->evaluations);
    aw_text_add_number(text, "rated", f.rated);
    aw_text_add_number(text, "gflops", f.equivalent);
    aw_text_add(text, ", \"leftovers\": %.0f", row->leftovers);
    if (!isnan(row->sampled)) {
        aw_text_add_number(text, "error_sampled", row->sampled);
        aw_text_add(text, ", \"fell_back\": %d", row->fell_back);
    }
    if (!isnan(row->error_phi)) {
        aw_text_add_number(text, "error_phi", row->error_phi);
        aw_text_add_number(text, "error_psi", row->error_psi);
    }
    if (row->devices > 0) add_units(text, row);
    if (peak) add_figures(text, row, peak);
    aw_text_add(text, "}");
}

aw_status aw_bench_json(const char *path, const aw_bench_row *row, int rows, const aw_peak *peak)
{
    aw_text text = {.bytes = NULL};
    for (int i = 0; i < rows; ++i) {
        aw_text_add(&text, i > 0 ? ",\n" : "[\n");
        add_row(&text, &row[i], peak);
    }
    aw_text_add(&text, "\n]\n");
    aw_status status = aw_text_save(&text, path);
    aw_text_free(&text);
    return status;
}
