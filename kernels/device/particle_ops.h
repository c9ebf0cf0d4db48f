/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations on particles that are resident on a device from step to step. */
#ifndef AW_KERNELS_DEVICE_PARTICLE_OPS_H
#define AW_KERNELS_DEVICE_PARTICLE_OPS_H
#include <stddef.h>
#include <stdint.h>

#include "pic/particle/coordinates.h"
#include "pic/particle/grid.h"
#include "pic/particle/radiation.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Particles (pic/particles.h); arrays of [n], borrowed. */
typedef struct aw_particles_view {
    size_t n;
    double *z, *x, *pz, *px; /* lab position [m], momentum gamma beta */
    double *gamma0;          /* gamma at the start, and what was gained but of the self-field */
    int32_t *element;        /* index of the lattice region that contains the particle */
    double *weight;          /* charge over the mean charge; NULL: 1 */
    double *radiated;        /* taken by incoherent radiation; NULL: the particles do not radiate */
} aw_particles_view;

/** Index of the first particle lost in each way; SIZE_MAX: none. */
typedef struct aw_particles_lost {
    size_t kicked;    /* momentum not finite after the kick; the particle was not moved */
    size_t turned;    /* turned back (aw_particle_track) */
    size_t nonfinite; /* coordinates not finite after transport (aw_particle_track) */
} aw_particles_lost;

/** What a gather reads, and does to the momenta. */
typedef struct aw_particle_gather {
    const double *field; /* [nx][ns][4]: Fz_lab, Fx_lab, cBy and theta of a node; with vectors, the
                          * [2][nx][ns][4] of aw_forces.vector (pic/forces.h) behind that */
    int vectors;         /* 1: keep vector potentials and their rates on the device, too */
    double factor;       /* momenta change by factor F */
    const aw_kick_times *times; /* momenta get what they are due (aw_particle_due); NULL: not */
} aw_particle_gather;

/** Operations on particles that are resident on a device and so need not cross its bus at each
 *  step. The work is done on return. Errors of all: AW_ERR_NOMEM, AW_ERR_BACKEND (messages); a lost
 *  particle is not an error. Results agree with those of the host's functions to rounding. */
typedef struct aw_particle_ops {
    size_t many; /* smallest number of particles for which offloading pays */

    /** Copy particles, external fields and the orbit to the device, replacing earlier ones.
     *  @return also AW_ERR_NOMEM without a message: the device's memory is too small for them */
    aw_status (*offload)(void *state, const aw_particles_view *beam, const aw_fields_view *fields,
                         const aw_orbit_view *orbit);

    /** Copy positions, momenta, gamma0, radiated and lattice regions back to the host. */
    aw_status (*download)(void *state, const aw_particles_view *to);

    /** Weighted sums of dz, dx, dz dz, dz dx, dx dx relative to (z, x) [m, m^2]. */
    aw_status (*second_moments)(void *state, double z, double x, double sum[5]);

    /** Largest |u| and |w| [m] in the frame place[] = {z, x, c, s}: origin (z, x) and first axis
     *  (c, s). NaN is ignored. */
    aw_status (*reach)(void *state, const double place[4], double reach[2]);

    /** Deposit the moments of the particles, each of the charge `weight`, on a padded grid.
     *  @param[out] cells  as in kernels/math/view.h, double; overwritten
     *  @param[out] lost   the first particle off the grid or not finite, and nothing was deposited;
     *                     SIZE_MAX: none */
    aw_status (*deposit)(void *state, const aw_particle_grid *grid, double *cells, size_t *lost);

    /** Gather the forces as aw_gather_run does, keep them on the device, and change the momenta as
     *  aw_gather_step does.
     *  @param[out] sum    for F_s and F_n: weighted sum, min(0, smallest) and max(0, largest)
     *  @param[out] lost   the first particle whose momentum is not finite then; SIZE_MAX: none */
    aw_status (*gather)(void *state, const aw_particle_grid *grid, const aw_particle_gather *what,
                        double sum[2][3], size_t *lost);

    /** Add factor F of the last gather to the momenta, then track for a time of cdt/c, which ends
     *  at until/c (aw_particle_track or, if they radiate, aw_particle_radiate). */
    aw_status (*push)(void *state, double factor, double until, double cdt,
                      const aw_radiation *radiation, aw_particles_lost *lost);

    /** Weighted sums of the coordinates relative to the orbit at S [m], with delta = 0 at gamma. */
    aw_status (*stats)(void *state, double S, double gamma, aw_beam_sums *sums);
} aw_particle_ops;

AW_END_DECLS
#endif
