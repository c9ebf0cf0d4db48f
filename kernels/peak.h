/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the processor could do at best: arithmetic and reading, measured, for rooflines. */
#ifndef AW_KERNELS_PEAK_H
#define AW_KERNELS_PEAK_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Loops of one SIMD variant that do nothing else than what they are named after. The numbers that
 *  they return mean nothing; they keep the compiler from leaving the work out. */
typedef struct aw_peak_loops {
    const char *name;                                            /* of the variant */
    double (*multiply_add[2])(size_t turns);                     /* [1]: in single precision */
    double operations[2];                                        /* of one turn of these */
    double (*read)(const double *from, size_t n, size_t passes); /* n: a multiple of 64 */
} aw_peak_loops;

/** Arrays of a thread that are read, from one that every L1 holds to one that no L2 does nor, as a
 *  rule, a share of an L3: 16 KiB, 256 KiB, 4 MiB, 128 MiB. */
enum { AW_PEAK_ARRAYS = 4 };
size_t aw_peak_bytes(int array);

/** Of one core while `threads` of them work. */
typedef struct aw_peak {
    int threads;
    double arithmetic[2];        /* 1e9 operations a second in vector registers, a fused
                                  * multiply-add being two; [1]: in single precision */
    double read[AW_PEAK_ARRAYS]; /* 1e9 bytes a second */
} aw_peak;

/** Measure the arithmetic, in a fifth of a second; the best of several runs, as others may use the
 *  machine too.
 *  @param[in]  variant  SIMD variant; NULL: the fastest
 *  @param[in]  threads  at least 1
 *  @param[out] out      threads and arithmetic are set, the rest is 0
 *  @return AW_OK, AW_ERR_BACKEND (no such variant here: message).
 *  Source: the ceilings of S. Williams, A. Waterman and D. Patterson, Commun. ACM 52 (2009) 65. */
aw_status aw_peak_arithmetic(const char *variant, int threads, aw_peak *out);

/** Measure the reading too, in a second. @return as aw_peak_arithmetic, or AW_ERR_NOMEM. */
aw_status aw_peak_measure(const char *variant, int threads, aw_peak *out);

AW_END_DECLS
#endif
