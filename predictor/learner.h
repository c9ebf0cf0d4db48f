/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Online learning of access patterns: nearest neighbours among the tiles of the last steps. */
#ifndef AW_PREDICTOR_LEARNER_H
#define AW_PREDICTOR_LEARNER_H
#include "predictor/access_pattern.h"

AW_BEGIN_DECLS

/** What a strategy with a memory has learned. */
typedef struct aw_learner aw_learner;

/** A learner that has seen nothing. @return AW_OK, AW_ERR_NOMEM. Free with aw_learner_free. */
aw_status aw_learner_new(aw_learner **out);
void aw_learner_free(aw_learner *learner);

/** Steps seen; 0 at first. */
size_t aw_learner_steps(const aw_learner *learner);

/** Take over the patterns seen at a step; the two last steps are kept.
 *  @param[in,out] seen   one row per tile; its storage is exchanged for that of a forgotten step
 *  @param[in]     where  [seen->rows]: place on the grid, in sides of the grid
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_NONFINITE (a tile's place; message). */
aw_status aw_learner_learn(aw_learner *learner, aw_patterns *seen, const double (*where)[2]);

/** Forecast for the coming step: for every tile the mean of the patterns of its k nearest
 *  neighbours in (place, time), carried over to the cells of `now`. A step back in time is as far
 *  as AW_STEP_LENGTH sides of the grid.
 *  @param[in,out] now  its edges say which cells; `need` is filled. One row per tile.
 *  @param[in]     k    neighbours, >= 1 (dissertation 4.1.2: kNN regression in x, y and t; places
 *                      are on the grid, not in the laboratory, through which the bunch flies)
 *  @return AW_OK, AW_ERR_NOMEM; AW_ERR_ARG when nothing has been seen. */
aw_status aw_learner_forecast(const aw_learner *learner, const double (*where)[2], int k,
                              aw_patterns *now);

#define AW_STEP_LENGTH 0.01

AW_END_DECLS
#endif
