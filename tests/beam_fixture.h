/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bench bunch: a rigid beam that enters a bend, with its grid, history and field points. */
#ifndef AW_TESTS_BEAM_FIXTURE_H
#define AW_TESTS_BEAM_FIXTURE_H
#include "pic/deposit.h"
#include "pic/frame.h"
#include "pic/history.h"
#include "pic/lattice.h"
#include "pic/particles.h"
#include "src/solvers/solver.h"

enum { BENCH_PIECES_MAX = 4 };

typedef struct bench_params {
    int ns, nx;
    size_t particles;
    int quiet, single;
    double gamma, sigma_s, sigma_x; /* [m] */
    double height2;                 /* at S = 0; it grows by 1 per metre [m^2] */
    double gap;                     /* between plates; 0: none [m] */
    double wavelength;              /* of a density modulation of 20 %; 0: none [m] */
    double radius;                  /* of the bend that begins at S = 0 [m] */
    double cdt;                     /* [m] */
    int ladder;                     /* 1: steps of cdt, 2 cdt and cdt/2 by turns */
    double piece[BENCH_PIECES_MAX]; /* lengths of the pieces of the bend [m]; 0: no more pieces */
} bench_params;

typedef struct bench {
    bench_params params;
    aw_lattice *lattice;
    aw_particles *particles;
    aw_frame frame;
    aw_deposit *deposit;
    aw_history *history;
    aw_field_point *point; /* [points], of the newest grid */
    size_t points;
    int step; /* number of the next step */
} bench;

/* LCLS bend (R = 25.13 m, 5 m long), 1 nC, gamma = 1e4, 50 x 50 um, on 32 x 32 nodes. */
bench_params bench_lcls(void);

/* Set up the bench with an empty history; any failure fails the test. Free with bench_close. */
void bench_open(bench *b, const bench_params *params);
void bench_close(bench *b);

/* Move the beam on, step by step, until its centre is at S [m] (a multiple of cdt; of
 * 10 cdt on a ladder). */
void bench_run(bench *b, double S);

/* A CPU device; an error fails the test. variant NULL: the fastest. */
aw_device bench_device(const char *variant, int threads, double density);

/* The problem of the newest grid, with the scales of all its points but only every n-th point.
 * bench.point has only these points until the next bench_run. */
aw_problem bench_problem(bench *b, double tolerance, size_t every);

/* The problem of the whole newest grid, row by row. */
aw_problem bench_grid_problem(bench *b, double tolerance);

/* @param result [problem->points][AW_RESULTS] */
aw_status bench_solve(const char *strategy, aw_device *device, const aw_problem *problem,
                      double *result, aw_report *report);

/* Largest |a| of result k over all points. */
double bench_largest(const double *a, size_t points, unsigned k);

/* Largest |a - b| of result k over all points, over the largest |b|. */
double bench_distance(const double *a, const double *b, size_t points, unsigned k);

/* Results at every n-th point of a problem by `adaptive` on the fastest variant, with a tolerance
 * smaller by 1000 and four times as many inner nodes; free with aw_free. */
double *bench_reference(const aw_problem *problem, size_t every);

/* Largest |difference| of result k at the points of the reference, over the largest |result| at all
 * points. */
double bench_error(const aw_problem *problem, size_t every, const double *reference,
                   const double *result, unsigned k);

/* Array of n zeros; no memory fails the test. Free with aw_free. */
double *bench_array(size_t n);

#endif
