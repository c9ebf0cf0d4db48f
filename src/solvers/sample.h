/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points that are recomputed adaptively, range of r' by range, so that a strategy that does not
 * adapt knows its error. Owns the points of a step and their integrals; read aw_sample_add and
 * aw_sample_error first. */
#ifndef AW_SOLVERS_SAMPLE_H
#define AW_SOLVERS_SAMPLE_H
#include "quadrature/panels.h"
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
    double *edge;   /* scratch, as `which` is */
    size_t edges;
    size_t *which;
    size_t whiches;
} aw_sample;

void aw_sample_free(aw_sample *sample);

/** A point of a stratum of the problem's grid, AW_CORE or AW_RIM; other ones at every call, spread
 *  evenly however the calls are cut. */
size_t aw_sample_next(aw_sample *sample, const aw_problem *problem, int stratum);

/** How points are recomputed. */
typedef struct aw_sample_how {
    double border;                      /* of the ranges [m] */
    double tolerance;                   /* of a range's integral, in scales */
    const aw_panels *panels[AW_RANGES]; /* what is judged: the sample begins with regions that are
                                         * cut at these nodes in r' */
    size_t every;                       /* at each node (1), or at every second, third, .. */
    aw_work *work;                      /* to which the evaluations are added */
} aw_sample_how;

/** A point of the grid that is to be recomputed, and the stratum for which it was chosen. */
typedef struct aw_sample_point {
    size_t point;
    int stratum;
} aw_sample_point;

/** Add n points; one that is there already is not added again.
 *  @return AW_OK, AW_ERR_NOMEM, or what the device's refinement returns */
aw_status aw_sample_add(aw_sample *sample, aw_solver *solver, const aw_problem *problem,
                        const aw_sample_how *how, const aw_sample_point *point, size_t n);

/** Recompute points which[0 .. n - 1] of the sample, since there are more nodes than when they were
 *  added: the first integral may have missed what is narrow.
 *  @return as aw_sample_add */
aw_status aw_sample_again(aw_sample *sample, aw_solver *solver, const aw_problem *problem,
                          const aw_sample_how *how, const size_t *which, size_t n);

/** Sums over the points of a stratum. */
typedef struct aw_spread {
    double square; /* of the points' errors */
    double points;
} aw_spread;

/** Worst error of the potentials (phi, A, psi), or with `rates` of the rates.
 *  @param[in] I        [points of the grid]: sums over the range, over both for AW_RANGES
 *  @param[out] spread  [AW_STRATA] or NULL
 *  @return in scales; NaN if there is one */
double aw_sample_error(const aw_sample *sample, int range, const double (*I)[AW_RESULTS],
                       const aw_scales *scales, int rates, aw_spread *spread);

/** What of an error counts, in scales: of the potentials, and of the rates over how much larger it
 *  may be (AW_RATE_TOLERANCES). A NaN does not. */
double aw_sample_counts(const double error[AW_RESULTS], const aw_scales *scales);

enum { AW_SAMPLE_WORST = 8 };

/** Points whose error in a range counts for more than `least`; the worst first.
 *  @param[out] which  their indices in the sample
 *  @return their number, at most AW_SAMPLE_WORST */
size_t aw_sample_worst(const aw_sample *sample, int range, const double (*I)[AW_RESULTS],
                       const aw_scales *scales, double least, size_t which[AW_SAMPLE_WORST]);

#endif
