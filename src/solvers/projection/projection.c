/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategy `projection`: nodes in r' that all points of the grid have in common. In the near
 * zone, within about the size of the bunch, the moments are convolved (kernels/math/convolution.h)
 * or, where that is impossible, evaluated at every point; in the far zone they enter through
 * projections, which are tabulated once for a node and looked up for every point
 * (kernels/math/projection.h). The method is arcwake's own; the rotation of sums in tomography is
 * the nearest relative.
 *
 * Common nodes do not adapt to a point, so the error is measured: at every step some points are
 * also integrated adaptively, near and far zone separately (sample.h). If the error is too large
 * for the tolerance, one zone is done again with a finer rule, which is kept (rules.h). If the
 * finest rule is not good enough, or costs too much, the step is left to `predictive`.
 *
 * This file owns the strategy's memory, and a step from its zones to its result. Read solve_zones
 * first, then aw_common_choose_passes (passes.c). docs/projection.md, "Where to change a rule", is
 * the guide. */
#include <math.h>
#include <string.h>

#include "kernels/math/retarded.h"
#include "kernels/math/slope.h"
#include "quadrature/partition.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/base/windows.h"
#include "src/solvers/projection/blocks.h"
#include "src/solvers/projection/constants.h"
#include "src/solvers/projection/estimate.h"
#include "src/solvers/projection/images.h"
#include "src/solvers/projection/passes.h"
#include "src/solvers/projection/step.h"

static void free_memory(void *memory)
{
    aw_common_memory *p = memory;
    if (!p) return;
    aw_strategy_predictive.free_memory(p->fallback);
    aw_images_free(p->images);
    for (int z = 0; z < AW_RANGES; ++z) aw_zone_free(&p->zone[z]);
    aw_free(p->sum);
    aw_free(p->check);
    aw_free(p->mask);
    aw_sample_free(&p->sample);
    aw_free(p);
}

static void *new_memory(void)
{
    aw_common_memory *p = aw_alloc(1, sizeof *p);
    if (!p) return NULL;
    for (int z = 0; z < AW_RANGES; ++z) aw_rules_init(&p->zone[z].rules, z == AW_FAR);
    return p;
}

/* The table of rules is not a number, and remains. */
static void archive_rules(aw_rules *rules, aw_archive *archive)
{
    const aw_rule *const rule = rules->rule;
    rules->rule = NULL;
    AW_ARCHIVE_ITEM(archive, *rules);
    rules->rule = rule;
}

static void archive_images(aw_images **images, aw_archive *archive)
{
    int has = *images != NULL;
    AW_ARCHIVE_ITEM(archive, has);
    if (!has || archive->status != AW_OK) return;
    if (!*images && !(*images = aw_images_new()))
        archive->status = AW_ERR_NOMEM;
    else
        aw_images_archive(*images, archive);
}

static void archive_memory(void *memory, aw_archive *archive)
{
    aw_common_memory *p = memory;
    for (int z = 0; z < AW_RANGES; ++z) {
        archive_rules(&p->zone[z].rules, archive);
        AW_ARCHIVE_ITEM(archive, p->zone[z].caps);
    }
    AW_ARCHIVE_ITEM(archive, p->sample.drawn);
    AW_ARCHIVE_ITEM(archive, p->sample_cost);
    AW_ARCHIVE_ITEM(archive, p->fallback_cost);
    AW_ARCHIVE_ITEM(archive, p->pool);
    AW_ARCHIVE_ITEM(archive, p->steps);
    AW_ARCHIVE_ITEM(archive, p->forgone);
    AW_ARCHIVE_ITEM(archive, p->coarsened);
    AW_ARCHIVE_ITEM(archive, p->over_cost_steps);
    AW_ARCHIVE_ITEM(archive, p->pause);
    AW_ARCHIVE_ITEM(archive, p->pause_left);
    aw_strategy_archive(&aw_strategy_predictive, &p->fallback, archive);
    archive_images(&p->images, archive);
}

/* Whether a result whose estimate is above its limit, and which nothing improves any more, may be
 * accepted. */
static int is_acceptable(const aw_common_memory *p, const aw_problem *problem, const double *result,
                         double estimate, double rates)
{
    return aw_common_sampled_error(p, problem, result, NULL) <= problem->tolerance &&
           estimate <= AW_DOUBTED * problem->tolerance && rates <= problem->tolerance;
}

/* Add up both zones at the points of a mask, or where it is 0.
 * @param[in] mask  [points]; NULL: at all */
static void add_zones(const aw_common_memory *p, size_t points, const unsigned char *mask,
                      int inside, double *result)
{
    for (size_t i = 0; i < points; ++i) {
        if (mask && (mask[i] != 0) != inside) continue;
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            result[i * AW_RESULTS + k] = p->zone[AW_NEAR].sum[i][k] + p->zone[AW_FAR].sum[i][k];
    }
}

/* Integrate once more, for the points that were left out, with the same rules. */
static aw_status complete(aw_common_step *s, double *result)
{
    aw_common_memory *p = s->p;
    aw_status status = AW_OK;
    for (int i = 0; i < AW_RANGES; ++i) {
        p->zone[i].needed = NULL;
        s->pass[i] = AW_SAME_RULE;
    }
    AW_TRY(aw_common_integrate(s));
    add_zones(p, s->problem->points, s->wanted, 0, result);
done:
    return status;
}

/* Take coarser rules for the next step, if the errors allow it. That step then has a full sample,
 * so that no attempt is made until what coarser rules would have saved pays for one. */
static aw_status try_coarser(const aw_common_step *s, double estimate)
{
    aw_common_memory *p = s->p;
    const aw_problem *problem = s->problem;
    aw_rules *near = &p->zone[AW_NEAR].rules, *far = &p->zone[AW_FAR].rules;
    const double samples = 2.0 * aw_common_full_sample(problem) * AW_SAMPLE_WEIGHT;
    aw_status status = AW_OK;
    for (int i = 0; i < AW_RANGES; ++i) {
        double saving;
        AW_TRY(aw_zone_coarser_saving(s->solver, problem, &p->zone[i], &saving));
        p->forgone += saving * p->zone[i].rules.cost * (double)problem->points;
    }
    if (p->forgone < samples * p->sample_cost) return AW_OK;
    aw_rules_try_coarser(near, far, estimate, problem->tolerance);
    aw_rules_try_coarser(far, near, estimate, problem->tolerance);
    if (near->unproven || far->unproven) p->forgone = 0.0;
done:
    return status;
}

/* Factor by which caps grow after a step: the further its estimate is below the limit, the more. */
static double cap_growth(double estimate, double limit)
{
    const double halvings = log(AW_CAP_AIM * limit / estimate) / log(AW_HALVING_GAIN);
    return fmin(fmax(exp2(halvings), AW_CAP_GROWTH), AW_CAP_GROWTH_MAX);
}

/* Integrate both zones until the estimate is within its limit, or nothing lowers it any more and
 * the error at the sample at least is within the tolerance, and the estimate not far above it.
 * @param[out] converged  1: it is; `result` holds the sums of both zones in either case */
static aw_status solve_zones(aw_common_step *s, double *result, int *converged)
{
    aw_common_memory *p = s->p;
    const size_t points = s->problem->points;
    const double start = aw_now(), limit = AW_ESTIMATE_SHARE * s->problem->tolerance;
    aw_report *report = s->report;
    aw_rules *near = &p->zone[AW_NEAR].rules, *far = &p->zone[AW_FAR].rules;
    aw_error_sums pool[AW_STRATA];
    aw_status status = AW_OK;
    *converged = 0;
    AW_TRY(aw_grow((void **)&p->sum, &p->capacity, (AW_RANGES + 1) * points, sizeof *p->sum));
    AW_TRY(aw_grow((void **)&p->check, &p->check_capacity, AW_RANGES * points, sizeof *p->check));
    /* A coarser rule is measured with a full sample, as the first is: it could pass a few points by
     * chance. */
    const int unknown = p->steps++ == 0 || p->coarsened;
    const int new_rule = unknown || near->unproven || far->unproven;
    p->coarsened = 0;
    memcpy(s->proven, p->pool, sizeof p->pool);
    if (new_rule) memset(p->pool, 0, sizeof p->pool);
    s->sample_size = unknown ? AW_ALL_POINTS : new_rule ? AW_TRIAL_POINTS : AW_FEW_POINTS;
    s->check_rates = p->steps % 2 == 0; /* and the potentials at every other step */
    p->sample.n = 0;
    for (;;) {
        AW_TRY(aw_common_run_passes(s));
        add_zones(p, points, s->wanted, 1, result);
        report->sampled = aw_common_estimate(p, s->problem, result, pool);
        const double rates = aw_rules_rate_error(near) + aw_rules_rate_error(far);
        const int accurate = report->sampled <= limit && rates <= limit;
        if (accurate && s->sample_size != AW_TRIAL_POINTS) break;
        if (isnan(report->sampled + rates)) goto done;
        if (rates <= limit && report->sampled <= AW_FLOOR_SHARE * s->problem->tolerance &&
            aw_rules_are_at_floor(near, far) &&
            is_acceptable(p, s->problem, result, report->sampled, rates))
            break;
        /* The step's own points are accurate: the allowance for others came from earlier steps, or
         * there are but a few of them. */
        if (accurate || (s->sample_size != AW_ALL_POINTS && rates <= limit &&
                         aw_common_sampled_error(p, s->problem, result, NULL) <= limit)) {
            s->pass[AW_NEAR] = s->pass[AW_FAR] = AW_NO_PASS;
            s->sample_size = AW_ALL_POINTS;
            memset(p->pool, 0, sizeof p->pool);
            continue;
        }
        aw_common_next then;
        AW_TRY(aw_common_choose_passes(s, fmax(report->sampled, rates), &then));
        if (then == AW_GIVE_UP && is_acceptable(p, s->problem, result, report->sampled, rates))
            break;
        if (then == AW_GIVE_UP) goto done;
        if (then == AW_ESTIMATE_ANEW) continue;
        s->resampled = 0;
        s->repeated = 1;
        s->check_rates = !s->check_rates;
        memset(p->pool, 0, sizeof p->pool);
        if (s->sample_size != AW_TRIAL_POINTS) {
            s->sample_size = AW_ALL_POINTS;
        } else if (aw_rules_are_as_fine(near) && aw_rules_are_as_fine(far)) {
            /* The trial is over, and what was known of the rules before is known. */
            memcpy(p->pool, s->proven, sizeof p->pool);
            s->sample_size = AW_FEW_POINTS;
        }
    }
    if (s->wanted && s->problem->complete) AW_TRY(complete(s, result));
    memcpy(p->pool, pool, sizeof pool);
    aw_panel_caps_forget(&p->zone[AW_FAR].caps, cap_growth(report->sampled, limit));
    for (int i = 0; i < AW_RANGES; ++i) aw_rules_accept(&p->zone[i].rules);
    AW_TRY(try_coarser(s, report->sampled));
    *converged = 1;
done:
    report->evaluate += aw_now() - start - report->sample;
    return status;
}

/* ---------------------------------------------------------------------- the step as a whole */

/* Find where the potentials are wanted: where forces are felt, and where their gradients read; and
 * where the zones' sums are needed for them: where aw_convert_velocities reads. */
static aw_status find_wanted(aw_common_memory *p, const aw_problem *problem)
{
    const size_t points = problem->points;
    const int ns = (int)problem->columns, nx = (int)(points / problem->columns);
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&p->mask, &p->mask_capacity, 2 * points, sizeof *p->mask));
    memset(p->mask, 0, 2 * points);
    aw_windows_add_crosses(problem->felt, ns, nx, AW_SLOPE_NODES, p->mask);
    aw_windows_add_crosses(p->mask, ns, nx, AW_SLOPE_NODES, p->mask + points);
done:
    return status;
}

/* A step before its first passes: its zones and their ranges. Images have the most nodes in angle
 * at the r' that need them from the first pass on (AW_DENSITY_SHARE). */
static aw_common_step begin_step(aw_solver *solver, const aw_problem *problem, aw_report *report)
{
    aw_common_memory *p = solver->memory;
    aw_rules *far = &p->zone[AW_FAR].rules;
    const aw_retarded now = aw_retarded_at(problem->history, 0.0);
    const double least = hypot(now.half_s, now.half_x) + problem->half;
    const aw_partition *partition = solver->partition;
    const double end = partition->box[partition->n - 1].r;
    const aw_blocks blocks = p->zone[AW_NEAR].rules.tiles_only
                                 ? (aw_blocks){.n = 0}
                                 : aw_blocks_choose(solver, problem, least, end);
    const double reach = aw_blocks_reach(&blocks);
    aw_panel_caps_follow(&p->zone[AW_FAR].caps, problem->history);
    p->zone[AW_FAR].probes.n = 0;
    for (int i = 0; i < AW_RANGES; ++i)
        p->zone[i].needed = problem->felt ? p->mask + problem->points : NULL;
    if (problem->history->images_only)
        far->density_level = far->density_least = AW_DENSITY_LEVEL_MAX;
    return (aw_common_step){.solver = solver,
                            .p = p,
                            .problem = problem,
                            .report = report,
                            .begun = report->work.evaluations,
                            .border = reach >= AW_BORDER_PART * least ? reach : least,
                            .blocks = blocks,
                            .wanted = problem->felt ? p->mask : NULL,
                            .end = end,
                            .pass = {AW_SAME_RULE, AW_SAME_RULE}};
}

/* Largest errors at the points of the sample, in scales. */
typedef struct step_errors {
    double potentials, rates;
} step_errors;

static step_errors errors_of(const aw_common_memory *p, const aw_problem *problem,
                             const double *result)
{
    const aw_compared both = {AW_RANGES, (const double(*)[AW_RESULTS])result, &problem->scales};
    return (step_errors){aw_common_sampled_error(p, problem, result, NULL),
                         aw_sample_error(&p->sample, &both, AW_DPHI, AW_RESULTS, NULL)};
}

/* Leave the step to `predictive`, which has its own memory, unless it turns out to be worse at the
 * sample than the sums of the zones. Where those are within the tolerance but for the rates, and
 * its rates are no better, what they leave of the rates is the floor, and the step is theirs.
 * @param[out] accepted  1: it is */
static aw_status fall_back(aw_solver *solver, const aw_problem *problem, double *result,
                           double *error, aw_report *report, int *accepted)
{
    aw_common_memory *p = solver->memory;
    const int compares = report->samples > 0;
    step_errors ours = {.potentials = HUGE_VAL};
    if (compares) ours = errors_of(p, problem, result);
    solver->memory = p->fallback;
    const uint64_t before = report->work.evaluations;
    const aw_status status = aw_strategy_predictive.solve(solver, problem, result, error, report);
    p->fallback = solver->memory;
    solver->memory = p;
    report->fell_back = 1;
    if (status == AW_OK)
        p->fallback_cost = (double)(report->work.evaluations - before) / (double)problem->points;
    if (!compares || status != AW_OK) return status;
    const step_errors theirs = errors_of(p, problem, result);
    const int better = ours.potentials < theirs.potentials;
    if (better) add_zones(p, problem->points, problem->felt ? p->mask : NULL, 1, result);
    report->sampled = better ? ours.potentials : theirs.potentials;
    *accepted = better && ours.potentials <= problem->tolerance &&
                theirs.rates > AW_FLOOR_RATIO * ours.rates;
    if (!*accepted) return AW_OK;
    report->fell_back = 0;
    for (int i = 0; i < AW_RANGES; ++i)
        p->zone[i].rules.rate_floor =
            fmax(p->zone[i].rules.rate_floor, p->zone[i].rules.rate_error);
    return AW_OK;
}

/* Decide how many of the next steps are left to `predictive` without trying, and coarsen the rules:
 * a step that did not converge, or was over cost twice, will hardly be followed by a better one. */
static void plan_next_steps(aw_common_memory *p, int converged)
{
    const double limit = aw_common_cost_limit(p);
    const int over_cost = p->zone[AW_NEAR].rules.cost > limit || p->zone[AW_FAR].rules.cost > limit;
    p->over_cost_steps = over_cost ? p->over_cost_steps + 1 : 0;
    if (!converged || p->over_cost_steps >= AW_OVER_COST_STEPS) {
        if (p->pause < AW_PAUSE_MAX) p->pause = 2 * p->pause + 1;
    } else {
        p->pause = 0;
    }
    p->pause_left = p->pause;
    if (converged && !over_cost) return;
    p->coarsened = 1;
    for (int i = 0; i < AW_RANGES; ++i) aw_rules_coarsen(&p->zone[i].rules);
}

/* Whether the points are a grid: scattered points have no nodes in common. */
static int is_grid(const aw_problem *problem)
{
    return problem->columns >= AW_SLOPE_NODES &&
           problem->points >= AW_SLOPE_NODES * problem->columns;
}

/* Whether common nodes can be used; they have no regions to record. */
static int is_able(const aw_solver *solver, const aw_problem *problem)
{
    return is_grid(problem) && solver->device->ops->integrate && !problem->record;
}

/* Solve for all that the view holds, by common nodes if possible. */
static aw_status solve_view(aw_solver *solver, const aw_problem *problem, double *result,
                            double *error, aw_report *report)
{
    aw_common_memory *p = solver->memory;
    aw_status status = AW_OK;
    int converged = 0;
    const int able = is_able(solver, problem);
    if (able && problem->felt) AW_TRY(find_wanted(p, problem));
    if (able && p->pause_left == 0) {
        aw_common_step s = begin_step(solver, problem, report);
        status = solve_zones(&s, result, &converged);
        if (status == AW_ERR_BACKEND && s.blocks.n > 0 && !aw_device_convolves(solver->device)) {
            /* Of several devices the last that can convolve was lost. */
            s = begin_step(solver, problem, report);
            status = solve_zones(&s, result, &converged);
        }
        AW_TRY(status);
    }
    if (!converged) AW_TRY(fall_back(solver, problem, result, error, report, &converged));
    if (able && p->pause_left > 0)
        p->pause_left--;
    else if (able)
        plan_next_steps(p, converged);
    if (converged) {
        report->error = report->sampled;
        for (size_t i = 0; error && i < problem->points; ++i) error[i] = report->sampled;
    }
    if (is_grid(problem)) aw_solver_store_scales(solver, problem, result);
done:
    return status;
}

/* Solve for the bunch alone, and for its images apart (images.h). */
static aw_status solve_apart(aw_solver *solver, const aw_problem *problem, double *result,
                             double *error, aw_report *report)
{
    aw_common_memory *p = solver->memory;
    aw_history_view view;
    aw_problem own;
    aw_status status = AW_OK;
    if (!p->images && !(p->images = aw_images_new())) return AW_ERR_NOMEM;
    aw_images_own_problem(problem, &view, &own);
    AW_TRY(aw_solver_prepare(solver, &own, report));
    AW_TRY(solve_view(solver, &own, result, error, report));
    const unsigned char *wanted = problem->felt && !problem->complete ? p->mask : NULL;
    AW_TRY(aw_images_solve(p->images, solver, problem, report->sampled));
    AW_TRY(aw_images_add(p->images, problem, wanted, result, error, report));
done:
    return status;
}

static aw_status solve(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report)
{
    const aw_history_view *h = problem->history;
    if (!solver->memory && !(solver->memory = new_memory())) return AW_ERR_NOMEM;
    return h->gap > 0.0 && !h->images_only && is_able(solver, problem)
               ? solve_apart(solver, problem, result, error, report)
               : solve_view(solver, problem, result, error, report);
}

const aw_strategy aw_strategy_projection = {.solve = solve,
                                            .new_memory = new_memory,
                                            .free_memory = free_memory,
                                            .archive = archive_memory};
