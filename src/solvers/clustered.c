/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/clustered.h"

#include <math.h>
#include <string.h>

#include "kernels/math/tile.h"
#include "src/base/memory.h"
#include "src/base/timer.h"

/* Workspaces by their place in aw_tiling.capacity. */
enum { TILE, MIDDLE, WHERE, BEGIN, SORTED, ORIGIN, INTEGRAL, ERROR, REST, REST_ERROR, COARSE };

/* Classes unless another number is asked for: the longer side of the grid, up to this many. More
 * save a per cent of the evaluations each time they double, and cost as many combinations of
 * slices (docs/strategies.md). */
enum { AW_CLASSES_MOST = 64 };

/* How much of the tolerance rates at every other node may add to the errors of a tile: then a class
 * takes them so. Regions are then shorter by a per cent, and cost a fifth less each. */
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
    const size_t usual = longer < AW_CLASSES_MOST ? longer : AW_CLASSES_MOST;
    const size_t wanted = forecast->classes > 0 ? (size_t)forecast->classes : usual;
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

/* Whether a class needs rates at all nodes: some of its tiles do, or nothing is known of them. */
static int is_fine(const aw_tiling *t, size_t class, double tolerance)
{
    if (t->judged != t->tiles) return 1;
    for (size_t i = t->begin[class]; i < t->begin[class + 1]; ++i)
        if (!((double)t->coarse[t->origin[i]] <= AW_COARSE_SHARE * tolerance)) return 1;
    return 0;
}

/* Classes in pieces that the device can work on at once. */
static aw_status make_clusters(aw_tiling *t, size_t most, double tolerance)
{
    aw_pass *main = &t->main;
    aw_status status = AW_OK;
    main->clusters = 0;
    for (size_t c = 0; c < t->classes; ++c) {
        const int fine = is_fine(t, c, tolerance);
        for (size_t i = t->begin[c]; i < t->begin[c + 1]; i += most) {
            const size_t rest = t->begin[c + 1] - i;
            AW_TRY(aw_grow((void **)&main->cluster, &main->capacity[0], main->clusters + 1,
                           sizeof *main->cluster));
            aw_cluster *one = &main->cluster[main->clusters++];
            one->tile = &t->sorted[i];
            one->tiles = rest < most ? rest : most;
            one->region = (const double(*)[2]) & t->intervals.region[t->cut[c]];
            one->regions = t->cut[c + 1] - t->cut[c];
            one->fine = fine;
        }
    }
    AW_TRY(aw_pass_grow(main));
done:
    return status;
}

/* Keep what was seen of rates at every other node. */
static aw_status judge_rates(aw_tiling *t)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&t->coarse, &t->capacity[COARSE], t->tiles, sizeof *t->coarse));
    for (size_t c = 0; c < t->main.clusters; ++c) {
        const aw_cluster *one = &t->main.cluster[c];
        const uint32_t *origin = &t->origin[one->tile - t->sorted];
        for (size_t i = 0; i < one->tiles; ++i) t->coarse[origin[i]] = one->coarse[i];
    }
    t->judged = t->tiles;
done:
    return status;
}

aw_status aw_tiling_solve(aw_tiling *t, aw_solver *solver, const aw_problem *problem,
                          double *result, double *error, aw_report *report)
{
    const aw_solution solution = {result, error, report};
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
    AW_TRY(judge_rates(t));
    const double evaluated = aw_now();
    report->evaluate += evaluated - start;
    status = aw_leftovers_solve(&t->leftovers, &t->main, solver, problem, &out, &solution);
    report->refine += aw_now() - evaluated;
done:
    return status;
}

aw_status aw_tiling_partition(aw_tiling *t, aw_conversion how, const aw_patterns *need)
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
        AW_TRY(aw_convert(how, need, &need->need[c * need->cells], earlier, n, &t->intervals));
    }
    t->cut[t->classes] = t->intervals.n;
done:
    return status;
}

/* The worst errors of a tile's regions are those of different points; no point has their sum. */
static double share_of(const aw_cluster *one, size_t tile, double total)
{
    double sum = 0.0;
    for (size_t k = 0; k < one->regions; ++k) sum += (double)one->worst[tile * one->regions + k];
    return sum > 0.0 ? total / sum : 1.0;
}

void aw_tiling_observe(const aw_tiling *t, aw_patterns *seen)
{
    size_t at = 0;
    aw_patterns_clear(seen);
    for (size_t c = 0; c < t->main.clusters; ++c) {
        const aw_cluster *one = &t->main.cluster[c];
        for (size_t i = 0; i < one->tiles; ++i) {
            const uint32_t tile = t->origin[(size_t)(one->tile - t->sorted) + i];
            const double share = share_of(one, i, (double)t->main.total[at++]);
            float *row = &seen->need[tile * seen->cells];
            for (size_t k = 0; k < one->regions; ++k) {
                const double error = share * (double)one->worst[i * one->regions + k];
                aw_pattern_add(seen->edge, seen->cells, one->region[k][0], one->region[k][1],
                               (float)sqrt(sqrt(error)), row);
            }
        }
    }
}
