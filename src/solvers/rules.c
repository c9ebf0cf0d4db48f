/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/rules.h"

#include <math.h>

/* From coarse to fine. Near: panels of an octave. Far: panels of two octaves, or less where the
 * circle sweeps through the bunch. docs/projection.md, "Rules", has what they give. */
static const aw_rule near_rule[] = {
    {5, 0.12, HUGE_VAL, HUGE_VAL, 0.0, 1}, {5, 0.12, 2.0, HUGE_VAL, 0.0, 1},
    {7, 0.15, 1.5, HUGE_VAL, 0.0, 1},      {7, 0.20, 1.0, HUGE_VAL, 0.0, 1},
    {9, 0.25, 1.0, HUGE_VAL, 0.0, 1},      {7, 0.25, 0.5, HUGE_VAL, 0.0, 1},
    {9, 0.34, 0.35, HUGE_VAL, 0.0, 1},     {5, 0.34, 0.35, 1.0, 0.0, 0},
    {5, 0.34, 0.35, 0.3, 0.0, 0},          {9, 0.67, 0.25, 0.15, 0.0, 0}};
static const aw_rule far_rule[] = {
    {5, 0.34, HUGE_VAL, 0.25, 8.0, 0}, {5, 0.34, HUGE_VAL, 0.12, 8.0, 0},
    {5, 0.34, HUGE_VAL, 0.08, 8.0, 0}, {5, 0.34, 2.0, 0.055, 6.0, 0},
    {5, 0.34, 1.0, 0.04, 6.0, 0},      {5, 0.34, 1.0, 0.03, 6.0, 0},
    {7, 0.34, 1.0, 0.03, 4.0, 0},      {7, 0.34, 0.5, 0.02, 2.0, 0},
    {9, 0.34, 0.5, 0.02, 1.0, 0},      {15, 0.67, 0.5, 0.02, 0.3, 0},
    {21, 1.0, 0.25, 0.01, 0.3, 0}};

void aw_rules_begin(aw_rules *rules, int far)
{
    *rules = far ? (aw_rules){.rule = far_rule, .n = sizeof far_rule / sizeof *far_rule}
                 : (aw_rules){.rule = near_rule, .n = sizeof near_rule / sizeof *near_rule};
    for (int i = 0; i <= AW_RULES_MAX; ++i) rules->gain[i] = AW_GAIN_INITIAL;
}

double aw_rules_rate_error(const aw_rules *r)
{
    const int in_floor = r->rate_error <= 2.0 * r->floor;
    return in_floor ? 0.0 : r->rate_error / AW_RATE_TOLERANCES;
}

double aw_rules_error(const aw_rules *r)
{
    const double rates = aw_rules_rate_error(r);
    return r->error <= rates ? rates : r->error;
}

/* The worse one, or of two that are alike the cheaper. What is better than a convolution costs many
 * times as much. */
int aw_rules_worse(const aw_rules *near, const aw_rules *far)
{
    const double a = aw_rules_error(near), b = aw_rules_error(far);
    if (a < AW_SIMILAR * b || near->convolved) return a < b;
    if (b < AW_SIMILAR * a) return 0;
    return a * far->cost < b * near->cost;
}

int aw_rules_densify(aw_rules *r, double cost_limit)
{
    if (r->dense == AW_DENSE_MAX || r->cost > cost_limit) return 0;
    r->failed = aw_rules_error(r);
    r->replaced = AW_RULES_MAX;
    r->dense++;
    return 1;
}

int aw_rules_tighten(aw_rules *r, double cost_limit)
{
    const int next = r->level + 1;
    const int tiles = r->convolved || (r->convolves && next == r->n);
    if (r->cost > cost_limit || (next == r->n && !tiles)) return 0;
    r->failed = aw_rules_error(r);
    r->replaced = tiles ? r->n - 1 : r->level;
    r->level = tiles ? r->n - 1 : next;
    if (tiles) r->tiles = 1;
    return 1;
}

/* See whether finer rules lower the rates' error. Where cells are long and thin, or few particles
 * fill them, the rates differ between any two sets of nodes in angle by more than the tolerance
 * allows, the sample's and ours too, and no rule in r' can mend that: what half as many nodes again
 * have not lowered is let pass. */
static void learn_floor(aw_rules *r)
{
    if (2 * r->nodes < 3 * r->compared) return;
    if (r->rate_error > AW_FLOOR * r->before)
        r->floor = fmax(r->floor, r->before);
    else
        r->floor = fmin(r->floor, r->rate_error);
    r->compared = r->nodes;
    r->before = r->rate_error;
}

void aw_rules_learn(aw_rules *r)
{
    learn_floor(r);
    const double now = aw_rules_error(r), doubt = r->coarsened ? AW_GAIN_DOUBT : 1.0;
    const double gain = r->failed < AW_GAIN_MAX * now ? fmax(r->failed / now, 1.0) : AW_GAIN_MAX;
    r->gain[r->replaced] = doubt * gain;
    r->coarsened = 0;
}

void aw_rules_resample(aw_rules *r, int again)
{
    if (!again) r->compared = r->nodes;
    if (r->compared == r->nodes) r->before = again ? fmax(r->before, r->rate_error) : r->rate_error;
}

void aw_rules_step_done(aw_rules *r)
{
    r->coarsened = 0;
    r->floor *= AW_FLOOR_DECAY;
    r->recent = fmax(aw_rules_error(r), AW_RECENT_DECAY * r->recent);
    for (int i = 0; i <= AW_RULES_MAX; ++i) r->gain[i] = pow(r->gain[i], AW_GAIN_DECAY);
}

/* Whether an error that is larger by `gain` might do. */
static int would_suffice(const aw_rules *r, const aw_rules *other, double gain, double estimated,
                         double tolerance)
{
    const double all = r->recent + other->recent, share = all > 0.0 ? r->recent / all : 0.0;
    return gain * r->recent <= AW_COARSER_BELOW * tolerance &&
           (1.0 + share * (gain - 1.0)) * estimated <= AW_ESTIMATE_SHARE * tolerance;
}

void aw_rules_relax(aw_rules *r, const aw_rules *other, double estimated, double tolerance)
{
    const int coarser = r->tiles ? r->n - 1 : r->level - 1;
    if (r->convolved) return; /* which tells nothing of the rule */
    if (coarser >= 0 && would_suffice(r, other, r->gain[coarser], estimated, tolerance)) {
        /* A convolution, if there may be one, is better than tiles and cheaper. */
        if (r->tiles)
            r->tiles = 0;
        else
            r->level--;
        r->coarsened = 1;
    } else if (r->dense && would_suffice(r, other, r->gain[AW_RULES_MAX], estimated, tolerance)) {
        r->dense--;
        r->coarsened = 1;
    }
}

void aw_rules_coarsen(aw_rules *r)
{
    r->level = r->level > AW_COARSEN_BY ? r->level - AW_COARSEN_BY : 0;
    r->tiles = r->dense = 0;
}
