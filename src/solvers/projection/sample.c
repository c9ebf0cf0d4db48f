/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sample of the strategy `projection` (sample.h): which points, their adaptive integration in
 * aw_sample_resample, and the comparison with the common nodes. */
#include "src/solvers/projection/sample.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/solvers/at_points.h"
#include "src/solvers/projection/constants.h"

void aw_sample_free(aw_sample *sample)
{
    aw_free(sample->entry);
    aw_free(sample->edge);
    aw_free(sample->added);
    memset(sample, 0, sizeof *sample);
}

size_t aw_sample_draw(aw_sample *sample, const aw_problem *problem, int stratum)
{
    const size_t columns = problem->columns, rows = problem->points / columns;
    size_t tries = 0; /* in vain, of another stratum */
    for (;;) {
        double u, w;
        aw_spread_pair(sample->drawn++, &u, &w);
        const int rim = fmin(fmin(u, 1.0 - u), fmin(w, 1.0 - w)) < AW_RIM_WIDTH;
        const size_t point = (size_t)(u * (double)rows) * columns + (size_t)(w * (double)columns);
        /* Where none of the stratum is felt, any that is. */
        if (rim != (stratum == AW_RIM) && tries++ < problem->points) continue;
        if (!problem->felt || problem->felt[point]) return point;
    }
}

/* List the cuts of the first regions in sample->edge: those of the convolution, the border, and one
 * in `stride` of the nodes of both ranges. With every fourth node the sample evaluates as many
 * radii as the rule, and other ones, before it trusts its error estimate; with every node, three
 * radii between any two of them.
 * @param[out] edges  their number */
static aw_status list_edges(aw_sample *sample, const aw_sampling *sampling, size_t *edges)
{
    aw_status status = AW_OK;
    size_t n = 1 + sampling->cuts;
    for (int z = 0; z < AW_RANGES; ++z) n += sampling->panels[z]->n;
    AW_TRY(aw_grow((void **)&sample->edge, &sample->edge_capacity, n, sizeof *sample->edge));
    for (n = 0; n < sampling->cuts; ++n) sample->edge[n] = sampling->cut[n];
    for (int z = 0; z < AW_RANGES; ++z) {
        if (z == AW_FAR) sample->edge[n++] = sampling->border;
        for (size_t i = 0; i < sampling->panels[z]->n; i += sampling->stride)
            sample->edge[n++] = sampling->panels[z]->node[i].r;
    }
    *edges = n;
done:
    return status;
}

/* Cut n ascending regions at ascending edges.
 * @param[out] out  [n + edges]
 * @return the number of regions in `out` */
static size_t cut_regions(const aw_region *whole, size_t n, const double *edge, size_t edges,
                          aw_region *out)
{
    size_t count = 0, next = 0;
    for (size_t i = 0; i < n; ++i) {
        aw_region rest = whole[i];
        while (next < edges && edge[next] <= rest.a) ++next;
        for (; next < edges && edge[next] < rest.b; ++next) {
            if (edge[next] == rest.a) continue;
            out[count] = rest;
            out[count++].b = edge[next];
            rest.a = edge[next];
        }
        out[count++] = rest;
    }
    return count;
}

static int contains(const aw_sample *sample, size_t point)
{
    for (size_t i = 0; i < sample->n; ++i)
        if (sample->entry[i].point == point) return 1;
    return 0;
}

/* List the first regions of entry `which` behind the first `regions` of solver->region, and its two
 * jobs, cut at sample->edge[0 .. edges - 1]. @return the number of regions listed */
static size_t list_jobs(const aw_sample *sample, const aw_sampling *sampling, size_t which,
                        size_t edges, size_t regions, aw_job job[AW_RANGES])
{
    aw_solver *solver = sampling->solver;
    const size_t point = sample->entry[which].point;
    aw_region *region = &solver->region[regions];
    const size_t uncut =
        aw_partition_regions(solver->partition, sampling->problem->history,
                             &sampling->problem->point[point], (uint32_t)point, solver->next);
    const size_t cut = cut_regions(solver->next, uncut, sample->edge, edges, region);
    const aw_problem *problem = sampling->problem;
    const double density = problem->tolerance < AW_SPARSE_SAMPLE ? AW_SAMPLE_DENSITY : 1.0;
    size_t near = 0;
    while (near < cut && region[near].b <= sampling->border) ++near;
    job[AW_NEAR] = job[AW_FAR] = (aw_job){.tolerance = sampling->tolerance, .density = density};
    job[AW_NEAR].first = regions;
    job[AW_NEAR].count = near;
    job[AW_FAR].first = regions + near;
    job[AW_FAR].count = cut - near;
    return cut;
}

aw_status aw_sample_resample(aw_sample *sample, const aw_sampling *sampling, const size_t *which,
                             size_t n)
{
    aw_solver *solver = sampling->solver;
    const aw_device_ops *ops = solver->device->ops;
    const size_t uncut_max = solver->partition->n;
    aw_status status = AW_OK;
    size_t regions = 0, edges;
    AW_TRY(list_edges(sample, sampling, &edges));
    AW_TRY(
        aw_grow((void **)&solver->job, &solver->job_capacity, AW_RANGES * n, sizeof *solver->job));
    AW_TRY(
        aw_grow((void **)&solver->next, &solver->next_capacity, uncut_max, sizeof *solver->next));
    for (size_t i = 0; i < n; ++i) {
        AW_TRY(aw_grow((void **)&solver->region, &solver->region_capacity,
                       regions + uncut_max + edges, sizeof *solver->region));
        regions +=
            list_jobs(sample, sampling, which[i], edges, regions, &solver->job[AW_RANGES * i]);
    }
    AW_TRY(ops->refine(solver->device->state, solver->region, solver->job, AW_RANGES * n,
                       &sampling->problem->scales, sampling->work));
    AW_TRY(ops->wait(solver->device->state));
    for (size_t i = 0; i < n; ++i)
        for (int z = 0; z < AW_RANGES; ++z) {
            const aw_job *job = &solver->job[AW_RANGES * i + (size_t)z];
            double *I = sample->entry[which[i]].I[z];
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                I[k] = job->status == AW_OK ? job->I[k] : (double)NAN;
        }
done:
    return status;
}

aw_status aw_sample_add(aw_sample *sample, const aw_sampling *sampling, const size_t *point,
                        const int *stratum, size_t n)
{
    aw_status status = AW_OK;
    const size_t before = sample->n;
    AW_TRY(aw_grow((void **)&sample->entry, &sample->capacity, before + n, sizeof *sample->entry));
    AW_TRY(aw_grow((void **)&sample->added, &sample->added_capacity, n, sizeof *sample->added));
    for (size_t i = 0; i < n; ++i) {
        if (contains(sample, point[i])) continue;
        sample->added[sample->n - before] = sample->n;
        sample->entry[sample->n].stratum = stratum[i];
        sample->entry[sample->n++].point = point[i];
    }
    AW_TRY(aw_sample_resample(sample, sampling, sample->added, sample->n - before));
done:
    return status;
}

/* The largest of the errors of results first .. last - 1, in scales; NaN if one of them is one. */
static double largest_of(const double error[AW_RESULTS], const aw_scales *scales, unsigned first,
                         unsigned last)
{
    double largest = 0.0;
    for (unsigned k = first; k < last; ++k) {
        const double scaled = fabs(error[k]) / aw_scale_of(scales, k);
        if (!(scaled <= largest) && !isnan(largest)) largest = scaled;
    }
    return largest;
}

double aw_sample_scaled_error(const double error[AW_RESULTS], const aw_scales *scales)
{
    const double rates = largest_of(error, scales, AW_DPHI, AW_RESULTS) / AW_RATE_TOLERANCES;
    return fmax(largest_of(error, scales, 0, AW_DPHI), rates);
}

/* Difference of the integrals by the common nodes and the reference, at one point. */
static void point_error(const aw_sample_point *s, const aw_compared *compared,
                        double error[AW_RESULTS])
{
    const double *I = compared->I[s->point];
    const int range = compared->range;
    for (unsigned k = 0; k < AW_RESULTS; ++k)
        error[k] = I[k] - (range < AW_RANGES ? s->I[range][k] : s->I[AW_NEAR][k] + s->I[AW_FAR][k]);
}

double aw_sample_error(const aw_sample *sample, const aw_compared *compared, unsigned first,
                       unsigned last, aw_error_sums *sums)
{
    double largest = 0.0;
    if (sums) memset(sums, 0, AW_STRATA * sizeof *sums);
    for (size_t i = 0; i < sample->n; ++i) {
        const aw_sample_point *s = &sample->entry[i];
        double difference[AW_RESULTS];
        point_error(s, compared, difference);
        const double error = largest_of(difference, compared->scales, first, last);
        if (!(error <= largest) && !isnan(largest)) largest = error;
        if (!sums) continue;
        sums[s->stratum].square += error * error;
        sums[s->stratum].points += 1.0;
    }
    return largest;
}

size_t aw_sample_worst(const aw_sample *sample, const aw_compared *compared, double limit,
                       size_t capacity, size_t *which)
{
    double previous = INFINITY;
    size_t n = 0;
    while (n < capacity) {
        double worst = limit;
        size_t at = sample->n;
        for (size_t i = 0; i < sample->n; ++i) {
            double difference[AW_RESULTS];
            point_error(&sample->entry[i], compared, difference);
            const double error = aw_sample_scaled_error(difference, compared->scales);
            if (!(error > worst && error < previous)) continue;
            worst = error;
            at = i;
        }
        if (at == sample->n) break;
        which[n++] = at;
        previous = worst;
    }
    return n;
}
