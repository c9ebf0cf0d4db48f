/* SPDX-License-Identifier: GPL-3.0-or-later */
/* COMPUTE-POTENTIALS-ML (dissertation 4.2): forecast the access pattern of every tile, cluster the
 * tiles by their patterns, give each cluster one partition, evaluate it uniformly, refine what is
 * left over, and learn from what was seen. Differs:
 * - What is learned is the roughness of each cell (aw_patterns_allot), from the error estimates of
 *   the regions that were used, not the number of regions itself: it does not depend on the
 *   partition that happened to be used, so that forecasts shrink as readily as they grow, a merged
 *   partition cannot grow from step to step, and numbers can be chosen for the error of the sum.
 * - Tiles of 16 neighbours are forecast and clustered, not points: they are lanes of a vector.
 * - Cells are those of the starting partition (access_pattern.h says why not slices). */
#include <math.h>
#include <string.h>

#include "predictor/kmeans.h"
#include "predictor/learner.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/solvers/clustered.h"

/* Iterations of k-means at a step: it begins with the last step's centroids. */
enum { AW_ITERATIONS = 5 };
/* Corrections of a class's numbers: the third changes them by less than a per cent. */
enum { AW_ALLOTMENTS = 3 };

typedef struct predictive {
    aw_tiling tiling;
    aw_learner *learner;
    aw_kmeans *kmeans;
    aw_patterns rough;   /* forecast, a row for every tile */
    aw_patterns pattern; /* the same as numbers of regions */
    aw_patterns joint;   /* of the classes: roughness, then numbers */
    double learned_at;   /* S of the newest slice then [m] */
} predictive;

static void forget(void *memory)
{
    predictive *p = memory;
    if (!p) return;
    aw_tiling_free(&p->tiling);
    aw_learner_free(p->learner);
    aw_kmeans_free(p->kmeans);
    aw_patterns_free(&p->rough);
    aw_patterns_free(&p->pattern);
    aw_patterns_free(&p->joint);
    aw_free(p);
}

static aw_status remember(aw_solver *solver)
{
    aw_status status = AW_OK;
    predictive *p = solver->memory = aw_alloc(1, sizeof *p);
    AW_TRY(p ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(aw_learner_new(&p->learner));
    AW_TRY(aw_kmeans_new(&p->kmeans));
done:
    return status;
}

/* Numbers from 1/4 to 4 that mean nothing, the same at every run (Knuth's multiplicative hash). */
static void spoil(aw_patterns *rough)
{
    for (size_t i = 0; i < rough->rows * rough->cells; ++i) {
        const uint32_t hash = (uint32_t)(i + 1) * 2654435761U;
        rough->need[i] *= exp2f((float)(hash >> 16) / 16384.0F - 2.0F);
    }
}

/* Fewest regions of a cell. Cells of the starting partition are not joined where nothing is known
 * of this beam: where nothing was learned, or long ago, as with --solve-every. */
static double least_regions(const predictive *p, const aw_solver *solver, const aw_problem *problem)
{
    const double least = solver->forecast.least;
    const int known = aw_learner_steps(p->learner) > 0 && aw_solver_is_next(problem, p->learned_at);
    return known ? least : fmax(least, 1.0);
}

/* Roughness and pattern of every tile. */
static aw_status forecast_tiles(predictive *p, const aw_solver *solver, const aw_problem *problem)
{
    const aw_forecast *how = &solver->forecast;
    const aw_tiling *t = &p->tiling;
    aw_patterns *rough = &p->rough, *pattern = &p->pattern;
    aw_status status = AW_OK;
    AW_TRY(aw_patterns_shape(rough, solver->partition, t->tiles));
    AW_TRY(aw_patterns_shape(pattern, solver->partition, t->tiles));
    aw_patterns_clear(rough);
    if (how->source != AW_FORECAST_OFF && aw_learner_steps(p->learner) > 0)
        AW_TRY(
            aw_learner_forecast(p->learner, (const double(*)[2])t->where, how->neighbours, rough));
    if (how->source == AW_FORECAST_RANDOM) spoil(rough);
    const double least = least_regions(p, solver, problem);
    for (size_t i = 0; i < t->tiles; ++i) {
        float *row = &rough->need[i * rough->cells];
        for (size_t j = 0; j < rough->cells; ++j)
            if (aw_partition_misses(solver->partition, j, &t->middle[i], t->reach)) row[j] = -1.0F;
        aw_patterns_allot(row, rough->cells, least, how->budget * problem->tolerance,
                          &pattern->need[i * rough->cells]);
    }
done:
    return status;
}

/* Roughness of a class: of each cell the most, or the mean, of its tiles. */
static void merge(const predictive *p, size_t class, aw_merge how, float *out)
{
    const aw_tiling *t = &p->tiling;
    const size_t cells = p->rough.cells, n = t->begin[class + 1] - t->begin[class];
    for (size_t j = 0; j < cells; ++j) {
        float most = -1.0F, sum = 0.0F;
        for (size_t i = 0; i < n; ++i) {
            const float one = p->rough.need[t->origin[t->begin[class] + i] * cells + j];
            most = one > most ? one : most;
            sum += one > 0.0F ? one : 0.0F;
        }
        out[j] = how == AW_MERGE_MOST || most < 0.0F ? most : sum / (float)n;
    }
}

/* Numbers of regions for a class: the fewest for which the worst of its tiles has the error that is
 * aimed for. The joint roughness alone would ask for more than any tile needs. */
static void allot_class(const predictive *p, size_t class, const float *rough, double least,
                        double aim, float *need)
{
    const aw_tiling *t = &p->tiling;
    const size_t cells = p->rough.cells;
    double total = aim;
    for (int i = 0; i < AW_ALLOTMENTS; ++i) {
        double worst = 0.0;
        aw_patterns_allot(rough, cells, least, total, need);
        for (size_t k = t->begin[class]; k < t->begin[class + 1]; ++k)
            worst =
                fmax(worst, aw_patterns_error(&p->rough.need[t->origin[k] * cells], need, cells));
        if (!(worst > 0.0)) break;
        total *= fmin(fmax(aim / worst, 0.25), 4.0);
    }
}

/* Clusters of tiles of similar patterns, and a partition for each. */
static aw_status cluster_tiles(predictive *p, const aw_solver *solver, const aw_problem *problem)
{
    const aw_forecast *how = &solver->forecast;
    aw_tiling *t = &p->tiling;
    aw_status status = AW_OK;
    const size_t cells = p->pattern.cells, classes = aw_tiling_classes_for(t, problem, how);
    const aw_kmeans_rows rows = {p->pattern.need, t->tiles, cells};
    const aw_kmeans_how clusters = {.k = classes, .warm = 1, .iterations = AW_ITERATIONS};
    AW_TRY(aw_kmeans_run(p->kmeans, &rows, &clusters, t->label, NULL));
    AW_TRY(aw_tiling_sort(t, classes));
    AW_TRY(aw_patterns_shape(&p->joint, solver->partition, classes + 1));
    const double least = least_regions(p, solver, problem);
    float *rough = &p->joint.need[classes * cells]; /* one row more: the joint roughness */
    for (size_t c = 0; c < classes; ++c) {
        merge(p, c, how->merge, rough);
        allot_class(p, c, rough, least, how->budget * problem->tolerance,
                    &p->joint.need[c * cells]);
    }
    AW_TRY(aw_tiling_partition(t, how->conversion, &p->joint));
done:
    return status;
}

/* Forecast against what was seen, both as numbers of regions: aw_report.forecast_cells, ... */
static aw_status judge_forecast(predictive *p, const aw_solver *solver, const aw_problem *problem,
                                aw_report *report)
{
    const aw_forecast *how = &solver->forecast;
    const size_t cells = p->rough.cells, slices = (size_t)problem->history->n;
    const double cdt = problem->history->cdt, total = how->budget * problem->tolerance;
    double *n = aw_alloc(2 * slices, sizeof *n), off[2] = {0.0, 0.0}, all[2] = {0.0, 0.0};
    float *seen = p->joint.need; /* the classes have their partitions: one row serves as scratch */
    if (!n) return AW_ERR_NOMEM;
    for (size_t i = 0; i < p->rough.rows; ++i) {
        const float *forecast = &p->pattern.need[i * cells];
        memcpy(seen, &p->rough.need[i * cells], cells * sizeof *seen);
        for (size_t j = 0; j < cells; ++j)
            if (!(forecast[j] > 0.0F)) seen[j] = -1.0F; /* the circles miss the beam */
        aw_patterns_allot(seen, cells, how->least, total, seen);
        for (size_t j = 0; j < cells; ++j) {
            off[0] += fabs((double)(forecast[j] - seen[j]));
            all[0] += (double)seen[j];
        }
        aw_patterns_by_slice(&p->rough, forecast, cdt, slices, n);
        aw_patterns_by_slice(&p->rough, seen, cdt, slices, n + slices);
        for (size_t j = 0; j < slices; ++j) {
            off[1] += fabs(n[j] - n[slices + j]);
            all[1] += n[slices + j];
        }
    }
    report->forecast_cells = off[0] / all[0];
    report->forecast_slices = off[1] / all[1];
    aw_free(n);
    return AW_OK;
}

static aw_status solve(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report)
{
    aw_status status = AW_OK;
    double start = aw_now();
    if (problem->columns == 0) /* scattered points have no tiles */
        return aw_strategy_two_phase.solve(solver, problem, result, error, report);
    if (!solver->memory) AW_TRY(remember(solver));
    predictive *p = solver->memory;
    AW_TRY(aw_tiling_make(&p->tiling, problem));
    AW_TRY(forecast_tiles(p, solver, problem));
    report->predict += aw_now() - start;
    start = aw_now();
    AW_TRY(cluster_tiles(p, solver, problem));
    report->cluster += aw_now() - start;
    AW_TRY(aw_tiling_solve(&p->tiling, solver, problem, result, error, report));
    start = aw_now();
    AW_TRY(aw_patterns_shape(&p->rough, solver->partition, p->tiling.tiles));
    aw_tiling_observe(&p->tiling, &p->rough);
    if (problem->record) AW_TRY(judge_forecast(p, solver, problem, report));
    AW_TRY(aw_learner_learn(p->learner, &p->rough, (const double(*)[2])p->tiling.where));
    p->learned_at = problem->history->slice[0].S;
    report->learn += aw_now() - start;
done:
    return status;
}

const aw_strategy aw_strategy_predictive = {.name = "predictive", .solve = solve, .forget = forget};
