/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/learner.h"

#include <math.h>
#include <string.h>

#include "predictor/knn.h"
#include "src/base/log.h"
#include "src/base/memory.h"

enum { AW_LAYERS = 2, AW_NEIGHBOURS_MAX = 64 };

struct aw_learner {
    aw_patterns layer[AW_LAYERS]; /* newest first */
    size_t layers, steps;
    aw_knn *tree;
    double (*point)[3]; /* points of the tree: tiles of the newest layer, then of the older one */
    size_t point_capacity;
    double (*older)[2]; /* [layer[0].rows]: positions of the newest tiles, for the next tree */
    size_t older_capacity;
};

aw_status aw_learner_new(aw_learner **out)
{
    aw_status status = AW_OK;
    aw_learner *learner = *out = aw_alloc(1, sizeof *learner);
    AW_TRY(learner ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(aw_knn_new(&learner->tree));
    return AW_OK;
done:
    aw_learner_free(learner);
    *out = NULL;
    return status;
}

void aw_learner_free(aw_learner *learner)
{
    if (!learner) return;
    for (int i = 0; i < AW_LAYERS; ++i) aw_patterns_free(&learner->layer[i]);
    aw_knn_free(learner->tree);
    aw_free(learner->point);
    aw_free(learner->older);
    aw_free(learner);
}

size_t aw_learner_steps(const aw_learner *learner) { return learner->steps; }

aw_status aw_learner_learn(aw_learner *learner, aw_patterns *seen, const double (*where)[2])
{
    aw_status status = AW_OK;
    const size_t old = learner->layers > 0 ? learner->layer[0].rows : 0, n = seen->rows;
    const aw_patterns discarded = learner->layer[AW_LAYERS - 1];
    for (size_t i = 0; i < n; ++i) /* before anything is changed */
        if (!isfinite(where[i][0]) || !isfinite(where[i][1]))
            return aw_error(AW_ERR_NONFINITE, "the position of tile %zu is not finite: %g, %g", i,
                            where[i][0], where[i][1]);
    AW_TRY(aw_grow((void **)&learner->older, &learner->older_capacity, old > n ? old : n,
                   sizeof *learner->older));
    AW_TRY(aw_grow((void **)&learner->point, &learner->point_capacity, n + old,
                   sizeof *learner->point));
    learner->layer[1] = learner->layer[0];
    learner->layer[0] = *seen;
    *seen = discarded;
    learner->layers = learner->layers < AW_LAYERS ? learner->layers + 1 : AW_LAYERS;
    for (size_t i = 0; i < n + old; ++i) {
        const double *at = i < n ? where[i] : learner->older[i - n];
        double *p = learner->point[i];
        p[0] = at[0];
        p[1] = at[1];
        p[2] = i < n ? 0.0 : -AW_STEP_LENGTH;
    }
    memcpy(learner->older, where, n * sizeof *where);
    AW_TRY(aw_knn_build(learner->tree, (const double(*)[3])learner->point, n + old));
    learner->steps++;
done:
    return status;
}

aw_status aw_learner_forecast(const aw_learner *learner, const double (*where)[2], int k,
                              aw_patterns *now)
{
    aw_status status = AW_OK;
    float *one = NULL;
    const size_t newest = learner->layer[0].rows;
    if (learner->steps == 0) return aw_error(AW_ERR_ARG, "nothing has been learned yet");
    if (k > AW_NEIGHBOURS_MAX) k = AW_NEIGHBOURS_MAX;
    one = aw_alloc(now->cells, sizeof *one);
    AW_TRY(one ? AW_OK : AW_ERR_NOMEM);
    for (size_t i = 0; i < now->rows; ++i) {
        const double q[3] = {where[i][0], where[i][1], AW_STEP_LENGTH};
        uint32_t index[AW_NEIGHBOURS_MAX];
        double distance2[AW_NEIGHBOURS_MAX];
        float *need = &now->need[i * now->cells];
        const int found = aw_knn_query(learner->tree, q, k, index, distance2);
        memset(need, 0, now->cells * sizeof *need);
        for (int j = 0; j < found; ++j) {
            const aw_patterns *layer = &learner->layer[index[j] < newest ? 0 : 1];
            const size_t row = index[j] < newest ? index[j] : index[j] - newest;
            aw_patterns_carry(layer, &layer->need[row * layer->cells], now, one);
            for (size_t c = 0; c < now->cells; ++c) need[c] += one[c] / (float)found;
        }
    }
done:
    aw_free(one);
    return status;
}

void aw_learner_archive(aw_learner *l, aw_archive *archive)
{
    AW_ARCHIVE_ITEM(archive, l->layers);
    AW_ARCHIVE_ITEM(archive, l->steps);
    for (int i = 0; i < AW_LAYERS; ++i) aw_patterns_archive(&l->layer[i], archive);
    size_t newest = l->layer[0].rows, all = newest + (l->layers > 1 ? l->layer[1].rows : 0);
    aw_archive_array(archive, (void **)&l->older, &newest, &l->older_capacity, sizeof *l->older);
    aw_archive_array(archive, (void **)&l->point, &all, &l->point_capacity, sizeof *l->point);
    if (archive->way != AW_ARCHIVE_LOAD || archive->status != AW_OK || l->steps == 0) return;
    archive->status = aw_knn_build(l->tree, (const double(*)[3])l->point, all);
}
