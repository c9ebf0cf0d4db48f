/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From forces on the grid to forces on the particles, with the shape of the deposition. */
#ifndef AW_PIC_GATHER_H
#define AW_PIC_GATHER_H
#include "pic/forces.h"
#include "pic/frame.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Interpolate one grid array [nx][ns] at a lab point with the quadratic B-spline.
 *  The point must lie where a particle may be deposited. */
double aw_gather_at(const aw_grid_view *grid, const double *field, double z, double x);

/** Forces on all particles along the lab axes [eV/m], of the particle's own velocity: what the grid
 *  gives for the design velocity plus dv x B for the difference (F = q(E + v x B)).
 *  The shape is that of the deposition, so a particle feels no force of its own.
 *  @param[in]  gamma   of the design velocity for which the grid's forces hold
 *  @param[out] Fz, Fx  [n], lab axes
 *  @param[out] Fs, Fn  [n] or NULL: along the design tangent and normal */
void aw_gather_run(const aw_grid_view *grid, const aw_forces *forces, double gamma,
                   const aw_particles *particles, double *Fz, double *Fx, double *Fs, double *Fn);

AW_END_DECLS
#endif
