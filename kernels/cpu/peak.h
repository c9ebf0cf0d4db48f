/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peak rates of the cores of the host, measured. */
#ifndef AW_KERNELS_CPU_PEAK_H
#define AW_KERNELS_CPU_PEAK_H
#include <stddef.h>

#include "kernels/device/peak.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Measure the peak rate of arithmetic, in less than a second: the best of several runs, as other
 *  programs may use the machine too.
 *  @param[in]  variant  SIMD variant; NULL: the fastest
 *  @param[in]  threads  at least 1
 *  @param[out] out      threads and arithmetic are set, the rest is 0
 *  @return AW_OK, AW_ERR_BACKEND (no such variant on this processor: message).
 *  Source: the ceilings of S. Williams, A. Waterman and D. Patterson, Commun. ACM 52 (2009) 65. */
aw_status aw_peak_arithmetic(const char *variant, int threads, aw_peak *out);

/** Measure also the peak rates of reading, in one to two seconds more.
 *  @return as aw_peak_arithmetic, or AW_ERR_NOMEM. */
aw_status aw_peak_measure(const char *variant, int threads, aw_peak *out);

AW_END_DECLS
#endif
