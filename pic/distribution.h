/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beam distributions: how the uniform random numbers of a particle become its coordinates. */
#ifndef AW_PIC_DISTRIBUTION_H
#define AW_PIC_DISTRIBUTION_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/* Coordinates of a particle: s, x, x', delta. */
enum { AW_BEAM_DIMENSIONS = 4 };

/** A Gaussian that is cut at `cutoff` standard deviations. */
typedef struct aw_cut_normal {
    double cutoff;
    double tail, body; /* probability below the cut; between the cuts */
} aw_cut_normal;

/** Where to cut. */
aw_cut_normal aw_cut_normal_of(double cutoff);

/** Normal deviate from a uniform number, 0 < u < 1; exactly odd about u = 1/2. */
double aw_cut_normal_deviate(const aw_cut_normal *normal, double u);

/** A distribution: a row of the table in distribution.c. */
typedef struct aw_distribution {
    const char *name; /* as in the run file */
    /** Normalised coordinates (mean 0, rms 1 but for the cut) from uniform numbers. */
    void (*normalise)(const aw_cut_normal *normal, const double u[AW_BEAM_DIMENSIONS],
                      double g[AW_BEAM_DIMENSIONS]);
} aw_distribution;

/** Names in the order of the table, as the run file's keys want them ("a|b|c"). */
#define AW_DISTRIBUTION_NAMES "gaussian"

/** The i-th distribution; NULL past the last. */
const aw_distribution *aw_distribution_list(int i);

AW_END_DECLS
#endif
