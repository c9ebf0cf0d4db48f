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
 * This file owns the order of the passes of a step and the strategy's memory. Read solve_zones
 * first, then choose_passes. docs/projection.md, "Where to change a rule", is the guide. */
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
#include "src/solvers/projection/examine.h"
#include "src/solvers/projection/images.h"
#include "src/solvers/projection/sample.h"
#include "src/solvers/projection/zone.h"

static const double peak[AW_STRATA] = {[AW_CORE] = AW_PEAK_CORE, [AW_RIM] = AW_PEAK_RIM};

/* The next pass of a zone: none, one with its present rule (the first of a step, or with shorter
 * panels), or one with a finer rule. */
enum { AW_NO_PASS, AW_SAME_RULE, AW_FINER_RULE };

/* Spread points that a step's sample gets: of one stratum, by turns; some of both, to see whether a
 * coarser rule will do; all. */
enum { AW_FEW_POINTS, AW_TRIAL_POINTS, AW_ALL_POINTS };

/* What the strategy keeps from step to step. */
typedef struct projection {
    aw_zone zone[AW_RANGES];
    double (*sum)[AW_RESULTS]; /* [AW_RANGES + 1][points]: of the zones, and their workspace */
    double *check;             /* [AW_RANGES][points] */
    size_t capacity, check_capacity;
    unsigned char *mask; /* [2][points]: where potentials are wanted, and where the zones' sums are
                          * needed for them */
    size_t mask_capacity;
    aw_sample sample;
    double sample_cost;            /* evaluations of a point of the last sample, */
    double fallback_cost;          /* and of one that `predictive` solved for last; 0: none yet */
    aw_error_sums pool[AW_STRATA]; /* errors at spread points of earlier steps, same rules */
    uint64_t steps;
    void *fallback;    /* memory of `predictive`, to which steps are left */
    aw_images *images; /* NULL: none were computed apart yet */
    double forgone;    /* evaluations that coarser rules would have saved since the last attempt */
    int coarsened;     /* 1: the rules were coarsened after the last step */
    int over_cost_steps; /* steps in a row that were over cost */
    int pause;           /* steps that are left to `predictive` at once, */
    int pause_left;      /* and how many of them are still to come */
} projection;

/* The state of a step. */
typedef struct step {
    aw_solver *solver;
    projection *p;
    const aw_problem *problem;
    aw_report *report;
    uint64_t begun;              /* evaluations counted before it */
    double border;               /* between the zones [m] */
    aw_blocks blocks;            /* of the convolution */
    double end;                  /* of the far zone [m] */
    const unsigned char *wanted; /* [points]: where the potentials are; NULL: everywhere */
    int pass[AW_RANGES];         /* the next passes */
    int repeated;                /* 1: they are not the first of the step */
    int check_rates;             /* 1: null rules check the rates, 0: the potentials */
    int sample_size;             /* AW_FEW_POINTS .. */
    int spread_points;           /* spread points of the sample, in core and rim each */
    int spike_rounds;            /* times that single panels were examined */
    int resampled;               /* 1: points were resampled since the last pass */
    int probed; /* 1: nodes in angle were chosen at the sample's worst points, too */
    aw_error_sums proven[AW_STRATA]; /* of a trial: the pool of the finer rules before */
    double best; /* smallest estimate so far, and the passes since that have not lowered */
    int in_vain; /* it by AW_PROGRESS */
} step;

static void free_memory(void *memory)
{
    projection *p = memory;
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
    projection *p = aw_alloc(1, sizeof *p);
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
    projection *p = memory;
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

/* ---------------------------------------------------------------------------- errors at the sample
 */

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

/* Set the errors of the rules of zone i from the points of the sample. */
static void measure_zone(projection *p, int i, const aw_problem *problem)
{
    aw_rules *rules = &p->zone[i].rules;
    const aw_compared zone = {i, (const double(*)[AW_RESULTS])p->zone[i].sum, &problem->scales};
    rules->error = aw_sample_error(&p->sample, &zone, 0, AW_DPHI, NULL);
    rules->rate_error = aw_sample_error(&p->sample, &zone, AW_DPHI, AW_RESULTS, NULL);
}

/* Largest error of the potentials at the points of the sample. */
static double sampled_error(const projection *p, const aw_problem *problem, const double *result,
                            aw_error_sums *sums)
{
    const aw_compared both = {AW_RANGES, (const double(*)[AW_RESULTS])result, &problem->scales};
    return aw_sample_error(&p->sample, &both, 0, AW_DPHI, sums);
}

/* Estimate of the largest error of the potentials at all points: the largest at the points of the
 * sample, or, if it is more, the largest that is likely from the rms of a stratum, which includes
 * points of earlier steps.
 * @param[out] pool  [AW_STRATA], for the next step if it has the same rules */
static double estimate_error(const projection *p, const aw_problem *problem, const double *result,
                             aw_error_sums *pool)
{
    double worst = sampled_error(p, problem, result, pool);
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

/* How the sample is integrated, with regions cut at one in `stride` of the last passes' nodes. */
static aw_sampling sampling_of(const step *s, size_t stride)
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

/* Spread points of a full sample. */
static int full_sample(const aw_problem *problem)
{
    return problem->history->images_only ? AW_SAMPLE_IMAGES : AW_SAMPLE_NEW_RULE;
}

/* Spread points of the sample after the next passes. */
static int spread_points(const step *s)
{
    if (s->sample_size == AW_ALL_POINTS) return full_sample(s->problem);
    return s->sample_size == AW_TRIAL_POINTS ? AW_SAMPLE_TRIAL : AW_SAMPLE_SAME_RULE;
}

/* Evaluations of a point beyond which a zone is over cost: what the other strategy took when it was
 * last used, or, before it was, a part of what a point of the sample takes. */
static double cost_limit(const projection *p)
{
    return p->fallback_cost > 0.0 ? p->fallback_cost : AW_OVER_COST * p->sample_cost;
}

/* Extend the sample to the spread points that it should have, and by the doubtful point of each
 * zone that has just had a pass; take from its evaluations what a point costs. */
static aw_status extend_sample(step *s)
{
    enum { MAX = 2 * AW_SAMPLE_NEW_RULE + AW_RANGES };
    const aw_problem *problem = s->problem;
    projection *p = s->p;
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
    const aw_sampling sampling = sampling_of(s, AW_SAMPLE_EDGE_STRIDE);
    const aw_status status = aw_sample_add(&p->sample, &sampling, point, stratum, n);
    if (p->sample.n > before)
        p->sample_cost =
            (double)(s->report->work.evaluations - evaluations) / (double)(p->sample.n - before);
    s->report->samples = p->sample.n;
    s->report->sample += aw_now() - start;
    return status;
}

/* ------------------------------------------------------------------------------ passes of a
 * step */

/* Integrate the zones that have a pass. The convolution of the near zone is started first, so that
 * several devices do it while they integrate the far zone. */
static aw_status integrate_zones(const step *s)
{
    projection *p = s->p;
    const double border = fmin(s->border, s->end);
    const double from[AW_RANGES] = {[AW_FAR] = border};
    const double to[AW_RANGES] = {[AW_NEAR] = border, [AW_FAR] = s->end};
    const size_t points = s->problem->points;
    aw_status status = AW_OK;
    for (int i = 0; i < AW_RANGES; ++i) {
        aw_zone *z = &p->zone[i];
        z->from = from[i];
        z->to = to[i];
        z->sum = &p->sum[(size_t)i * points];
        z->check = &p->check[(size_t)i * points];
        z->check_rates = s->check_rates;
        z->workspace = &p->sum[AW_RANGES * points];
        if (s->pass[i] == AW_NO_PASS) continue;
        AW_TRY(aw_zone_begin(s->solver, s->problem, z, i == AW_NEAR ? &s->blocks : NULL));
    }
    for (int k = 0; k < AW_RANGES; ++k) {
        const int i = k == 0 ? AW_FAR : AW_NEAR;
        aw_zone *z = &p->zone[i];
        if (s->pass[i] == AW_NO_PASS) continue;
        AW_TRY(aw_zone_integrate(s->solver, s->problem, z, s->report));
        s->report->rule[i] = z->rules.level;
        s->report->common_nodes[i] = z->rules.nodes;
    }
done:
    return status;
}

/* Do the chosen passes, extend the sample, and measure the zones' errors. */
static aw_status run_passes(step *s)
{
    projection *p = s->p;
    aw_status status = AW_OK;
    AW_TRY(integrate_zones(s));
    for (int i = 0; i < AW_RANGES; ++i) {
        if (s->pass[i] != AW_FINER_RULE) continue;
        measure_zone(p, i, s->problem);
        aw_rules_record_gain(&p->zone[i].rules);
    }
    AW_TRY(extend_sample(s));
    for (int i = 0; i < AW_RANGES; ++i) {
        measure_zone(p, i, s->problem);
        aw_rules_set_reference(&p->zone[i].rules, s->repeated);
    }
done:
    return status;
}

/* Examine the far zone's panels one by one at the worst points of the sample, and cap those that
 * are too long. If the panels do not explain the error, the sample may have missed a spike: its
 * worst points are resampled, once after each pass.
 * @param[out] test  whether a panel has got a cap, and the error of all panels at the worst point;
 * left as it is if there is nothing to examine */
static aw_status examine_panels(step *s, aw_panel_test *test)
{
    projection *p = s->p;
    aw_zone *far = &p->zone[AW_FAR];
    const aw_problem *problem = s->problem;
    const double limit = AW_SPIKE_SHARE * AW_ESTIMATE_SHARE * problem->tolerance;
    const aw_compared sums = {AW_FAR, (const double(*)[AW_RESULTS])far->sum, &problem->scales};
    aw_status status = AW_OK;
    size_t which[AW_SPIKE_POINTS], point[AW_SPIKE_POINTS];
    const size_t n = aw_sample_worst(&p->sample, &sums, limit, AW_SPIKE_POINTS, which);
    if (n == 0 || far->panels.n == 0) return AW_OK;
    for (size_t i = 0; i < n; ++i) point[i] = p->sample.entry[which[i]].point;
    memcpy(far->probes.point, point, n * sizeof *point);
    far->probes.n = n;
    test->point = point;
    test->points = n;
    AW_TRY(aw_zone_examine(s->solver, problem, far, test, &s->report->work));
    if (s->resampled || test->error >= AW_EXPLAINED * aw_rules_error(&far->rules)) goto done;
    const aw_sampling sampling = sampling_of(s, 1);
    AW_TRY(aw_sample_resample(&p->sample, &sampling, which, n));
    s->resampled = 1;
done:
    test->point = NULL; /* those were of this call */
    return status;
}

/* What a step does after its estimate was too large. */
typedef enum next {
    GIVE_UP,       /* nothing is left that is worth its cost */
    ESTIMATE_ANEW, /* from the same sums: the sample has changed */
    RUN_PASSES
} next;

/* Choose the next passes: which zone, and whether with shorter panels, more nodes in angle or the
 * next finer rule. */
static aw_status choose_passes(step *s, next *out)
{
    projection *p = s->p;
    aw_rules *near = &p->zone[AW_NEAR].rules, *far = &p->zone[AW_FAR].rules;
    const int worse = aw_rules_far_is_worse(near, far) ? AW_FAR : AW_NEAR;
    const int resampled = s->resampled;
    const double error = aw_rules_error(far), enough = AW_ESTIMATE_SHARE * s->problem->tolerance;
    const int spikes = s->problem->history->images_only || error > AW_SPIKE_ERROR * enough ||
                       far->level >= AW_SPIKE_LEVEL || s->in_vain > 0 ||
                       aw_panels_have_passages(&p->zone[AW_FAR].panels);
    aw_status status = AW_OK;
    aw_panel_test test = {.capped = 0, .error = HUGE_VAL};
    s->pass[AW_NEAR] = s->pass[AW_FAR] = AW_NO_PASS;
    *out = RUN_PASSES;
    if (near->goes_back) {
        near->goes_back = 0;
        s->pass[AW_NEAR] = AW_SAME_RULE;
        return AW_OK;
    }
    if (worse == AW_FAR && spikes && s->spike_rounds < AW_SPIKE_ROUNDS) {
        s->spike_rounds += !s->resampled;
        AW_TRY(examine_panels(s, &test));
    }
    *out = ESTIMATE_ANEW;
    if (s->resampled > resampled) return AW_OK;
    /* An error that nodes in r' do not explain, or that more of them have not lowered, comes from
     * nodes in angle or from tables. */
    const int unexplained = test.error < AW_EXPLAINED * error;
    if (unexplained || (worse == AW_FAR && s->in_vain > 0 && !test.capped))
        s->pass[AW_FAR] = aw_rules_densify(far, cost_limit(p)) ? AW_FINER_RULE : AW_NO_PASS;
    /* Shorter panels, or the same with nodes in angle where the worst points need them. */
    if (s->pass[AW_FAR] == AW_NO_PASS && (test.capped || (unexplained && !s->probed))) {
        s->pass[AW_FAR] = AW_SAME_RULE;
        s->probed |= unexplained;
    }
    /* With the most nodes in angle, no finer rule has lowered such an error of images: 1.45e-3 of
     * psi at S = 10.8 m of the Zeuthen chicane, plates 10 mm apart. */
    const int exhausted = unexplained && s->problem->history->images_only;
    /* What the convolution leaves is too much by itself: a finer far zone would be in vain. */
    const int hopeless = near->all_convolution && near->density_level == AW_DENSITY_LEVEL_MAX &&
                         aw_rules_error(near) > enough;
    const int alike = aw_rules_are_alike(near, far) && !(hopeless && worse == AW_NEAR);
    for (int i = 0, z = worse; i < AW_RANGES && s->pass[AW_FAR] == AW_NO_PASS; ++i, z = !z)
        if (s->pass[!z] == AW_NO_PASS && !exhausted && (z == worse || alike) &&
            aw_rules_refine(&p->zone[z].rules, cost_limit(p), enough))
            s->pass[z] = AW_FINER_RULE;
    *out = s->pass[AW_NEAR] == AW_NO_PASS && s->pass[AW_FAR] == AW_NO_PASS ? GIVE_UP : RUN_PASSES;
done:
    return status;
}

/* Whether the last passes have brought too little for more of them to be worth their cost: what is
 * left does not come from the rules. An estimate that was made anew from the same sums does not
 * count. */
static int makes_no_progress(step *s, double estimate)
{
    const aw_rules *near = &s->p->zone[AW_NEAR].rules;
    const int near_passed = s->pass[AW_NEAR] != AW_NO_PASS;
    if (s->best == 0.0 || estimate < AW_PROGRESS * s->best) {
        s->best = estimate;
        s->in_vain = 0;
    } else if (near_passed ? near->rule[near->level].density >= AW_PER_CELL
                           : s->pass[AW_FAR] != AW_NO_PASS) {
        s->in_vain++;
    }
    return s->in_vain >= AW_PASSES_IN_VAIN;
}

/* Whether the step has taken so much more than the other strategy would that another pass, even if
 * it were the last, would not pay. */
static int exceeds_fallback(const step *s)
{
    const double taken = (double)(s->report->work.evaluations - s->begun);
    return taken > AW_GIVE_UP_COST * cost_limit(s->p) * (double)s->problem->points;
}

/* Whether a result whose estimate is above its limit, and which nothing improves any more, may be
 * accepted. */
static int is_acceptable(const projection *p, const aw_problem *problem, const double *result,
                         double estimate, double rates)
{
    return sampled_error(p, problem, result, NULL) <= problem->tolerance &&
           estimate <= AW_DOUBTED * problem->tolerance && rates <= problem->tolerance;
}

/* Add up both zones at the points of a mask, or where it is 0.
 * @param[in] mask  [points]; NULL: at all */
static void add_zones(const projection *p, size_t points, const unsigned char *mask, int inside,
                      double *result)
{
    for (size_t i = 0; i < points; ++i) {
        if (mask && (mask[i] != 0) != inside) continue;
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            result[i * AW_RESULTS + k] = p->zone[AW_NEAR].sum[i][k] + p->zone[AW_FAR].sum[i][k];
    }
}

/* Integrate once more, for the points that were left out, with the same rules. */
static aw_status complete(step *s, double *result)
{
    projection *p = s->p;
    aw_status status = AW_OK;
    for (int i = 0; i < AW_RANGES; ++i) {
        p->zone[i].needed = NULL;
        s->pass[i] = AW_SAME_RULE;
    }
    AW_TRY(integrate_zones(s));
    add_zones(p, s->problem->points, s->wanted, 0, result);
done:
    return status;
}

/* Take coarser rules for the next step, if the errors allow it. That step then has a full sample,
 * so that no attempt is made until what coarser rules would have saved pays for one. */
static aw_status try_coarser(const step *s, double estimate)
{
    projection *p = s->p;
    const aw_problem *problem = s->problem;
    aw_rules *near = &p->zone[AW_NEAR].rules, *far = &p->zone[AW_FAR].rules;
    const double samples = 2.0 * full_sample(problem) * AW_SAMPLE_WEIGHT;
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
static aw_status solve_zones(step *s, double *result, int *converged)
{
    projection *p = s->p;
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
        AW_TRY(run_passes(s));
        add_zones(p, points, s->wanted, 1, result);
        report->sampled = estimate_error(p, s->problem, result, pool);
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
                         sampled_error(p, s->problem, result, NULL) <= limit)) {
            s->pass[AW_NEAR] = s->pass[AW_FAR] = AW_NO_PASS;
            s->sample_size = AW_ALL_POINTS;
            memset(p->pool, 0, sizeof p->pool);
            continue;
        }
        next then = GIVE_UP;
        if (!makes_no_progress(s, fmax(report->sampled, rates)) && !exceeds_fallback(s))
            AW_TRY(choose_passes(s, &then));
        if (then == GIVE_UP && is_acceptable(p, s->problem, result, report->sampled, rates)) break;
        if (then == GIVE_UP) goto done;
        if (then == ESTIMATE_ANEW) continue;
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
static aw_status find_wanted(projection *p, const aw_problem *problem)
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
static step begin_step(aw_solver *solver, const aw_problem *problem, aw_report *report)
{
    projection *p = solver->memory;
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
    return (step){.solver = solver,
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

static step_errors errors_of(const projection *p, const aw_problem *problem, const double *result)
{
    const aw_compared both = {AW_RANGES, (const double(*)[AW_RESULTS])result, &problem->scales};
    return (step_errors){sampled_error(p, problem, result, NULL),
                         aw_sample_error(&p->sample, &both, AW_DPHI, AW_RESULTS, NULL)};
}

/* Leave the step to `predictive`, which has its own memory, unless it turns out to be worse at the
 * sample than the sums of the zones. Where those are within the tolerance but for the rates, and
 * its rates are no better, what they leave of the rates is the floor, and the step is theirs.
 * @param[out] accepted  1: it is */
static aw_status fall_back(aw_solver *solver, const aw_problem *problem, double *result,
                           double *error, aw_report *report, int *accepted)
{
    projection *p = solver->memory;
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
static void plan_next_steps(projection *p, int converged)
{
    const double limit = cost_limit(p);
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
    projection *p = solver->memory;
    aw_status status = AW_OK;
    int converged = 0;
    const int able = is_able(solver, problem);
    if (able && problem->felt) AW_TRY(find_wanted(p, problem));
    if (able && p->pause_left == 0) {
        step s = begin_step(solver, problem, report);
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
    projection *p = solver->memory;
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
