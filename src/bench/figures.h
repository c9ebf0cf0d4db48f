/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the times and counts of solves to the figures in the tables of the bench. */
#ifndef AW_BENCH_FIGURES_H
#define AW_BENCH_FIGURES_H
#include <stddef.h>

#include "kernels/device/peak.h"
#include "kernels/multi/devices.h"
#include "src/input/config.h"
#include "src/solvers/solver.h"

AW_BEGIN_DECLS

/* Operations (multiplications and additions count one each) of an evaluation of the integrand on
 * the cells that it reads. Its position and the weights of the cells, a fifth more, are not
 * counted.
 * - On nine cells interpolated in time, of six numbers each (kernels/cpu/simd/tile.h; sweeps of
 *   several points do the same): for each of three rows and three moments the weighted value of
 *   three cells (5), its slope and its rate (11), and what they add to the sums (2 and 4). */
#define AW_OPERATIONS_COMBINED 198.0
/*   The same without rates, on three numbers per cell. */
#define AW_OPERATIONS_VALUES 63.0
/* - On the cells of three slices (refinement): 27 cells, 3 moments, a value and a rate each, a
 *   multiplication and an addition each. This is also the measure of the 27-point equivalents,
 *   which count what is computed rather than how. */
#define AW_OPERATIONS_27 324.0
/*   The same without rates. */
#define AW_OPERATIONS_27_VALUES 162.0

/* Numbers that an evaluation reads. Each evaluation counts all that it reads, although most of it
 * comes from the nearest cache. */
#define AW_NUMBERS_COMBINED 54.0
#define AW_NUMBERS_VALUES 27.0
#define AW_NUMBERS_27 81.0

/** One of several devices that work together. */
typedef struct aw_bench_device {
    char name[32];
    double alone; /* mean time for all of the work, with the threads it has among the others [s] */
    double busy;  /* mean time for its part of the work [s] */
    double bins;  /* mean number of bins in that part */
} aw_bench_device;

/** One measurement: means over its solves, all threads together. */
typedef struct aw_bench_row {
    char solver[AW_NAME_MAX], device[96];
    int grid, across, threads, solves; /* grid: nodes along the motion, across: across it */
    size_t particles, nodes;
    double tolerance;
    int interpolates;  /* 1: the part `evaluate` reads slices interpolated in time */
    int single;        /* 1: the part `evaluate` reads moments in single precision */
    double mean, best; /* time of the potentials: mean and shortest of the solves [s] */
    double predict, cluster, upload, evaluate, refine, learn; /* parts of the mean [s] */
    double evaluations, rated;                                /* aw_work */
    double evaluated, evaluated_rated;                        /* the same in the part `evaluate` */
    double outer_nodes, regions, leftovers;                   /* aw_report */
    /* NaN unless measured: */
    double error_phi, error_psi;            /* aw_verify_solution */
    double adaptive;                        /* evaluations per point of the adaptive strategy */
    double forecast_cells, forecast_slices; /* aw_report */
    double sampled;                         /* aw_report, the largest of the solves */
    int fell_back;                          /* solves that were left to another strategy */
    int rule[2];                            /* of the last solve (aw_report) */
    int devices;                            /* several devices together, else 0: */
    aw_bench_device each[AW_DEVICES_MAX];   /* [devices] */
    double ideal;                           /* 1/sum(1/alone) [s] (dissertation, eq. 20) */
} aw_bench_row;

/** A row before its first solve: zeros and NaN. */
void aw_bench_row_clear(aw_bench_row *row);

/** Add a solve that took `seconds`. */
void aw_bench_row_add(aw_bench_row *row, const aw_report *report, double seconds);

/** After the last solve: turn sums into means. */
void aw_bench_row_close(aw_bench_row *row);

/** Figures that follow from a row. */
typedef struct aw_bench_figures {
    double equivalent;   /* 27-point equivalents per second of all parts [1e9/s] */
    double kernel;       /* counted operations per second of the part that evaluates [1e9/s] */
    double intensity;    /* operations per byte read, in that part */
    double peak_share;   /* kernel over the measured peak in that precision; NaN without a peak */
    double nanoseconds;  /* time of one core for an evaluation, in that part [ns] */
    double rated;        /* share of the evaluations that have rates ... */
    double kernel_rated; /* ... and the same in the part that evaluates */
    double leftover;     /* share of the regions that were refused */
    double over;         /* evaluations over those of the adaptive strategy; NaN if not measured */
    double learning;     /* share of the time spent on clustering, prediction and training */
} aw_bench_figures;

/** The part that evaluates is `evaluate`, or `refine` where there is no such part (adaptive).
 *  @param[in] peak  NULL: not measured */
void aw_bench_figure(const aw_bench_row *row, const aw_peak *peak, aw_bench_figures *out);

AW_END_DECLS
#endif
