/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Macro-particles of the beam: structure of arrays, and how a beam is drawn. */
#ifndef AW_PIC_PARTICLES_H
#define AW_PIC_PARTICLES_H
#include <stddef.h>
#include <stdint.h>

#include "kernels/device/device.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Largest number of particles of a quiet beam: GSL's Sobol sequence has 2^30 - 1 points. */
#define AW_QUIET_MAX ((size_t)1073741823)

/** n macro-particles of equal charge; every array is owned and has n items. */
typedef struct aw_particles {
    size_t n;
    /* 1: the beam is distributed over the ranks, and these are the particles of one of them */
    int distributed;
    size_t all, first; /* distributed: particles of the whole beam; number of the first one here */
    double charge;     /* per macro-particle [C], a magnitude */
    double *z, *x;     /* lab position [m] */
    double *pz, *px;   /* momentum, gamma beta (lab axes) */
    double *s0, *x0;   /* offsets at the start from the bunch centre, along t and n [m] */
    double *gamma0;    /* gamma at the start, for the energy change */
    int32_t *element;  /* region of the lattice in which the particle is (pic/lattice.h) */
    const aw_device
        *resident_on; /* which has z, x, pz, px and element as they are now; NULL: they are
                              * here (aw_particles_offload) */
} aw_particles;

/** What `beam:` of a run file says (docs: README). Lengths in m. */
typedef struct aw_beam_params {
    double charge; /* total [C], > 0 */
    double gamma;  /* mean, > 1 */
    size_t particles;
    uint64_t seed;
    int quiet;              /* 1: Sobol sequence shifted by the seed; 0: Philox random numbers */
    int distribution;       /* which row of the table in pic/distribution.c */
    double cutoff_sigma;    /* every normalised coordinate is cut there, > 0 */
    double sigma_s;         /* rms length, > 0 */
    double sigma_x;         /* rms width, > 0; of a beam given by emittance: sqrt(emittance beta) */
    double emittance;       /* geometric [m rad], 0: no angles */
    double beta_x, alpha_x; /* Twiss parameters at the start; alpha used only with emittance > 0 */
    double energy_spread;   /* relative, uncorrelated rms */
    double chirp;           /* d(delta)/ds [1/m] */
} aw_beam_params;

/** Allocate n particles (all zero); free with aw_particles_free. @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_particles_new(size_t n, double charge_per_particle, aw_particles **out);
void aw_particles_free(aw_particles *particles);

/** Gather a distributed beam: the whole beam on rank 0, NULL on the others. All ranks must call
 *  this. Free with aw_particles_free. @return AW_OK, AW_ERR_NOMEM (on all ranks alike) */
aw_status aw_particles_gather_root(const aw_particles *share, aw_particles **all);

/** Make the particles resident on a device, if it can hold them and they are many: frame, deposit,
 *  aw_gather_step, kicks, transport and statistics then run there, and no other function may use
 *  them. Where the device has too little memory a warning says so, and they stay on the host.
 *  Resident particles stay resident. The device must outlive them.
 *  @param[in] fields, orbit  the lattice that they will meet, copied to the device
 *  @return AW_OK, AW_ERR_BACKEND; of ranks that share the beam, the worst */
aw_status aw_particles_offload(aw_particles *particles, const aw_fields_view *fields,
                               const aw_orbit_view *orbit, const aw_device *device);

/** Copy positions, momenta and regions of resident particles to the host; they stay resident.
 *  Nothing for particles on the host. @return AW_OK, AW_ERR_BACKEND */
aw_status aw_particles_download(const aw_particles *particles);

/** Particle i as a struct. */
static inline aw_particle aw_particles_one(const aw_particles *p, size_t i)
{
    return (aw_particle){p->z[i], p->x[i], p->pz[i], p->px[i], p->element[i]};
}

/** Number of particles of the whole beam, on all ranks. */
static inline size_t aw_particles_all(const aw_particles *particles)
{
    return particles->distributed ? particles->all : particles->n;
}

/* Over the ranks of a distributed beam (else nothing happens): sums and maxima of n numbers in
 * place; the worst status. All ranks must call these. */
void aw_particles_sum(const aw_particles *particles, double *x, size_t n);
void aw_particles_max(const aw_particles *particles, double *x, size_t n);
aw_status aw_particles_agree(const aw_particles *particles, aw_status mine);

/** Draw the beam about the bunch centre at S = 0: fills s0, x0, gamma0 and, with the centre at lab
 *  (0, 0) heading along +z, z, x, pz, px. delta = chirp s + spread g; x, x' from the Twiss
 *  parameters; truncated Gaussians whose rms is corrected to the asked one is NOT done: the cut at
 *  5 sigma changes it by 1e-5. Particle i depends on the seed and i alone.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG. */
aw_status aw_particles_draw(const aw_beam_params *beam, aw_particles **out);

/** Draw this rank's part of a beam that is distributed over the ranks: neighbouring particles, in
 *  whole blocks. Means, extents, charges and fields are then those of the whole beam, and all ranks
 *  must call the functions that compute them, as they must call this one. With one rank: the whole
 *  beam. @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG (the same on all ranks) */
aw_status aw_particles_draw_part(const aw_beam_params *beam, aw_particles **out);

AW_END_DECLS
#endif
