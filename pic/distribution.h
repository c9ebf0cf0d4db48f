/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beam distributions: how the uniform random numbers of a particle become its coordinates. */
#ifndef AW_PIC_DISTRIBUTION_H
#define AW_PIC_DISTRIBUTION_H
#include "src/base/status.h"

AW_BEGIN_DECLS

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
#define AW_DISTRIBUTION_LIST(FIRST, NEXT) FIRST(gaussian, "gaussian")

#define AW_DISTRIBUTION_NAME(function, name) name
#define AW_DISTRIBUTION_BAR_NAME(function, name) "|" name
#define AW_DISTRIBUTION_OR_NAME(function, name) " or " name

/** String literals "a|b|..": the choices of the key beam.distribution; and "a or b ..". */
#define AW_DISTRIBUTION_NAMES AW_DISTRIBUTION_LIST(AW_DISTRIBUTION_NAME, AW_DISTRIBUTION_BAR_NAME)
#define AW_DISTRIBUTION_TEXT AW_DISTRIBUTION_LIST(AW_DISTRIBUTION_NAME, AW_DISTRIBUTION_OR_NAME)

/** A distribution: a row of AW_DISTRIBUTION_LIST. */
typedef struct aw_distribution {
    const char *name; /* as in the run file */
    /** Normalised coordinates (mean 0, rms 1, at most normal->reach) from uniform numbers. */
    void (*normalise)(const aw_cut_normal *normal, const double u[AW_BEAM_DIMENSIONS],
                      double g[AW_BEAM_DIMENSIONS]);
} aw_distribution;

/** The i-th distribution; NULL past the last. */
const aw_distribution *aw_distribution_list(int i);

AW_END_DECLS
#endif
