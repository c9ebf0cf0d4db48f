/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adaptive integrals at a few points of a solved problem, with a tolerance and a density of inner
 * nodes of their own: a reference for the results of any strategy. */
#ifndef AW_SOLVERS_AT_POINTS_H
#define AW_SOLVERS_AT_POINTS_H
#include "src/solvers/solver.h"

AW_BEGIN_DECLS

/** Which points, and how accurately. Everything is borrowed. */
typedef struct aw_at_points {
    const size_t *point;     /* [n]: indices into the problem's points */
    size_t n;                /* at most AW_POINT_BLOCK */
    double tolerance;        /* of the sum at a point, in scales */
    double density;          /* inner nodes over the device's own (aw_job.density) */
    double (*I)[AW_RESULTS]; /* [n], out: as the results of aw_solver_solve; NaN: not converged */
} aw_at_points;

/** Integrate at these points, after aw_solver_solve has solved the same problem.
 *  @return AW_OK, AW_ERR_NOMEM, or what the device's refinement returns */
aw_status aw_solver_at_points(aw_solver *solver, const aw_problem *problem,
                              const aw_at_points *wanted);

/** Element k of a sequence of pairs that fills the unit square evenly, wherever it is begun: the
 *  additive recurrence of the plastic number (M. Roberts' R2 sequence). It repeats after 1e6. */
void aw_spread_pair(uint64_t k, double *u, double *w);

AW_END_DECLS
#endif
