/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/sample.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"

void aw_sample_free(aw_sample *sample)
{
    aw_free(sample->at);
    memset(sample, 0, sizeof *sample);
}

/* Nodes of the sample's inner rule, over those of other integrals: what is judged must not share
 * the error of the judge, and where cells are long and thin or hold few particles that is more than
 * the tolerance. */
#define AW_SAMPLE_DENSITY 2.0
/* Of the grid's nodes along an axis, this part at either end is the rim. */
#define AW_RIM_WIDTH 0.125

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

/* Cut the regions of a point at the border, near ones first.
 * @return how many are near; *n, the number of all, may grow by one */
static size_t cut_regions(aw_region *region, size_t *n, double border)
{
    size_t near = 0;
    while (near < *n && region[near].b <= border) ++near;
    if (near == *n || region[near].a >= border) return near;
    memmove(&region[near + 1], &region[near], (*n - near) * sizeof *region);
    region[near].b = region[near + 1].a = border;
    ++*n;
    return near + 1;
}

static int is_there(const aw_sample *sample, size_t point)
{
    for (size_t i = 0; i < sample->n; ++i)
        if (sample->at[i].point == point) return 1;
    return 0;
}

aw_status aw_sample_add(aw_sample *sample, aw_solver *solver, const aw_problem *problem,
                        double border, double tolerance, const size_t *point, const int *stratum,
                        size_t n, aw_work *work)
{
    const aw_device_ops *ops = solver->device->ops;
    const size_t most = solver->partition->n + 1, before = sample->n;
    aw_status status = AW_OK;
    size_t regions = 0;
    AW_TRY(aw_grow((void **)&sample->at, &sample->capacity, before + n, sizeof *sample->at));
    AW_TRY(
        aw_grow((void **)&solver->job, &solver->job_capacity, AW_RANGES * n, sizeof *solver->job));
    for (size_t i = 0; i < n; ++i) {
        if (is_there(sample, point[i])) continue;
        AW_TRY(aw_grow((void **)&solver->region, &solver->region_capacity, regions + most,
                       sizeof *solver->region));
        aw_region *region = &solver->region[regions];
        size_t mine = aw_partition_regions(solver->partition, problem->history,
                                           &problem->point[point[i]], (uint32_t)point[i], region);
        const size_t near = cut_regions(region, &mine, border);
        aw_job *job = &solver->job[AW_RANGES * (sample->n - before)];
        job[AW_NEAR] = job[AW_FAR] = (aw_job){.tolerance = tolerance, .density = AW_SAMPLE_DENSITY};
        job[AW_NEAR].first = regions;
        job[AW_NEAR].count = near;
        job[AW_FAR].first = regions + near;
        job[AW_FAR].count = mine - near;
        sample->at[sample->n].stratum = stratum[i];
        sample->at[sample->n++].point = point[i];
        regions += mine;
    }
    AW_TRY(ops->refine(solver->device->state, solver->region, solver->job,
                       AW_RANGES * (sample->n - before), &problem->scales, work));
    AW_TRY(ops->wait(solver->device->state));
    for (size_t i = before; i < sample->n; ++i)
        for (int z = 0; z < AW_RANGES; ++z) {
            const aw_job *job = &solver->job[AW_RANGES * (i - before) + (size_t)z];
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                sample->at[i].I[z][k] = job->status == AW_OK ? job->I[k] : (double)NAN;
        }
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
                       const aw_scales *scales, unsigned first, unsigned last, aw_spread *spread)
{
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
                       const aw_scales *scales, double least, size_t most, size_t *point)
{
    double limit = INFINITY;
    size_t n = 0;
    while (n < most) {
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
        point[n++] = sample->at[at].point;
        limit = worst;
    }
    return n;
}
