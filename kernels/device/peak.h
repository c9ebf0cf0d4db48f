/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peak performance of a processor, arithmetic and memory reads, for rooflines. */
#ifndef AW_KERNELS_DEVICE_PEAK_H
#define AW_KERNELS_DEVICE_PEAK_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Sizes of the array that each thread reads: 16 KiB (fits every L1 cache), 256 KiB, 4 MiB, 128 MiB
 *  (fits no L2 cache and, as a rule, no thread's share of an L3 cache). */
enum { AW_PEAK_ARRAYS = 4 };

/** Size of array number 0 .. AW_PEAK_ARRAYS - 1 [bytes]. */
size_t aw_peak_bytes(int array);

/** Peak of one core while `threads` cores work. */
typedef struct aw_peak {
    int threads;
    double arithmetic[2];        /* [1e9 operations/s] in vector registers, in double and in single
                                  * precision; a fused multiply-add counts as two */
    double read[AW_PEAK_ARRAYS]; /* [1e9 bytes/s], by size of the array */
} aw_peak;

AW_END_DECLS
#endif
