/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A solver: a strategy that computes the potentials at given points from the history. */
#ifndef AW_SOLVERS_SOLVER_H
#define AW_SOLVERS_SOLVER_H
#include "kernels/device/device.h"
#include "predictor/conversion.h"
#include "src/archive/archive.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Work and errors of one call of aw_solver_solve. */
typedef struct aw_report {
    aw_work work;
    uint64_t leftovers;   /* regions that the first pass refused */
    uint64_t max_regions; /* largest number of regions at a point, or of a class */
    double error;         /* largest error estimate of a point, in scales */
    size_t worst;         /* index of that point */
    aw_work evaluated;    /* the part of the work done in `evaluate` seconds */
    int single;           /* 1: moments were rounded to single precision in that part */
    /* Error of a forecast, if the problem records patterns (else 0): mean of |difference| over the
     * mean number of subregions of a tile, per cell of the starting partition and per slice
     * interval. */
    double forecast_cells, forecast_slices;
    /* Of a strategy that measures its error by a sample of points, integrated adaptively: */
    double sampled;         /* estimate of the largest error of the potentials, in scales; after a
                             * fallback the largest error at the sample's points */
    uint64_t samples;       /* points of the sample */
    int fell_back;          /* 1: the step was left to another strategy */
    int rule[2];            /* index of the rule used near and far, 0: the coarsest */
    size_t common_nodes[2]; /* nodes in r' near and far, without those of a convolution */
    /* Seconds of wall time by part. */
    double predict, cluster, upload, evaluate, refine, learn, sample, total;
} aw_report;

/** The input of one call; everything is borrowed. */
typedef struct aw_problem {
    const aw_history_view *history;
    const aw_field_point *point; /* [points] */
    size_t points;
    size_t columns;        /* points per row if they are a grid, row by row; 0: scattered points */
    aw_field_point centre; /* of the grid */
    double half;           /* every point lies within this distance of the centre [m] */
    double tolerance;      /* > 0: of phi over scales.phi, of psi over scales.psi */
    aw_scales scales;      /* see aw_solver_scales */
    /* NULL, or of a grid: [points], 0: nothing feels the force at a node. A strategy may leave
     * results as they are that no gradient at a felt node reads (kernels/math/slope.h). */
    const unsigned char *felt;
    int complete; /* 1: it may not, but need not measure their errors; the others are the same */
    aw_patterns *record; /* NULL, or filled with the regions used at each point: one row a point,
                            * in the cells of the starting partition */
} aw_problem;

/** What a strategy with a memory forecasts from. */
typedef enum aw_forecast_source {
    AW_FORECAST_LEARNED, /* the errors of the last steps */
    AW_FORECAST_OFF,     /* nothing: every step begins with the starting partition */
    AW_FORECAST_RANDOM   /* patterns that are wrong on purpose: for tests */
} aw_forecast_source;

/** How the roughness of a class is made from that of its tiles: the largest, or the mean. */
typedef enum aw_merge { AW_MERGE_MOST, AW_MERGE_MEAN } aw_merge;

/** Parameters of `heuristic` and `predictive`; docs/strategies.md has the measurements.
 *  None of them changes a result by more than the tolerance. */
typedef struct aw_forecast {
    aw_forecast_source source;
    int neighbours;           /* k of the nearest-neighbour regression, 1 .. 64 */
    int classes;              /* of tiles; 0: the nodes of the grid's longer side, at most 64 */
    aw_conversion conversion; /* of a pattern to a partition */
    aw_merge merge;
    double least;  /* smallest number of subregions of a cell; below 1 cells may be joined */
    double budget; /* target error of a class's worst point, in tolerances */
} aw_forecast;

aw_forecast aw_forecast_default(void);

/** Largest number of points in a block. Blocks, of the size that the device prefers
 *  (aw_device_list_points), keep lists of regions small whatever the grid. They never depend on the
 *  number of threads. */
enum { AW_POINT_BLOCK = 4096 };

typedef struct aw_solver aw_solver;

/** A strategy; its name is in the list of src/base/strategies.h. */
typedef struct aw_strategy {
    /** Potentials of all points. `result` is [points][AW_RESULTS]; see aw_solver_solve. */
    aw_status (*solve)(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report);
    /** Make and free solver->memory, and save or load it; NULL if the strategy has none. A new
     *  memory is as before the first step. @return NULL: out of memory */
    void *(*new_memory)(void);
    void (*free_memory)(void *memory);
    void (*archive)(void *memory, aw_archive *archive);
} aw_strategy;

/** Make a solver; free it with aw_solver_free.
 *  @param[in] device  borrowed; must outlive the solver
 *  @return AW_OK, AW_ERR_ARG (no such strategy: message), AW_ERR_NOMEM. */
aw_status aw_solver_new(const char *strategy, aw_device *device, aw_solver **out);
void aw_solver_free(aw_solver *solver);

/** Save or load what the solver has learned from earlier steps. */
void aw_solver_archive(aw_solver *solver, aw_archive *archive);

/** Set the parameters of the forecast; what the solver has learned stays. */
void aw_solver_forecast(aw_solver *solver, const aw_forecast *forecast);

/** Name of the i-th strategy; NULL past the last. */
const char *aw_solver_list(int i);

/** Scales of the results, for problem->scales: those of the last step if the strategy stores them,
 *  else by a coarse pass, the rule on the starting partition at some points of the grid. Between
 *  plates they are those of the bunch alone: its images may cancel a hundredfold of it, and what
 *  they change counts by what there was.
 *  @param[out] scales  phi: max |phi|; psi: max |psi|; rate: 300 times the largest force, estimated
 *  by the largest rate or psi over eight of the longer spacings
 *  @return AW_OK, AW_ERR_NONFINITE (no charge, or a NaN: message), or the partition's errors. */
aw_status aw_solver_scales(aw_solver *solver, const aw_problem *problem, aw_scales *scales);

/** Compute phi, c A, psi and the rates (kernels/math/view.h) at every point.
 *  @param[out] result  [points][AW_RESULTS], integrals without the factor 1/(4 pi eps0) [C/m, rates
 *  C/m^2]
 *  @param[out] error   [points] or NULL: error estimate of each point, in scales
 *  @param[out] report  filled on every return
 *  @return AW_OK; AW_ERR_MAXEVAL (a point misses the tolerance: `result` holds the best values, the
 *  message names the point); AW_ERR_NONFINITE; AW_ERR_RANGE; AW_ERR_NOMEM; AW_ERR_BACKEND. */
aw_status aw_solver_solve(aw_solver *solver, const aw_problem *problem, double *result,
                          double *error, aw_report *report);

AW_END_DECLS
#endif
