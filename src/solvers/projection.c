/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes in r' that all points share. Near the points, within about the size of the bunch, the
 * moments are convolved (kernels/convolution.h) or, where they cannot be, evaluated at every point;
 * further away they are seen only through projections, which are tabulated once for a node and
 * looked up for every point (kernels/projection.h). Arcwake's own; nearest is the rotation of sums
 * in tomography.
 *
 * Nothing of this adapts to a point, so the error is measured: at every step some points are
 * recomputed adaptively, near and far part by themselves. If what they show is too much for the
 * tolerance, one part is done again with a finer rule, which is kept. If the finest does not do, or
 * is too dear, the step is left to `predictive`. */
#include <math.h>
#include <string.h>

#include "kernels/retarded.h"
#include "kernels/slope.h"
#include "quadrature/partition.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/solvers/sample.h"
#include "src/solvers/zone.h"

/* Points that a sample takes from core and rim of the grid each: at a step with a new rule, and at
 * every other. Each zone adds its most doubtful one. */
enum { AW_SAMPLE_FIRST = 16, AW_SAMPLE = 1 };
/* Largest error of many points of a stratum over their rms: of a normal distribution one point in
 * 2000 is further out than 3.5. In the rim most points have no particle near, and few have one. */
static const double peak[AW_STRATA] = {[AW_CORE] = 3.5, [AW_RIM] = 5.0};
/* Points of earlier steps that count as much as those of this one. */
#define AW_POOL 12.0
/* Of the tolerance, the error of the sample's own integrals. */
#define AW_SAMPLE_SHARE 0.1
/* Evaluations a point of a zone, over those of the sample's points, beyond which `predictive` is
 * not dearer. */
#define AW_DEAR 0.6
/* A convolution need reach so much of the near zone only, for tiles not to be asked. */
#define AW_NEARLY 0.7
/* Points of a sample whose error is above this part of the largest allowed one show which panels
 * are too long; so often in a step that is asked before a finer rule is. */
#define AW_SHARPEN 0.25
enum { AW_SHARPENED = 4 };
/* That is worth it for errors that are so much too large, which a few panels make, and from this
 * rule on. Else a finer one takes fewer nodes. */
#define AW_SPIKES 10.0
enum { AW_COSTLY = 3 };
/* Nodes in r' explain the error if they are off by this part of it. */
#define AW_EXPLAINED 0.4
/* Caps of panels grow by so much in a step, until they are forgotten. */
#define AW_CAP_GROWS 1.02
/* Most steps that are left to `predictive` without trying. */
enum { AW_PAUSE_MOST = 31 };

/* What is done with a zone: nothing, a pass with its rule (the first one, or with shorter panels),
 * or one with a finer rule. */
enum { AW_NO_PASS, AW_SAME_RULE, AW_FINER_RULE };

typedef struct projection {
    aw_zone zone[AW_RANGES];
    double (*sum)[AW_RESULTS]; /* [AW_RANGES + 1][points]: of the zones, and a scratch */
    double *check;             /* [AW_RANGES][points] */
    size_t capacity, check_capacity;
    aw_sample sample;
    double dear;               /* evaluations a point above which a zone is too dear */
    aw_spread pool[AW_STRATA]; /* errors at points of earlier steps with these rules */
    uint64_t steps;
    void *fallback;  /* memory of the strategy to which steps are left */
    int back;        /* 1: rules have gone back to coarser ones */
    int dears;       /* steps in a row that were too dear */
    int pause, left; /* steps that are left to it at once, and how many still are */
} projection;

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
    z->rules.error = aw_sample_error(&p->sample, which, I, scales, 0, AW_DPHI, NULL);
    z->rules.rate_error = aw_sample_error(&p->sample, which, I, scales, AW_DPHI, AW_RESULTS, NULL);
}

/* Worst error of the potentials at the points of the sample. */
static double seen_error(const projection *p, const aw_problem *problem, const double *result,
                         aw_spread *spread)
{
    return aw_sample_error(&p->sample, AW_RANGES, (const double(*)[AW_RESULTS])result,
                           &problem->scales, 0, AW_DPHI, spread);
}

/* Estimate of the potentials' largest error: what is seen at the points of the sample, and what
 * their rms, pooled with that of earlier steps, makes likely elsewhere.
 * @param[out] pool  [AW_STRATA], for the next step with the same rules */
static double estimate(const projection *p, const aw_problem *problem, const double *result,
                       aw_spread *pool)
{
    double worst = seen_error(p, problem, result, pool);
    for (int i = AW_CORE; i <= AW_RIM; ++i) {
        const double most = fmin(p->pool[i].points, AW_POOL);
        if (most > 0.0) pool[i].square += p->pool[i].square * most / p->pool[i].points;
        pool[i].points += most;
        const double likely = peak[i] * sqrt(pool[i].square / pool[i].points);
        if (!(likely <= worst) && !isnan(worst)) worst = likely;
    }
    return worst;
}

/* Add points to the sample: `spread` of each stratum, and the doubtful ones of the zones that were
 * just done. */
static aw_status sample(aw_solver *solver, projection *p, const aw_problem *problem, double border,
                        int spread, const int pass[AW_RANGES], aw_report *report)
{
    enum { MOST = 2 * AW_SAMPLE_FIRST + AW_RANGES };
    const double start = aw_now();
    size_t point[MOST], n = 0;
    int stratum[MOST];
    for (int i = 0; i < spread; ++i)
        for (int s = AW_CORE; s <= AW_RIM; ++s) {
            stratum[n] = s;
            point[n++] = aw_sample_next(&p->sample, problem, s);
        }
    for (int i = 0; i < AW_RANGES; ++i) {
        if (pass[i] == AW_NO_PASS || p->zone[i].panels.n == 0) continue;
        stratum[n] = AW_DOUBTFUL;
        point[n++] = doubtful(&p->zone[i], problem->points);
    }
    const uint64_t work = report->work.evaluations;
    const size_t before = p->sample.n;
    const aw_status status =
        aw_sample_add(&p->sample, solver, problem, border, AW_SAMPLE_SHARE * problem->tolerance,
                      point, stratum, n, &report->work);
    if (p->sample.n > before)
        p->dear =
            AW_DEAR * (double)(report->work.evaluations - work) / (double)(p->sample.n - before);
    report->samples = p->sample.n;
    report->sample += aw_now() - start;
    return status;
}

/* Integrate the zones that have a pass. */
static aw_status integrate_zones(aw_solver *solver, projection *p, const aw_problem *problem,
                                 double border, double reach, const int pass[AW_RANGES],
                                 int look_at_rates, aw_report *report)
{
    const double end = solver->partition->box[solver->partition->n - 1].r;
    const double to[AW_RANGES] = {fmin(border, end), end};
    const size_t points = problem->points;
    aw_status status = AW_OK;
    for (int i = 0; i < AW_RANGES; ++i) {
        aw_zone *z = &p->zone[i];
        if (pass[i] == AW_NO_PASS) continue;
        z->sum = &p->sum[(size_t)i * points];
        z->check = &p->check[(size_t)i * points];
        AW_TRY(aw_zone_integrate(solver, problem, z, i == AW_NEAR ? 0.0 : to[AW_NEAR], to[i], reach,
                                 look_at_rates, &p->sum[AW_RANGES * points], report));
        report->rule[i] = z->rules.level;
        report->shared[i] = z->rules.nodes;
    }
done:
    return status;
}

/* See whether single panels of the far zone are too long where the sample is off. */
static aw_status sharpen(aw_solver *solver, projection *p, const aw_problem *problem, double border,
                         aw_report *report, int *sharper, double *off)
{
    enum { MOST = 8 };
    aw_zone *far = &p->zone[AW_FAR];
    const double end = solver->partition->box[solver->partition->n - 1].r;
    const double least = AW_SHARPEN * AW_SHARE * problem->tolerance;
    size_t point[MOST];
    const size_t n = aw_sample_worst(&p->sample, AW_FAR, (const double(*)[AW_RESULTS])far->sum,
                                     &problem->scales, least, MOST, point);
    *sharper = 0;
    if (n == 0 || far->panels.n == 0) return AW_OK;
    return aw_zone_sharpen(solver, problem, far, fmin(border, end), end, point, n, &report->work,
                           sharper, off);
}

/* Refine a zone.
 * @param[in,out] sharpened  how often panels were looked at
 * @param[out] next  [AW_RANGES]: passes; none but AW_NO_PASS: nothing is left that is worth it */
static aw_status refine(aw_solver *solver, projection *p, const aw_problem *problem, double border,
                        aw_report *report, int *sharpened, int next[AW_RANGES])
{
    aw_rules *near = &p->zone[AW_NEAR].rules, *far = &p->zone[AW_FAR].rules;
    const int worse = aw_rules_worse(near, far) ? AW_FAR : AW_NEAR;
    const double error = aw_rules_error(far);
    const int spikes = error > AW_SPIKES * AW_SHARE * problem->tolerance || far->level >= AW_COSTLY;
    aw_status status = AW_OK;
    int sharper = 0;
    double off = HUGE_VAL;
    next[AW_NEAR] = next[AW_FAR] = AW_NO_PASS;
    if (worse == AW_FAR && spikes && (*sharpened)++ < AW_SHARPENED)
        AW_TRY(sharpen(solver, p, problem, border, report, &sharper, &off));
    /* What nodes in r' do not explain is due to those in angle. */
    if (off < AW_EXPLAINED * error && aw_rules_densify(far, p->dear))
        next[AW_FAR] = AW_FINER_RULE;
    else if (sharper)
        next[AW_FAR] = AW_SAME_RULE;
    else if (aw_rules_tighten(&p->zone[worse].rules, p->dear))
        next[worse] = AW_FINER_RULE;
    else if (aw_rules_tighten(&p->zone[!worse].rules, p->dear))
        next[!worse] = AW_FINER_RULE;
done:
    return status;
}

/* Both zones, each as often as it takes.
 * @param[out] converged  1: the estimate is within the tolerance, and `result` holds the sums */
static aw_status solve_zones(aw_solver *solver, projection *p, const aw_problem *problem,
                             double *result, aw_report *report, int *converged)
{
    const aw_retarded now = aw_retarded_at(problem->history, 0.0);
    const double least = hypot(now.half_s, now.half_x) + problem->half;
    const double reach = aw_zone_convolution(solver, problem, &p->zone[AW_NEAR], least);
    const double border = reach >= AW_NEARLY * least ? reach : least;
    const size_t points = problem->points;
    const double start = aw_now();
    aw_status status = AW_OK;
    aw_spread pool[AW_STRATA];
    int pass[AW_RANGES] = {AW_SAME_RULE, AW_SAME_RULE}, again = 0, spread = 0, sharpened = 0;
    aw_rules *near = &p->zone[AW_NEAR].rules, *far = &p->zone[AW_FAR].rules;
    *converged = 0;
    AW_TRY(aw_grow((void **)&p->sum, &p->capacity, (AW_RANGES + 1) * points, sizeof *p->sum));
    AW_TRY(aw_grow((void **)&p->check, &p->check_capacity, AW_RANGES * points, sizeof *p->check));
    /* A coarser rule is judged as the first one is: few points may pass it by luck. */
    const int begins = p->steps++ == 0 || p->back || near->trying || far->trying;
    p->back = 0;
    if (begins) memset(p->pool, 0, sizeof p->pool);
    /* Potentials and rates by turns. */
    int look_at_rates = p->steps % 2 == 0;
    p->sample.n = 0;
    for (;;) {
        AW_TRY(integrate_zones(solver, p, problem, border, reach, pass, look_at_rates, report));
        for (int i = 0; i < AW_RANGES; ++i) {
            if (pass[i] != AW_FINER_RULE) continue;
            judge(p, &p->zone[i], i, problem);
            aw_rules_learn(&p->zone[i].rules);
        }
        const int want = begins || again ? AW_SAMPLE_FIRST : AW_SAMPLE;
        AW_TRY(sample(solver, p, problem, border, want - spread, pass, report));
        spread = want;
        for (int i = 0; i < AW_RANGES; ++i) {
            judge(p, &p->zone[i], i, problem);
            aw_rules_look_again(&p->zone[i].rules, again);
        }
        const double rates = aw_rules_rate_error(near) + aw_rules_rate_error(far);
        for (size_t i = 0; i < points; ++i)
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                result[i * AW_RESULTS + k] = p->zone[AW_NEAR].sum[i][k] + p->zone[AW_FAR].sum[i][k];
        report->sampled = estimate(p, problem, result, pool);
        const double limit = AW_SHARE * problem->tolerance;
        if (report->sampled <= limit && rates <= limit) break;
        if (isnan(report->sampled + rates)) goto done;
        AW_TRY(refine(solver, p, problem, border, report, &sharpened, pass));
        if (pass[AW_NEAR] == AW_NO_PASS && pass[AW_FAR] == AW_NO_PASS) goto done;
        again = 1;
        memset(p->pool, 0, sizeof p->pool);
        look_at_rates = !look_at_rates;
    }
    memcpy(p->pool, pool, sizeof pool);
    aw_panel_caps_forget(&p->zone[AW_FAR].caps, AW_CAP_GROWS);
    for (int i = 0; i < AW_RANGES; ++i) aw_rules_note(&p->zone[i].rules);
    aw_rules_relax(near, far, report->sampled, problem->tolerance);
    aw_rules_relax(far, near, report->sampled, problem->tolerance);
    *converged = 1;
done:
    report->evaluate += aw_now() - start - report->sample;
    return status;
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

/* Whether the next steps are tried: what was out of reach now, or too dear twice, will hardly be
 * better then. */
static void plan_ahead(projection *p, int converged)
{
    const int dear = p->zone[AW_NEAR].rules.cost > p->dear || p->zone[AW_FAR].rules.cost > p->dear;
    p->dears = dear ? p->dears + 1 : 0;
    if (!converged || p->dears > 1) {
        if (p->pause < AW_PAUSE_MOST) p->pause = 2 * p->pause + 1;
    } else {
        p->pause = 0;
    }
    p->left = p->pause;
    if (converged && !dear) return;
    p->back = 1;
    for (int i = 0; i < AW_RANGES; ++i) aw_rules_go_back(&p->zone[i].rules);
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
    if (able && p->left == 0) {
        AW_TRY(solve_zones(solver, p, problem, result, report, &converged));
        plan_ahead(p, converged);
    } else if (able) {
        p->left--;
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
