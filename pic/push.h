/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Motion of the particles: exact transport through the magnets, and kicks by the bunch's forces. */
#ifndef AW_PIC_PUSH_H
#define AW_PIC_PUSH_H
#include "pic/lattice.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/* All functions work on the particles in parallel, allocate nothing, and give the same bits for any
 * number of threads. An error that concerns particles has one message, which names the first of
 * them. Kicks and transport of offloaded particles (aw_particles_offload) may also return
 * AW_ERR_NOMEM and AW_ERR_BACKEND. */

/** Set `element` of each particle to the region that contains it: the first one whose exit plane
 *  the particle has not passed. For particles near the start of the lattice; later, transport
 *  updates `element`.
 *  @return AW_OK, AW_ERR_NONFINITE. */
aw_status aw_push_locate(const aw_lattice *lattice, aw_particles *particles);

/** Put a freshly drawn beam, which lies along the straight line through S = 0, into the machine,
 *  and set `element`. If the upstream is a drift, a particle beyond the first edge is moved back to
 *  it along its straight line and transported forward again, so that the beam is the one that a
 *  straight upstream would have delivered; with a leading drift nothing changes. If the upstream is
 *  steady (the first region is a bend), each particle is moved from the tangent at S = 0 to the
 *  same offsets (s0, x0) and slope with respect to the orbit.
 *  @return AW_OK, AW_ERR_RANGE, AW_ERR_NONFINITE. */
aw_status aw_push_place(const aw_lattice *lattice, aw_particles *particles);

/** A time step in the external fields alone: straight lines in drifts, circles of radius
 *  p/(p_ref |kappa|) in bends, both exact; where the field depends on the place (multipoles, bends
 *  with a gradient) these and kicks in turn; one kick in a multipole or cavity without length, in a
 *  cavity at the time of the crossing. A step may cross any number of planes between regions; each
 *  crossing is found exactly. particles->ct becomes the time at its end.
 *  Outside cavities |p| is constant but for rounding (1e-16 per step).
 *  Multipoles: substeps of at most 0.02 of betatron phase for a particle 1 cm off the axis,
 *  composed to fourth order; in a quadrupole the error is 5e-12 of the amplitude per radian of
 *  phase (measured: tests/pic_beam).
 *  @param cdt  c times the step [m], >= 0
 *  @return AW_OK; AW_ERR_ARG (cdt); AW_ERR_RANGE (a particle is at rest, moves backwards in its
 *  region, or circles without reaching its end); AW_ERR_NONFINITE. After an error some of the
 *  particles have been moved.
 *  One particle: pic/particle/track.h. */
aw_status aw_push_transport(const aw_lattice *lattice, aw_particles *particles, double cdt);

/** Kick: p += F dt/(m c).
 *  @param Fz, Fx  force on each particle along the lab axes [eV/m], borrowed, [particles->n]. For
 *  offloaded particles they are not read, here and below: the device has the forces of the last
 *  aw_gather_step
 *  @param cdt     c times the time for which the force acts [m]
 *  @return AW_OK, AW_ERR_NONFINITE (a force or momentum). */
aw_status aw_push_kick(aw_particles *particles, const double *Fz, const double *Fx, double cdt);

/** aw_push_kick followed by aw_push_transport, in one pass over the particles.
 *  @param kick  c times the time for which the forces act [m]
 *  @param cdt   c times the time of the transport [m]
 *  @return as these two. */
aw_status aw_push_kick_transport(const aw_lattice *lattice, aw_particles *particles,
                                 const double *Fz, const double *Fx, double kick, double cdt);

/* Parts of a kick, also for pic/gather.c. */

/** Change of gamma beta by a force of 1 eV/m in the time cdt/c. */
double aw_push_kick_factor(double cdt);

/** First particle that is not finite among the n from i on; i if all are. */
size_t aw_push_first_nonfinite(const aw_particles *particles, size_t i, size_t n);

/** Message that the force on particle i is not finite.
 *  @param Fz, Fx  [particles->n]; not read for offloaded particles, which are downloaded
 *  @return AW_ERR_NONFINITE; the error of the download */
aw_status aw_push_kick_error(const aw_particles *particles, size_t i, const double *Fz,
                             const double *Fx);

/** Rigid motion: put each particle at orbit(S_ref + s0) + x0 n, with its momentum along the tangent
 *  there and the energy gamma, and set `element`.
 *  @param gamma  mean energy of the beam, > 1;  @param S_ref  arc length of the bunch centre [m]
 *  @return AW_OK, AW_ERR_ARG (gamma), AW_ERR_NONFINITE. */
aw_status aw_push_rigid(const aw_lattice *lattice, aw_particles *particles, double gamma,
                        double S_ref);

AW_END_DECLS
#endif
