/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A solution against a finer one: the error that is really there. */
#ifndef AW_SIMULATION_VERIFY_H
#define AW_SIMULATION_VERIFY_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** Finer potentials of every stride-th node of a grid, from node `first` on. */
typedef struct aw_reference {
    size_t first, stride, n;
    double *result; /* owned, [n][AW_RESULTS] */
} aw_reference;

/** Compute about `points` nodes of the simulation's step, which need not be solved but whose
 *  `point` and `scales` must be there, with the adaptive strategy at a 1000 times smaller tolerance
 *  and four times as many inner nodes, so that outer and inner rule are checked.
 *  @param[in]     first      a node among the first ones; others at other steps meet other nodes
 *  @param[in,out] reference  zeroed at first; free with aw_reference_free
 *  @return as aw_verify_solution */
aw_status aw_reference_make(const aw_simulation *simulation, size_t points, size_t first,
                            aw_reference *reference);
void aw_reference_free(aw_reference *reference);

/** Largest |difference| of result k over `scale`; a NaN stays one.
 *  @param[in]  result  [nodes][AW_RESULTS]
 *  @param[in]  scale   0: the largest magnitude of the result on the grid
 *  @param[out] node    where it is; may be NULL */
double aw_reference_error(const aw_reference *reference, const double *result, size_t nodes,
                          unsigned k, double scale, size_t *node);

/** A solved step against the reference at about `points` nodes.
 *  @param[out] error_phi  largest |difference| of phi over max |phi| of the grid
 *  @param[out] error_psi  the same of psi
 *  @return AW_OK, AW_ERR_NOMEM, or what the solver says; AW_ERR_MAXEVAL of the reference alone is
 *  no error as long as its own estimate is below a tenth of the run's tolerance. */
aw_status aw_verify_solution(const aw_simulation *simulation, size_t points, double *error_phi,
                             double *error_psi);

AW_END_DECLS
#endif
