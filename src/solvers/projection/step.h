/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a step of the strategy `projection`, and what the strategy keeps from step to step.
 * projection.c owns both; estimate.c and passes.c work on them. */
#ifndef AW_SOLVERS_PROJECTION_STEP_H
#define AW_SOLVERS_PROJECTION_STEP_H
#include "src/solvers/projection/blocks.h"
#include "src/solvers/projection/images.h"
#include "src/solvers/projection/sample.h"
#include "src/solvers/projection/zone.h"

/* The next pass of a zone: none, one with its present rule (the first of a step, or with shorter
 * panels), or one with a finer rule. */
enum { AW_NO_PASS, AW_SAME_RULE, AW_FINER_RULE };

/* Spread points that a step's sample gets: of one stratum, by turns; some of both, to see whether a
 * coarser rule will do; all. */
enum { AW_FEW_POINTS, AW_TRIAL_POINTS, AW_ALL_POINTS };

/** What the strategy keeps from step to step. */
typedef struct aw_common_memory {
    aw_zone zone[AW_RANGES];
    double (*sum)[AW_RESULTS]; /* [AW_RANGES + 1][points]: of the zones, and their workspace */
    double *check;             /* [AW_RANGES][points] */
    size_t capacity, check_capacity;
    unsigned char *mask; /* [2][points]: where potentials are wanted, and where the zones' sums are
                          * needed for them */
    size_t mask_capacity;
    aw_sample sample;
    double sample_cost;            /* evaluations of a point of the last sample, */
    double fallback_cost;          /* and of one that `predictive` solved for last; 0: none yet */
    aw_error_sums pool[AW_STRATA]; /* errors at spread points of earlier steps, same rules */
    uint64_t steps;
    void *fallback;    /* memory of `predictive`, to which steps are left */
    aw_images *images; /* NULL: none were computed apart yet */
    double forgone;    /* evaluations that coarser rules would have saved since the last attempt */
    int coarsened;     /* 1: the rules were coarsened after the last step */
    int over_cost_steps; /* steps in a row that were over cost */
    int pause;           /* steps that are left to `predictive` at once, */
    int pause_left;      /* and how many of them are still to come */
} aw_common_memory;

/** The state of a step. */
typedef struct aw_common_step {
    aw_solver *solver;
    aw_common_memory *p;
    const aw_problem *problem;
    aw_report *report;
    uint64_t begun;              /* evaluations counted before it */
    double border;               /* between the zones [m] */
    aw_blocks blocks;            /* of the convolution */
    double end;                  /* of the far zone [m] */
    const unsigned char *wanted; /* [points]: where the potentials are; NULL: everywhere */
    int pass[AW_RANGES];         /* the next passes */
    int repeated;                /* 1: they are not the first of the step */
    int check_rates;             /* 1: null rules check the rates, 0: the potentials */
    int sample_size;             /* AW_FEW_POINTS .. */
    int spread_points;           /* spread points of the sample, in core and rim each */
    int spike_rounds;            /* times that single panels were examined */
    int resampled;               /* 1: points were resampled since the last pass */
    int probed; /* 1: nodes in angle were chosen at the sample's worst points, too */
    aw_error_sums proven[AW_STRATA]; /* of a trial: the pool of the finer rules before */
    double best; /* smallest estimate so far, and the passes since that have not lowered */
    int in_vain; /* it by AW_PROGRESS */
} aw_common_step;

#endif
