/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `arcwake tune` times: work of the CPU device whose time depends on its block sizes. */
#ifndef AW_TUNE_WORK_H
#define AW_TUNE_WORK_H
#include "kernels/device/tuning.h"
#include "src/tune/choice.h"

AW_BEGIN_DECLS

/** Potentials in the LCLS bend, by the strategies that depend on different block sizes, and a form
 *  factor. */
typedef enum aw_tune_work {
    AW_TUNE_TWO_PHASE,
    AW_TUNE_PREDICTIVE,
    AW_TUNE_FORM_FACTOR,
    AW_TUNE_WORKS
} aw_tune_work;

/** The bunch and its past, on which the work is done; opaque. */
typedef struct aw_tune_case aw_tune_case;

/** Move the bunch into the bend. Free with aw_tune_case_free.
 *  @param[in] threads  of the device; 0: as many as OpenMP chooses
 *  @return AW_OK, AW_ERR_NOMEM (message), or what a step of a run returns */
aw_status aw_tune_case_new(int threads, aw_tune_case **out);
void aw_tune_case_free(aw_tune_case *c);

/** "LCLS bend in steady state, 64 x 64, on cpu: 2 threads, avx512"; borrowed from the case. */
const char *aw_tune_case_text(const aw_tune_case *c);

/** Name of a work, static. */
const char *aw_tune_work_name(aw_tune_work work);

/** Do a work with each of n tunings in turn, in rounds. The order rotates from round to round, so
 *  that other load on the machine affects all of them alike.
 *  @param[in]  tuning   [n], n at most AW_CANDIDATES_MAX
 *  @param[out] timings  of the rounds
 *  @return AW_OK, AW_ERR_NOMEM, or what the work returns (message) */
aw_status aw_tune_time(const aw_tune_case *c, aw_tune_work work, const aw_tuning *tuning, int n,
                       aw_timings *timings);

AW_END_DECLS
#endif
