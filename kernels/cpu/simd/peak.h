/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops that reach the peak rates of one instruction set. */
#ifndef AW_KERNELS_CPU_SIMD_PEAK_H
#define AW_KERNELS_CPU_SIMD_PEAK_H
#include <stddef.h>

/** Loops of one SIMD variant. The numbers that they return mean nothing; they keep the compiler
 *  from removing the work. */
typedef struct aw_peak_loops {
    const char *name;                                            /* of the variant; static */
    double (*multiply_add[2])(size_t turns);                     /* [1]: in single precision */
    double operations[2];                                        /* of one turn of each */
    double (*read)(const double *from, size_t n, size_t passes); /* n: doubles, a multiple of 64 */
} aw_peak_loops;

#endif
