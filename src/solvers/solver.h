/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A solver: a strategy that computes the potentials at given points from the history. */
#ifndef AW_SOLVERS_SOLVER_H
#define AW_SOLVERS_SOLVER_H
#include "kernels/device/device.h"
#include "predictor/conversion.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** What a call has done; sums over the call. */
typedef struct aw_report {
    aw_work work;
    uint64_t leftovers;   /* regions that the first pass refused */
    uint64_t max_regions; /* most regions at one point, or of a class */
    double error;         /* worst error estimate of a point, in scales */
    size_t worst;         /* index of that point */
    aw_work evaluated;    /* of the work, that of the part `evaluate` */
    int single;           /* 1: the moments of that part were of single precision */
    /* How far a forecast was off, where the problem records what is used (else 0): the mean of
     * |difference| over the mean of a tile's numbers of subregions, in cells of the starting
     * partition and in slice intervals. */
    double forecast_cells, forecast_slices;
    /* Of a strategy that judges itself by a sample of points, recomputed adaptively: what it
     * makes likely as the largest error of the potentials, in scales (of a step that was left to
     * another, the worst at these points), how many they were, and whether it was left. */
    double sampled;
    uint64_t samples;
    int fell_back;
    int rule[2];      /* which of its rules it has used near and far, 0: the coarsest */
    size_t shared[2]; /* their nodes in r'; near those of a convolution are not counted */
    /* Seconds of wall time by part. */
    double predict, cluster, upload, evaluate, refine, learn, sample, total;
} aw_report;

/** One call's input; everything is borrowed. */
typedef struct aw_problem {
    const aw_history_view *history;
    const aw_field_point *point;
    size_t points;
    size_t columns;        /* points per row when they are a grid, row by row; 0: no grid. Only for
                             * the order of work: tiles of neighbours read the same cells */
    aw_field_point centre; /* of the grid */
    double half;           /* [m]: every point lies within this distance of the centre */
    double tolerance;      /* of phi over scales.phi and of psi over scales.psi, > 0 */
    aw_scales scales;      /* phi 0: found by a coarse pass, and written into the report's caller */
    aw_patterns *record; /* NULL, or filled with the regions that each point used: one row a point,
                              in the cells of the starting partition */
} aw_problem;

/** What a strategy with a memory forecasts from. */
typedef enum aw_forecast_source {
    AW_FORECAST_LEARNED, /* from what it saw in the last steps */
    AW_FORECAST_OFF,     /* from nothing: every step begins with the starting partition */
    AW_FORECAST_RANDOM   /* from patterns that are wrong on purpose: for tests */
} aw_forecast_source;

/** Which of the coming partitions of a class's tiles become the class's. */
typedef enum aw_merge { AW_MERGE_MOST, AW_MERGE_MEAN } aw_merge;

/** Parameters of `heuristic` and `predictive`; docs/strategies.md has what was measured.
 *  None changes an answer beyond the tolerance. */
typedef struct aw_forecast {
    aw_forecast_source source;
    int neighbours; /* k of the regression, 1 .. 64 */
    int classes; /* clusters of tiles; 0: as many as the grid's longer side has nodes, up to 64 */
    aw_conversion conversion; /* of a pattern to a partition */
    aw_merge merge;
    double least;  /* subregions a cell gets at least; below 1 cells may be joined */
    double budget; /* error of a class's worst point that is aimed for, in tolerances */
} aw_forecast;

aw_forecast aw_forecast_default(void);

/** Most points that are worked on together, so that lists of regions stay small whatever the grid:
 *  as many as the device wants (aw_device_list_points), up to this. How the points are cut never
 *  depends on the number of threads. */
enum { AW_POINT_BLOCK = 4096 };

typedef struct aw_solver aw_solver;

/** Where the answer of a call goes: the caller's arrays, as in aw_solver_solve. */
typedef struct aw_solution {
    double *result; /* [points][AW_RESULTS] */
    double *error;  /* [points] or NULL */
    aw_report *report;
} aw_solution;

/** A strategy. */
typedef struct aw_strategy {
    const char *name;
    /** Potentials of all points. `result` is [points][AW_RESULTS]; see aw_solver_solve. */
    aw_status (*solve)(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report);
    /** Free what the strategy has put into solver->memory; NULL if it puts nothing there. */
    void (*forget)(void *memory);
} aw_strategy;

/** Make a solver.
 *  @param[in] device  borrowed, outlives the solver
 *  @return AW_OK, AW_ERR_ARG (no such strategy: message), AW_ERR_NOMEM. */
aw_status aw_solver_new(const char *strategy, aw_device *device, aw_solver **out);
void aw_solver_free(aw_solver *solver);

/** Change how the solver forecasts; what it has learned stays. */
void aw_solver_forecast(aw_solver *solver, const aw_forecast *forecast);

/** Name of the i-th strategy; NULL past the last. */
const char *aw_solver_list(int i);

/** Scales by a coarse pass: the rule on the starting partition, at a few points of a grid.
 *  @param[out] scales  phi: max |phi|, psi: max |psi|, rate: 300 times the largest force, for which
 *  stand the largest rate and psi over eight of the longer spacings.
 *  @return AW_OK, AW_ERR_NONFINITE (no charge, or a NaN: message), or the partition's errors. */
aw_status aw_solver_scales(aw_solver *solver, const aw_problem *problem, aw_scales *scales);

/** Compute phi, c A, psi and the rates (kernels/math/view.h) at every point.
 *  @param[out] result  [points][AW_RESULTS], integrals that want the factor 1/(4 pi eps0) [C/m...]
 *  @param[out] error   [points] or NULL: error estimate of each point in units of the scales
 *  @param[out] report  written on every return
 *  @return AW_OK; AW_ERR_MAXEVAL (some point misses the tolerance: result holds the best, message
 *  names the point); AW_ERR_NONFINITE; AW_ERR_RANGE; AW_ERR_NOMEM; AW_ERR_BACKEND. */
aw_status aw_solver_solve(aw_solver *solver, const aw_problem *problem, double *result,
                          double *error, aw_report *report);

AW_END_DECLS
#endif
