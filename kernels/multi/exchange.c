/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/multi/exchange.h"

#include <math.h>
#include <string.h>

#include "src/base/comm.h"
#include "src/base/memory.h"

/* Bits of a sum beside its sign. */
enum { BITS = 62 };

void aw_exchange_begin(aw_exchange *e, size_t columns)
{
    e->columns = columns;
    memset(e->most, 0, sizeof e->most);
}

void aw_exchange_note(aw_exchange *e, size_t column, double term)
{
    const double size = isfinite(term) ? fabs(term) : HUGE_VAL;
    if (size > e->most[column]) e->most[column] = size;
}

aw_status aw_exchange_open(aw_exchange *e, size_t n, size_t terms)
{
    int of_most = 0, of_terms = 0;
    aw_status status = AW_OK;
    e->n = n;
    AW_TRY(aw_comm_agree(aw_grow((void **)&e->sum, &e->capacity, n * e->columns, sizeof *e->sum)));
    memset(e->sum, 0, n * e->columns * sizeof *e->sum);
    aw_comm_max(e->most, e->columns);
    frexp((double)terms, &of_terms); /* terms < 2^of_terms */
    for (size_t k = 0; k < e->columns; ++k) {
        frexp(e->most[k], &of_most);
        e->shift[k] = BITS - of_terms - of_most;
    }
done:
    return status;
}

void aw_exchange_add(aw_exchange *e, size_t row, size_t column, double term)
{
    if (isfinite(e->most[column]))
        e->sum[row * e->columns + column] += llrint(ldexp(term, e->shift[column]));
}

void aw_exchange_sum(aw_exchange *e) { aw_comm_sum_whole(e->sum, e->n * e->columns); }

double aw_exchange_get(const aw_exchange *e, size_t row, size_t column)
{
    if (!isfinite(e->most[column])) return NAN;
    return ldexp((double)e->sum[row * e->columns + column], -e->shift[column]);
}

void aw_exchange_free(aw_exchange *e)
{
    aw_free(e->sum);
    *e = (aw_exchange){.sum = NULL};
}
