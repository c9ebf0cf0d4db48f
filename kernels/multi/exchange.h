/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over the ranks that have the same bits whichever rank computed which of the terms. */
#ifndef AW_KERNELS_MULTI_EXCHANGE_H
#define AW_KERNELS_MULTI_EXCHANGE_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

enum { AW_EXCHANGE_COLUMNS = 64 };

/** n rows of sums. A term counts as an integer multiple of a power of two, which is the same for
 *  all numbers of a column: 2^-61 of the column's largest term times the number of terms of a sum,
 *  or a little less. Integers add to the same sum in any order, so that the work can follow the
 *  speed of the ranks; with up to 64 terms their rounding is below that of a double of the
 *  largest. Members are private; all zero at first. */
typedef struct aw_exchange {
    int64_t *sum; /* [n][columns], owned */
    size_t capacity, n, columns;
    double most[AW_EXCHANGE_COLUMNS]; /* largest magnitude of a term */
    int shift[AW_EXCHANGE_COLUMNS];   /* a term counts 2^shift times; of no use if most is not
                                       * finite */
} aw_exchange;

/** Begin: note all terms of this rank with aw_exchange_note before they are added.
 *  @param[in] columns  1 to AW_EXCHANGE_COLUMNS */
void aw_exchange_begin(aw_exchange *exchange, size_t columns);
void aw_exchange_note(aw_exchange *exchange, size_t column, double term);

/** Fix the units and set the sums to zero; collective.
 *  @param[in] terms  largest number of terms of a sum, on all ranks
 *  @return AW_OK, AW_ERR_NOMEM: the same on all ranks */
aw_status aw_exchange_open(aw_exchange *exchange, size_t n, size_t terms);
void aw_exchange_add(aw_exchange *exchange, size_t row, size_t column, double term);

/** Add up over the ranks; collective. */
void aw_exchange_sum(aw_exchange *exchange);

/** A sum; NaN in a column in which a term is not finite. */
double aw_exchange_get(const aw_exchange *exchange, size_t row, size_t column);

void aw_exchange_free(aw_exchange *exchange);

AW_END_DECLS
#endif
