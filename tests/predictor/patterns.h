/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access patterns over cells that a test defines itself, without a history. */
#ifndef AW_TESTS_PREDICTOR_PATTERNS_H
#define AW_TESTS_PREDICTOR_PATTERNS_H
#include "predictor/access_pattern.h"

enum { CELLS_MAX = 64 };

/* Make `rows` patterns of zeros over the cells between edge[cells + 1]; hard[cells + 1] may be
 * NULL: all break points are hard. Free with aw_patterns_free. */
void patterns_over(aw_patterns *patterns, const double *edge, const int *hard, size_t cells,
                   size_t rows);

/* Fill edge[cells + 1] with random break points of [0, length], whose spacing grows as in a
 * partition. */
void random_edges(double *edge, size_t cells, double length, uint64_t *state);

/* Sum of n numbers, in double. */
double sum_of(const float *number, size_t n);

#endif
