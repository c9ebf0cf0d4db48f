/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One particle about the design orbit: what the beam statistics are made of. */
#ifndef AW_PIC_PARTICLE_COORDINATES_H
#define AW_PIC_PARTICLE_COORDINATES_H
#include <math.h>

#include "kernels/math/orbit.h"
#include "pic/particle/track.h"

/* Coordinates of a particle about the reference (pic/stats.h), and the sums of their products. */
enum { AW_BEAM_S, AW_BEAM_X, AW_BEAM_ANGLE, AW_BEAM_DELTA, AW_BEAM_CHANGE, AW_BEAM_WIDTH };

/** Sums over particles of coordinates and of products a <= b, at product[b][a]. */
typedef struct aw_beam_sums {
    double mean[AW_BEAM_WIDTH];
    double product[AW_BEAM_WIDTH][AW_BEAM_WIDTH];
} aw_beam_sums;

/** Of one particle wherever it is: the closest point of the orbit is searched for.
 *  @param[in] ref  the reference, a point of the orbit;  @param[in] gamma  for which delta = 0 */
AW_FN void aw_particle_coordinates(const aw_orbit_view *orbit, const aw_orbit_point *ref,
                                   double gamma, const aw_particle *body, double gamma0,
                                   double c[AW_BEAM_WIDTH])
{
    const double guess = ref->S + (body->z - ref->z) * ref->ct + (body->x - ref->x) * ref->st;
    const double S = aw_orbit_project(orbit, body->z, body->x, guess, &c[AW_BEAM_X]);
    const aw_orbit_point at = aw_orbit_at(orbit, S);
    const double along = body->pz * at.ct + body->px * at.st;
    const double across = -body->pz * at.st + body->px * at.ct;
    const double g = sqrt(1.0 + body->pz * body->pz + body->px * body->px);
    c[AW_BEAM_S] = S - ref->S;
    c[AW_BEAM_ANGLE] = across / along;
    c[AW_BEAM_DELTA] = (g - gamma) / gamma;
    c[AW_BEAM_CHANGE] = g - gamma0;
}

#endif
