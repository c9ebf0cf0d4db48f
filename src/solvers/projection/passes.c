/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/projection/passes.h"

#include <math.h>
#include <string.h>

#include "src/solvers/projection/constants.h"
#include "src/solvers/projection/estimate.h"
#include "src/solvers/projection/examine.h"

double aw_common_cost_limit(const aw_common_memory *p)
{
    return p->fallback_cost > 0.0 ? p->fallback_cost : AW_OVER_COST * p->sample_cost;
}

aw_status aw_common_integrate(const aw_common_step *s)
{
    aw_common_memory *p = s->p;
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

aw_status aw_common_run_passes(aw_common_step *s)
{
    aw_common_memory *p = s->p;
    aw_status status = AW_OK;
    AW_TRY(aw_common_integrate(s));
    for (int i = 0; i < AW_RANGES; ++i) {
        if (s->pass[i] != AW_FINER_RULE) continue;
        aw_common_measure_zone(p, i, s->problem);
        aw_rules_record_gain(&p->zone[i].rules);
    }
    AW_TRY(aw_common_extend_sample(s));
    for (int i = 0; i < AW_RANGES; ++i) {
        aw_common_measure_zone(p, i, s->problem);
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
static aw_status examine_panels(aw_common_step *s, aw_panel_test *test)
{
    aw_common_memory *p = s->p;
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
    const aw_sampling sampling = aw_common_sampling(s, 1);
    AW_TRY(aw_sample_resample(&p->sample, &sampling, which, n));
    s->resampled = 1;
done:
    test->point = NULL; /* those were of this call */
    return status;
}

/* Whether the last passes have brought too little for more of them to be worth their cost: what is
 * left does not come from the rules. An estimate that was made anew from the same sums does not
 * count. */
static int makes_no_progress(aw_common_step *s, double estimate)
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
static int exceeds_fallback(const aw_common_step *s)
{
    const double taken = (double)(s->report->work.evaluations - s->begun);
    return taken > AW_GIVE_UP_COST * aw_common_cost_limit(s->p) * (double)s->problem->points;
}

/* Choose the next passes where some may be worth their cost. */
static aw_status choose_passes(aw_common_step *s, aw_common_next *out)
{
    aw_common_memory *p = s->p;
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
    *out = AW_RUN_PASSES;
    if (near->goes_back) {
        near->goes_back = 0;
        s->pass[AW_NEAR] = AW_SAME_RULE;
        return AW_OK;
    }
    if (worse == AW_FAR && spikes && s->spike_rounds < AW_SPIKE_ROUNDS) {
        s->spike_rounds += !s->resampled;
        AW_TRY(examine_panels(s, &test));
    }
    *out = AW_ESTIMATE_ANEW;
    if (s->resampled > resampled) return AW_OK;
    /* An error that nodes in r' do not explain, or that more of them have not lowered, comes from
     * nodes in angle or from tables. */
    const int unexplained = test.error < AW_EXPLAINED * error;
    if (unexplained || (worse == AW_FAR && s->in_vain > 0 && !test.capped))
        s->pass[AW_FAR] =
            aw_rules_densify(far, aw_common_cost_limit(p)) ? AW_FINER_RULE : AW_NO_PASS;
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
            aw_rules_refine(&p->zone[z].rules, aw_common_cost_limit(p), enough))
            s->pass[z] = AW_FINER_RULE;
    *out = s->pass[AW_NEAR] == AW_NO_PASS && s->pass[AW_FAR] == AW_NO_PASS ? AW_GIVE_UP
                                                                           : AW_RUN_PASSES;
done:
    return status;
}

aw_status aw_common_choose_passes(aw_common_step *s, double estimate, aw_common_next *out)
{
    *out = AW_GIVE_UP;
    if (makes_no_progress(s, estimate) || exceeds_fallback(s)) return AW_OK;
    return choose_passes(s, out);
}
