/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/bench/figures.h"

#include <math.h>
#include <string.h>

void aw_bench_row_clear(aw_bench_row *row)
{
    memset(row, 0, sizeof *row);
    row->best = HUGE_VAL;
    row->error_phi = row->error_psi = row->adaptive = NAN;
    row->forecast_cells = row->forecast_slices = row->sampled = NAN;
}

void aw_bench_row_add(aw_bench_row *row, const aw_report *r, double seconds)
{
    row->solves++;
    row->single = r->single;
    row->mean += seconds;
    row->best = fmin(row->best, seconds);
    row->predict += r->predict;
    row->cluster += r->cluster;
    row->upload += r->upload;
    row->evaluate += r->evaluate;
    row->refine += r->refine;
    row->learn += r->learn;
    row->evaluations += (double)r->work.evaluations;
    row->rated += (double)r->work.rated;
    row->evaluated += (double)r->evaluated.evaluations;
    row->evaluated_rated += (double)r->evaluated.rated;
    row->outer_nodes += (double)r->work.nodes;
    row->regions += (double)r->work.regions;
    row->leftovers += (double)r->leftovers;
    row->fell_back += r->fell_back;
    row->rule[0] = r->rule[0];
    row->rule[1] = r->rule[1];
    if (r->samples > 0 && !(r->sampled <= row->sampled)) row->sampled = r->sampled;
}

void aw_bench_row_close(aw_bench_row *row)
{
    double *const sum[] = {&row->mean,      &row->predict,         &row->cluster,
                           &row->upload,    &row->evaluate,        &row->refine,
                           &row->learn,     &row->evaluations,     &row->rated,
                           &row->evaluated, &row->evaluated_rated, &row->outer_nodes,
                           &row->regions,   &row->leftovers};
    for (size_t i = 0; i < sizeof sum / sizeof *sum; ++i) *sum[i] /= (double)row->solves;
}

/* Mean of a quantity over evaluations, a `share` of them with rates. */
static double mean_of(double share, double with, double without)
{
    return share * with + (1.0 - share) * without;
}

void aw_bench_figure(const aw_bench_row *row, const aw_peak *peak, aw_bench_figures *out)
{
    const int clusters = row->evaluated > 0.0, combined = clusters && row->interpolates;
    const double seconds = clusters ? row->evaluate : row->refine;
    const double evaluations = clusters ? row->evaluated : row->evaluations;
    const double share = clusters ? row->evaluated_rated / row->evaluated : 1.0;
    const double operations = combined
                                  ? mean_of(share, AW_OPERATIONS_COMBINED, AW_OPERATIONS_VALUES)
                                  : mean_of(share, AW_OPERATIONS_27, AW_OPERATIONS_27_VALUES);
    const double numbers =
        combined ? mean_of(share, AW_NUMBERS_COMBINED, AW_NUMBERS_VALUES) : AW_NUMBERS_27;
    const double equivalent =
        mean_of(row->rated / row->evaluations, AW_OPERATIONS_27, AW_OPERATIONS_27_VALUES);
    const double bytes = row->single ? sizeof(float) : sizeof(double);
    out->equivalent = 1e-9 * equivalent * row->evaluations / row->mean;
    out->kernel = 1e-9 * operations * evaluations / seconds;
    out->intensity = operations / (numbers * bytes);
    out->nanoseconds = 1e9 * seconds * (double)row->threads / evaluations;
    out->rated = row->rated / row->evaluations;
    out->kernel_rated = share;
    out->leftover = row->leftovers / row->regions;
    out->over = row->evaluations / (double)row->nodes / row->adaptive;
    out->learning = (row->cluster + row->predict + row->learn) / row->mean;
    out->peak_share =
        peak ? out->kernel / ((double)row->threads * peak->arithmetic[row->single]) : (double)NAN;
}
