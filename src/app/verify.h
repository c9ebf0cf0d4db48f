/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A solution against a finer one: the error that is really there. */
#ifndef AW_APP_VERIFY_H
#define AW_APP_VERIFY_H
#include "src/app/simulation.h"

AW_BEGIN_DECLS

/** Recompute about `points` points of a solved step with the adaptive strategy at a 1000 times
 *  smaller tolerance and four times as many inner nodes, so that outer and inner rule are checked.
 *  @param[out] error_phi  largest |difference| of phi over max |phi| of the grid
 *  @param[out] error_psi  the same of psi
 *  @return AW_OK, AW_ERR_NOMEM, or what the solver says; AW_ERR_MAXEVAL of the reference alone is
 *  no error as long as its own estimate is below a tenth of the run's tolerance. */
aw_status aw_verify_solution(const aw_simulation *simulation, size_t points, double *error_phi,
                             double *error_psi);

AW_END_DECLS
#endif
