/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The true error of a solution, by comparison with a more accurate one. */
#ifndef AW_SIMULATION_VERIFY_H
#define AW_SIMULATION_VERIFY_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** More accurate potentials at every stride-th node of a grid, starting at node `first`. */
typedef struct aw_reference {
    size_t first, stride, n;
    double *result; /* owned, [n][AW_RESULTS] */
} aw_reference;

/** Compute about `points` nodes of the simulation's step with the adaptive strategy, a tolerance
 *  1000 times smaller and four times as many inner nodes, so that outer and inner rule are both
 *  checked. The step need not be solved, but its `point` and `scales` must be set.
 *  @param[in]     first      offset of the first node, modulo the stride: varying it from step to
 *                            step visits different nodes
 *  @param[in,out] reference  initially all zero; free with aw_reference_free
 *  @return as aw_verify_solution */
aw_status aw_reference_make(const aw_simulation *simulation, size_t points, size_t first,
                            aw_reference *reference);
void aw_reference_free(aw_reference *reference);

/** Largest |difference| of result k over `scale`; NaN if any difference is NaN.
 *  @param[in]  result  [nodes][AW_RESULTS]
 *  @param[in]  scale   0: the largest magnitude of result k on the grid
 *  @param[out] node    index of the node with that error, set if it is not 0; may be NULL */
double aw_reference_error(const aw_reference *reference, const double *result, size_t nodes,
                          unsigned k, double scale, size_t *node);

/** Error of a solved step against the reference at about `points` nodes.
 *  @param[out] error_phi  largest |difference| of phi over max |phi| of the grid
 *  @param[out] error_psi  the same for psi
 *  @return AW_OK, AW_ERR_NOMEM, or the error of the solver. If the reference alone ends in
 *          AW_ERR_MAXEVAL, that is accepted where its error estimate is at most a tenth of the
 *          run's tolerance. */
aw_status aw_verify_solution(const aw_simulation *simulation, size_t points, double *error_phi,
                             double *error_psi);

AW_END_DECLS
#endif
