/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategy `heuristic`, COMPUTE-POTENTIALS-H (dissertation 3.3.2): k-means on position; one
 * partition per class, that of the class's centre by adaptive quadrature merged with what the
 * class's points needed at the last step; uniform evaluation; adaptive refinement of the
 * leftovers. Differences: tiles of 16 neighbours are classified instead of points. Numbers of
 * regions in the cells of the starting partition are merged, instead of nodes: the larger of the
 * two, rounded up to a power of two as bisection would give. A union of nodes would keep every
 * node for ever. */
#include <math.h>
#include <string.h>

#include "predictor/kmeans.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/solvers/clustered.h"

enum { AW_ITERATIONS = 20 };

typedef struct heuristic {
    aw_tiling tiling;
    aw_kmeans *kmeans;
    float *place; /* [tiles][2]: positions on the grid */
    size_t place_capacity;
    aw_patterns centre; /* numbers of regions at the centres of the classes, one row a class */
    aw_patterns last;   /* roughness at the last step, one row a tile */
    aw_patterns now;    /* the same in the cells of this step */
    int has_last;       /* 1: `last` is filled */
} heuristic;

static void free_memory(void *memory)
{
    heuristic *m = memory;
    if (!m) return;
    aw_tiling_free(&m->tiling);
    aw_kmeans_free(m->kmeans);
    aw_free(m->place);
    aw_patterns_free(&m->centre);
    aw_patterns_free(&m->last);
    aw_patterns_free(&m->now);
    aw_free(m);
}

static void *new_memory(void)
{
    heuristic *m = aw_alloc(1, sizeof *m);
    if (!m) return NULL;
    if (aw_kmeans_new(&m->kmeans) == AW_OK) return m;
    free_memory(m);
    return NULL;
}

static void archive_memory(void *memory, aw_archive *archive)
{
    heuristic *m = memory;
    aw_tiling_archive(&m->tiling, archive);
    aw_kmeans_archive(m->kmeans, archive);
    aw_patterns_archive(&m->last, archive);
    AW_ARCHIVE_ITEM(archive, m->has_last);
}

/* RP-CLASSIFIER: k-means on position. */
static aw_status classify(heuristic *m, const aw_solver *solver, const aw_problem *problem)
{
    aw_tiling *t = &m->tiling;
    aw_status status = AW_OK;
    const size_t classes = aw_tiling_classes_for(t, problem, &solver->forecast);
    AW_TRY(aw_grow((void **)&m->place, &m->place_capacity, 2 * t->tiles, sizeof *m->place));
    for (size_t i = 0; i < t->tiles; ++i)
        for (size_t k = 0; k < 2; ++k) m->place[2 * i + k] = (float)t->where[i][k];
    const aw_kmeans_rows places = {m->place, t->tiles, 2};
    const aw_kmeans_options options = {.k = classes, .warm = 1, .iterations = AW_ITERATIONS};
    AW_TRY(aw_kmeans_run(m->kmeans, &places, &options, t->label, NULL));
    AW_TRY(aw_tiling_sort(t, classes));
done:
    return status;
}

/* The middle point of the tile nearest to a class's centroid. */
static size_t centre_of(const heuristic *m, size_t class)
{
    const aw_tiling *t = &m->tiling;
    const float *centroid = &aw_kmeans_centroids(m->kmeans)[2 * class];
    size_t best = t->begin[class];
    double smallest = HUGE_VAL;
    for (size_t i = t->begin[class]; i < t->begin[class + 1]; ++i) {
        const double *at = t->where[t->origin[i]];
        const double d = hypot(at[0] - (double)centroid[0], at[1] - (double)centroid[1]);
        if (!(d < smallest)) continue;
        smallest = d;
        best = i;
    }
    return t->sorted[best].first + t->sorted[best].count / 2;
}

/* Integrate the centre of every class adaptively, and count its regions in the cells. */
static aw_status refine_centres(heuristic *m, aw_solver *solver, const aw_problem *problem,
                                aw_report *report)
{
    const aw_tiling *t = &m->tiling;
    const aw_device_ops *ops = solver->device->ops;
    aw_status status = AW_OK;
    size_t n = 0, jobs = 0;
    AW_TRY(aw_patterns_shape(&m->centre, solver->partition, t->classes));
    aw_patterns_clear(&m->centre);
    AW_TRY(aw_grow((void **)&solver->job, &solver->job_capacity, t->classes, sizeof *solver->job));
    for (size_t c = 0; c < t->classes; ++c) {
        if (t->begin[c] == t->begin[c + 1]) continue;
        const size_t p = centre_of(m, c);
        AW_TRY(aw_grow((void **)&solver->region, &solver->region_capacity, n + solver->partition->n,
                       sizeof *solver->region));
        aw_job *job = &solver->job[jobs++];
        *job = (aw_job){.first = n,
                        .count = aw_partition_regions(solver->partition, problem->history,
                                                      &problem->point[p], (uint32_t)p,
                                                      &solver->region[n]),
                        .tolerance = problem->tolerance,
                        .edge = m->centre.edge,
                        .cells = m->centre.cells,
                        .leaves = &m->centre.need[c * m->centre.cells]};
        n += job->count;
    }
    AW_TRY(ops->refine(solver->device->state, solver->region, solver->job, jobs, &problem->scales,
                       &report->work));
    AW_TRY(ops->wait(solver->device->state));
done:
    return status;
}

/* Round up to a power of two, as bisection would. */
static float bisected(float n) { return n > 1.0F ? exp2f(ceilf(log2f(n) - 1e-3F)) : n; }

/* RP-INTEGRALPARTITION: merge the numbers of regions of each class's centre with those that the
 * class's tiles needed at the last step. */
static aw_status merge(heuristic *m, const aw_solver *solver, const aw_problem *problem)
{
    const aw_tiling *t = &m->tiling;
    const size_t cells = m->centre.cells;
    aw_status status = AW_OK;
    AW_TRY(aw_patterns_shape(&m->now, solver->partition, t->tiles));
    for (size_t c = 0; c < t->classes; ++c)
        for (size_t i = t->begin[c]; i < t->begin[c + 1]; ++i) {
            const uint32_t tile = t->origin[i];
            float *row = &m->now.need[tile * cells], *joint = &m->centre.need[c * cells];
            memset(row, 0, cells * sizeof *row);
            if (m->has_last && tile < m->last.rows)
                aw_patterns_carry(&m->last, &m->last.need[tile * m->last.cells], &m->now, row);
            for (size_t j = 0; j < cells; ++j)
                if (aw_partition_misses(solver->partition, j, &t->middle[tile], t->reach))
                    row[j] = -1.0F;
            aw_patterns_allot(row, cells, 1.0, problem->tolerance, row);
            for (size_t j = 0; j < cells; ++j) joint[j] = fmaxf(joint[j], row[j]);
        }
    for (size_t i = 0; i < t->classes * cells; ++i) m->centre.need[i] = bisected(m->centre.need[i]);
done:
    return status;
}

static aw_status solve(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report)
{
    aw_status status = AW_OK;
    double start = aw_now();
    if (problem->columns == 0) /* scattered points have no tiles */
        return aw_strategy_two_phase.solve(solver, problem, result, error, report);
    if (!solver->memory && !(solver->memory = new_memory())) return AW_ERR_NOMEM;
    heuristic *m = solver->memory;
    AW_TRY(aw_tiling_make(&m->tiling, problem));
    AW_TRY(classify(m, solver, problem));
    report->cluster += aw_now() - start;
    start = aw_now();
    AW_TRY(refine_centres(m, solver, problem, report));
    AW_TRY(merge(m, solver, problem));
    AW_TRY(aw_tiling_partition(&m->tiling, AW_CONVERT_UNIFORM, &m->centre));
    report->predict += aw_now() - start;
    AW_TRY(aw_tiling_solve(&m->tiling, solver, problem, result, error, report));
    start = aw_now();
    AW_TRY(aw_patterns_shape(&m->last, solver->partition, m->tiling.tiles));
    aw_tiling_observe(&m->tiling, &m->last);
    m->has_last = solver->forecast.source == AW_FORECAST_LEARNED;
    report->learn += aw_now() - start;
done:
    return status;
}

const aw_strategy aw_strategy_heuristic = {.solve = solve,
                                           .new_memory = new_memory,
                                           .free_memory = free_memory,
                                           .archive = archive_memory};
