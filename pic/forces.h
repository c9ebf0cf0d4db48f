/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From potentials to forces on the grid (docs/theory.md, "Forces"). */
#ifndef AW_PIC_FORCES_H
#define AW_PIC_FORCES_H
#include "kernels/math/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Forces on a beam particle that moves with the design velocity of its node, [nx][ns] each, owned
 *  by the caller, in eV/m; Fs, Fx and the effective ones along the node's own design tangent and
 *  normal, Fz_lab and Fx_lab along the lab axes. cBy: c times the field, d(F)/d(beta) [eV/m]. */
typedef struct aw_forces {
    double *Fs, *Fx, *Fs_eff, *Fx_eff, *Fz_lab, *Fx_lab, *cBy, *theta;
} aw_forces;

/** Fill the forces from the solver's results (kernels/math/view.h) on the nodes of a grid.
 *  F/q = -grad(phi - v.A) - dA/dt with v held fixed under the gradient: the neighbours' psi is
 *  corrected by (v_q - v_p).A_q, which is small and exact. Gradients are of fourth order (one-sided
 *  on the two outermost nodes); the rates come from the solver. `theta` gets the design tangent.
 *  Source: R. Li, PRST-AB 11 024401 (2008) for the effective forces; differs: rates under the
 *  integral instead of differences between steps. */
void aw_forces_from_potentials(const aw_grid_view *grid, const aw_field_point *point,
                               const double *result, const aw_forces *out);

AW_END_DECLS
#endif
