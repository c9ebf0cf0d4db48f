/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adaptive integration over a box of 2 to 8 dimensions, in two phases. */
#ifndef AW_QUADRATURE_CUHRE_H
#define AW_QUADRATURE_CUHRE_H
#include <stddef.h>

#include "kernels/device/device.h"
#include "quadrature/cuhre_rule.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

typedef struct aw_cuhre_params {
    /* Dimensions, 2 .. AW_CUHRE_DIMENSIONS; one is for Simpson's rule
     * (quadrature/rules/simpson.h). */
    int n;
    const double *a, *b; /* [n] the box, finite, a < b; borrowed */
    /* Tolerances, >= 0, one of them > 0: the larger of `absolute` and `relative` |integral| is for
     * the sum of all errors. */
    double absolute, relative;
    uint64_t max_evaluations; /* of the integrand; never exceeded */
    size_t regions;           /* L_max, regions for phase two; 1: sequential; 0: 64 */
    int threads;              /* 0: as many as OpenMP gives; results do not depend on it */
} aw_cuhre_params;

typedef struct aw_cuhre_result {
    double value, error; /* best estimate, whatever the status, and its error estimate */
    uint64_t evaluations;
    size_t regions;  /* of the final partition */
    int generations; /* of phase one, after the initial partition */
    int rounds;      /* of phase two; 0: phase one was enough */
} aw_cuhre_result;

/** Integrate f over the box.
 *  Phase one: the box is cut into l^n <= L_max equal boxes (for at most half of max_evaluations);
 *  all are measured by the rule (cuhre_rule.h); the good ones stay as they are, the bad ones are
 *  cut into d pieces along their axis, until there are L_max bad ones. Phase two: a queue for each
 *  of them, largest error on top; queues halve their worst regions, side by side.
 *  Error model: the sum of the regions' errors. When a box is cut, its pieces are held against it:
 *  with D the difference between its integral and the sum of theirs, their errors are scaled by
 *  1 + D/2E, E their sum, and D/4 is added to each. No integral is believed on one application.
 *  Source: dissertation, appendix A (after J. Berntsen, T. O. Espelid, A. Genz, ACM TOMS 17 (1991)
 *  437 and 452, from which the scaling comes as well). Differs:
 *  - A region is good if it is among those of smallest error that together take half of the
 *    tolerance, not if its own error is within the whole of it, which lets n regions take n times
 *    the tolerance. Good regions are kept and may be cut later: the tolerance falls when the
 *    estimate of the integral does.
 *  - Phase two ends on the sum of all errors. There, the appendix gives each region the whole
 *    tolerance. Fixed shares would be sound and slow (a region that misses its share goes on while
 *    another has some left). Here the queues share one threshold for a region's error, as a single
 *    queue of all regions would, and lower it from round to round until the sum is within the
 *    tolerance; within a round a queue stops early when it has shrunk its error as much as the
 *    whole must be.
 *  - Phase two replaces the estimates of bad regions (the appendix adds them once more); the rule
 *    is applied before the length of the list is looked at (l^n may be L_max, and phase one would
 *    end before it began).
 *  - From 4 dimensions on the box starts whole: halves of all axes multiply the work by 2^n, where
 *    few axes need them.
 *  - d is 2 but where the list is short (up to 4).
 *  @param[out] out  written on every return
 *  @return AW_OK; AW_ERR_MAXEVAL (the tolerance was not reached within max_evaluations, or regions
 *  have become too small to cut; with room for not one application, value 0 and error infinite);
 *  AW_ERR_NONFINITE (value NaN, error infinite); AW_ERR_ARG (message); AW_ERR_NOMEM. */
aw_status aw_cuhre(const aw_cuhre_params *params, aw_cuhre_fn f, void *context,
                   aw_cuhre_result *out);

/** The same by a device that knows the integrand: every application of the rule, and the queues of
 *  phase two, are its work (aw_device_ops.cuhre_apply, .cuhre_cut); what is cut is chosen here.
 *  Results are those of aw_cuhre but for rounding; where errors are equal but for that, other
 *  regions may be cut. `threads` is not used.
 *  @return as aw_cuhre; AW_ERR_BACKEND (the device cannot, or failed: message) */
aw_status aw_cuhre_on(const aw_device *device, const aw_cuhre_params *params, const aw_genz *f,
                      aw_cuhre_result *out);

AW_END_DECLS
#endif
