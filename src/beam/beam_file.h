/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The beam of a run from a file: openPMD BeamPhysics (HDF5) or text. */
#ifndef AW_BEAM_BEAM_FILE_H
#define AW_BEAM_BEAM_FILE_H
#include "src/beam/columns.h"
#include "src/beam/refine.h"

AW_BEGIN_DECLS

/* The last iteration of a file; all of them, as bunches of one beam. */
#define AW_ITERATION_LAST (-1)
#define AW_ITERATION_ALL (-2)
/* Largest Twiss beta of a run file [m]. */
#define AW_BETA_MOST 1e6

/** Which particles to take. */
typedef struct aw_beam_source {
    const char *path;
    long iteration; /* AW_ITERATION_LAST, _ALL, or its number; text files have none */
    double charge;  /* total to which the charges are scaled [C]; 0: as they are */
    size_t wanted;  /* number of particles, of which those of the file are drawn by chance, or
                     * from which they are made (refine.h), with this seed; 0: those of the file */
    uint64_t seed;
} aw_beam_source;

/** What is in the file. */
typedef struct aw_beam_found {
    size_t alive, dead; /* particles; the dead, which the file marks as lost, are left out */
    size_t bunches;     /* species and iterations that were joined; 0: text */
    aw_refined refined;
} aw_beam_found;

/** Read the particles of a file, on a straight line at one time (docs/input.md). The columns y, py
 *  and id are kept where the file has them; weights, where the charges differ.
 *  @param[out] found  also after an error, as far as it is known
 *  @param[out] why    [AW_WHY_MAX] what is wrong, for AW_ERR_INPUT, which is not printed
 *  @return AW_OK, AW_ERR_INPUT, AW_ERR_NOMEM. Free with aw_particles_free. */
aw_status aw_beam_read(const aw_beam_source *source, aw_particles **out, aw_beam_found *found,
                       char why[AW_WHY_MAX]);

/** The moments over the charge, as the parameters of a Gaussian beam: charge, particles, mean
 *  gamma, rms sizes, Twiss parameters, chirp, and the spread that is left; cutoff_sigma is where
 *  the outermost particle lies. The other members are not changed. */
void aw_beam_moments(const aw_particles *particles, aw_beam_params *beam);

/** The height from the same moments of y and its slope, which linear optics carry: emittance_y,
 *  beta_y and alpha_y, or none where the particles have no heights. Correlated to rounding, they
 *  get the emittance of the largest beta that a run file may have, AW_BETA_MOST. */
void aw_beam_height(const aw_particles *particles, aw_beam_params *beam);

/** The noise of the line density in bins of a twentieth of the rms length, over that of as many
 *  particles drawn by chance with the same weights (mean squares): about 1 for these, far less for
 *  a quiet start, more where the particles bunch. Too few particles count as drawn by chance.
 *  @param[in] beam  the moments of these particles (aw_beam_moments) */
double aw_beam_noise(const aw_particles *particles, const aw_beam_params *beam);

AW_END_DECLS
#endif
