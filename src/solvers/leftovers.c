/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Passes over clusters, and the refinement of the regions that they refuse (leftovers.h). */
#include "src/solvers/leftovers.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"

/* Smallest tolerance at which moments are rounded to single precision (docs/strategies.md,
 * "Tiles"). */
#define AW_SINGLE_TOLERANCE 9e-7
/* Largest number of equal parts into which a refused region is cut, and of regions of a tile in a
 * pass: beyond it the tolerance is out of reach, and the refinement of each point finds that
 * sooner. */
enum { AW_PARTS_MAX = 8, AW_TILE_REGIONS = 4096 };

/* Indices of the workspaces in aw_pass.capacity. */
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

/* Record the accepted regions of every point, without those in which circles miss the beam (error
 * 0). */
static void record_pass(const aw_pass *pass, aw_patterns *record)
{
    for (size_t c = 0; record && c < pass->clusters; ++c) {
        const aw_cluster *cluster = &pass->cluster[c];
        for (size_t i = 0; i < cluster->tiles; ++i)
            for (size_t k = 0; k < cluster->regions; ++k) {
                const size_t at = i * cluster->regions + k;
                if (cluster->refused[at] || !(cluster->worst[at] > 0.0F)) continue;
                for (uint32_t l = 0; l < cluster->tile[i].count; ++l)
                    aw_pattern_add(record->edge, record->cells, cluster->region[k][0],
                                   cluster->region[k][1], 1.0F,
                                   &record->need[(cluster->tile[i].first + l) * record->cells]);
            }
    }
}

/* Accept the refused regions of a tile after all if everything together is within the tolerance. */
static void accept_refused(aw_pass *pass, double tolerance, const aw_clustered *out)
{
    size_t tile = 0;
    for (size_t c = 0; c < pass->clusters; ++c) {
        const aw_cluster *cluster = &pass->cluster[c];
        for (size_t i = 0; i < cluster->tiles; ++i, ++tile) {
            const size_t first = cluster->tile[i].first, end = first + cluster->tile[i].count;
            double largest = 0.0;
            for (size_t p = first; p < end; ++p) {
                const double all = out->error[p] + out->rest_error[p];
                if (!(all <= largest) && !isnan(largest)) largest = all;
            }
            pass->total[tile] = (float)largest;
            if (!(largest <= tolerance)) continue;
            for (size_t p = first; p < end; ++p) {
                for (unsigned k = 0; k < AW_RESULTS; ++k) out->I[p][k] += out->rest[p][k];
                out->error[p] += out->rest_error[p];
            }
            memset(&cluster->refused[i * cluster->regions], 0, cluster->regions);
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
    /* aw_report.evaluate is the time of the first pass only. */
    if (number == 0) aw_work_add(&report->evaluated, &report->work, &before);
done:
    return status;
}

/* Number of equal parts for which the error of a region would become its share of the tolerance. */
static size_t parts_of(double error, double share)
{
    const double parts = ceil(1.2 * sqrt(sqrt(error / share)));
    if (!(parts > 2.0)) return 2;
    return parts < AW_PARTS_MAX ? (size_t)parts : AW_PARTS_MAX;
}

/* Cut the refused regions of tile i of a cluster, and make them a cluster of the next pass. */
static aw_status cut_refused(const aw_cluster *c, size_t i, double tolerance, aw_pass *next)
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

/* Make the next pass from the leftovers of the last. */
static aw_status next_pass(const aw_pass *last, double tolerance, aw_pass *next)
{
    aw_status status = AW_OK;
    next->clusters = next->intervals.n = 0;
    for (size_t c = 0; c < last->clusters; ++c)
        for (size_t i = 0; i < last->cluster[c].tiles; ++i)
            AW_TRY(cut_refused(&last->cluster[c], i, tolerance, next));
    for (size_t c = 0; c < next->clusters; ++c) { /* the arrays no longer move */
        aw_cluster *cluster = &next->cluster[c];
        cluster->tile = &next->tile[c];
        cluster->tiles = 1;
        cluster->fine = 1;
        cluster->region = (const double(*)[2]) & next->intervals.region[next->cut[c]];
        cluster->regions = next->cut[c + 1] - next->cut[c];
    }
    AW_TRY(aw_pass_grow(next));
done:
    return status;
}

/* Number of regions that a pass has refused, counted at each point. */
static uint64_t count_refused(const aw_pass *pass)
{
    uint64_t n = 0;
    for (size_t c = 0; c < pass->clusters; ++c) {
        const aw_cluster *cluster = &pass->cluster[c];
        for (size_t i = 0; i < cluster->tiles; ++i)
            for (size_t k = 0; k < cluster->regions; ++k)
                n += cluster->refused[i * cluster->regions + k] ? cluster->tile[i].count : 0;
    }
    return n;
}

/* Whether another pass may help: there are leftovers, but not so many that the tolerance must be
 * out of reach. A NaN is left to the refinement, which names the point. */
static int is_worth_a_pass(const aw_pass *pass)
{
    int any = 0;
    for (size_t c = 0; c < pass->clusters; ++c) {
        const aw_cluster *cluster = &pass->cluster[c];
        for (size_t k = 0; k < cluster->tiles * cluster->regions; ++k) {
            if (!cluster->refused[k]) continue;
            if (!isfinite(cluster->worst[k])) return 0;
            any = 1;
        }
        if (cluster->regions > AW_TILE_REGIONS) return 0;
    }
    return any;
}

/* Find the position of each point in the last pass; points without one have no leftovers. */
static aw_status find_points(aw_leftovers *l, const aw_pass *pass, size_t points)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&l->place, &l->place_capacity, points, sizeof *l->place));
    for (size_t p = 0; p < points; ++p) l->place[p].cluster = NULL;
    for (size_t c = 0; c < pass->clusters; ++c) {
        const aw_cluster *cluster = &pass->cluster[c];
        for (size_t i = 0; i < cluster->tiles; ++i)
            for (uint32_t k = 0; k < cluster->tile[i].count; ++k)
                l->place[cluster->tile[i].first + k] = (aw_place){cluster, i};
    }
done:
    return status;
}

/* Append the regions that the last pass refused at point p to the first n of l->region. */
static aw_status append_refused(aw_leftovers *l, size_t p, size_t *n)
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

/* A call of aw_leftovers_solve. */
typedef struct call {
    aw_leftovers *l;
    aw_solver *solver;
    const aw_problem *problem;
    const aw_clustered *sums;
    aw_report *report;
} call;

/* Regions that are refined at once: points with more leftovers than usual would otherwise take 100
 * MiB. */
enum { REGIONS_AT_ONCE = 32768 };

/* Fill the estimates of points first .. last - 1: the sums of the passes, and the refinement of the
 * leftovers. */
static aw_status estimate_points(const call *c, size_t first, size_t last)
{
    aw_solver *solver = c->solver;
    aw_status status = AW_OK;
    size_t jobs = 0, n = 0, point_of[AW_POINT_BLOCK];
    AW_TRY(
        aw_grow((void **)&solver->job, &solver->job_capacity, last - first, sizeof *solver->job));
    for (size_t p = first; p < last; ++p) {
        aw_estimate *e = &solver->estimate[p - first];
        memcpy(e->I, c->sums->I[p], sizeof e->I);
        e->error = c->sums->error[p];
        e->regions = 0;
        e->status = AW_OK;
        const size_t begin = n;
        AW_TRY(append_refused(c->l, p, &n));
        if (n == begin) continue;
        point_of[jobs] = p - first;
        aw_job *job = &solver->job[jobs++];
        *job = (aw_job){
            .first = begin, .count = n - begin, .tolerance = c->problem->tolerance - e->error};
        aw_solver_record_job(c->problem, p, job);
        if (n < REGIONS_AT_ONCE) continue;
        const aw_rest rest = {c->l->region, jobs, point_of};
        AW_TRY(aw_solver_refine_rest(solver, c->problem, &rest, c->report));
        jobs = n = 0;
    }
    const aw_rest rest = {c->l->region, jobs, point_of};
    AW_TRY(aw_solver_refine_rest(solver, c->problem, &rest, c->report));
done:
    return status;
}

aw_status aw_leftovers_solve(aw_leftovers *l, const aw_pass *first, aw_solver *solver,
                             const aw_problem *problem, const aw_clustered *sums,
                             const aw_solution *solution)
{
    aw_status status = AW_OK, worst = AW_OK;
    aw_report *report = solution->report;
    const call c = {l, solver, problem, sums, report};
    const aw_pass *last = first;
    const size_t points = problem->points, block = aw_solver_block_size(solver);
    report->leftovers += count_refused(first);
    for (size_t k = 0; k < first->clusters; ++k)
        if (first->cluster[k].regions > report->max_regions)
            report->max_regions = first->cluster[k].regions;
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
        AW_TRY(estimate_points(&c, from, to));
        worst = aw_solver_finish(solver, problem, from, to, solution, worst);
    }
    status = worst;
done:
    return status;
}
