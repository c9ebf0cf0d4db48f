/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cases of `arcwake validate`, and the tools of which they are made. */
#ifndef AW_VALIDATE_CASES_H
#define AW_VALIDATE_CASES_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** One comparison. `error` is |ours - reference|/scale; a NaN never passes. */
typedef struct aw_check {
    const char *name; /* of the case, static */
    char quantity[96];
    double ours, reference, error;
    double tolerance; /* of the error; NaN: for information, passes when ours is finite */
    int pass;
    double seconds; /* since the check before it */
} aw_check;

/** What a case is given, and where its checks go. */
typedef struct aw_validation {
    const char *name;      /* of the case that runs */
    const char *directory; /* for tables and pictures, borrowed; NULL: write none */
    int threads;           /* 0: what OpenMP chooses */
    const char *solver;    /* of cases that do not choose their own; NULL: AW_DEFAULT_SOLVER */
    aw_tuning tuning;      /* of the CPU device; zeros: the defaults */
    double mark;           /* time of the last check */
    aw_check *check;       /* owned by validate.c */
    size_t n, capacity;
} aw_validation;

typedef struct aw_case {
    const char *name, *claim;
    int seconds; /* about what it takes on two cores */
    int full;    /* 1: only by name or with --full */
    aw_status (*run)(aw_validation *validation);
} aw_case;

extern const aw_case aw_case_lcls_bend, aw_case_lcls_entrance, aw_case_lcls_exit,
    aw_case_lcls_energy, aw_case_straight_sheet, aw_case_lone_particle, aw_case_mse,
    aw_case_split_bend, aw_case_step, aw_case_solvers, aw_case_strategies, aw_case_threads,
    aw_case_charge, aw_case_chicane_optics, aw_case_zeuthen;

/** Record and print a check. @param scale  > 0, to which the error is relative
 *  @return AW_OK, AW_ERR_NOMEM; a failed check is no error here. */
aw_status aw_check_add(aw_validation *validation, const char *quantity, double ours,
                       double reference, double scale, double tolerance);

/** Record a number that has a known value beside it but no tolerance. */
aw_status aw_check_note(aw_validation *validation, const char *quantity, double ours,
                        double reference);

/** Of n numbers, the one farthest from its reference, as one check (a NaN is farther than all). */
aw_status aw_check_worst(aw_validation *validation, const char *quantity, const double *ours,
                         const double *reference, size_t n, double scale, double tolerance);

/** A resolved input without files, ready to be altered: rigid, quiet, 1 nC, 1e6 particles, sigma
 *  50 um both ways, cut at 5 sigma, 128 x 128, c dt = 0.02 m, tolerance 1e-6, AW_DEFAULT_SOLVER.
 *  @param[in] element  copied;  @param gamma  of beam and lattice
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG. Free with aw_config_free. */
aw_status aw_case_config(const aw_validation *validation, const aw_element *element, size_t n,
                         double gamma, aw_upstream upstream, aw_config **out);

/** The LCLS bend (25.13 m, 11.4 degrees) from S = 0 and a metre of drift, otherwise the same. */
aw_status aw_case_lcls(const aw_validation *validation, aw_upstream upstream, aw_config **out);

/** A simulation with its first slice deposited. */
aw_status aw_case_begin(const aw_config *config, aw_simulation **out);

/** Deposit step after step without solving, to the step whose S is nearest. For rigid motion. */
aw_status aw_case_to(aw_simulation *simulation, double S);

/** Forces on a few rows of the grid about its axis: the same nodes, a fraction of the work. */
typedef struct aw_strip {
    aw_grid_view grid;
    aw_field_point *point; /* owned, [nx][ns] */
    double *result;        /* owned, [nx][ns][AW_RESULTS] */
    aw_forces forces;      /* owned, [nx][ns] each */
} aw_strip;

/** Room for the strip of a simulation. @return AW_OK, AW_ERR_NOMEM. Free with aw_strip_free. */
aw_status aw_strip_new(const aw_simulation *simulation, aw_strip *strip);
void aw_strip_free(aw_strip *strip);

/** Solve on the strip at the simulation's step. @return as aw_solver_solve. */
aw_status aw_strip_solve(aw_simulation *simulation, aw_strip *strip);

/** A force of the strip on the axis, s ahead of the centre [m]. */
double aw_strip_at(const aw_simulation *simulation, const aw_strip *strip, const double *field,
                   double s);

/** Potentials at chosen points, by a solver of the caller's: [n][AW_RESULTS].
 *  @param[in] columns  points per row where they are a grid, 0 otherwise
 *  @return as aw_solver_solve. */
aw_status aw_case_points(const aw_simulation *simulation, aw_solver *solver,
                         const aw_field_point *point, size_t n, size_t columns, double tolerance,
                         aw_scales *scales, double *result);

/** Write a table of numbers to DIR/name.csv, and let validation/plot.py draw it, if -o was given.
 *  @param[in] value  [rows][columns]
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO. No Python is a warning. */
aw_status aw_case_table(const aw_validation *validation, const char *name, const char *header,
                        const double *value, size_t rows, size_t columns);

AW_END_DECLS
#endif
