/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/multi/exchange.h"

#include <math.h>
#include <string.h>

#include "src/base/comm.h"
#include "src/base/memory.h"

/* Bits of a sum beside its sign. */
enum { BITS = 62 };

void aw_exchange_begin(aw_exchange *x, size_t columns)
{
    x->columns = columns;
    memset(x->most, 0, sizeof x->most);
}

void aw_exchange_note(aw_exchange *x, size_t column, double term)
{
    const double size = isfinite(term) ? fabs(term) : HUGE_VAL;
    if (size > x->most[column]) x->most[column] = size;
}

aw_status aw_exchange_open(aw_exchange *x, size_t n, size_t terms)
{
    int of_most = 0, of_terms = 0;
    aw_status status = AW_OK;
    x->n = n;
    AW_TRY(aw_comm_agree(aw_grow((void **)&x->sum, &x->capacity, n * x->columns, sizeof *x->sum)));
    memset(x->sum, 0, n * x->columns * sizeof *x->sum);
    aw_comm_max(x->most, x->columns);
    frexp((double)terms, &of_terms); /* terms < 2^of_terms */
    for (size_t k = 0; k < x->columns; ++k) {
        frexp(x->most[k], &of_most);
        x->shift[k] = BITS - of_terms - of_most;
    }
done:
    return status;
}

void aw_exchange_add(aw_exchange *x, size_t row, size_t column, double term)
{
    if (isfinite(x->most[column]))
        x->sum[row * x->columns + column] += llrint(ldexp(term, x->shift[column]));
}

void aw_exchange_sum(aw_exchange *x) { aw_comm_sum_whole(x->sum, x->n * x->columns); }

double aw_exchange_get(const aw_exchange *x, size_t row, size_t column)
{
    if (!isfinite(x->most[column])) return NAN;
    return ldexp((double)x->sum[row * x->columns + column], -x->shift[column]);
}

void aw_exchange_free(aw_exchange *x)
{
    aw_free(x->sum);
    *x = (aw_exchange){.sum = NULL};
}
