/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points that are recomputed adaptively, range of r' by range, so that a strategy that does not
 * adapt knows its error. */
#ifndef AW_SOLVERS_SAMPLE_H
#define AW_SOLVERS_SAMPLE_H
#include "src/solvers/internal.h"
#include "src/solvers/rules.h"

/* Ranges: from 0 to the border, and beyond it. */
enum { AW_NEAR, AW_FAR, AW_RANGES };

/* How a point was chosen: for its error, or without regard to it among those where most of the beam
 * is, or among those of the grid's rim. There single particles are nearest, and errors of another
 * kind: taken together the rim's would be lost among the smaller ones. */
enum { AW_DOUBTFUL, AW_CORE, AW_RIM, AW_STRATA };

/** A point, and what its two integrals should be. */
typedef struct aw_sampled {
    size_t point;
    int stratum;                     /* AW_DOUBTFUL .. AW_RIM */
    double I[AW_RANGES][AW_RESULTS]; /* NaN: the refinement did not converge */
} aw_sampled;

/** The points of a step. Begin with zeros. */
typedef struct aw_sample {
    aw_sampled *at; /* [n], owned: aw_sample_free */
    size_t n, capacity;
    uint64_t drawn; /* of the sequence of aw_sample_next, in all steps */
} aw_sample;

void aw_sample_free(aw_sample *sample);

/** A point of a stratum of the problem's grid, AW_CORE or AW_RIM; other ones at every call, spread
 *  evenly however the calls are cut. */
size_t aw_sample_next(aw_sample *sample, const aw_problem *problem, int stratum);

/** Add points, point[i] of stratum[i]; one that is there already is not added again.
 *  @param[in] border     of the ranges [m]
 *  @param[in] tolerance  of a range's integral, in scales
 *  @return AW_OK, AW_ERR_NOMEM, or what the unit's refinement returns */
aw_status aw_sample_add(aw_sample *sample, aw_solver *solver, const aw_problem *problem,
                        double border, double tolerance, const size_t *point, const int *stratum,
                        size_t n, aw_work *work);

/** Sums over the points of a stratum. */
typedef struct aw_spread {
    double square; /* of the points' errors */
    double points;
} aw_spread;

/** Worst error of results first .. last - 1.
 *  @param[in] I        [points of the grid]: sums over the range, over both for AW_RANGES
 *  @param[out] spread  [AW_STRATA] or NULL
 *  @return in scales; NaN if there is one */
double aw_sample_error(const aw_sample *sample, int range, const double (*I)[AW_RESULTS],
                       const aw_scales *scales, unsigned first, unsigned last, aw_spread *spread);

/** What of an error counts, in scales: of the potentials, and of the rates over how much larger it
 *  may be (AW_RATE_TOLERANCES). A NaN does not. */
double aw_sample_counts(const double error[AW_RESULTS], const aw_scales *scales);

/** Points whose error in a range counts for more than `least`; the worst first.
 *  @param[out] point  [most]
 *  @return their number, at most `most` */
size_t aw_sample_worst(const aw_sample *sample, int range, const double (*I)[AW_RESULTS],
                       const aw_scales *scales, double least, size_t most, size_t *point);

#endif
