/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench --json`: the measurements as a list of objects. */
#include <math.h>

#include "src/bench/bench.h"
#include "src/io/json.h"

static void number(aw_json *json, const char *key, double value)
{
    aw_json_number(json, key, value, AW_BENCH_DIGITS);
}

/* What --tables adds. */
static void add_figures(aw_json *json, const aw_bench_row *row, const aw_peak *peak)
{
    aw_bench_figures f;
    aw_bench_figure(row, peak, &f);
    aw_json_string(json, "moments", row->single ? "single" : "double");
    number(json, "gflops_kernel", f.kernel);
    number(json, "kernel_rated", f.kernel_rated);
    number(json, "intensity", f.intensity);
    number(json, "nanoseconds", f.nanoseconds);
    number(json, "over_adaptive", f.over);
    number(json, "forecast_cells", row->forecast_cells);
    number(json, "forecast_slices", row->forecast_slices);
    number(json, "peak_share", f.peak_share);
    aw_json_begin_object(json, "peak");
    number(json, "double", peak->arithmetic[0]);
    number(json, "single", peak->arithmetic[1]);
    aw_json_begin_array(json, "read");
    for (int i = 0; i < AW_PEAK_ARRAYS; ++i) {
        aw_json_begin_array(json, NULL);
        aw_json_integer(json, NULL, (long long)aw_peak_bytes(i));
        number(json, NULL, peak->read[i]);
        aw_json_end_array(json);
    }
    aw_json_end_array(json);
    aw_json_end_object(json);
}

/* What a row of several devices adds. */
static void add_devices(aw_json *json, const aw_bench_row *row)
{
    aw_json_begin_object(json, "t_alone");
    for (int i = 0; i < row->devices; ++i) number(json, row->each[i].name, row->each[i].alone);
    aw_json_end_object(json);
    aw_json_begin_object(json, "busy");
    for (int i = 0; i < row->devices; ++i) number(json, row->each[i].name, row->each[i].busy);
    aw_json_end_object(json);
    number(json, "ideal", row->ideal);
    number(json, "efficiency", row->ideal / row->mean);
}

static void add_seconds(aw_json *json, const aw_bench_row *row)
{
    aw_json_begin_object(json, "seconds");
    number(json, "total", row->mean);
    number(json, "best", row->best);
    number(json, "predict", row->predict);
    number(json, "cluster", row->cluster);
    number(json, "upload", row->upload);
    number(json, "evaluate", row->evaluate);
    number(json, "refine", row->refine);
    number(json, "learn", row->learn);
    aw_json_end_object(json);
}

static void add_row(aw_json *json, const aw_bench_row *row, const aw_peak *peak)
{
    aw_bench_figures f;
    aw_bench_figure(row, peak, &f);
    aw_json_begin_object(json, NULL);
    aw_json_integer(json, "grid", row->grid);
    aw_json_integer(json, "across", row->across);
    aw_json_integer(json, "particles", (long long)row->particles);
    aw_json_string(json, "solver", row->solver);
    aw_json_string(json, "device", row->device);
    aw_json_integer(json, "threads", row->threads);
    number(json, "tolerance", row->tolerance);
    aw_json_integer(json, "solves", row->solves);
    add_seconds(json, row);
    aw_json_integer(json, "evaluations", llrint(row->evaluations));
    number(json, "rated", f.rated);
    number(json, "gflops", f.equivalent);
    aw_json_integer(json, "leftovers", llrint(row->leftovers));
    if (!isnan(row->sampled)) {
        number(json, "error_sampled", row->sampled);
        aw_json_integer(json, "fell_back", row->fell_back);
    }
    if (!isnan(row->error_phi)) {
        number(json, "error_phi", row->error_phi);
        number(json, "error_psi", row->error_psi);
    }
    if (row->devices > 0) add_devices(json, row);
    if (peak) add_figures(json, row, peak);
    aw_json_end_object(json);
}

aw_status aw_bench_json(const char *path, const aw_bench_row *row, int rows, const aw_peak *peak)
{
    aw_json json = {.depth = 0};
    aw_json_begin_array(&json, NULL);
    for (int i = 0; i < rows; ++i) add_row(&json, &row[i], peak);
    aw_json_end_array(&json);
    aw_status status = aw_json_save(&json, path);
    aw_json_free(&json);
    return status;
}
