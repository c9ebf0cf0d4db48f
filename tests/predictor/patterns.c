/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/predictor/patterns.h"

#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

void patterns_over(aw_patterns *patterns, const double *edge, const int *hard, size_t cells,
                   size_t rows)
{
    aw_box box[CELLS_MAX + 1] = {{.r = 0.0}};
    int all[CELLS_MAX + 1];
    aw_partition partition = {.box = box, .hard = all, .n = cells + 1};
    assert_true(cells <= CELLS_MAX);
    for (size_t i = 0; i <= cells; ++i) {
        box[i].r = edge[i];
        all[i] = hard ? hard[i] : 1;
    }
    assert_ok(aw_patterns_shape(patterns, &partition, rows));
    aw_patterns_clear(patterns);
}

void random_edges(double *edge, size_t cells, double length, uint64_t *state)
{
    double at = 0.0;
    edge[0] = 0.0;
    for (size_t i = 1; i <= cells; ++i) {
        at += uniform(state, 0.3, 1.0) * exp(0.1 * (double)i);
        edge[i] = at;
    }
    for (size_t i = 1; i < cells; ++i) edge[i] *= length / at;
    edge[cells] = length;
}

double sum_of(const float *number, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += (double)number[i];
    return sum;
}
