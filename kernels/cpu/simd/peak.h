/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops that show what one instruction set could do at best. */
#ifndef AW_KERNELS_CPU_SIMD_PEAK_H
#define AW_KERNELS_CPU_SIMD_PEAK_H
#include <stddef.h>

/** Loops of one SIMD variant that do nothing else than what they are named after. The numbers that
 *  they return mean nothing; they keep the compiler from leaving the work out. */
typedef struct aw_peak_loops {
    const char *name;                                            /* of the variant */
    double (*multiply_add[2])(size_t turns);                     /* [1]: in single precision */
    double operations[2];                                        /* of one turn of these */
    double (*read)(const double *from, size_t n, size_t passes); /* n: a multiple of 64 */
} aw_peak_loops;

#endif
