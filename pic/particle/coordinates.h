/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coordinates of a particle with respect to the design orbit, for the beam statistics. */
#ifndef AW_PIC_PARTICLE_COORDINATES_H
#define AW_PIC_PARTICLE_COORDINATES_H
#include <math.h>

#include "kernels/math/orbit.h"
#include "pic/particle/track.h"

/* s [m], x [m], x', delta (pic/stats.h), and the change of gamma since the start. */
enum { AW_BEAM_S, AW_BEAM_X, AW_BEAM_ANGLE, AW_BEAM_DELTA, AW_BEAM_CHANGE, AW_BEAM_WIDTH };

/** Sums over particles: of the coordinates, of the products of coordinates a and b, a <= b, in
 *  product[b][a], and of what radiation took and its square. */
typedef struct aw_beam_sums {
    double mean[AW_BEAM_WIDTH];
    double product[AW_BEAM_WIDTH][AW_BEAM_WIDTH];
    double radiated[2];
} aw_beam_sums;

/** Coordinates of one particle, by a search for the closest point of the orbit.
 *  @param[in] ref     the reference, a point of the orbit
 *  @param[in] gamma   energy at which delta = 0
 *  @param[in] gamma0  of the particle at the start */
AW_FN void aw_particle_coordinates(const aw_orbit_view *orbit, const aw_orbit_point *ref,
                                   double gamma, const aw_particle *p, double gamma0,
                                   double c[AW_BEAM_WIDTH])
{
    const double guess = ref->S + (p->z - ref->z) * ref->ct + (p->x - ref->x) * ref->st;
    const double S = aw_orbit_project(orbit, p->z, p->x, guess, &c[AW_BEAM_X]);
    const aw_orbit_point at = aw_orbit_at(orbit, S);
    const double along = p->pz * at.ct + p->px * at.st;
    const double across = -p->pz * at.st + p->px * at.ct;
    const double g = sqrt(1.0 + p->pz * p->pz + p->px * p->px);
    c[AW_BEAM_S] = S - ref->S;
    c[AW_BEAM_ANGLE] = across / along;
    c[AW_BEAM_DELTA] = (g - gamma) / gamma;
    c[AW_BEAM_CHANGE] = g - gamma0;
}

#endif
