/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategy `predictive`, COMPUTE-POTENTIALS-ML (dissertation 4.2): forecast the access pattern
 * of every tile, cluster the tiles by their patterns, give each cluster one partition, evaluate it
 * uniformly, refine the leftovers, and learn from the errors. Differences:
 * - The learned quantity is the roughness of each cell (aw_patterns_allot), from the error
 *   estimates of the regions used, not their number. It does not depend on the partition that was
 *   used, so forecasts shrink as readily as they grow, a merged partition cannot grow from step to
 *   step, and numbers of regions can be chosen for the error of the sum.
 * - Tiles of 16 neighbours, the lanes of a vector, are forecast and clustered, not points.
 * - Cells are those of the starting partition (access_pattern.h says why not slices). */
#include <math.h>
#include <string.h>

#include "kernels/math/retarded.h"
#include "predictor/kmeans.h"
#include "predictor/learner.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/solvers/clustered.h"

/* Iterations of k-means at a step; it starts from the last step's centroids. */
enum { AW_ITERATIONS = 5 };
/* Iterations for the numbers of regions of a class: the third changes them by less than 1 %. */
enum { AW_ALLOTMENTS = 3 };

typedef struct predictive {
    aw_tiling tiling;
    aw_learner *learner;
    aw_kmeans *kmeans;
    aw_patterns rough;   /* forecast roughness, one row a tile; after the step the roughness seen */
    aw_patterns pattern; /* forecast numbers of regions, one row a tile */
    aw_patterns joint;   /* numbers of regions, one row a class, and a row of workspace */
    double learned_at;   /* S of the newest slice then [m] */
} predictive;

static void free_memory(void *memory)
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

static void *new_memory(void)
{
    predictive *p = aw_alloc(1, sizeof *p);
    if (!p) return NULL;
    if (aw_learner_new(&p->learner) == AW_OK && aw_kmeans_new(&p->kmeans) == AW_OK) return p;
    free_memory(p);
    return NULL;
}

static void archive_memory(void *memory, aw_archive *archive)
{
    predictive *p = memory;
    aw_tiling_archive(&p->tiling, archive);
    aw_learner_archive(p->learner, archive);
    aw_kmeans_archive(p->kmeans, archive);
    AW_ARCHIVE_ITEM(archive, p->learned_at);
}

/* Multiply the roughness by arbitrary factors from 1/4 to 4, the same in every run (Knuth's
 * multiplicative hash). */
static void spoil(aw_patterns *rough)
{
    for (size_t i = 0; i < rough->rows * rough->cells; ++i) {
        const uint32_t hash = (uint32_t)(i + 1) * 2654435761U;
        rough->need[i] *= exp2f((float)(hash >> 16) / 16384.0F - 2.0F);
    }
}

/* Smallest number of regions of a cell. Cells of the starting partition are not joined if nothing
 * was learned about this beam, or long ago, as with --solve-every. */
static double least_regions(const predictive *p, const aw_solver *solver, const aw_problem *problem)
{
    const double least = solver->forecast.least;
    const int known = aw_learner_steps(p->learner) > 0 && aw_solver_is_next(problem, p->learned_at);
    return known ? least : fmax(least, 1.0);
}

/* Forecast the roughness and the pattern of every tile. */
static aw_status forecast_tiles(predictive *p, const aw_solver *solver, const aw_problem *problem)
{
    const aw_forecast *forecast = &solver->forecast;
    const aw_tiling *t = &p->tiling;
    aw_patterns *rough = &p->rough, *pattern = &p->pattern;
    aw_status status = AW_OK;
    AW_TRY(aw_patterns_shape(rough, solver->partition, t->tiles));
    AW_TRY(aw_patterns_shape(pattern, solver->partition, t->tiles));
    aw_patterns_clear(rough);
    if (forecast->source != AW_FORECAST_OFF && aw_learner_steps(p->learner) > 0)
        AW_TRY(aw_learner_forecast(p->learner, (const double(*)[2])t->where, forecast->neighbours,
                                   rough));
    if (forecast->source == AW_FORECAST_RANDOM) spoil(rough);
    const double least = least_regions(p, solver, problem);
    for (size_t i = 0; i < t->tiles; ++i) {
        float *row = &rough->need[i * rough->cells];
        for (size_t j = 0; j < rough->cells; ++j)
            if (aw_partition_misses(solver->partition, j, &t->middle[i], t->reach)) row[j] = -1.0F;
        aw_patterns_allot(row, rough->cells, least, forecast->budget * problem->tolerance,
                          &pattern->need[i * rough->cells]);
    }
done:
    return status;
}

/* Roughness of a class in each cell: the largest, or the mean, of its tiles. */
static void merge(const predictive *p, size_t class, aw_merge kind, float *out)
{
    const aw_tiling *t = &p->tiling;
    const size_t cells = p->rough.cells, n = t->begin[class + 1] - t->begin[class];
    for (size_t j = 0; j < cells; ++j) {
        float largest = -1.0F, sum = 0.0F;
        for (size_t i = 0; i < n; ++i) {
            const float one = p->rough.need[t->origin[t->begin[class] + i] * cells + j];
            largest = one > largest ? one : largest;
            sum += one > 0.0F ? one : 0.0F;
        }
        out[j] = kind == AW_MERGE_MOST || largest < 0.0F ? largest : sum / (float)n;
    }
}

/* Numbers of regions for a class: the fewest for which the worst of its tiles has the target error.
 * The joint roughness alone would demand more than any tile needs. */
static void allot_class(const predictive *p, size_t class, const float *rough, double least,
                        double target, float *need)
{
    const aw_tiling *t = &p->tiling;
    const size_t cells = p->rough.cells;
    double total = target;
    for (int i = 0; i < AW_ALLOTMENTS; ++i) {
        double worst = 0.0;
        aw_patterns_allot(rough, cells, least, total, need);
        for (size_t k = t->begin[class]; k < t->begin[class + 1]; ++k)
            worst =
                fmax(worst, aw_patterns_error(&p->rough.need[t->origin[k] * cells], need, cells));
        if (!(worst > 0.0)) break;
        total *= fmin(fmax(target / worst, 0.25), 4.0);
    }
}

/* Cluster tiles with similar patterns, and make a partition for each class. */
static aw_status cluster_tiles(predictive *p, const aw_solver *solver, const aw_problem *problem)
{
    const aw_forecast *forecast = &solver->forecast;
    aw_tiling *t = &p->tiling;
    aw_status status = AW_OK;
    const size_t cells = p->pattern.cells, classes = aw_tiling_classes_for(t, problem, forecast);
    const aw_kmeans_rows rows = {p->pattern.need, t->tiles, cells};
    const aw_kmeans_options options = {.k = classes, .warm = 1, .iterations = AW_ITERATIONS};
    AW_TRY(aw_kmeans_run(p->kmeans, &rows, &options, t->label, NULL));
    AW_TRY(aw_tiling_sort(t, classes));
    AW_TRY(aw_patterns_shape(&p->joint, solver->partition, classes + 1));
    const double least = least_regions(p, solver, problem);
    float *rough = &p->joint.need[classes * cells]; /* workspace: the joint roughness */
    for (size_t c = 0; c < classes; ++c) {
        merge(p, c, forecast->merge, rough);
        allot_class(p, c, rough, least, forecast->budget * problem->tolerance,
                    &p->joint.need[c * cells]);
    }
    AW_TRY(aw_tiling_partition(t, forecast->conversion, &p->joint));
done:
    return status;
}

/* Compare the forecast with the errors seen, both as numbers of regions (aw_report). */
static aw_status judge_forecast(predictive *p, const aw_solver *solver, const aw_problem *problem,
                                aw_report *report)
{
    const aw_forecast *forecast = &solver->forecast;
    const size_t cells = p->rough.cells, slices = (size_t)problem->history->n;
    const double total = forecast->budget * problem->tolerance;
    double *n = aw_alloc(3 * slices + 1, sizeof *n), *age = n + 2 * slices;
    double off[2] = {0.0, 0.0}, all[2] = {0.0, 0.0};
    float *seen = p->joint.need; /* no longer needed: workspace */
    if (!n) return AW_ERR_NOMEM;
    for (size_t i = 0; i <= slices; ++i) age[i] = aw_slice_age(problem->history, (int)i);
    for (size_t i = 0; i < p->rough.rows; ++i) {
        const float *predicted = &p->pattern.need[i * cells];
        memcpy(seen, &p->rough.need[i * cells], cells * sizeof *seen);
        for (size_t j = 0; j < cells; ++j)
            if (!(predicted[j] > 0.0F)) seen[j] = -1.0F; /* the circles miss the beam */
        aw_patterns_allot(seen, cells, forecast->least, total, seen);
        for (size_t j = 0; j < cells; ++j) {
            off[0] += fabs((double)(predicted[j] - seen[j]));
            all[0] += (double)seen[j];
        }
        aw_patterns_by_slice(&p->rough, predicted, age, slices, n);
        aw_patterns_by_slice(&p->rough, seen, age, slices, n + slices);
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
    if (!solver->memory && !(solver->memory = new_memory())) return AW_ERR_NOMEM;
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

const aw_strategy aw_strategy_predictive = {.solve = solve,
                                            .new_memory = new_memory,
                                            .free_memory = free_memory,
                                            .archive = archive_memory};
