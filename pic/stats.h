/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bunch parameters: rms sizes, emittance, energy change. */
#ifndef AW_PIC_STATS_H
#define AW_PIC_STATS_H
#include "kernels/math/orbit.h"
#include "pic/particles.h"

AW_BEGIN_DECLS

/** Means and rms values over the charge of the particles in the coordinates of the design orbit:
 *  s is the arc length ahead of the reference, x the offset along the normal at the particle's own
 *  S, x' the slope against the tangent there, delta the relative energy deviation. */
typedef struct aw_beam_stats {
    double sigma_s, sigma_x;        /* rms [m] */
    double emittance;               /* geometric, sqrt(<xx><x'x'> - <xx'>^2) [m rad] */
    double emittance_free;          /* after subtraction of the part linear in delta [m rad] */
    double energy;                  /* mean total energy [eV] */
    double energy_mean, energy_rms; /* change since the start without that by cavities, incoherent
                                    * radiation and wakes, and its rms about the mean [eV] */
    double isr_mean, isr_rms; /* taken by incoherent radiation, and its rms about the mean [eV];
                               * NaN: the particles do not radiate */
} aw_beam_stats;

/** Bunch parameters. The result does not depend on the number of threads.
 *  @param[in] S_ref  arc length of the reference [m]
 *  @param[in] gamma  energy at which delta = 0
 *  @return AW_OK; of offloaded particles also AW_ERR_NOMEM, AW_ERR_BACKEND: all numbers are NaN
 *  then */
aw_status aw_beam_stats_of(const aw_particles *particles, const aw_orbit_view *orbit, double S_ref,
                           double gamma, aw_beam_stats *out);

AW_END_DECLS
#endif
