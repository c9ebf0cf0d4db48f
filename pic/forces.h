/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From potentials to forces on the grid (docs/theory.md, "Forces"). */
#ifndef AW_PIC_FORCES_H
#define AW_PIC_FORCES_H
#include "kernels/math/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Forces [eV/m] at the nodes of a grid, on a beam particle that moves with the node's design
 *  velocity; [nx][ns] each, owned by the caller. Fs, Fx and the effective forces Fs_eff, Fx_eff are
 *  along the node's own design tangent and normal, Fz_lab and Fx_lab along the lab axes. cBy is c
 *  times the magnetic field, d(F)/d(beta) [eV/m]; theta the angle of the design tangent [rad]. */
typedef struct aw_forces {
    double *Fs, *Fx, *Fs_eff, *Fx_eff, *Fz_lab, *Fx_lab, *cBy, *theta;
    /* [2][nx][ns][4], or NULL: q c A_z, q c A_x [eV] and their rates along the design velocity
     * [eV/m]; the derivatives of q c A_z along z and x, and those of q c A_x [eV/m]. */
    double *vector;
} aw_forces;

/** Allocate all arrays for `nodes` nodes, `vector` only if it is wanted.
 *  @return AW_OK; AW_ERR_NOMEM, and all are NULL. Free with aw_forces_free */
aw_status aw_forces_new(size_t nodes, int vector, aw_forces *out);
void aw_forces_free(aw_forces *forces);

/** The force at one node [eV/m]: components as in aw_forces. */
typedef struct aw_force {
    double s, x, s_eff, x_eff;
} aw_force;

/** Forces from the solver's results on the nodes of a grid.
 *  F/q = -grad(phi - v.A) - dA/dt, where v is constant under the gradient: for the gradient at node
 *  p, psi of a neighbour q is corrected by (v_q - v_p).A_q, which is small and exact. Gradients are
 *  of sixth order (one-sided at the three outermost nodes); the time derivatives come from the
 *  solver. Source: R. Li, PRST-AB 11 024401 (2008) for the effective forces; differs: time
 *  derivatives under the integral instead of differences between steps.
 *  @param[in] point   [nx][ns], the nodes (aw_frame_points)
 *  @param[in] result  [nx][ns][AW_RESULTS] (quadrature/rules/results.h) */
void aw_forces_from_potentials(const aw_grid_view *grid, const aw_field_point *point,
                               const double *result, const aw_forces *out);

/** The same at node (i, j) alone. Only the results at that node and at those of its two windows
 *  (aw_slope_weights, along s and along x) are read. */
aw_force aw_force_from_potentials(const aw_grid_view *grid, const aw_field_point *point,
                                  const double *result, int i, int j);

AW_END_DECLS
#endif
