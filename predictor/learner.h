/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Online learning of access patterns: nearest neighbours among the tiles of the last steps. */
#ifndef AW_PREDICTOR_LEARNER_H
#define AW_PREDICTOR_LEARNER_H
#include "predictor/access_pattern.h"

AW_BEGIN_DECLS

/** The access patterns of the last two steps, and a tree of their tiles. */
typedef struct aw_learner aw_learner;

/** A learner without patterns. @return AW_OK, AW_ERR_NOMEM. Free with aw_learner_free. */
aw_status aw_learner_new(aw_learner **out);
void aw_learner_free(aw_learner *learner);

/** Number of steps learned. */
size_t aw_learner_steps(const aw_learner *learner);

/** Learn the patterns of a step; those of the last two steps are kept.
 *  @param[in,out] seen   one row per tile; its storage is exchanged for that of a discarded step
 *  @param[in]     where  [seen->rows]: positions of the tiles on the grid, in sides of the grid
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_NONFINITE (a tile's position: message). */
aw_status aw_learner_learn(aw_learner *learner, aw_patterns *seen, const double (*where)[2]);

/** Forecast for the next step: for every tile the mean of the patterns of its k nearest neighbours
 *  in (position, time), transferred to the cells of `now`. A step back in time counts as a distance
 *  of AW_STEP_LENGTH sides of the grid.
 *  @param[in]     where  [now->rows]: positions of the tiles, as above
 *  @param[in]     k      neighbours, >= 1; at most 64 are used (dissertation 4.1.2: kNN regression
 *                        in x, y and t; here positions are on the grid, which moves with the bunch)
 *  @param[in,out] now    one row per tile; its edges define the cells, `need` is filled
 *  @return AW_OK, AW_ERR_NOMEM; AW_ERR_ARG: nothing has been learned (message). */
aw_status aw_learner_forecast(const aw_learner *learner, const double (*where)[2], int k,
                              aw_patterns *now);

/** Save or load what has been learned. */
void aw_learner_archive(aw_learner *learner, aw_archive *archive);

#define AW_STEP_LENGTH 0.01

AW_END_DECLS
#endif
