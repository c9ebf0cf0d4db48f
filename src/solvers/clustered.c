/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/clustered.h"

#include <math.h>
#include <string.h>

#include "kernels/tile.h"
#include "src/base/memory.h"
#include "src/base/timer.h"

/* Workspaces by their place in aw_tiling.capacity. */
enum {
    TILE,
    MIDDLE,
    WHERE,
    BEGIN,
    SORTED,
    ORIGIN,
    CLUSTER,
    WORST,
    INTEGRAL,
    ERROR,
    LEFT,
    LEFT_BEGIN
};

/* Tolerances from which on moments of single precision serve (docs/theory.md, "Numbers of single
 * precision"). */
#define AW_SINGLE_TOLERANCE 9e-7
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
    aw_free(t->cluster);
    aw_free(t->worst);
    aw_free(t->I);
    aw_free(t->error);
    aw_free(t->left);
    aw_free(t->left_begin);
    aw_cuts_free(&t->cuts);
    aw_free(t->before.label);
    aw_free(t->before.cut);
    aw_cuts_free(&t->before.cuts);
    memset(t, 0, sizeof *t);
}

aw_status aw_tiling_make(aw_tiling *t, const aw_problem *problem)
{
    aw_status status = AW_OK;
    const size_t columns = problem->columns, rows = problem->points / columns;
    const size_t across = (columns + AW_TILE - 1) / AW_TILE;
    const aw_tiling_classes last = t->before;
    t->before = (aw_tiling_classes){t->cuts,  t->cut,          t->label,
                                    t->tiles, t->cut_capacity, t->label_capacity};
    t->cuts = last.cuts;
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
    const size_t wanted = forecast->classes > 0 ? (size_t)forecast->classes : longer;
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

/* Classes in pieces that the unit can work on at once. */
static aw_status make_clusters(aw_tiling *t, size_t most, double tolerance)
{
    aw_status status = AW_OK;
    size_t errors = 0;
    t->clusters = 0;
    for (size_t c = 0; c < t->classes; ++c) {
        const size_t regions = t->cut[c + 1] - t->cut[c];
        for (size_t i = t->begin[c]; i < t->begin[c + 1]; i += most) {
            const size_t rest = t->begin[c + 1] - i;
            AW_TRY(aw_grow((void **)&t->cluster, &t->capacity[CLUSTER], t->clusters + 1,
                           sizeof *t->cluster));
            aw_cluster *one = &t->cluster[t->clusters++];
            one->tile = &t->sorted[i];
            one->tiles = rest < most ? rest : most;
            one->region = (const double(*)[2]) & t->cuts.region[t->cut[c]];
            one->regions = regions;
            one->tolerance = tolerance;
            errors += one->tiles * regions;
        }
    }
    AW_TRY(aw_grow((void **)&t->worst, &t->capacity[WORST], errors, sizeof *t->worst));
    errors = 0;
    for (size_t c = 0; c < t->clusters; ++c) {
        t->cluster[c].worst = &t->worst[errors];
        errors += t->cluster[c].tiles * t->cluster[c].regions;
    }
done:
    return status;
}

/* Refused regions point by point: within a point they come in ascending order already. */
static aw_status sort_refused(aw_tiling *t, size_t points, const aw_clustered *out)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&t->left, &t->capacity[LEFT], out->refusals, sizeof *t->left));
    AW_TRY(aw_grow((void **)&t->left_begin, &t->capacity[LEFT_BEGIN], points + 2,
                   sizeof *t->left_begin));
    memset(t->left_begin, 0, (points + 2) * sizeof *t->left_begin);
    for (size_t i = 0; i < out->refusals; ++i) t->left_begin[out->refused[i].point + 2]++;
    for (size_t p = 2; p <= points + 1; ++p) t->left_begin[p] += t->left_begin[p - 1];
    for (size_t i = 0; i < out->refusals; ++i)
        t->left[t->left_begin[out->refused[i].point + 1]++] = out->refused[i];
done:
    return status;
}

/* Points first .. last - 1: take of the refused regions what the tolerance allows, refine the rest
 * adaptively. */
static aw_status finish_points(aw_tiling *t, aw_solver *solver, const aw_problem *problem,
                               size_t first, size_t last, aw_report *report)
{
    const aw_device_ops *ops = solver->device->ops;
    aw_status status = AW_OK;
    size_t jobs = 0, point_of[AW_POINT_BLOCK];
    AW_TRY(
        aw_grow((void **)&solver->job, &solver->job_capacity, last - first, sizeof *solver->job));
    for (size_t p = first; p < last; ++p) {
        aw_estimate *e = &solver->estimate[p - first];
        const size_t begin = t->left_begin[p], n = t->left_begin[p + 1] - begin;
        memcpy(e->I, t->I[p], sizeof e->I);
        e->error = t->error[p];
        e->regions = 0;
        e->status = AW_OK;
        AW_TRY(aw_grow((void **)&solver->order, &solver->order_capacity, n, sizeof *solver->order));
        const size_t kept =
            aw_share_accept(&t->left[begin], n, solver->order, problem->tolerance, e);
        if (kept == 0) continue;
        report->leftovers += kept;
        point_of[jobs] = p - first;
        aw_job *job = &solver->job[jobs++];
        job->first = begin;
        job->count = kept;
        job->tolerance = problem->tolerance - e->error;
        aw_solver_record(problem, &t->left[begin], kept, -1.0F);
        aw_solver_record_job(problem, p, job);
    }
    if (jobs == 0) return AW_OK;
    AW_TRY(ops->refine(solver->device->state, t->left, solver->job, jobs, &problem->scales,
                       &report->work));
    AW_TRY(ops->wait(solver->device->state));
    for (size_t j = 0; j < jobs; ++j) {
        const aw_job *job = &solver->job[j];
        aw_estimate *e = &solver->estimate[point_of[j]];
        for (unsigned k = 0; k < AW_RESULTS; ++k) e->I[k] += job->I[k];
        e->error += job->error;
        e->regions += (uint32_t)job->regions;
        e->status = job->status;
    }
done:
    return status;
}

/* Every point of a cluster uses all of its regions, but for those in which its circle misses the
 * beam (error 0). */
static void record_clusters(const aw_tiling *t, aw_patterns *record)
{
    for (size_t c = 0; record && c < t->clusters; ++c) {
        const aw_cluster *one = &t->cluster[c];
        for (size_t i = 0; i < one->tiles; ++i)
            for (size_t k = 0; k < one->regions; ++k) {
                if (!(one->worst[i * one->regions + k] > 0.0F)) continue;
                for (uint32_t l = 0; l < one->tile[i].count; ++l)
                    aw_pattern_add(record->edge, record->cells, one->region[k][0],
                                   one->region[k][1], 1.0F,
                                   &record->need[(one->tile[i].first + l) * record->cells]);
            }
    }
}

aw_status aw_tiling_solve(aw_tiling *t, aw_solver *solver, const aw_problem *problem,
                          double *result, double *error, aw_report *report)
{
    const aw_device_ops *ops = solver->device->ops;
    aw_status status = AW_OK, worst = AW_OK;
    const size_t points = problem->points;
    const double start = aw_now();
    const uint64_t before = report->work.evaluations;
    aw_clustered out = {.refused = NULL};
    report->single = problem->tolerance >= AW_SINGLE_TOLERANCE;
    AW_TRY(make_clusters(t, aw_device_cluster_tiles(solver->device), problem->tolerance));
    AW_TRY(aw_grow((void **)&t->I, &t->capacity[INTEGRAL], points, sizeof *t->I));
    AW_TRY(aw_grow((void **)&t->error, &t->capacity[ERROR], points, sizeof *t->error));
    out.I = t->I;
    out.error = t->error;
    AW_TRY(ops->evaluate(solver->device->state, t->cluster, t->clusters, &problem->scales,
                         report->single, &out, &report->work));
    AW_TRY(ops->wait(solver->device->state));
    AW_TRY(sort_refused(t, points, &out));
    record_clusters(t, problem->record);
    const double evaluated = aw_now();
    report->evaluated += report->work.evaluations - before;
    report->evaluate += evaluated - start;
    for (size_t i = 0; i < points; ++i) solver->visit[i] = (uint32_t)i;
    for (size_t first = 0; first < points; first += AW_POINT_BLOCK) {
        const size_t last = first + AW_POINT_BLOCK < points ? first + AW_POINT_BLOCK : points;
        AW_TRY(finish_points(t, solver, problem, first, last, report));
        worst = aw_solver_finish(solver, problem, first, last, result, error, report, worst);
    }
    report->refine += aw_now() - evaluated;
    status = worst;
done:
    return status;
}

aw_status aw_tiling_partition(aw_tiling *t, aw_conversion how, const aw_patterns *need)
{
    aw_status status = AW_OK;
    t->cuts.n = 0;
    for (size_t c = 0; c < t->classes; ++c) {
        const double(*earlier)[2] = NULL;
        size_t n = 0;
        t->cut[c] = t->cuts.n;
        if (t->begin[c] == t->begin[c + 1]) continue;
        const size_t tile = t->origin[t->begin[c]];
        if (tile < t->before.tiles) {
            const size_t *cut = &t->before.cut[t->before.label[tile]];
            earlier = (const double(*)[2]) & t->before.cuts.region[cut[0]];
            n = cut[1] - cut[0];
        }
        AW_TRY(aw_convert(how, need, &need->need[c * need->cells], earlier, n, &t->cuts));
    }
    t->cut[t->classes] = t->cuts.n;
done:
    return status;
}

void aw_tiling_observe(const aw_tiling *t, aw_patterns *seen)
{
    aw_patterns_clear(seen);
    for (size_t c = 0; c < t->clusters; ++c) {
        const aw_cluster *one = &t->cluster[c];
        const size_t first = (size_t)(one->tile - t->sorted);
        size_t cell = 0;
        for (size_t k = 0; k < one->regions; ++k) {
            const double a = one->region[k][0], b = one->region[k][1];
            while (cell + 1 < seen->cells && seen->edge[cell + 1] <= a) ++cell;
            for (size_t j = cell; j < seen->cells && seen->edge[j] < b; ++j) {
                const double lo = fmax(a, seen->edge[j]), hi = fmin(b, seen->edge[j + 1]);
                const double part = (hi - lo) / (b - a); /* of the region that lies in the cell */
                for (size_t i = 0; i < one->tiles; ++i)
                    seen->need[t->origin[first + i] * seen->cells + j] +=
                        (float)(part * sqrt(sqrt((double)one->worst[i * one->regions + k])));
            }
        }
    }
}
