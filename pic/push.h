/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Move the particles: exactly through the magnets, and by the forces of the bunch. */
#ifndef AW_PIC_PUSH_H
#define AW_PIC_PUSH_H
#include "pic/lattice.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/* All functions work on every particle in parallel, allocate nothing, and give the same bits for
 * any number of threads. The first particle in trouble is named in one message. Kicks and transport
 * of lent particles (aw_particles_offload) may return AW_ERR_NOMEM and AW_ERR_BACKEND, too. */

/** Set `element` of each particle to the region that contains it: the first whose exit plane it
 *  has not passed. For particles near the start of the lattice; later, transport keeps `element`.
 *  @return AW_OK, AW_ERR_NONFINITE. */
aw_status aw_push_locate(const aw_lattice *lattice, aw_particles *particles);

/** Put a freshly drawn beam, which lies along the straight line through S = 0, into the machine,
 *  and set `element`. Upstream a drift: particles ahead of the first edge are flown back along
 *  their straight line to before it and transported forward again, so that the drawn beam is the
 *  one that the straight upstream would have delivered; a leading drift changes nothing. Upstream
 *  steady (the first region is a bend): each particle is carried from the tangent at S = 0 to the
 *  same offsets (s0, x0) and slope about the orbit.
 *  @return AW_OK, AW_ERR_RANGE, AW_ERR_NONFINITE. */
aw_status aw_push_place(const aw_lattice *lattice, aw_particles *particles);

/** External fields alone for a time step: straight lines in drifts, circles in bends (exact; radius
 *  p/(p_ref |kappa|)), and in quadrupoles short rotations by the field on the way. Planes between
 *  regions are met at the exact place inside the step, any number of them.
 *  |p| does not change but for rounding (1e-16 a step).
 *  Quadrupoles: substeps of at most 0.02/sqrt(|k1| p_ref/p), composed to fourth order; the error is
 *  5e-12 of the amplitude per radian of betatron phase (measured: tests/pic_beam).
 *  @param cdt  c times the step [m], >= 0
 *  @return AW_OK; AW_ERR_ARG (cdt); AW_ERR_RANGE (a particle stands still, goes backwards in its
 *  region, or circles without reaching its end); AW_ERR_NONFINITE. After an error the particles
 *  are partly moved.
 *  One by one: pic/particle/track.h. */
aw_status aw_push_transport(const aw_lattice *lattice, aw_particles *particles, double cdt);

/** p += F dt/(m c).
 *  @param Fz, Fx  force on each particle along the lab axes [eV/m], borrowed, [particles->n]; of
 *  lent particles not read, here and below: the device has those of the last aw_gather_step
 *  @param cdt     c times the time for which it acts [m]
 *  @return AW_OK, AW_ERR_NONFINITE (a force or momentum). */
aw_status aw_push_kick(aw_particles *particles, const double *Fz, const double *Fx, double cdt);

/** aw_push_kick and then aw_push_transport, with each block of particles in one go.
 *  @param kick  c times the time for which the forces act [m];  @param cdt  of the transport
 *  @return as these two. */
aw_status aw_push_kick_transport(const aw_lattice *lattice, aw_particles *particles,
                                 const double *Fz, const double *Fx, double kick, double cdt);

/** Parts of a kick, for those who give it themselves (pic/gather.c): what a force of 1 eV/m adds
 *  to gamma beta in the time cdt; the first of n particles from i on that is not finite (i, if none
 *  is); and the message about a particle. @return AW_ERR_NONFINITE. */
double aw_push_kick_factor(double cdt);
size_t aw_push_first_lost(const aw_particles *particles, size_t i, size_t n);
aw_status aw_push_kick_lost(const aw_particles *particles, size_t lost, const double *Fz,
                            const double *Fx);

/** Rigid motion: each particle at orbit(S_ref + s0) + x0 n, with its momentum along the tangent
 *  there and the energy gamma; `element` is set.
 *  @param gamma  mean energy of the beam, > 1;  @param S_ref  arc length of the bunch centre [m]
 *  @return AW_OK, AW_ERR_ARG (gamma), AW_ERR_NONFINITE. */
aw_status aw_push_rigid(const aw_lattice *lattice, aw_particles *particles, double gamma,
                        double S_ref);

AW_END_DECLS
#endif
