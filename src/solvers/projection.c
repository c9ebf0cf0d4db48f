/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategy `projection`: nodes in r' common to all points. Near the points, within about the
 * size of the bunch, the moments are convolved (kernels/math/convolution.h) or, where they cannot
 * be, evaluated at every point; further away they are seen only through projections, tabulated once
 * for a node and looked up for every point (kernels/math/projection.h). Arcwake's own; its nearest
 * relative is the rotation of sums in tomography.
 *
 * Nothing adapts to a point, so the error is measured: at every step some points are recomputed
 * adaptively, near and far zone by themselves. If they show too large an error, one zone is done
 * again with a finer rule, which is kept. If the finest does not suffice, or is over cost, the step
 * is left to `predictive`.
 *
 * This file owns a step's passes and the decision what to do next: read solve_zones first, then
 * refine. rules.c has the rules and their choice, zone.c the integration of a range of r', sample.c
 * the points that are recomputed, projection_constants.h every tuned number. */
#include <math.h>
#include <string.h>

#include "kernels/math/retarded.h"
#include "kernels/math/slope.h"
#include "quadrature/partition.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/solvers/sample.h"
#include "src/solvers/zone.h"

static const double peak[AW_STRATA] = {[AW_CORE] = AW_PEAK_CORE, [AW_RIM] = AW_PEAK_RIM};

/* What is done with a zone: nothing, a pass with its rule (the first one, or with shorter panels),
 * or one with a finer rule. */
enum { AW_NO_PASS, AW_SAME_RULE, AW_FINER_RULE };

typedef struct projection {
    aw_zone zone[AW_RANGES];
    double (*sum)[AW_RESULTS]; /* [AW_RANGES + 1][points]: of the zones, and a scratch */
    double *check;             /* [AW_RANGES][points] */
    size_t capacity, check_capacity;
    aw_sample sample;
    double cost_limit;         /* evaluations a point above which a zone is over cost */
    aw_spread pool[AW_STRATA]; /* errors at points of earlier steps with these rules */
    uint64_t steps;
    void *fallback;        /* memory of the strategy to which steps are left */
    int coarsened;         /* 1: rules have been coarsened after the last step */
    int over_cost;         /* steps in a row that were over cost */
    int pause, pause_left; /* steps left to it without a try, and how many still are */
} projection;

/* A step, while its zones are solved. */
typedef struct step {
    aw_solver *solver;
    projection *p;
    const aw_problem *problem;
    aw_report *report;
    double border, reach; /* of the zones, and of the convolution [m] */
    double end;           /* of the far zone [m] */
    int pass[AW_RANGES];  /* the next ones */
    int again;            /* 1: they are not the first */
    int check_rates;      /* aw_zone_integrate */
    int spread;           /* points that the sample has of core and rim each */
    int sharpened;        /* times that panels were looked at */
    int resampled;        /* 1: the sample was resampled since the last pass */
} step;

static void forget(void *memory)
{
    projection *p = memory;
    if (!p) return;
    aw_strategy_predictive.forget(p->fallback);
    for (int z = 0; z < AW_RANGES; ++z) aw_panels_free(&p->zone[z].panels);
    aw_free(p->sum);
    aw_free(p->check);
    aw_sample_free(&p->sample);
    aw_free(p);
}

static projection *remember(void)
{
    projection *p = aw_alloc(1, sizeof *p);
    if (!p) return NULL;
    for (int z = 0; z < AW_RANGES; ++z) aw_rules_begin(&p->zone[z].rules, z == AW_FAR);
    return p;
}

/* The point where the nodes of a zone see the least of what is there. */
static size_t doubtful(const aw_zone *z, size_t points)
{
    size_t worst = 0;
    for (size_t i = 1; i < points; ++i)
        if (fabs(z->check[i]) > fabs(z->check[worst])) worst = i;
    return worst;
}

/* Take the errors of a zone at the points of the sample. */
static void judge(const projection *p, aw_zone *z, int which, const aw_problem *problem)
{
    const double(*I)[AW_RESULTS] = (const double(*)[AW_RESULTS])z->sum;
    const aw_scales *scales = &problem->scales;
    z->rules.error = aw_sample_error(&p->sample, which, I, scales, 0, NULL);
    z->rules.rate_error = aw_sample_error(&p->sample, which, I, scales, 1, NULL);
}

/* Worst error of the potentials at the points of the sample. */
static double seen_error(const projection *p, const aw_problem *problem, const double *result,
                         aw_spread *spread)
{
    return aw_sample_error(&p->sample, AW_RANGES, (const double(*)[AW_RESULTS])result,
                           &problem->scales, 0, spread);
}

/* Estimate of the potentials' largest error: what is seen at the points of the sample, and what
 * their rms, pooled with that of earlier steps, makes likely elsewhere.
 * @param[out] pool  [AW_STRATA], for the next step with the same rules */
static double estimate(const projection *p, const aw_problem *problem, const double *result,
                       aw_spread *pool)
{
    double worst = seen_error(p, problem, result, pool);
    for (int i = AW_CORE; i <= AW_RIM; ++i) {
        const double most = fmin(p->pool[i].points, AW_POOL_POINTS);
        if (most > 0.0) pool[i].square += p->pool[i].square * most / p->pool[i].points;
        pool[i].points += most;
        const double likely = peak[i] * sqrt(pool[i].square / pool[i].points);
        if (!(likely <= worst) && !isnan(worst)) worst = likely;
    }
    return worst;
}

/* How the sample is recomputed, against the nodes of the last passes. */
static aw_sample_how sample_how(const step *s, size_t every)
{
    const aw_zone *zone = s->p->zone;
    return (aw_sample_how){.border = s->border,
                           .tolerance = AW_SAMPLE_SHARE * s->problem->tolerance,
                           .panels = {&zone[AW_NEAR].panels, &zone[AW_FAR].panels},
                           .every = every,
                           .work = &s->report->work};
}

/* Add points to the sample until it has `spread` of each stratum, and the doubtful ones of the
 * zones that were just done. */
static aw_status sample(step *s, int spread)
{
    enum { MOST = 2 * AW_SAMPLE_FIRST + AW_RANGES };
    const aw_problem *problem = s->problem;
    projection *p = s->p;
    const double start = aw_now();
    aw_sample_point point[MOST];
    size_t n = 0;
    for (; s->spread < spread; ++s->spread)
        for (int k = AW_CORE; k <= AW_RIM; ++k) {
            point[n].stratum = k;
            point[n++].point = aw_sample_next(&p->sample, problem, k);
        }
    for (int i = 0; i < AW_RANGES; ++i) {
        if (s->pass[i] == AW_NO_PASS || p->zone[i].panels.n == 0) continue;
        point[n].stratum = AW_DOUBTFUL;
        point[n++].point = doubtful(&p->zone[i], problem->points);
    }
    const uint64_t before = s->report->work.evaluations;
    const size_t had = p->sample.n;
    const aw_sample_how how = sample_how(s, AW_SAMPLE_EVERY);
    const aw_status status = aw_sample_add(&p->sample, s->solver, problem, &how, point, n);
    if (p->sample.n > had)
        p->cost_limit = AW_COST_LIMIT * (double)(s->report->work.evaluations - before) /
                        (double)(p->sample.n - had);
    s->report->samples = p->sample.n;
    s->report->sample += aw_now() - start;
    return status;
}

/* Integrate the zones that have a pass: a convolution of the near one is begun first, so that a set
 * of devices does it beside the far one. */
static aw_status integrate_zones(const step *s)
{
    projection *p = s->p;
    const double border = fmin(s->border, s->end);
    const double from[AW_RANGES] = {[AW_FAR] = border};
    const double to[AW_RANGES] = {[AW_NEAR] = border, [AW_FAR] = s->end};
    const double reach[AW_RANGES] = {[AW_NEAR] = fmin(s->reach, border)};
    const size_t points = s->problem->points;
    aw_status status = AW_OK;
    for (int i = 0; i < AW_RANGES; ++i) {
        p->zone[i].sum = &p->sum[(size_t)i * points];
        p->zone[i].check = &p->check[(size_t)i * points];
        p->zone[i].from = from[i];
        p->zone[i].to = to[i];
        if (s->pass[i] == AW_NO_PASS) continue;
        AW_TRY(aw_zone_begin(s->solver, s->problem, &p->zone[i], reach[i]));
    }
    for (int k = 0; k < AW_RANGES; ++k) {
        const int i = k == 0 ? AW_FAR : AW_NEAR;
        aw_zone *z = &p->zone[i];
        if (s->pass[i] == AW_NO_PASS) continue;
        AW_TRY(aw_zone_integrate(s->solver, s->problem, z, s->check_rates,
                                 &p->sum[AW_RANGES * points], s->report));
        s->report->rule[i] = z->rules.level;
        s->report->shared[i] = z->rules.nodes;
    }
done:
    return status;
}

/* See whether single panels of the far zone are too long where the sample is off. If not, it may be
 * the sample that has missed something: it is resampled, once.
 * @param[out] shorter  1: some panels are shorter from now on
 * @param[out] off  by how much panels are off at the worst point */
static aw_status sharpen(step *s, int *shorter, double *off)
{
    projection *p = s->p;
    aw_zone *far = &p->zone[AW_FAR];
    const aw_problem *problem = s->problem;
    const double least = AW_SHARPEN_ABOVE * AW_ESTIMATE_SHARE * problem->tolerance;
    aw_status status = AW_OK;
    size_t which[AW_SAMPLE_WORST], point[AW_SAMPLE_WORST];
    aw_panel_check check = {.point = point};
    check.points = aw_sample_worst(&p->sample, AW_FAR, (const double(*)[AW_RESULTS])far->sum,
                                   &problem->scales, least, which);
    *shorter = 0;
    if (check.points == 0 || far->panels.n == 0) return AW_OK;
    for (size_t i = 0; i < check.points; ++i) point[i] = p->sample.at[which[i]].point;
    AW_TRY(aw_zone_sharpen(s->solver, problem, far, &check, &s->report->work));
    *shorter = check.shortened;
    *off = check.off;
    if (s->resampled || *off >= AW_EXPLAINED * aw_rules_error(&far->rules)) return AW_OK;
    const aw_sample_how how = sample_how(s, 1);
    AW_TRY(aw_sample_again(&p->sample, s->solver, problem, &how, which, check.points));
    s->resampled = 1;
done:
    return status;
}

/* What a step's loop does next. */
typedef enum next {
    NOTHING,  /* nothing is left that is worth it */
    NEW_LOOK, /* at the same sums, with another sample */
    NEW_PASS
} next;

/* Refine a zone: choose the next passes. */
static aw_status refine(step *s, next *out)
{
    projection *p = s->p;
    aw_rules *near = &p->zone[AW_NEAR].rules, *far = &p->zone[AW_FAR].rules;
    const int worse = aw_rules_worse(near, far) ? AW_FAR : AW_NEAR, resampled = s->resampled;
    const double error = aw_rules_error(far);
    const int spikes = error > AW_SPIKES * AW_ESTIMATE_SHARE * s->problem->tolerance ||
                       far->level >= AW_SPIKES_FROM_RULE;
    aw_status status = AW_OK;
    int shorter = 0;
    double off = HUGE_VAL;
    s->pass[AW_NEAR] = s->pass[AW_FAR] = AW_NO_PASS;
    if (worse == AW_FAR && spikes && s->sharpened < AW_SHARPEN_TIMES) {
        s->sharpened += !s->resampled;
        AW_TRY(sharpen(s, &shorter, &off));
    }
    *out = NEW_LOOK;
    if (s->resampled > resampled) return AW_OK;
    /* What nodes in r' do not explain is due to those in angle or to tables: no finer rule. */
    if (off < AW_EXPLAINED * error)
        s->pass[AW_FAR] = aw_rules_densify(far, p->cost_limit) ? AW_FINER_RULE : AW_NO_PASS;
    else if (shorter)
        s->pass[AW_FAR] = AW_SAME_RULE;
    else if (aw_rules_tighten(&p->zone[worse].rules, p->cost_limit))
        s->pass[worse] = AW_FINER_RULE;
    else if (aw_rules_tighten(&p->zone[!worse].rules, p->cost_limit))
        s->pass[!worse] = AW_FINER_RULE;
    *out = s->pass[AW_NEAR] == AW_NO_PASS && s->pass[AW_FAR] == AW_NO_PASS ? NOTHING : NEW_PASS;
done:
    return status;
}

/* The next passes, and what the sample says of them.
 * @param[in] begins  1: with all of the sample's points, whichever pass it is */
static aw_status make_passes(step *s, int begins)
{
    projection *p = s->p;
    aw_status status = AW_OK;
    AW_TRY(integrate_zones(s));
    for (int i = 0; i < AW_RANGES; ++i) {
        if (s->pass[i] != AW_FINER_RULE) continue;
        judge(p, &p->zone[i], i, s->problem);
        aw_rules_learn(&p->zone[i].rules);
    }
    AW_TRY(sample(s, begins || s->again ? AW_SAMPLE_FIRST : AW_SAMPLE_NEXT));
    for (int i = 0; i < AW_RANGES; ++i) {
        judge(p, &p->zone[i], i, s->problem);
        aw_rules_resample(&p->zone[i].rules, s->again);
    }
done:
    return status;
}

/* The sum of both zones. */
static void add_zones(const projection *p, size_t points, double *result)
{
    for (size_t i = 0; i < points; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            result[i * AW_RESULTS + k] = p->zone[AW_NEAR].sum[i][k] + p->zone[AW_FAR].sum[i][k];
}

/* Both zones, each as often as it takes.
 * @param[out] converged  1: the estimate is within the tolerance, and `result` holds the sums */
static aw_status solve_zones(step *s, double *result, int *converged)
{
    projection *p = s->p;
    const size_t points = s->problem->points;
    const double start = aw_now(), limit = AW_ESTIMATE_SHARE * s->problem->tolerance;
    aw_report *report = s->report;
    aw_rules *near = &p->zone[AW_NEAR].rules, *far = &p->zone[AW_FAR].rules;
    aw_spread pool[AW_STRATA];
    aw_status status = AW_OK;
    *converged = 0;
    AW_TRY(aw_grow((void **)&p->sum, &p->capacity, (AW_RANGES + 1) * points, sizeof *p->sum));
    AW_TRY(aw_grow((void **)&p->check, &p->check_capacity, AW_RANGES * points, sizeof *p->check));
    /* A coarser rule is judged as the first one is: few points may pass it by luck. */
    const int begins = p->steps++ == 0 || p->coarsened || near->coarsened || far->coarsened;
    p->coarsened = 0;
    if (begins) memset(p->pool, 0, sizeof p->pool);
    s->check_rates = p->steps % 2 == 0; /* and potentials by turns */
    p->sample.n = 0;
    for (;;) {
        AW_TRY(make_passes(s, begins));
        add_zones(p, points, result);
        report->sampled = estimate(p, s->problem, result, pool);
        const double rates = aw_rules_rate_error(near) + aw_rules_rate_error(far);
        if (report->sampled <= limit && rates <= limit) break;
        if (isnan(report->sampled + rates)) goto done;
        next then;
        AW_TRY(refine(s, &then));
        if (then == NOTHING) goto done;
        if (then == NEW_LOOK) continue;
        s->resampled = 0;
        s->again = 1;
        s->check_rates = !s->check_rates;
        memset(p->pool, 0, sizeof p->pool);
    }
    memcpy(p->pool, pool, sizeof pool);
    aw_panel_caps_forget(&p->zone[AW_FAR].caps, AW_CAP_GROWTH);
    for (int i = 0; i < AW_RANGES; ++i) aw_rules_step_done(&p->zone[i].rules);
    aw_rules_relax(near, far, report->sampled, s->problem->tolerance);
    aw_rules_relax(far, near, report->sampled, s->problem->tolerance);
    *converged = 1;
done:
    report->evaluate += aw_now() - start - report->sample;
    return status;
}

/* A step whose first passes are to be done. */
static step begin_step(aw_solver *solver, const aw_problem *problem, aw_report *report)
{
    projection *p = solver->memory;
    const aw_retarded now = aw_retarded_at(problem->history, 0.0);
    const double least = hypot(now.half_s, now.half_x) + problem->half;
    const double reach = aw_zone_convolution(solver, problem, &p->zone[AW_NEAR], least);
    const aw_partition *partition = solver->partition;
    return (step){.solver = solver,
                  .p = p,
                  .problem = problem,
                  .report = report,
                  .border = reach >= AW_REACH_ENOUGH * least ? reach : least,
                  .reach = reach,
                  .end = partition->box[partition->n - 1].delay,
                  .pass = {AW_SAME_RULE, AW_SAME_RULE}};
}

/* Leave the step to `predictive`, which has a memory of its own. */
static aw_status fall_back(aw_solver *solver, projection *p, const aw_problem *problem,
                           double *result, double *error, aw_report *report)
{
    solver->memory = p->fallback;
    const aw_status status = aw_strategy_predictive.solve(solver, problem, result, error, report);
    p->fallback = solver->memory;
    solver->memory = p;
    report->fell_back = 1;
    report->sampled = report->samples > 0 ? seen_error(p, problem, result, NULL) : 0.0;
    return status;
}

/* Whether the next steps are tried: what was out of reach now, or over cost twice, will hardly be
 * better then. */
static void plan_ahead(projection *p, int converged)
{
    const int over_cost =
        p->zone[AW_NEAR].rules.cost > p->cost_limit || p->zone[AW_FAR].rules.cost > p->cost_limit;
    p->over_cost = over_cost ? p->over_cost + 1 : 0;
    if (!converged || p->over_cost > 1) {
        if (p->pause < AW_PAUSE_MAX) p->pause = 2 * p->pause + 1;
    } else {
        p->pause = 0;
    }
    p->pause_left = p->pause;
    if (converged && !over_cost) return;
    p->coarsened = 1;
    for (int i = 0; i < AW_RANGES; ++i) aw_rules_coarsen(&p->zone[i].rules);
}

static aw_status solve(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report)
{
    aw_status status = AW_OK;
    int converged = 0;
    if (!solver->memory && !(solver->memory = remember())) return AW_ERR_NOMEM;
    projection *p = solver->memory;
    /* Scattered points share nothing, and what a problem records is not known here. */
    const int grid =
        problem->columns >= AW_SLOPE_NODES && problem->points >= AW_SLOPE_NODES * problem->columns;
    const int able = grid && solver->device->ops->integrate && !problem->record;
    if (able && p->pause_left == 0) {
        step s = begin_step(solver, problem, report);
        status = solve_zones(&s, result, &converged);
        if (status == AW_ERR_BACKEND && s.reach > 0.0 && !aw_device_convolves(solver->device)) {
            s = begin_step(solver, problem, report); /* a set has lost its last device that did */
            status = solve_zones(&s, result, &converged);
        }
        AW_TRY(status);
        plan_ahead(p, converged);
    } else if (able) {
        p->pause_left--;
    }
    if (!converged) {
        AW_TRY(fall_back(solver, p, problem, result, error, report));
    } else {
        report->error = report->sampled;
        for (size_t i = 0; error && i < problem->points; ++i) error[i] = report->sampled;
    }
    if (grid) aw_solver_keep_scales(solver, problem, result);
done:
    return status;
}

const aw_strategy aw_strategy_projection = {.name = "projection", .solve = solve, .forget = forget};
