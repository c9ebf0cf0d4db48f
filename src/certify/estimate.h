/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates of the numerical error of a result, from results of coarser and finer runs. */
#ifndef AW_CERTIFY_ESTIMATE_H
#define AW_CERTIFY_ESTIMATE_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Formal orders of convergence. */
#define AW_ORDER_GRID 6.0 /* the smoothing is compensated (pic/compensation.h) */
#define AW_ORDER_STEP 2.0 /* kick and drift, and quadratic interpolation between slices */

/** Safety factors of Roache's grid convergence index: with a credible order observed, and without.
 */
#define AW_FACTOR_OBSERVED 1.25
#define AW_FACTOR_ASSUMED 3.0

/** Scatter of a run over that of one with a quarter of the particles, N^-q: of a random start q =
 *  1/2; of quiet ones 0.78 to 1.1 for sizes (100 seeds) and 0.9 for forces of a rigid bunch. Where
 *  the self-force moves a quiet bunch it is not seen to fall (docs/certify.md). */
#define AW_SHRINK_RANDOM 0.5
#define AW_SHRINK_QUIET 0.36 /* q = 0.74 */
#define AW_SHRINK_MOVED 1.0

/** Differences below this share of the largest value are rounding, not convergence. */
#define AW_ROUNDING 1e-9

enum { AW_LEVELS = 3 };

/** Values of one quantity at `rows` places near each other, from a run and coarser ones. Several
 *  places steady the order, and a difference that passes through zero at one of them does not make
 *  the error vanish there. */
typedef struct aw_levels {
    const double *f[AW_LEVELS]; /* [rows], borrowed: fine to coarse; NULL: there is no such run */
    double h[AW_LEVELS];        /* spacings, in any unit, ascending */
    const double *finer;        /* [rows], borrowed: finer than f[0]; NULL: there is no such run */
    double h_finer;             /* its spacing, below h[0] */
    size_t rows, at;            /* `at`: the place whose error is wanted */
    double order;               /* the formal one */
    double scale;               /* largest value of the quantity, for rounding */
} aw_levels;

/** An estimated error, for 95 % confidence. */
typedef struct aw_estimate {
    double U;       /* NaN: nothing is known */
    double order;   /* observed; NaN: none (two levels, not monotone, rounding) */
    int asymptotic; /* 1: the order is credible, or all differences are rounding */
    int rounding;   /* 1: all differences are rounding, and U is what that may be */
} aw_estimate;

/** The error of f[0][at] as levels go to zero, after Roache (grid convergence index), Eca and
 *  Hoekstra (J. Comput. Phys. 262 (2014) 104): U = F |f2 - f1|/(r^p - 1), with the largest
 *  difference of the rows.
 *  - Three levels, monotone, and an observed order from 0.5 to order + 0.5: the smaller of both
 *    orders, with F = 1.25; below order - 0.5, F grows linearly, to 3 at 0.5.
 *  - A larger observed order: F = 3, but no less than 1.25 times what the two coarse levels say of
 *    the finest.
 *  - Not monotone, or an order below 0.5: F = 3 on the largest difference of two levels.
 *  - Two levels: F = 3.
 *  Where no order is observed, these take the formal one, but at most 2.5.
 *  A finer level gives a second estimate: F |f0 - finer|, and the error of the finer one by the
 *  same rules from it, f[0] and f[1], with F, the factor of the first estimate's order, or 1.25, as
 *  the least factor. It counts where the finer value lies outside of the first bar; where it alone
 *  observes an order; and where it is the smaller and neither does, or both and F > 1.25.
 *  Differences that are all below AW_ROUNDING of the scale give that instead. Never 0, unless the
 *  scale is 0. A NaN among the values removes its level; one in f[0] gives NaN. */
aw_estimate aw_estimate_levels(const aw_levels *levels);

/** The order p of a sequence with (f3 - f2)/(f2 - f1) = `ratio` at spacings h1 < h2 < h3, from 0 to
 *  12; NaN: none (a ratio that is not positive, or outside). */
double aw_observed_order(double ratio, const double h[AW_LEVELS]);

enum { AW_SEEDS = 3 };

/** Values at places near each other, from runs that differ in seed and number of particles. */
typedef struct aw_samples {
    const double *main;        /* [rows]: the run with all particles */
    const double *f[AW_SEEDS]; /* [rows] each: with a share of them; NULL: no such run */
    size_t rows;
    double shrink; /* scatter of the first over that of the others, at most 1 */
    double scale;
} aw_samples;

/** The error of the main run by macro-particle noise: the standard error of one run, from the
 *  scatter of all about their mean, each with its weight, and averaged over the rows; with
 *  Student's factor for two-sided 95 % and as many degrees of freedom as there are seeds. The main
 *  run counts as a sample, so that a bias of few particles is in the scatter; for normal deviates
 *  97 of 100 bars hold, and the median is 4 errors, where the seeds alone give 95 and 5.3. */
aw_estimate aw_estimate_noise(const aw_samples *samples);

/** The error by the tolerance of the quadrature: the largest difference of the rows to a run with a
 *  larger one, whose error that is. @param coarse [rows] */
aw_estimate aw_estimate_tolerance(const double *main, const double *coarse, size_t rows,
                                  double scale);

/** Sum in quadrature; a NaN, a source that is not known, makes it NaN. */
double aw_estimate_sum(const double *U, size_t n);

AW_END_DECLS
#endif
