/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beam distributions: how the uniform random numbers of a particle become its coordinates. */
#ifndef AW_PIC_DISTRIBUTION_H
#define AW_PIC_DISTRIBUTION_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

struct aw_beam_params;

/* Coordinates of a particle: s, x, x', delta. */
enum { AW_BEAM_DIMENSIONS = 4 };

/** A Gaussian that is cut at `cutoff` of its standard deviations, and scaled so that what is left
 *  has rms 1. */
typedef struct aw_cut_normal {
    double cutoff;
    double tail, body; /* probability below the cut; between the cuts */
    double scale;      /* standard deviation before the cut, > 1 */
    double reach;      /* largest deviate: cutoff scale */
} aw_cut_normal;

/** Where to cut, > 0. */
aw_cut_normal aw_cut_normal_of(double cutoff);

/** Deviate of rms 1 from a uniform number, 0 < u < 1; exactly odd about u = 1/2. */
double aw_cut_normal_deviate(const aw_cut_normal *normal, double u);

/** One row per distribution, in the order of the table, the choices of the run file and all
 *  messages: FIRST or NEXT(function in distribution.c, name in run files). */
#define AW_DISTRIBUTION_LIST(FIRST, NEXT)    \
    FIRST(gaussian, "gaussian")              \
    NEXT(uniform, "uniform")                 \
    NEXT(parabolic, "parabolic")             \
    NEXT(flat_top, "flat-top")               \
    NEXT(double_gaussian, "double-gaussian") \
    NEXT(tabulated, "tabulated")

#define AW_DISTRIBUTION_NAME(function, name) name
#define AW_DISTRIBUTION_BAR_NAME(function, name) "|" name
#define AW_DISTRIBUTION_OR_NAME(function, name) " or " name

/** String literals "a|b|..": the choices of the key beam.distribution; and "a or b ..". */
#define AW_DISTRIBUTION_NAMES AW_DISTRIBUTION_LIST(AW_DISTRIBUTION_NAME, AW_DISTRIBUTION_BAR_NAME)
#define AW_DISTRIBUTION_TEXT AW_DISTRIBUTION_LIST(AW_DISTRIBUTION_NAME, AW_DISTRIBUTION_OR_NAME)

/** A distribution: a row of AW_DISTRIBUTION_LIST. It is that of s; x, x' and delta are normal. */
typedef struct aw_distribution {
    const char *name; /* as in the run file */
    /** Line density at t in any units; *half: it is zero beyond -half and half. */
    double (*density)(const struct aw_beam_params *beam, double t, double *half);
} aw_distribution;

/** The i-th distribution; NULL past the last. */
const aw_distribution *aw_distribution_list(int i);

/** A line density as a table between whose nodes it is linear, for the inverse of its integral. */
typedef struct aw_profile {
    size_t n;
    double *s;          /* [n] equally spaced, from the mean without modulation [m] */
    double *density;    /* [n], integral 1 [1/m] */
    double *cumulative; /* [n] from 0 to 1 */
} aw_profile;

/** The profile of a beam with its modulation, of rms length beam->sigma_s without it. *out is NULL
 *  for a Gaussian without modulation, which needs no table. @return AW_OK, AW_ERR_NOMEM (message).
 *  Free with aw_profile_free. */
aw_status aw_profile_new(const struct aw_beam_params *beam, aw_profile **out);
void aw_profile_free(aw_profile *profile);

/** s below which a part u of the charge lies, 0 < u < 1 [m]. */
double aw_profile_at(const aw_profile *profile, double u);

/** Rms length of a tabulated current [m], which is to become beam->sigma_s. */
double aw_profile_table_rms(const struct aw_beam_params *beam);

/** Largest |s|/sigma_s and |x|/sigma_x of a beam. */
double aw_beam_reach(const struct aw_beam_params *beam);

AW_END_DECLS
#endif
