/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The beam of a run from a file: openPMD BeamPhysics (HDF5) or text. */
#ifndef AW_BEAM_BEAM_FILE_H
#define AW_BEAM_BEAM_FILE_H
#include "src/beam/columns.h"

AW_BEGIN_DECLS

/* The last iteration of a file; all of them, as bunches of one beam. */
#define AW_ITERATION_LAST (-1)
#define AW_ITERATION_ALL (-2)

/** Which particles to take. */
typedef struct aw_beam_source {
    const char *path;
    long iteration; /* AW_ITERATION_LAST, _ALL, or its number; text files have none */
    double charge;  /* total to which the charges are scaled [C]; 0: as they are */
    size_t keep;    /* so many of them, drawn by chance with this seed; 0: all */
    uint64_t seed;
} aw_beam_source;

/** Read the particles of a file, on a straight line at one time (docs/input.md). The columns y, py
 *  and id are kept where the file has them; weights, where the charges differ.
 *  @param[out] dead  particles that the file marks as lost, which are left out
 *  @param[out] why   [AW_WHY_MAX] what is wrong, for AW_ERR_INPUT, which is not printed
 *  @return AW_OK, AW_ERR_INPUT, AW_ERR_NOMEM. Free with aw_particles_free. */
aw_status aw_beam_read(const aw_beam_source *source, aw_particles **out, size_t *dead,
                       char why[AW_WHY_MAX]);

/** The moments over the charge, as the parameters of a Gaussian beam: charge, particles, mean
 *  gamma, rms sizes, Twiss parameters, chirp, and the spread that is left; cutoff_sigma is where
 *  the outermost particle lies. The other members are not changed. */
void aw_beam_moments(const aw_particles *particles, aw_beam_params *beam);

AW_END_DECLS
#endif
