/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sample of the strategy `projection`: points of the grid that are also integrated adaptively,
 * near and far zone separately, to measure the error of the rules that all points have in common.
 * Owns the reference integrals at these points. Read first: aw_sample_add, then aw_sample_error. */
#ifndef AW_SOLVERS_PROJECTION_SAMPLE_H
#define AW_SOLVERS_PROJECTION_SAMPLE_H
#include "quadrature/panels.h"
#include "src/solvers/internal.h"
#include "src/solvers/projection/rules.h"

/* Ranges of r': the near zone from 0 to the border, and the far zone beyond it. */
enum { AW_NEAR, AW_FAR, AW_RANGES };

/* Why a point is in the sample: because its error may be large (doubtful), or as one of the points
 * spread over the core or over the rim of the grid. Core and rim are separate strata: in the rim
 * single particles are nearest, and its larger errors would be lost in an rms with the core's. */
enum { AW_DOUBTFUL, AW_CORE, AW_RIM, AW_STRATA };

/** A point of the sample and its reference integrals. */
typedef struct aw_sample_point {
    size_t point;                    /* index in the problem */
    int stratum;                     /* AW_DOUBTFUL .. AW_RIM */
    double I[AW_RANGES][AW_RESULTS]; /* NaN: the adaptive integration did not converge */
} aw_sample_point;

/** The sample of a step. Begin with zeros; free with aw_sample_free. */
typedef struct aw_sample {
    aw_sample_point *entry; /* [n], owned */
    size_t n, capacity;
    uint64_t drawn; /* points taken from the sequence of aw_sample_draw, in all steps */
    double *edge;   /* workspace: cuts of the first regions [m] */
    size_t edge_capacity;
    size_t *added; /* workspace: entries that aw_sample_add is adding */
    size_t added_capacity;
} aw_sample;

void aw_sample_free(aw_sample *sample);

/** Draw a point of the grid from a stratum, AW_CORE or AW_RIM. Successive calls give different
 *  points that fill the stratum evenly, however many calls a step makes. */
size_t aw_sample_draw(aw_sample *sample, const aw_problem *problem, int stratum);

/** Where and how the reference integrals are computed. Everything is borrowed. */
typedef struct aw_sampling {
    aw_solver *solver; /* its lists of regions and jobs are overwritten */
    const aw_problem *problem;
    aw_work *work;                      /* is added to */
    double border;                      /* between the ranges [m] */
    double tolerance;                   /* of a range's integral, in scales */
    const aw_panels *panels[AW_RANGES]; /* the first regions are cut at these common nodes, */
    size_t stride;                      /* at one in this many, */
    const double *cut;                  /* [cuts], borrowed: and at these radii of the near range,
                                         * increasing [m] */
    size_t cuts;
} aw_sampling;

/** Add points point[i] of stratum[i], i < n; points that are in the sample already are skipped.
 *  @return AW_OK, AW_ERR_NOMEM, or what the device's refinement returns */
aw_status aw_sample_add(aw_sample *sample, const aw_sampling *sampling, const size_t *point,
                        const int *stratum, size_t n);

/** Compute the reference integrals of entries which[i], i < n, once more, with more cuts than
 *  before: the first integral may have missed a narrow spike.
 *  @return as aw_sample_add */
aw_status aw_sample_resample(aw_sample *sample, const aw_sampling *sampling, const size_t *which,
                             size_t n);

/** Sums over the points of a stratum. */
typedef struct aw_error_sums {
    double square; /* of the squares of the points' errors */
    double points; /* number of points */
} aw_error_sums;

/** Integrals by the common nodes, to be compared with the sample. Everything is borrowed. */
typedef struct aw_compared {
    int range;                     /* AW_NEAR, AW_FAR, or AW_RANGES: both together */
    const double (*I)[AW_RESULTS]; /* [points of the problem] */
    const aw_scales *scales;
} aw_compared;

/** Largest error of results first .. last - 1 at the points of the sample.
 *  @param[out] sums  [AW_STRATA] or NULL
 *  @return in scales; NaN if one of the errors is one */
double aw_sample_error(const aw_sample *sample, const aw_compared *compared, unsigned first,
                       unsigned last, aw_error_sums *sums);

/** The larger of the error of the potentials and of the error of the rates over AW_RATE_TOLERANCES,
 *  in scales. NaNs are ignored. */
double aw_sample_scaled_error(const double error[AW_RESULTS], const aw_scales *scales);

/** Entries with a scaled error above `limit`, in descending order of the error.
 *  @param[out] which  [capacity], their indices in the sample
 *  @return their number, at most `capacity` */
size_t aw_sample_worst(const aw_sample *sample, const aw_compared *compared, double limit,
                       size_t capacity, size_t *which);

#endif
