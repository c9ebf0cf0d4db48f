/* SPDX-License-Identifier: GPL-3.0-or-later */
/* More particles than a file has, from the distribution that they stand for. */
#ifndef AW_BEAM_REFINE_H
#define AW_BEAM_REFINE_H
#include "src/beam/columns.h"

AW_BEGIN_DECLS

/* Particles that a file must have at least. */
enum { AW_REFINE_LEAST = 100 };

/** What was done, for a message. */
typedef struct aw_refined {
    size_t from;    /* particles of which more were made; 0: of none */
    size_t bunches; /* with gaps between them, which are kept */
    double smooth;  /* rms of the Gaussian that smooths along s [m]; the longest */
} aw_refined;

/** Replace particles that are at one time by `wanted` ones of equal charge.
 *
 *  Along s: the line density is smoothed with a Gaussian, by Silverman's rule of thumb, 0.9 times
 *  the rms length (or middle half/1.34, where that is shorter) times n^(-1/5), and shrunk to the
 *  old rms length; n is the number of particles of equal charge that would be as noisy. The new
 *  particles are its quantiles, equally spaced in charge: no noise of their own.
 *
 *  Each takes gamma, x, x', y and y' of an old particle of its neighbourhood, n^(-1/5)/2 of the
 *  charge, which a low-discrepancy sequence chooses, shifted by the seed: less the mean of the
 *  neighbourhood at the old place, and more that at the new one. The means are quadratic in s:
 *  chirp, tilt and curvature are followed, and what is left, the slice's own spread, is kept with
 *  all its correlations (in the outermost half per cent, where neighbours are far, the means are
 *  less sure).
 *
 *  Lastly a linear map, near the identity, makes the means and second moments of s, gamma, x, x',
 *  y, y' those of the old particles, to 1e-9 of themselves. Neither density nor neighbourhoods
 *  extend across a gap that is larger than the places of 32 particles on both sides of it.
 *
 *  Lost are structure along s that is shorter than the Gaussian, and the thickness of each branch
 *  where the bunch is folded. Ids are those of places. Serial; the same bits for the same seed.
 *  Source: the smoothed bootstrap with variance correction, B. W. Silverman, Density Estimation
 *  (1986), 3.4.2 and 6.4.1; here conditional on s, and quiet.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_INPUT (columns->why: too few particles, no charge) */
aw_status aw_columns_refine(aw_columns *columns, size_t wanted, uint64_t seed, aw_refined *how);

AW_END_DECLS
#endif
