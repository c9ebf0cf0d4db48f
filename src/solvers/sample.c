/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/sample.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"

void aw_sample_free(aw_sample *sample)
{
    aw_free(sample->at);
    aw_free(sample->edge);
    aw_free(sample->which);
    memset(sample, 0, sizeof *sample);
}

size_t aw_sample_next(aw_sample *sample, const aw_problem *problem, int stratum)
{
    const size_t columns = problem->columns, rows = problem->points / columns;
    for (;;) {
        /* The additive sequence of the plastic number. */
        const double k = (double)(sample->drawn++ % 1000000);
        double u = 0.5 + 0.7548776662466927 * k, w = 0.5 + 0.5698402909980532 * k;
        u -= floor(u);
        w -= floor(w);
        const int rim = fmin(fmin(u, 1.0 - u), fmin(w, 1.0 - w)) < AW_RIM_WIDTH;
        if (rim != (stratum == AW_RIM)) continue;
        return (size_t)(u * (double)rows) * columns + (size_t)(w * (double)columns);
    }
}

/* Where regions are cut: at the border and at every so many nodes of both ranges. With every
 * fourth the sample looks at as many places as they do, and at others, before it believes its
 * error; with each, at three places between any two of them.
 * @param[out] edges  their number */
static aw_status make_edges(aw_sample *sample, const aw_sample_how *how, size_t *edges)
{
    aw_status status = AW_OK;
    size_t n = 1;
    for (int z = 0; z < AW_RANGES; ++z) n += how->panels[z]->n;
    AW_TRY(aw_grow((void **)&sample->edge, &sample->edges, n, sizeof *sample->edge));
    n = 0;
    for (int z = 0; z < AW_RANGES; ++z) {
        if (z == AW_FAR) sample->edge[n++] = how->border;
        for (size_t i = 0; i < how->panels[z]->n; i += how->every)
            sample->edge[n++] = how->panels[z]->node[i].r;
    }
    *edges = n;
done:
    return status;
}

/* n ascending regions, cut at ascending edges.
 * @param[out] out  [n + edges]
 * @return how many there are */
static size_t cut_regions(const aw_region *whole, size_t n, const double *edge, size_t edges,
                          aw_region *out)
{
    size_t made = 0, next = 0;
    for (size_t i = 0; i < n; ++i) {
        aw_region rest = whole[i];
        while (next < edges && edge[next] <= rest.a) ++next;
        for (; next < edges && edge[next] < rest.b; ++next) {
            if (edge[next] == rest.a) continue;
            out[made] = rest;
            out[made++].b = edge[next];
            rest.a = edge[next];
        }
        out[made++] = rest;
    }
    return made;
}

static int is_there(const aw_sample *sample, size_t point)
{
    for (size_t i = 0; i < sample->n; ++i)
        if (sample->at[i].point == point) return 1;
    return 0;
}

aw_status aw_sample_again(aw_sample *sample, aw_solver *solver, const aw_problem *problem,
                          const aw_sample_how *how, const size_t *which, size_t n)
{
    const aw_device_ops *ops = solver->device->ops;
    const size_t most = solver->partition->n;
    aw_status status = AW_OK;
    size_t regions = 0, edges;
    AW_TRY(make_edges(sample, how, &edges));
    AW_TRY(
        aw_grow((void **)&solver->job, &solver->job_capacity, AW_RANGES * n, sizeof *solver->job));
    AW_TRY(aw_grow((void **)&solver->next, &solver->next_capacity, most, sizeof *solver->next));
    for (size_t i = 0; i < n; ++i) {
        const size_t point = sample->at[which[i]].point;
        AW_TRY(aw_grow((void **)&solver->region, &solver->region_capacity, regions + most + edges,
                       sizeof *solver->region));
        aw_region *region = &solver->region[regions];
        const size_t whole =
            aw_partition_regions(solver->partition, problem->history, &problem->point[point],
                                 (uint32_t)point, solver->next);
        const size_t mine = cut_regions(solver->next, whole, sample->edge, edges, region);
        size_t near = 0;
        while (near < mine && region[near].b <= how->border) ++near;
        aw_job *job = &solver->job[AW_RANGES * i];
        job[AW_NEAR] = job[AW_FAR] =
            (aw_job){.tolerance = how->tolerance, .density = AW_SAMPLE_DENSITY};
        job[AW_NEAR].first = regions;
        job[AW_NEAR].count = near;
        job[AW_FAR].first = regions + near;
        job[AW_FAR].count = mine - near;
        regions += mine;
    }
    AW_TRY(ops->refine(solver->device->state, solver->region, solver->job, AW_RANGES * n,
                       &problem->scales, how->work));
    AW_TRY(ops->wait(solver->device->state));
    for (size_t i = 0; i < n; ++i)
        for (int z = 0; z < AW_RANGES; ++z) {
            const aw_job *job = &solver->job[AW_RANGES * i + (size_t)z];
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                sample->at[which[i]].I[z][k] = job->status == AW_OK ? job->I[k] : (double)NAN;
        }
done:
    return status;
}

aw_status aw_sample_add(aw_sample *sample, aw_solver *solver, const aw_problem *problem,
                        const aw_sample_how *how, const aw_sample_point *point, size_t n)
{
    aw_status status = AW_OK;
    const size_t before = sample->n;
    AW_TRY(aw_grow((void **)&sample->at, &sample->capacity, before + n, sizeof *sample->at));
    AW_TRY(aw_grow((void **)&sample->which, &sample->whiches, n, sizeof *sample->which));
    for (size_t i = 0; i < n; ++i) {
        if (is_there(sample, point[i].point)) continue;
        sample->which[sample->n - before] = sample->n;
        sample->at[sample->n].stratum = point[i].stratum;
        sample->at[sample->n++].point = point[i].point;
    }
    AW_TRY(aw_sample_again(sample, solver, problem, how, sample->which, sample->n - before));
done:
    return status;
}

/* The worst of some results' errors, in scales; NaN if there is one. */
static double worst_of(const double error[AW_RESULTS], const aw_scales *scales, unsigned first,
                       unsigned last)
{
    double worst = 0.0;
    for (unsigned k = first; k < last; ++k) {
        const double mine = fabs(error[k]) / aw_scale_of(scales, k);
        if (!(mine <= worst) && !isnan(worst)) worst = mine;
    }
    return worst;
}

double aw_sample_counts(const double error[AW_RESULTS], const aw_scales *scales)
{
    const double rates = worst_of(error, scales, AW_DPHI, AW_RESULTS) / AW_RATE_TOLERANCES;
    return fmax(worst_of(error, scales, 0, AW_DPHI), rates);
}

/* By what a range is off at one point. */
static void point_error(const aw_sampled *s, int range, const double I[AW_RESULTS],
                        double error[AW_RESULTS])
{
    for (unsigned k = 0; k < AW_RESULTS; ++k)
        error[k] = I[k] - (range < AW_RANGES ? s->I[range][k] : s->I[AW_NEAR][k] + s->I[AW_FAR][k]);
}

double aw_sample_error(const aw_sample *sample, int range, const double (*I)[AW_RESULTS],
                       const aw_scales *scales, int rates, aw_spread *spread)
{
    const unsigned first = rates ? AW_DPHI : 0, last = rates ? AW_RESULTS : AW_DPHI;
    double worst = 0.0;
    if (spread) memset(spread, 0, AW_STRATA * sizeof *spread);
    for (size_t i = 0; i < sample->n; ++i) {
        const aw_sampled *s = &sample->at[i];
        double off[AW_RESULTS];
        point_error(s, range, I[s->point], off);
        const double error = worst_of(off, scales, first, last);
        if (!(error <= worst) && !isnan(worst)) worst = error;
        if (!spread) continue;
        spread[s->stratum].square += error * error;
        spread[s->stratum].points += 1.0;
    }
    return worst;
}

size_t aw_sample_worst(const aw_sample *sample, int range, const double (*I)[AW_RESULTS],
                       const aw_scales *scales, double least, size_t which[AW_SAMPLE_WORST])
{
    double limit = INFINITY;
    size_t n = 0;
    while (n < AW_SAMPLE_WORST) {
        double worst = least;
        size_t at = sample->n;
        for (size_t i = 0; i < sample->n; ++i) {
            const aw_sampled *s = &sample->at[i];
            double off[AW_RESULTS];
            point_error(s, range, I[s->point], off);
            const double error = aw_sample_counts(off, scales);
            if (!(error > worst && error < limit)) continue;
            worst = error;
            at = i;
        }
        if (at == sample->n) break;
        which[n++] = at;
        limit = worst;
    }
    return n;
}
