/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/projection/budget.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double aw_budget_largest(double *error, size_t n, double limit, double power)
{
    double sum = 0.0, largest = -1.0;
    qsort(error, n, sizeof *error, ascending);
    for (size_t i = 0; i < n; ++i) {
        sum += pow(error[i], power);
        if (!(sum <= pow(limit, power))) break;
        largest = error[i];
    }
    return largest;
}
