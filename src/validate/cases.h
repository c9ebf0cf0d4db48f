/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cases of `arcwake validate`, and the tools that they are written with. */
#ifndef AW_VALIDATE_CASES_H
#define AW_VALIDATE_CASES_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** One comparison. `error` is |ours - reference|/scale; a NaN never passes. */
typedef struct aw_check {
    const char *name; /* of the case; static storage */
    char quantity[96];
    double ours, reference, error;
    double tolerance; /* of the error; NaN: for information only, passes if ours is finite */
    int pass;
    double seconds; /* since the previous check */
} aw_check;

/** Input of a case, and its checks. */
typedef struct aw_validation {
    const char *name;      /* of the running case */
    const char *directory; /* for tables and pictures, borrowed; NULL: none are written */
    int threads;           /* 0: as many as OpenMP chooses */
    const char *solver;    /* for cases that do not choose their own; NULL: AW_DEFAULT_SOLVER */
    aw_tuning tuning;      /* of the CPU device; zeros: the defaults */
    double mark;           /* time of the last check [s, aw_now] */
    aw_check *check;       /* [capacity], the first n are set; owned by validate.c */
    size_t n, capacity;
} aw_validation;

/** A case. It is defined at the end of its code, and listed in list.c. */
typedef struct aw_case {
    const char *name, *claim;
    int seconds; /* run time on two cores, roughly */
    int full;    /* 1: runs only if named, or with --full */
    aw_status (*run)(aw_validation *validation);
} aw_case;

/** The i-th case; NULL past the last. */
const aw_case *aw_case_list(int i);

/** Record and print a check.
 *  @param scale  > 0: the error is |ours - reference|/scale
 *  @return AW_OK, AW_ERR_NOMEM; a failed check is not an error here. */
aw_status aw_check_add(aw_validation *validation, const char *quantity, double ours,
                       double reference, double scale, double tolerance);

/** Record and print a number beside a known value, without a tolerance.
 *  @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_check_note(aw_validation *validation, const char *quantity, double ours,
                        double reference);

/** Numbers to be compared one by one; borrowed. */
typedef struct aw_pairs {
    const double *ours, *reference; /* [n] each */
    size_t n;
} aw_pairs;

/** Record and print as one check the pair that differs most (a NaN differs more than any number).
 *  @return as aw_check_add */
aw_status aw_check_worst(aw_validation *validation, const char *quantity, aw_pairs pairs,
                         double scale, double tolerance);

/** A resolved input made without files, which the case then alters: rigid motion, quiet start, 1
 *  nC, 1e6 particles, sigma 50 um in s and x, cut at 5 sigma, 128 x 128, c dt = 0.02 m, tolerance
 *  1e-6, AW_DEFAULT_SOLVER.
 *  @param[in] element  [n], copied
 *  @param gamma        of beam and lattice
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG. Free with aw_config_free. */
aw_status aw_case_config(const aw_validation *validation, const aw_element *element, size_t n,
                         double gamma, aw_upstream upstream, aw_config **out);

/** The same for the LCLS bend (radius 25.13 m, 11.4 degrees), which begins at S = 0, and a metre of
 *  drift behind it. @return as aw_case_config */
aw_status aw_case_lcls(const aw_validation *validation, aw_upstream upstream, aw_config **out);

/** The same for the Berlin-Zeuthen chicane with its chirped beam at 5 GeV.
 *  @return as aw_case_config */
aw_status aw_case_chicane(const aw_validation *validation, aw_config **out);

/** A simulation with its first slice deposited.
 *  @param[in] config  borrowed while the simulation lives
 *  @return as aw_simulation_new and aw_simulation_deposit. Free with aw_simulation_free. */
aw_status aw_case_begin(const aw_config *config, aw_simulation **out);

/** Advance and deposit without solving, up to the step whose centre is nearest to S [m]. For rigid
 *  motion. @return as aw_simulation_advance and aw_simulation_deposit */
aw_status aw_case_to(aw_simulation *simulation, double S);

/** Forces on the few rows of the grid next to its axis: the same nodes at a fraction of the
 *  work. */
typedef struct aw_strip {
    aw_grid_view grid;
    aw_field_point *point; /* owned, [nx][ns] */
    double *result;        /* owned, [nx][ns][AW_RESULTS] */
    aw_forces forces;      /* owned, [nx][ns] each */
} aw_strip;

/** Allocate the strip of a simulation. @return AW_OK, AW_ERR_NOMEM. Free with aw_strip_free. */
aw_status aw_strip_new(const aw_simulation *simulation, aw_strip *strip);
void aw_strip_free(aw_strip *strip);

/** Solve on the strip at the simulation's current step. @return as aw_solver_solve */
aw_status aw_strip_solve(aw_simulation *simulation, aw_strip *strip);

/** A force of the strip on the axis, s [m] ahead of the centre.
 *  @param[in] field  one of the arrays of strip->forces */
double aw_strip_at(const aw_simulation *simulation, const aw_strip *strip, const double *field,
                   double s);

/** Potentials and rates at chosen points, by the simulation's solver and tolerance.
 *  @param[in] point    [n]
 *  @param[in] columns  points per row if they form a grid, 0 otherwise
 *  @param[out] result  [n][AW_RESULTS]
 *  @return as aw_solver_solve */
aw_status aw_case_points(const aw_simulation *simulation, const aw_field_point *point, size_t n,
                         size_t columns, double *result);

/** With -o DIR: write a table to DIR/name.csv and have validation/plot.py draw it.
 *  @param[in] value  [rows][columns]
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO. A missing Python is only a warning. */
aw_status aw_case_table(const aw_validation *validation, const char *name, const char *header,
                        const double *value, size_t rows, size_t columns);

AW_END_DECLS
#endif
