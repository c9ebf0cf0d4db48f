/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/projection/estimate.h"

#include <math.h>

#include "src/base/timer.h"
#include "src/solvers/projection/constants.h"

static const double peak[AW_STRATA] = {[AW_CORE] = AW_PEAK_CORE, [AW_RIM] = AW_PEAK_RIM};

/* The felt point at which the zone's null rule is largest. */
static size_t doubtful_point(const aw_zone *z, const aw_problem *problem)
{
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < problem->points; ++i) {
        if (problem->felt && !problem->felt[i]) continue;
        if (worst == SIZE_MAX || fabs(z->check[i]) > fabs(z->check[worst])) worst = i;
    }
    return worst;
}

void aw_common_measure_zone(aw_common_memory *p, int i, const aw_problem *problem)
{
    aw_rules *rules = &p->zone[i].rules;
    const aw_compared zone = {i, (const double(*)[AW_RESULTS])p->zone[i].sum, &problem->scales};
    rules->error = aw_sample_error(&p->sample, &zone, 0, AW_DPHI, NULL);
    rules->rate_error = aw_sample_error(&p->sample, &zone, AW_DPHI, AW_RESULTS, NULL);
}

double aw_common_sampled_error(const aw_common_memory *p, const aw_problem *problem,
                               const double *result, aw_error_sums *sums)
{
    const aw_compared both = {AW_RANGES, (const double(*)[AW_RESULTS])result, &problem->scales};
    return aw_sample_error(&p->sample, &both, 0, AW_DPHI, sums);
}

double aw_common_estimate(const aw_common_memory *p, const aw_problem *problem,
                          const double *result, aw_error_sums *pool)
{
    double worst = aw_common_sampled_error(p, problem, result, pool);
    for (int i = AW_CORE; i <= AW_RIM; ++i) {
        const double earlier = fmin(p->pool[i].points, AW_POOL_POINTS);
        if (earlier > 0.0) pool[i].square += p->pool[i].square * earlier / p->pool[i].points;
        pool[i].points += earlier;
        const double factor = problem->history->images_only ? AW_PEAK_IMAGES : peak[i];
        const double likely = factor * sqrt(pool[i].square / pool[i].points);
        if (!(likely <= worst) && !isnan(worst)) worst = likely;
    }
    return worst;
}

aw_sampling aw_common_sampling(const aw_common_step *s, size_t stride)
{
    const aw_zone *zone = s->p->zone;
    return (aw_sampling){.solver = s->solver,
                         .problem = s->problem,
                         .work = &s->report->work,
                         .border = s->border,
                         .tolerance = AW_SAMPLE_SHARE * s->problem->tolerance,
                         .panels = {&zone[AW_NEAR].panels, &zone[AW_FAR].panels},
                         .stride = stride,
                         .cut = zone[AW_NEAR].cut,
                         .cuts = zone[AW_NEAR].cuts};
}

int aw_common_full_sample(const aw_problem *problem)
{
    return problem->history->images_only ? AW_SAMPLE_IMAGES : AW_SAMPLE_NEW_RULE;
}

/* Spread points of the sample after the next passes. */
static int spread_points(const aw_common_step *s)
{
    if (s->sample_size == AW_ALL_POINTS) return aw_common_full_sample(s->problem);
    return s->sample_size == AW_TRIAL_POINTS ? AW_SAMPLE_TRIAL : AW_SAMPLE_SAME_RULE;
}

aw_status aw_common_extend_sample(aw_common_step *s)
{
    enum { MAX = 2 * AW_SAMPLE_NEW_RULE + AW_RANGES };
    const aw_problem *problem = s->problem;
    aw_common_memory *p = s->p;
    const double start = aw_now();
    const int spread = spread_points(s), turn = p->steps % 2 ? AW_CORE : AW_RIM;
    /* Images have spikes that only the rim sees. */
    const int takes_turns = !problem->history->images_only;
    size_t point[MAX], n = 0;
    int stratum[MAX];
    for (; s->spread_points < spread; ++s->spread_points)
        for (int k = AW_CORE; k <= AW_RIM; ++k) {
            if (s->sample_size == AW_FEW_POINTS && takes_turns && k != turn) continue;
            stratum[n] = k;
            point[n++] = aw_sample_draw(&p->sample, problem, k);
        }
    for (int i = 0; i < AW_RANGES; ++i) {
        if (s->pass[i] == AW_NO_PASS || p->zone[i].panels.n == 0) continue;
        stratum[n] = AW_DOUBTFUL;
        point[n++] = doubtful_point(&p->zone[i], problem);
    }
    const uint64_t evaluations = s->report->work.evaluations;
    const size_t before = p->sample.n;
    const aw_sampling sampling = aw_common_sampling(s, AW_SAMPLE_EDGE_STRIDE);
    const aw_status status = aw_sample_add(&p->sample, &sampling, point, stratum, n);
    if (p->sample.n > before)
        p->sample_cost =
            (double)(s->report->work.evaluations - evaluations) / (double)(p->sample.n - before);
    s->report->samples = p->sample.n;
    s->report->sample += aw_now() - start;
    return status;
}
