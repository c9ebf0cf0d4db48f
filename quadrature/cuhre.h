/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adaptive integration over a box in 2 to 8 dimensions, in two phases. */
#ifndef AW_QUADRATURE_CUHRE_H
#define AW_QUADRATURE_CUHRE_H
#include <stddef.h>

#include "kernels/device/device.h"
#include "quadrature/cuhre_rule.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Parameters of an integration. */
typedef struct aw_cuhre_params {
    int n;               /* dimensions, 2 .. AW_CUHRE_DIMENSIONS */
    const double *a, *b; /* [n] limits of the box, finite, a < b; borrowed */
    /* Tolerances, >= 0, one of them > 0: the sum of all errors must not exceed the larger of
     * `absolute` and `relative` |integral|. */
    double absolute, relative;
    uint64_t max_evaluations; /* of the integrand; never exceeded */
    size_t regions;           /* L_max, regions for phase two; 1: sequential; 0: 64 */
    int threads;              /* 0: OpenMP's default; results do not depend on it */
} aw_cuhre_params;

/** Result of an integration. */
typedef struct aw_cuhre_result {
    double value, error;  /* best estimate, whatever the status, and its error estimate */
    uint64_t evaluations; /* of the integrand */
    size_t regions;       /* of the final partition */
    int generations;      /* of phase one, after the initial partition */
    int rounds;           /* of phase two; 0: phase one was enough */
} aw_cuhre_result;

/** Integrate f over the box.
 *  Phase one: the box is cut into l^n <= L_max equal boxes (at a cost of at most half of
 *  max_evaluations), and the rule (cuhre_rule.h) is applied to each. Good boxes stay as they are;
 *  bad boxes are cut into d pieces along their axis, until there are L_max bad ones. Phase two: a
 *  queue for each of them, largest error on top; the queues halve their worst regions in parallel.
 *  Error model: the sum of the regions' errors. When a box is cut, its pieces are compared with it:
 *  with D the difference between its integral and the sum of theirs, and E the sum of their errors,
 *  the errors are scaled by 1 + D/2E, and D/4 is added to each. No integral is accepted after a
 *  single application of the rule.
 *  Source: dissertation, appendix A (after J. Berntsen, T. O. Espelid, A. Genz, ACM TOMS 17 (1991)
 *  437 and 452, from which the scaling comes as well). Differs:
 *  - A region is good if it is among those of smallest error whose errors sum to half of the
 *    tolerance. In the appendix it is good if its own error is within the whole tolerance, so that
 *    n regions may sum to n times the tolerance. Good regions are kept and may be cut later: the
 *    tolerance falls with the estimate of the integral.
 *  - Phase two ends on the sum of all errors. The appendix gives each region the whole tolerance;
 *    fixed shares of it would be sound but slow (a region that misses its share continues while
 *    another has some left). Here the queues have a common threshold for a region's error, as a
 *    single queue of all regions would, and lower it from round to round until the sum is within
 *    the tolerance; within a round a queue stops early when it has reduced its error by the factor
 *    by which the total must fall.
 *  - Phase two replaces the estimates of bad regions (the appendix adds to them); the rule is
 *    applied before the length of the list is tested (l^n may be L_max, and phase one would end
 *    before it began).
 *  - From 4 dimensions on the box is not cut at the start: halving all axes multiplies the work by
 *    2^n where few axes need it.
 *  - d is 2, except where the list is short (up to 4).
 *  @param[out] out  written on every return
 *  @return AW_OK; AW_ERR_MAXEVAL (the tolerance was not reached within max_evaluations, or regions
 *  have become too small to cut; value 0 and error infinite if max_evaluations does not permit one
 *  application of the rule); AW_ERR_NONFINITE (value NaN, error infinite); AW_ERR_ARG (message);
 *  AW_ERR_NOMEM. */
aw_status aw_cuhre(const aw_cuhre_params *params, aw_cuhre_fn f, void *context,
                   aw_cuhre_result *out);

/** The same on a device, for an integrand that is built into it: the device applies the rule and
 *  runs the queues of phase two (aw_device_ops.cuhre_apply, .cuhre_cut); the host decides what is
 *  cut. Results agree with those of aw_cuhre to rounding; where errors agree to rounding, other
 *  regions may be cut. `threads` is not used.
 *  @return as aw_cuhre; AW_ERR_BACKEND (the device lacks the operations, or failed: message) */
aw_status aw_cuhre_on(const aw_device *device, const aw_cuhre_params *params, const aw_genz *f,
                      aw_cuhre_result *out);

AW_END_DECLS
#endif
