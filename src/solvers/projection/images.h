/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The images of a bunch between conducting plates, computed apart from the bunch itself. An image
 * is a gap away at least, so that its potentials vary slowly over the grid: they are computed on
 * some lines of it and interpolated. How many lines follows from the error of the interpolation,
 * which is measured at every step. */
#ifndef AW_SOLVERS_PROJECTION_IMAGES_H
#define AW_SOLVERS_PROJECTION_IMAGES_H
#include "src/solvers/internal.h"

/** What is kept from step to step: the number of lines, and a solver of the strategy `projection`
 *  with what it has learned of the images. */
typedef struct aw_images aw_images;

/** @return NULL: out of memory. Free with aw_images_free. */
aw_images *aw_images_new(void);
void aw_images_free(aw_images *images);

/** Save or load what was learned. */
void aw_images_archive(aw_images *images, aw_archive *archive);

/** The problem of the bunch alone: without plates, and with its share of the tolerance.
 *  @param[out] view  the history of `out`; owned by the caller */
void aw_images_own_problem(const aw_problem *problem, aw_history_view *view, aw_problem *out);

/** Solve for the images on some lines of a grid.
 *  @param[in] of         the solver of the bunch: its device, on which the history and the points
 *                        of the images are left, and its forecast
 *  @param[in] own_error  estimate of the error of the bunch alone, in scales: what it leaves of the
 *                        tolerance is that of the images
 *  @return AW_OK, AW_ERR_NOMEM, or what aw_solver_solve returns */
aw_status aw_images_solve(aw_images *images, const aw_solver *of, const aw_problem *problem,
                          double own_error);

/** Add the potentials of the images, as solved for last.
 *  @param[in]     wanted  [points], where those of the bunch alone have been computed; NULL:
 *                         everywhere
 *  @param[in,out] result  [points][AW_RESULTS], those of the bunch alone
 *  @param[in,out] error   [points] or NULL, as that of the bunch alone
 *  @param[in,out] report  work, times and errors are added
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_images_add(aw_images *images, const aw_problem *problem, const unsigned char *wanted,
                        double *result, double *error, aw_report *report);

#endif
