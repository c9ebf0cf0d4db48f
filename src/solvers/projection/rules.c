/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of rules of the strategy `projection`, and the choice among them (rules.h). */
#include "src/solvers/projection/rules.h"

#include <math.h>

#include "src/solvers/projection/constants.h"

/* Rules from coarse to fine. Columns: nodes of a panel, density, spacing [cells], sweep, tables,
 * few_rates (aw_rule). docs/projection.md, "Rules", has the errors that were measured. */
static const aw_rule near_rule[] = {
    {5, 0.09, HUGE_VAL, HUGE_VAL, 0.0, 1}, {5, 0.09, 2.0, HUGE_VAL, 0.0, 1},
    {7, 0.11, 1.5, HUGE_VAL, 0.0, 1},      {7, 0.15, 1.0, HUGE_VAL, 0.0, 1},
    {9, 0.19, 1.0, HUGE_VAL, 0.0, 1},      {7, 0.19, 0.5, HUGE_VAL, 0.0, 1},
    {9, 0.25, 0.35, HUGE_VAL, 0.0, 1},     {5, 0.25, 0.35, 1.0, 0.0, 0},
    {5, 0.25, 0.35, 0.3, 0.0, 0},          {9, 0.50, 0.25, 0.15, 0.0, 0}};
static const aw_rule far_rule[] = {
    {5, 0.25, HUGE_VAL, 0.25, 8.0, 0}, {5, 0.25, HUGE_VAL, 0.12, 8.0, 0},
    {5, 0.25, HUGE_VAL, 0.08, 8.0, 0}, {5, 0.25, 2.0, 0.055, 6.0, 0},
    {5, 0.25, 1.0, 0.04, 6.0, 0},      {5, 0.25, 1.0, 0.03, 6.0, 0},
    {7, 0.25, 1.0, 0.03, 4.0, 0},      {7, 0.25, 0.5, 0.02, 2.0, 0},
    {9, 0.25, 0.5, 0.02, 1.0, 0},      {15, 0.50, 0.5, 0.02, 0.3, 0},
    {21, 1.0, 0.25, 0.01, 0.3, 0}};
/* Ten nodes to a cell and more: the nodes of a convolution cost next to nothing. */
const aw_rule aw_convolution_rule = {9, 0.75, 0.1, 0.1, 0.0, 0};

void aw_rules_init(aw_rules *rules, int far)
{
    *rules = far ? (aw_rules){.rule = far_rule, .n = sizeof far_rule / sizeof *far_rule}
                 : (aw_rules){.rule = near_rule, .n = sizeof near_rule / sizeof *near_rule};
    for (int i = 0; i <= AW_RULES_MAX; ++i) rules->gain[i] = AW_GAIN_INITIAL;
}

double aw_rules_rate_error(const aw_rules *r)
{
    const int in_floor = r->rate_error <= AW_FLOOR_MARGIN * r->rate_floor;
    return in_floor ? 0.0 : r->rate_part * r->rate_error / AW_RATE_TOLERANCES;
}

double aw_rules_error(const aw_rules *r)
{
    const double rates = aw_rules_rate_error(r);
    return r->error <= rates ? rates : r->error;
}

int aw_rules_are_alike(const aw_rules *near, const aw_rules *far)
{
    const double a = aw_rules_error(near), b = aw_rules_error(far);
    return a >= AW_SIMILAR * b && b >= AW_SIMILAR * a;
}

/* Tiles instead of a convolution cost many times as much: refine the other zone if its error is
 * larger at all. */
int aw_rules_far_is_worse(const aw_rules *near, const aw_rules *far)
{
    const double a = aw_rules_error(near), b = aw_rules_error(far);
    if (near->all_convolution || !aw_rules_are_alike(near, far)) return a < b;
    return a * far->cost < b * near->cost;
}

int aw_rules_are_at_floor(const aw_rules *near, const aw_rules *far)
{
    return near->all_convolution && near->error <= AW_CONVOLUTION_FLOOR &&
           aw_rules_error(far) <= AW_FAR_OF_FLOOR * near->error;
}

int aw_rules_densify(aw_rules *r, double cost_limit)
{
    if (r->density_level == AW_DENSITY_LEVEL_MAX || r->cost > cost_limit) return 0;
    r->replaced_error = aw_rules_error(r);
    r->replaced = AW_RULES_MAX;
    r->density_level++;
    r->dense_wait = r->unproven ? r->dense_wait * AW_DENSE_GROWTH : AW_DENSE_STEPS;
    if (r->dense_wait > AW_DENSE_STEPS_MAX) r->dense_wait = AW_DENSE_STEPS_MAX;
    r->dense_left = r->dense_wait;
    return 1;
}

int aw_rules_refine(aw_rules *r, double cost_limit, double enough)
{
    const int next = r->level + 1;
    const int tiles = r->all_convolution || (r->has_convolution && next == r->n);
    if (r->all_convolution && r->density_level < AW_DENSITY_LEVEL_MAX)
        return aw_rules_densify(r, cost_limit);
    if (r->cost > cost_limit || (next == r->n && !tiles)) return 0;
    if (tiles && (r->error <= enough || r->gain[r->n - 1] < AW_TILES_WORSE)) return 0;
    r->replaced_error = aw_rules_error(r);
    r->replaced = tiles ? r->n - 1 : r->level;
    r->level = tiles ? r->n - 1 : next;
    if (tiles) r->tiles_only = 1;
    return 1;
}

/* See whether finer rules lower the error of the rates. Where cells are long and thin, or few
 * particles fill them, the rates by any two sets of nodes in angle, the sample's included, differ
 * by more than the tolerance allows, and no rule in r' can change that: an error that half as many
 * nodes again have not lowered becomes the floor. */
static void update_floor(aw_rules *r)
{
    if ((double)r->nodes < AW_FLOOR_NODES * (double)r->reference_nodes) return;
    if (r->rate_error > AW_FLOOR_RATIO * r->reference_error)
        r->rate_floor = fmax(r->rate_floor, r->reference_error);
    else
        r->rate_floor = fmin(r->rate_floor, r->rate_error);
    r->reference_nodes = r->nodes;
    r->reference_error = r->rate_error;
}

void aw_rules_record_gain(aw_rules *r)
{
    update_floor(r);
    const double now = aw_rules_error(r), doubt = r->unproven ? AW_GAIN_DOUBT : 1.0;
    const double gain =
        r->replaced_error < AW_GAIN_MAX * now ? r->replaced_error / now : AW_GAIN_MAX;
    r->gain[r->replaced] = doubt * fmax(gain, r->tiles_only ? 0.0 : 1.0);
    r->unproven = 0;
    r->goes_back = r->tiles_only && r->replaced == r->n - 1 && gain < 1.0;
    if (r->goes_back) r->tiles_only = 0;
}

void aw_rules_set_reference(aw_rules *r, int repeated)
{
    if (!repeated) r->reference_nodes = r->nodes;
    if (r->reference_nodes == r->nodes)
        r->reference_error = repeated ? fmax(r->reference_error, r->rate_error) : r->rate_error;
}

void aw_rules_accept(aw_rules *r)
{
    r->unproven = r->goes_back = 0;
    r->accepted.level = r->level;
    r->accepted.density_level = r->density_level;
    r->accepted.tiles_only = r->tiles_only;
    r->rate_floor *= AW_FLOOR_DECAY;
    r->recent_error = fmax(aw_rules_error(r), AW_RECENT_DECAY * r->recent_error);
    for (int i = 0; i <= AW_RULES_MAX; ++i) r->gain[i] = pow(r->gain[i], AW_GAIN_DECAY);
}

int aw_rules_are_as_fine(const aw_rules *r)
{
    return r->level >= r->accepted.level && r->density_level >= r->accepted.density_level &&
           r->tiles_only >= r->accepted.tiles_only;
}

/* Whether the zone's error and the estimate of both zones' error stay within their limits if the
 * zone's error grows by the factor `gain`. */
static int affords(const aw_rules *r, const aw_rules *other, double gain, double estimate,
                   double tolerance)
{
    const double all = r->recent_error + other->recent_error;
    const double share = all > 0.0 ? r->recent_error / all : 0.0;
    return gain * r->recent_error <= AW_COARSER_SHARE * tolerance &&
           (1.0 + share * (gain - 1.0)) * estimate <= AW_ESTIMATE_SHARE * tolerance;
}

void aw_rules_try_coarser(aw_rules *r, const aw_rules *other, double estimate, double tolerance)
{
    /* The error of a convolution says nothing about the rule. */
    const int coarser = r->all_convolution ? -1 : r->tiles_only ? r->n - 1 : r->level - 1;
    if (r->density_level > r->density_least && r->dense_left-- <= 0) {
        /* Not by its gain: what made it necessary is often a single step, after a change of the
         * grid's spacings. And first: it saves more than fewer nodes in r' do. */
        r->density_level--;
        r->dense_left = r->dense_wait;
        r->unproven = 1;
    } else if (coarser >= 0 && affords(r, other, r->gain[coarser], estimate, tolerance)) {
        /* A convolution, where it is possible, is more accurate than tiles, and cheaper. */
        if (r->tiles_only)
            r->tiles_only = 0;
        else
            r->level--;
        r->unproven = 1;
    }
}

void aw_rules_coarsen(aw_rules *r)
{
    r->level = r->level > AW_COARSEN_LEVELS ? r->level - AW_COARSEN_LEVELS : 0;
    r->density_level = r->density_least;
    r->tiles_only = 0;
}
