/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/leftovers.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"

/* Tolerances from which on moments of single precision serve (docs/strategies.md, "Tiles"). */
#define AW_SINGLE_TOLERANCE 9e-7
/* Most equal parts of a refused region, and most regions of a tile in a pass: beyond that the
 * tolerance is out of reach, and each point's own refinement says so sooner. */
enum { AW_PARTS_MAX = 8, AW_TILE_REGIONS = 4096 };

/* Workspaces by their place in aw_pass.capacity. */
enum { CLUSTER, WORST, REFUSED, TILE, CUT, TOTAL, COARSE };

void aw_pass_free(aw_pass *pass)
{
    aw_free(pass->cluster);
    aw_free(pass->worst);
    aw_free(pass->refused);
    aw_free(pass->tile);
    aw_free(pass->cut);
    aw_free(pass->total);
    aw_free(pass->coarse);
    aw_intervals_free(&pass->intervals);
    memset(pass, 0, sizeof *pass);
}

void aw_leftovers_free(aw_leftovers *l)
{
    for (int i = 0; i < 2; ++i) aw_pass_free(&l->pass[i]);
    aw_free(l->region);
    aw_free(l->place);
    memset(l, 0, sizeof *l);
}

aw_status aw_pass_grow(aw_pass *pass)
{
    aw_status status = AW_OK;
    size_t n = 0, tiles = 0;
    for (size_t c = 0; c < pass->clusters; ++c) {
        n += pass->cluster[c].tiles * pass->cluster[c].regions;
        tiles += pass->cluster[c].tiles;
    }
    AW_TRY(aw_grow((void **)&pass->worst, &pass->capacity[WORST], n, sizeof *pass->worst));
    AW_TRY(aw_grow((void **)&pass->refused, &pass->capacity[REFUSED], n, sizeof *pass->refused));
    AW_TRY(aw_grow((void **)&pass->total, &pass->capacity[TOTAL], tiles, sizeof *pass->total));
    AW_TRY(aw_grow((void **)&pass->coarse, &pass->capacity[COARSE], tiles, sizeof *pass->coarse));
    n = tiles = 0;
    for (size_t c = 0; c < pass->clusters; ++c) {
        pass->cluster[c].coarse = &pass->coarse[tiles];
        tiles += pass->cluster[c].tiles;
        pass->cluster[c].worst = &pass->worst[n];
        pass->cluster[c].refused = &pass->refused[n];
        n += pass->cluster[c].tiles * pass->cluster[c].regions;
    }
done:
    return status;
}

/* Count the accepted regions at every point, but for those in which circles miss the beam (error
 * 0). */
static void record_pass(const aw_pass *pass, aw_patterns *record)
{
    for (size_t c = 0; record && c < pass->clusters; ++c) {
        const aw_cluster *one = &pass->cluster[c];
        for (size_t i = 0; i < one->tiles; ++i)
            for (size_t k = 0; k < one->regions; ++k) {
                const size_t at = i * one->regions + k;
                if (one->refused[at] || !(one->worst[at] > 0.0F)) continue;
                for (uint32_t l = 0; l < one->tile[i].count; ++l)
                    aw_pattern_add(record->edge, record->cells, one->region[k][0],
                                   one->region[k][1], 1.0F,
                                   &record->need[(one->tile[i].first + l) * record->cells]);
            }
    }
}

/* Take what was refused of a tile after all, where everything is within the tolerance. */
static void accept_refused(aw_pass *pass, double tolerance, const aw_clustered *out)
{
    size_t tile = 0;
    for (size_t c = 0; c < pass->clusters; ++c) {
        const aw_cluster *one = &pass->cluster[c];
        for (size_t i = 0; i < one->tiles; ++i, ++tile) {
            const size_t first = one->tile[i].first, end = first + one->tile[i].count;
            double most = 0.0;
            for (size_t p = first; p < end; ++p) {
                const double all = out->error[p] + out->rest_error[p];
                if (!(all <= most) && !isnan(most)) most = all;
            }
            pass->total[tile] = (float)most;
            if (!(most <= tolerance)) continue;
            for (size_t p = first; p < end; ++p) {
                for (unsigned k = 0; k < AW_RESULTS; ++k) out->I[p][k] += out->rest[p][k];
                out->error[p] += out->rest_error[p];
            }
            memset(&one->refused[i * one->regions], 0, one->regions);
        }
    }
}

aw_status aw_pass_run(aw_pass *pass, int number, aw_solver *solver, const aw_problem *problem,
                      const aw_clustered *out, aw_report *report)
{
    static const double limit[AW_PASSES] = AW_PASS_LIMITS;
    const aw_device_ops *ops = solver->device->ops;
    const aw_work before = report->work;
    aw_status status = AW_OK;
    for (size_t c = 0; c < pass->clusters; ++c) {
        pass->cluster[c].limit = limit[number] * problem->tolerance;
        pass->cluster[c].part = 1.0;
        pass->cluster[c].begin = number == 0;
    }
    report->single = problem->tolerance >= AW_SINGLE_TOLERANCE;
    const aw_cluster_call call = {pass->cluster, pass->clusters, &problem->scales, report->single,
                                  *out};
    AW_TRY(ops->evaluate(solver->device->state, &call, &report->work));
    AW_TRY(ops->wait(solver->device->state));
    accept_refused(pass, problem->tolerance, out);
    record_pass(pass, problem->record);
    /* What belongs to the time of `evaluate`. */
    if (number == 0) aw_work_add(&report->evaluated, &report->work, &before);
done:
    return status;
}

/* Equal parts in which the error of a region would be its share of the tolerance. */
static size_t parts_of(double error, double share)
{
    const double parts = ceil(1.2 * sqrt(sqrt(error / share)));
    if (!(parts > 2.0)) return 2;
    return parts < AW_PARTS_MAX ? (size_t)parts : AW_PARTS_MAX;
}

/* The refused regions of tile i of a cluster, cut, as a cluster of its own of the next pass. */
static aw_status again(const aw_cluster *c, size_t i, double tolerance, aw_pass *next)
{
    aw_status status = AW_OK;
    const uint8_t *refused = &c->refused[i * c->regions];
    const float *worst = &c->worst[i * c->regions];
    size_t n = next->clusters;
    if (!memchr(refused, 1, c->regions)) return AW_OK;
    AW_TRY(
        aw_grow((void **)&next->cluster, &next->capacity[CLUSTER], n + 1, sizeof *next->cluster));
    AW_TRY(aw_grow((void **)&next->tile, &next->capacity[TILE], n + 1, sizeof *next->tile));
    AW_TRY(aw_grow((void **)&next->cut, &next->capacity[CUT], n + 2, sizeof *next->cut));
    next->tile[n] = c->tile[i];
    next->cut[n] = next->intervals.n;
    for (size_t k = 0; k < c->regions; ++k)
        if (refused[k])
            AW_TRY(aw_intervals_add(&next->intervals, c->region[k][0], c->region[k][1],
                                    parts_of((double)worst[k], tolerance / (double)c->regions)));
    next->cut[++next->clusters] = next->intervals.n;
done:
    return status;
}

/* What a pass has left, as the clusters of the next. */
static aw_status next_pass(const aw_pass *last, double tolerance, aw_pass *next)
{
    aw_status status = AW_OK;
    next->clusters = next->intervals.n = 0;
    for (size_t c = 0; c < last->clusters; ++c)
        for (size_t i = 0; i < last->cluster[c].tiles; ++i)
            AW_TRY(again(&last->cluster[c], i, tolerance, next));
    for (size_t c = 0; c < next->clusters; ++c) { /* now that nothing moves any more */
        aw_cluster *one = &next->cluster[c];
        one->tile = &next->tile[c];
        one->tiles = 1;
        one->fine = 1;
        one->region = (const double(*)[2]) & next->intervals.region[next->cut[c]];
        one->regions = next->cut[c + 1] - next->cut[c];
    }
    AW_TRY(aw_pass_grow(next));
done:
    return status;
}

/* Regions (of a point each) that a pass has refused. */
static uint64_t count_refused(const aw_pass *pass)
{
    uint64_t n = 0;
    for (size_t c = 0; c < pass->clusters; ++c) {
        const aw_cluster *one = &pass->cluster[c];
        for (size_t i = 0; i < one->tiles; ++i)
            for (size_t k = 0; k < one->regions; ++k)
                n += one->refused[i * one->regions + k] ? one->tile[i].count : 0;
    }
    return n;
}

/* Whether another pass may help: there is something left, but not so much that the tolerance must
 * be out of reach. A NaN is left to the refinement, which names the point. */
static int is_worth_a_pass(const aw_pass *pass)
{
    int any = 0;
    for (size_t c = 0; c < pass->clusters; ++c) {
        const aw_cluster *one = &pass->cluster[c];
        for (size_t k = 0; k < one->tiles * one->regions; ++k) {
            if (!one->refused[k]) continue;
            if (!isfinite(one->worst[k])) return 0;
            any = 1;
        }
        if (one->regions > AW_TILE_REGIONS) return 0;
    }
    return any;
}

/* Where each point is in the last pass; points that are not there have nothing left. */
static aw_status find_points(aw_leftovers *l, const aw_pass *pass, size_t points)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&l->place, &l->place_capacity, points, sizeof *l->place));
    for (size_t p = 0; p < points; ++p) l->place[p].cluster = NULL;
    for (size_t c = 0; c < pass->clusters; ++c) {
        const aw_cluster *one = &pass->cluster[c];
        for (size_t i = 0; i < one->tiles; ++i)
            for (uint32_t k = 0; k < one->tile[i].count; ++k)
                l->place[one->tile[i].first + k] = (aw_place){one, i};
    }
done:
    return status;
}

/* Regions that the last pass refused at point p, behind the first n of the list. */
static aw_status list_left(aw_leftovers *l, size_t p, size_t *n)
{
    aw_status status = AW_OK;
    const aw_cluster *c = l->place[p].cluster;
    for (size_t k = 0; c && k < c->regions; ++k) {
        if (!c->refused[l->place[p].tile * c->regions + k]) continue;
        AW_TRY(aw_grow((void **)&l->region, &l->region_capacity, *n + 1, sizeof *l->region));
        aw_region *q = &l->region[(*n)++];
        q->a = c->region[k][0];
        q->b = c->region[k][1];
        q->point = (uint32_t)p;
        q->known = 0;
    }
done:
    return status;
}

/* Estimates of points range[0] .. range[1] - 1: what the passes gave, and the refinement of the
 * rest. */
static aw_status finish_points(aw_leftovers *l, aw_solver *solver, const aw_problem *problem,
                               const aw_clustered *out, const size_t range[2], aw_report *report)
{
    const size_t first = range[0], last = range[1];
    const aw_device_ops *ops = solver->device->ops;
    aw_status status = AW_OK;
    size_t jobs = 0, n = 0, point_of[AW_POINT_BLOCK];
    AW_TRY(
        aw_grow((void **)&solver->job, &solver->job_capacity, last - first, sizeof *solver->job));
    for (size_t p = first; p < last; ++p) {
        aw_estimate *e = &solver->estimate[p - first];
        memcpy(e->I, out->I[p], sizeof e->I);
        e->error = out->error[p];
        e->regions = 0;
        e->status = AW_OK;
        const size_t begin = n;
        AW_TRY(list_left(l, p, &n));
        if (n == begin) continue;
        point_of[jobs] = p - first;
        aw_job *job = &solver->job[jobs++];
        job->first = begin;
        job->count = n - begin;
        job->tolerance = problem->tolerance - e->error;
        aw_solver_record_job(problem, p, job);
    }
    if (jobs == 0) return AW_OK;
    AW_TRY(ops->refine(solver->device->state, l->region, solver->job, jobs, &problem->scales,
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

aw_status aw_leftovers_solve(aw_leftovers *l, const aw_pass *first, aw_solver *solver,
                             const aw_problem *problem, const aw_clustered *sums,
                             const aw_solution *out)
{
    aw_report *report = out->report;
    aw_status status = AW_OK, worst = AW_OK;
    const aw_pass *last = first;
    const size_t points = problem->points, block = aw_solver_block(solver);
    report->leftovers += count_refused(first);
    for (size_t c = 0; c < first->clusters; ++c)
        if (first->cluster[c].regions > report->max_regions)
            report->max_regions = first->cluster[c].regions;
    for (int number = 1; number < AW_PASSES && is_worth_a_pass(last); ++number) {
        aw_pass *next = &l->pass[number % 2];
        AW_TRY(next_pass(last, problem->tolerance, next));
        AW_TRY(aw_pass_run(next, number, solver, problem, sums, report));
        last = next;
    }
    AW_TRY(find_points(l, last, points));
    for (size_t i = 0; i < points; ++i) solver->visit[i] = (uint32_t)i;
    for (size_t from = 0; from < points; from += block) {
        const size_t to = from + block < points ? from + block : points;
        const size_t range[2] = {from, to};
        AW_TRY(finish_points(l, solver, problem, sums, range, report));
        worst = aw_solver_finish(solver, problem, from, to, out, worst);
    }
    status = worst;
done:
    return status;
}
