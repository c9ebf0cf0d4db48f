/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linear vertical optics: drifts, gradients and the edges of bends, at the reference energy. */
#ifndef AW_BEAM_VERTICAL_H
#define AW_BEAM_VERTICAL_H
#include "pic/lattice.h"
#include "pic/particles.h"

AW_BEGIN_DECLS

/** Map of (y, y') from the start of the bunch to S [m]: y = m[0] y0 + m[1] y0', y' = m[2] y0 + m[3]
 *  y0'. Hard edges of a bend of curvature k kick by -k tan(e) y, a gradient by +k1 y per metre;
 *  outside the lattice there are drifts. */
void aw_vertical_map(const aw_lattice *lattice, double S, double m[4]);

/** Square of the rms height of a bunch at S [m^2]: that of beam->sigma_y, or of the vertical
 *  emittance and the Twiss parameters at the start, which linear optics carry. */
double aw_vertical_size2(const aw_lattice *lattice, const aw_beam_params *beam, double S);

/** Height [m] and vertical gamma beta of particle i where the map m leads. The slope is that of its
 *  momentum at the start: what changes that later, cavities among it, does not move it. */
void aw_vertical_move(const double m[4], const aw_particles *particles, size_t i, double *y,
                      double *py);

AW_END_DECLS
#endif
