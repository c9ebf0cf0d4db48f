/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The radiation of a bunch in the far field, from its slices at the steps of a run: energy per
 * frequency and solid angle. docs/spectrum.md has the equations. */
#ifndef AW_SPECTRUM_SPECTRUM_H
#define AW_SPECTRUM_SPECTRUM_H
#include "kernels/math/view.h"
#include "src/base/status.h"
#include "src/spectrum/directions.h"

AW_BEGIN_DECLS

/** What is wanted; everything is borrowed for the life of the spectrum. */
typedef struct aw_spectrum_params {
    const aw_orbit_view *orbit; /* design orbit, straight at both ends */
    double gamma;               /* of the reference */
    const double *k;            /* [waves], omega/c, rising [1/m] */
    size_t waves;
    const aw_directions *directions;
    int ns, nx;   /* nodes of the slices; 0: one charge on the design orbit only */
    int single;   /* cells are float */
    double floor; /* |F|^2 below which a slice is taken to have no wave: some times the noise, one
                    * over the number of particles */
} aw_spectrum_params;

/** Sums over the path so far; opaque. */
typedef struct aw_spectrum aw_spectrum;

/** Before the first slice. Free with aw_spectrum_free.
 *  @return AW_OK, AW_ERR_NOMEM; AW_ERR_ARG (no direction or wave number, not rising: message). */
aw_status aw_spectrum_new(const aw_spectrum_params *params, aw_spectrum **out);
void aw_spectrum_free(aw_spectrum *spectrum);

/** What it was made for; borrowed. */
const aw_spectrum_params *aw_spectrum_params_of(const aw_spectrum *spectrum);

/** Add the path from the last slice to this one; the first begins behind a straight line on which
 *  the bunch came as it is.
 *  @param[in] slice  of the bunch when the reference is at S, later than the last; borrowed for the
 *                    call; NULL without slices
 *  @param S          arc length of the reference, at ct = S/beta [m]
 *  @return AW_OK; AW_ERR_ARG (not later, or no slice: message); AW_ERR_NONFINITE (message) */
aw_status aw_spectrum_add(aw_spectrum *spectrum, const aw_slice *slice, double S);

/** Let the bunch go straight on as it is for ever, after the last slice.
 *  @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_spectrum_end(aw_spectrum *spectrum);

/** Take back aw_spectrum_end, to add further slices: the radiation up to then was that of a path
 *  that goes straight on. @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_spectrum_reopen(aw_spectrum *spectrum);

/** With several ranks, of which each has the sums of a part of the directions: give them to all, at
 *  last, after aw_spectrum_end. Collective; each rank must have added the same slices. The sums
 *  have the same bits for any number of ranks. */
void aw_spectrum_gather(aw_spectrum *spectrum);

/** Energy of the bunch's coherent radiation per frequency and solid angle, d2W/(domega dOmega)
 *  [J s], into a direction and at a wave number. */
double aw_spectrum_coherent(const aw_spectrum *spectrum, size_t theta, size_t psi, size_t wave);

/** The same of one charge on the design orbit [J s/C^2]; an electron's is e^2 times as much. */
double aw_spectrum_single(const aw_spectrum *spectrum, size_t theta, size_t psi, size_t wave);

/** Energy per frequency into all directions, int d2W/(domega dOmega) dOmega by the weights of the
 *  directions. @param[in] of  aw_spectrum_coherent or aw_spectrum_single */
double aw_spectrum_total(const aw_spectrum *spectrum,
                         double (*of)(const aw_spectrum *, size_t, size_t, size_t), size_t wave);

/** Largest wave number that the grids of all slices so far have resolved along the motion, half of
 *  what they can hold, but for those in which the bunch has no waves there [1/m]; INFINITY without
 *  slices. */
double aw_spectrum_resolved(const aw_spectrum *spectrum);

/** Estimated error of the bunch's waves between slices, rms over directions and path over their
 *  rms: from how far the parabola through three slices is off at the next one. 0 without slices. */
double aw_spectrum_slice_error(const aw_spectrum *spectrum, size_t wave);

AW_END_DECLS
#endif
