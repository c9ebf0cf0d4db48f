/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a processor could do at best: arithmetic and reading, for rooflines. */
#ifndef AW_KERNELS_DEVICE_PEAK_H
#define AW_KERNELS_DEVICE_PEAK_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

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

AW_END_DECLS
#endif
