/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The errors of a step of the strategy `projection`, from its sample: which points it has, the
 * error of each zone at them, and the estimate of the largest error at all points. */
#ifndef AW_SOLVERS_PROJECTION_ESTIMATE_H
#define AW_SOLVERS_PROJECTION_ESTIMATE_H
#include "src/solvers/projection/step.h"

/** How the sample is integrated, with regions cut at one in `stride` of the last passes' nodes. */
aw_sampling aw_common_sampling(const aw_common_step *s, size_t stride);

/** Spread points of a full sample. */
int aw_common_full_sample(const aw_problem *problem);

/** Extend the sample to the spread points that it should have, and by the doubtful point of each
 *  zone that has just had a pass; take from its evaluations what a point costs.
 *  @return as aw_sample_add */
aw_status aw_common_extend_sample(aw_common_step *s);

/** Set the errors of the rules of zone i from the points of the sample. */
void aw_common_measure_zone(aw_common_memory *p, int i, const aw_problem *problem);

/** Largest error of the potentials at the points of the sample.
 *  @param[in] result  [points][AW_RESULTS]
 *  @param[out] sums   [AW_STRATA] or NULL
 *  @return in scales; NaN if one of the errors is one */
double aw_common_sampled_error(const aw_common_memory *p, const aw_problem *problem,
                               const double *result, aw_error_sums *sums);

/** Estimate of the largest error of the potentials at all points: the largest at the points of the
 *  sample, or, if it is more, the largest that is likely from the rms of a stratum, which includes
 *  points of earlier steps.
 *  @param[out] pool  [AW_STRATA], for the next step if it has the same rules
 *  @return as aw_common_sampled_error */
double aw_common_estimate(const aw_common_memory *p, const aw_problem *problem,
                          const double *result, aw_error_sums *pool);

#endif
