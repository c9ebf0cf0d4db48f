/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arithmetic of the bench: from times and counts of a solve to the figures of its tables. */
#ifndef AW_BENCH_FIGURES_H
#define AW_BENCH_FIGURES_H
#include <stddef.h>

#include "kernels/device/peak.h"
#include "kernels/multi/devices.h"
#include "src/input/config.h"
#include "src/solvers/solver.h"

AW_BEGIN_DECLS

/* Operations (multiplications and additions, one each) that an evaluation of the integrand takes
 * on the cells it reads; its position and the weights of the cells, a fifth more, are not counted.
 * - On nine combined cells of six numbers (kernels/cpu/simd/tile.h; sweeps of several points combine
 *   cells likewise): for each of three rows and three moments the weighted value of three cells
 *   (5), its slope and its rate (11), and their shares of the sums (2 and 4). */
#define AW_OPERATIONS_COMBINED 198.0
/* Of these, such that the values alone take (on three numbers a cell). */
#define AW_OPERATIONS_VALUES 63.0
/* - On the cells of three slices (refinement): 27 cells, 3 moments, a value and a rate each, a
 *   multiplication and an addition each. Also the device of 27-point equivalents, which measure
 *   what is computed rather than how. */
#define AW_OPERATIONS_27 324.0
/*   Of these, such that the values alone take. */
#define AW_OPERATIONS_27_VALUES 162.0

/* Numbers that an evaluation reads, counting each anew for every evaluation: most come from the
 * nearest cache. */
#define AW_NUMBERS_COMBINED 54.0
#define AW_NUMBERS_VALUES 27.0
#define AW_NUMBERS_27 81.0

/** A device of several that work together. */
typedef struct aw_bench_device {
    char name[32];
    double alone; /* its time for all of the work, with the threads that it has [s] */
    double busy;  /* its time for its part [s] */
    double bins;  /* and of how many bins that was */
} aw_bench_device;

/** What one measurement gives: means over its solves, of all threads together. */
typedef struct aw_bench_row {
    char solver[AW_NAME_MAX], device[96];
    int grid, threads, solves;
    size_t particles, nodes;
    double tolerance;
    int interpolates;  /* 1: the part `evaluate` reads slices that were combined in time */
    int single;        /* 1: moments of the part `evaluate` are of single precision */
    double mean, best; /* the stage of the potentials: mean and quickest of the solves [s] */
    double predict, cluster, upload, evaluate, refine, learn; /* parts of the mean [s] */
    double evaluations, rated;                                /* aw_work */
    double evaluated, evaluated_rated;      /* of these, those of the part `evaluate` */
    double outer_nodes, regions, leftovers; /* aw_report */
    /* NaN where they were not asked for: */
    double error_phi, error_psi;            /* aw_verify_solution */
    double adaptive;                        /* evaluations per point of the adaptive strategy */
    double forecast_cells, forecast_slices; /* aw_report */
    double sampled;                         /* aw_report, the worst of the solves */
    int fell_back;                          /* solves that were left to another strategy */
    int rule[2];                            /* of the last solve (aw_report) */
    int devices;                            /* 0, or of a row of several devices together: */
    aw_bench_device each[AW_DEVICES_MAX];
    double ideal; /* what the devices could do it in together: 1/sum(1/alone) [s] */
} aw_bench_row;

/** A row of NaN and zeros. */
void aw_bench_row_clear(aw_bench_row *row);

/** Add a solve that took so many seconds. */
void aw_bench_row_add(aw_bench_row *row, const aw_report *report, double seconds);

/** From sums to means. */
void aw_bench_row_close(aw_bench_row *row);

/** What follows from a row. */
typedef struct aw_bench_figures {
    double equivalent;   /* 27-point equivalents over the whole stage [1e9/s] */
    double kernel;       /* counted operations over the part that evaluates [1e9/s] */
    double intensity;    /* these operations per byte read, by count */
    double peak_share;   /* of the processor's best in that precision; NaN without a peak */
    double nanoseconds;  /* of a core's time for an evaluation, in that part */
    double rated;        /* share of the evaluations that have rates ... */
    double kernel_rated; /* ... and of those of the part that evaluates */
    double leftover;     /* regions refused, of all */
    double over;         /* evaluations per point over those of the adaptive strategy; or NaN */
    double learning;     /* share of the stage that clusters, predicts and trains */
} aw_bench_figures;

/** The part that evaluates is `evaluate`, or `refine` where there is no such part (adaptive).
 *  @param[in] peak  NULL: not measured */
void aw_bench_figure(const aw_bench_row *row, const aw_peak *peak, aw_bench_figures *out);

AW_END_DECLS
#endif
