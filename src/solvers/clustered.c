/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiles, classes and their uniform evaluation (clustered.h). */
#include "src/solvers/clustered.h"

#include <math.h>
#include <string.h>

#include "kernels/math/tile.h"
#include "src/base/memory.h"
#include "src/base/timer.h"

/* Indices of the workspaces in aw_tiling.capacity. */
enum { TILE, MIDDLE, WHERE, BEGIN, SORTED, ORIGIN, INTEGRAL, ERROR, REST, REST_ERROR, COARSE };

/* Number of classes by default: the nodes of the grid's longer side, up to this. Doubling the
 * number saves a per cent of the evaluations and doubles the interpolations of slices in time
 * (docs/strategies.md). */
enum { AW_CLASSES_MAX = 64 };

/* A class takes rates at every other node if that adds at most this part of the tolerance to the
 * errors of each of its tiles. Regions are then shorter by a per cent, and cost a fifth less
 * each. */
#define AW_COARSE_SHARE 0.5

void aw_tiling_free(aw_tiling *t)
{
    aw_free(t->tile);
    aw_free(t->middle);
    aw_free(t->where);
    aw_free(t->label);
    aw_free(t->begin);
    aw_free(t->sorted);
    aw_free(t->origin);
    aw_free(t->cut);
    aw_pass_free(&t->main);
    aw_leftovers_free(&t->leftovers);
    aw_free(t->I);
    aw_free(t->error);
    aw_free(t->rest);
    aw_free(t->rest_error);
    aw_free(t->coarse);
    aw_intervals_free(&t->intervals);
    aw_free(t->before.label);
    aw_free(t->before.cut);
    aw_intervals_free(&t->before.intervals);
    memset(t, 0, sizeof *t);
}

void aw_tiling_archive(aw_tiling *t, aw_archive *archive)
{
    AW_ARCHIVE_ITEM(archive, t->classes);
    size_t cuts = t->cut ? t->classes + 1 : 0, labels = t->label ? t->tiles : 0;
    aw_intervals *all = &t->intervals;
    aw_archive_array(archive, (void **)&all->region, &all->n, &all->capacity, sizeof *all->region);
    aw_archive_array(archive, (void **)&t->cut, &cuts, &t->cut_capacity, sizeof *t->cut);
    aw_archive_array(archive, (void **)&t->label, &labels, &t->label_capacity, sizeof *t->label);
    aw_archive_array(archive, (void **)&t->coarse, &t->judged, &t->capacity[COARSE],
                     sizeof *t->coarse);
    t->tiles = labels;
}

aw_status aw_tiling_make(aw_tiling *t, const aw_problem *problem)
{
    aw_status status = AW_OK;
    const size_t columns = problem->columns, rows = problem->points / columns;
    const size_t across = (columns + AW_TILE - 1) / AW_TILE;
    const aw_tiling_classes last = t->before;
    t->before = (aw_tiling_classes){t->intervals, t->cut,          t->label,
                                    t->tiles,     t->cut_capacity, t->label_capacity};
    t->intervals = last.intervals;
    t->cut = last.cut;
    t->label = last.label;
    t->cut_capacity = last.cut_capacity;
    t->label_capacity = last.label_capacity;
    t->tiles = 0;
    t->reach = 0.0;
    AW_TRY(aw_grow((void **)&t->tile, &t->capacity[TILE], rows * across, sizeof *t->tile));
    AW_TRY(aw_grow((void **)&t->middle, &t->capacity[MIDDLE], rows * across, sizeof *t->middle));
    AW_TRY(aw_grow((void **)&t->where, &t->capacity[WHERE], rows * across, sizeof *t->where));
    AW_TRY(aw_grow((void **)&t->label, &t->label_capacity, rows * across, sizeof *t->label));
    for (size_t j = 0; j < rows; ++j)
        for (size_t i = 0; i < columns; i += AW_TILE) {
            const size_t n = columns - i < AW_TILE ? columns - i : AW_TILE, k = t->tiles++;
            const aw_field_point *p = &problem->point[j * columns + i], *q = &p[n - 1];
            t->tile[k] = (aw_tile_ref){(uint32_t)(j * columns + i), (uint32_t)n};
            t->middle[k] = p[n / 2];
            t->middle[k].z = 0.5 * (p->z + q->z);
            t->middle[k].x = 0.5 * (p->x + q->x);
            t->where[k][0] = ((double)i + 0.5 * (double)n) / (double)columns - 0.5;
            t->where[k][1] = ((double)j + 0.5) / (double)rows - 0.5;
            t->reach = fmax(t->reach, 0.5 * hypot(q->z - p->z, q->x - p->x));
        }
done:
    return status;
}

size_t aw_tiling_classes_for(const aw_tiling *t, const aw_problem *problem,
                             const aw_forecast *forecast)
{
    const size_t columns = problem->columns, rows = problem->points / columns;
    const size_t longer = rows > columns ? rows : columns;
    const size_t standard = longer < AW_CLASSES_MAX ? longer : AW_CLASSES_MAX;
    const size_t wanted = forecast->classes > 0 ? (size_t)forecast->classes : standard;
    return wanted < t->tiles ? wanted : t->tiles;
}

aw_status aw_tiling_sort(aw_tiling *t, size_t classes)
{
    aw_status status = AW_OK;
    t->classes = classes;
    AW_TRY(aw_grow((void **)&t->begin, &t->capacity[BEGIN], classes + 2, sizeof *t->begin));
    AW_TRY(aw_grow((void **)&t->cut, &t->cut_capacity, classes + 2, sizeof *t->cut));
    AW_TRY(aw_grow((void **)&t->sorted, &t->capacity[SORTED], t->tiles, sizeof *t->sorted));
    AW_TRY(aw_grow((void **)&t->origin, &t->capacity[ORIGIN], t->tiles, sizeof *t->origin));
    memset(t->begin, 0, (classes + 2) * sizeof *t->begin);
    for (size_t i = 0; i < t->tiles; ++i) t->begin[t->label[i] + 2]++;
    for (size_t c = 2; c <= classes + 1; ++c) t->begin[c] += t->begin[c - 1];
    for (size_t i = 0; i < t->tiles; ++i) {
        const size_t at = t->begin[t->label[i] + 1]++;
        t->sorted[at] = t->tile[i];
        t->origin[at] = (uint32_t)i;
    }
done:
    return status;
}

/* Whether a class needs rates at all nodes: one of its tiles does, or the errors are not known. */
static int is_fine(const aw_tiling *t, size_t class, double tolerance)
{
    if (t->judged != t->tiles) return 1;
    for (size_t i = t->begin[class]; i < t->begin[class + 1]; ++i)
        if (!((double)t->coarse[t->origin[i]] <= AW_COARSE_SHARE * tolerance)) return 1;
    return 0;
}

/* Cut the classes into clusters of at most `tiles_max` tiles. */
static aw_status make_clusters(aw_tiling *t, size_t tiles_max, double tolerance)
{
    aw_pass *main = &t->main;
    aw_status status = AW_OK;
    main->clusters = 0;
    for (size_t c = 0; c < t->classes; ++c) {
        const int fine = is_fine(t, c, tolerance);
        for (size_t i = t->begin[c]; i < t->begin[c + 1]; i += tiles_max) {
            const size_t rest = t->begin[c + 1] - i;
            AW_TRY(aw_grow((void **)&main->cluster, &main->capacity[0], main->clusters + 1,
                           sizeof *main->cluster));
            aw_cluster *cluster = &main->cluster[main->clusters++];
            cluster->tile = &t->sorted[i];
            cluster->tiles = rest < tiles_max ? rest : tiles_max;
            cluster->region = (const double(*)[2]) & t->intervals.region[t->cut[c]];
            cluster->regions = t->cut[c + 1] - t->cut[c];
            cluster->fine = fine;
        }
    }
    AW_TRY(aw_pass_grow(main));
done:
    return status;
}

/* Store the errors of rates at every other node, for the next step. */
static aw_status store_rate_errors(aw_tiling *t)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&t->coarse, &t->capacity[COARSE], t->tiles, sizeof *t->coarse));
    for (size_t c = 0; c < t->main.clusters; ++c) {
        const aw_cluster *cluster = &t->main.cluster[c];
        const uint32_t *origin = &t->origin[cluster->tile - t->sorted];
        for (size_t i = 0; i < cluster->tiles; ++i) t->coarse[origin[i]] = cluster->coarse[i];
    }
    t->judged = t->tiles;
done:
    return status;
}

aw_status aw_tiling_solve(aw_tiling *t, aw_solver *solver, const aw_problem *problem,
                          double *result, double *error, aw_report *report)
{
    aw_status status = AW_OK;
    const size_t points = problem->points;
    const double start = aw_now();
    AW_TRY(make_clusters(t, aw_device_cluster_tiles(solver->device), problem->tolerance));
    AW_TRY(aw_grow((void **)&t->I, &t->capacity[INTEGRAL], points, sizeof *t->I));
    AW_TRY(aw_grow((void **)&t->error, &t->capacity[ERROR], points, sizeof *t->error));
    AW_TRY(aw_grow((void **)&t->rest, &t->capacity[REST], points, sizeof *t->rest));
    AW_TRY(
        aw_grow((void **)&t->rest_error, &t->capacity[REST_ERROR], points, sizeof *t->rest_error));
    const aw_clustered out = {t->I, t->error, t->rest, t->rest_error};
    AW_TRY(aw_pass_run(&t->main, 0, solver, problem, &out, report));
    AW_TRY(store_rate_errors(t));
    const double evaluated = aw_now();
    report->evaluate += evaluated - start;
    const aw_solution solution = {result, error, report};
    status = aw_leftovers_solve(&t->leftovers, &t->main, solver, problem, &out, &solution);
    report->refine += aw_now() - evaluated;
done:
    return status;
}

aw_status aw_tiling_partition(aw_tiling *t, aw_conversion conversion, const aw_patterns *need)
{
    aw_status status = AW_OK;
    t->intervals.n = 0;
    for (size_t c = 0; c < t->classes; ++c) {
        const double(*earlier)[2] = NULL;
        size_t n = 0;
        t->cut[c] = t->intervals.n;
        if (t->begin[c] == t->begin[c + 1]) continue;
        const size_t tile = t->origin[t->begin[c]];
        if (tile < t->before.tiles) {
            const size_t *cut = &t->before.cut[t->before.label[tile]];
            earlier = (const double(*)[2]) & t->before.intervals.region[cut[0]];
            n = cut[1] - cut[0];
        }
        AW_TRY(
            aw_convert(conversion, need, &need->need[c * need->cells], earlier, n, &t->intervals));
    }
    t->cut[t->classes] = t->intervals.n;
done:
    return status;
}

/* Factor that scales the worst errors of a tile's regions to the largest sum of errors at one
 * point: the worst errors belong to different points, and no point has their sum. */
static double share_of(const aw_cluster *cluster, size_t tile, double total)
{
    double sum = 0.0;
    for (size_t k = 0; k < cluster->regions; ++k)
        sum += (double)cluster->worst[tile * cluster->regions + k];
    return sum > 0.0 ? total / sum : 1.0;
}

void aw_tiling_observe(const aw_tiling *t, aw_patterns *seen)
{
    size_t at = 0;
    aw_patterns_clear(seen);
    for (size_t c = 0; c < t->main.clusters; ++c) {
        const aw_cluster *cluster = &t->main.cluster[c];
        for (size_t i = 0; i < cluster->tiles; ++i) {
            const uint32_t tile = t->origin[(size_t)(cluster->tile - t->sorted) + i];
            const double share = share_of(cluster, i, (double)t->main.total[at++]);
            float *row = &seen->need[tile * seen->cells];
            for (size_t k = 0; k < cluster->regions; ++k) {
                const double error = share * (double)cluster->worst[i * cluster->regions + k];
                aw_pattern_add(seen->edge, seen->cells, cluster->region[k][0],
                               cluster->region[k][1], (float)sqrt(sqrt(error)), row);
            }
        }
    }
}
