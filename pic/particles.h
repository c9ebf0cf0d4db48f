/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Macro-particles of the beam: structure of arrays, and how a beam is drawn. */
#ifndef AW_PIC_PARTICLES_H
#define AW_PIC_PARTICLES_H
#include <stddef.h>
#include <stdint.h>

#include "kernels/device/device.h"
#include "pic/particle/radiation.h"
#include "src/archive/archive.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Largest number of particles of a quiet beam: GSL's Sobol sequence has 2^30 - 1 points. */
#define AW_QUIET_MAX ((size_t)1073741823)

/** n macro-particles; every array is owned and has n items. */
typedef struct aw_particles {
    size_t n;
    int distributed;   /* 1: the beam is spread over MPI ranks; these are this rank's particles */
    size_t all, first; /* if distributed: particles of the whole beam; index of the first here */
    double charge;     /* per macro-particle, the mean of the whole beam [C], a magnitude */
    double *weight;    /* charge of each over `charge`, mean 1; NULL: all are 1 */
    double *z, *x;     /* lab position [m] */
    double *pz, *px;   /* momentum, gamma beta (lab axes) */
    double *s0, *x0;   /* offsets at the start from the bunch centre, along t and n [m] */
    double *gamma0;    /* gamma at the start, what cavities added and what incoherent radiation
                        * and wakes took: without it, the self-field's change */
    double *radiated;  /* taken by incoherent radiation so far [rest energies]; NULL: none */
    int32_t *element;  /* region of the lattice that contains the particle (pic/lattice.h) */
    double *y, *py; /* at the start: height [m] and vertical gamma beta; NULL: all in the plane */
    double *p0;     /* gamma beta in the plane at the start, for y; NULL as y is */
    uint64_t *id;   /* of each in files; NULL: 1, 2, .. over the whole beam */
    aw_radiation radiation; /* in the transport to come; with `radiated` */
    double ct; /* c times the time at which they are there, from the start of the run [m] */
    /* Device that holds the current z, x, pz, px, gamma0, radiated and element; NULL: the arrays
     * here are current (aw_particles_offload). */
    const aw_device *resident_on;
} aw_particles;

/** Section `beam` of a run file (docs/input.md). Lengths in m. */
typedef struct aw_beam_params {
    double charge; /* total [C], > 0 */
    double gamma;  /* mean, > 1 */
    size_t particles;
    uint64_t seed;
    int quiet;             /* 1: Sobol sequence shifted by the seed; 0: Philox random numbers */
    int distribution;      /* which row of AW_DISTRIBUTION_LIST */
    double edge;           /* of flat-top: rms of an edge over the length between the edges, > 0 */
    double separation;     /* of double-gaussian: of the two, over the rms of each, >= 0; */
    double ahead;          /* part of the charge in the one ahead, 0 to 1 */
    size_t table_n;        /* of tabulated: points of the current, at least 2, */
    const double *table_s; /* [table_n] rising [m], and the current there, >= 0; borrowed */
    const double *table_current;
    double modulation_wavelength; /* of the density, times 1 + depth cos(2 pi s/wavelength) [m]; */
    double modulation_depth;      /* 0 to 1; 0: none */
    double cutoff_sigma;          /* Gaussians are cut there, > 0; all rms
                             * values below are those after the cut */
    double sigma_s;               /* rms length, > 0 */
    double sigma_x;         /* rms width, > 0; sqrt(emittance beta) if the emittance is given */
    double emittance;       /* geometric [m rad], 0: no angles */
    double beta_x, alpha_x; /* Twiss parameters at the start; alpha used only with emittance > 0 */
    double sigma_y;         /* rms height wherever the bunch is [m], 0: a thin sheet, or: */
    double emittance_y;     /* geometric [m rad], > 0: the height follows the lattice */
    double beta_y, alpha_y; /* at the start; used only with emittance_y > 0 */
    double energy_spread;   /* relative, uncorrelated rms */
    double chirp;           /* d(delta)/ds [1/m] */
} aw_beam_params;

/** Allocate n particles (all zero); free with aw_particles_free. @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_particles_new(size_t n, double charge_per_particle, aw_particles **out);
void aw_particles_free(aw_particles *particles);

/** Give the particles weights (1), heights (0), ids (1, 2, ..) of their own, to be filled in, or an
 *  account of radiation (0); what is there already stays. @return AW_OK, AW_ERR_NOMEM (message) */
enum { AW_WITH_WEIGHT = 1, AW_WITH_HEIGHT = 2, AW_WITH_ID = 4, AW_WITH_RADIATED = 8 };
aw_status aw_particles_extend(aw_particles *particles, int with);

/** This rank's share of a beam that every rank holds whole, as aw_particles_draw_part divides it;
 *  without `distributed` a copy of all. @return AW_OK, AW_ERR_NOMEM (the same on all ranks) */
aw_status aw_particles_share(const aw_particles *whole, int distributed, aw_particles **out);

/** Gather a distributed beam: the whole beam on rank 0, NULL on the others. All ranks must call
 *  this. Free with aw_particles_free. @return AW_OK, AW_ERR_NOMEM (on all ranks alike) */
aw_status aw_particles_gather_root(const aw_particles *share, aw_particles **all);

/** Make the particles resident on a device that can hold them, if there are enough of them to gain
 *  from it: frame, deposit, aw_gather_step, kicks, transport and statistics then run there, and no
 *  other function may use the particles. If the device has too little memory, a warning says so and
 *  the particles stay on the host. Resident particles stay resident; the device must outlive them.
 *  @param[in] fields, orbit  of the lattice, copied to the device
 *  @return AW_OK, AW_ERR_BACKEND; for a distributed beam the worst status of all ranks */
aw_status aw_particles_offload(aw_particles *particles, const aw_fields_view *fields,
                               const aw_orbit_view *orbit, const aw_device *device);

/** Copy positions, momenta, gamma0, radiated and regions of resident particles to the host;
 *  they stay resident. Does nothing for particles on the host. @return AW_OK, AW_ERR_BACKEND */
aw_status aw_particles_download(const aw_particles *particles);

/** Save the whole beam, which may be distributed, or load this rank's share of it into particles of
 *  the same beam; of offloaded particles, what has been downloaded. All ranks must call this. */
void aw_particles_archive(aw_particles *particles, aw_archive *archive);

/** Which of the whole beam's particles are here, for an array of the caller's. */
aw_archive_part aw_particles_part(const aw_particles *particles);

/** Particle i as a struct. */
static inline aw_particle aw_particles_one(const aw_particles *p, size_t i)
{
    return (aw_particle){p->z[i], p->x[i], p->pz[i], p->px[i], p->element[i], 0.0};
}

/** Charge of particle i over the mean charge. */
static inline double aw_particles_weight(const aw_particles *p, size_t i)
{
    return p->weight ? p->weight[i] : 1.0;
}

/** Number of particles of the whole beam, on all ranks; also the sum of their weights. */
static inline size_t aw_particles_all(const aw_particles *particles)
{
    return particles->distributed ? particles->all : particles->n;
}

/* Reductions over the ranks of a distributed beam, and nothing for any other: sums and maxima of n
 * numbers in place; the worst status. All ranks must call these. */
void aw_particles_sum(const aw_particles *particles, double *x, size_t n);
void aw_particles_max(const aw_particles *particles, double *x, size_t n);
aw_status aw_particles_agree(const aw_particles *particles, aw_status mine);

/** Draw the beam about the bunch centre at S = 0: fills s0, x0, gamma0 and, with the centre at lab
 *  (0, 0) heading along +z, z, x, pz, px. delta = chirp s + spread g; x, x' from the Twiss
 *  parameters. The Gaussians are truncated and their rms is not corrected for it: a cut at 5 sigma
 *  reduces it by 1e-5. Particle i depends on the seed and i alone.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG. */
aw_status aw_particles_draw(const aw_beam_params *beam, aw_particles **out);

/** Draw this rank's part of a beam that is distributed over the ranks: consecutive particles, in
 *  whole blocks. Means, extents, charges and fields remain those of the whole beam, and all ranks
 *  must call the functions that compute them, and this one. A single rank draws the whole beam.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG (the same on all ranks) */
aw_status aw_particles_draw_part(const aw_beam_params *beam, aw_particles **out);

AW_END_DECLS
#endif
