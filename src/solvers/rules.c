/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/rules.h"

#include <math.h>

/* A coarser rule is tried when its error is expected to be below this part of the tolerance, */
#define AW_COARSER 0.5
/* from the largest of lately, of which so much is left after a step, */
#define AW_LATELY 0.7
/* and from what the finer rule gained when it took its place: so much to begin with, at most, and
 * with more doubt after a try that has failed, which is forgotten by and by (a power). */
#define AW_GAIN 4.0
#define AW_GAIN_MOST 100.0
#define AW_GAIN_DOUBT 4.0
#define AW_GAIN_FORGET 0.97
/* A finer rule that leaves this part of the rates' error has not found what causes it; that is
 * forgotten by and by. */
#define AW_FLOOR 0.7
#define AW_FORGET 0.98
/* Errors of two zones are alike within this factor: refining the smaller one changes little. */
#define AW_SIMILAR 0.3
/* Rules that a zone goes back. */
enum { AW_BACK = 3 };
/* aw_rules.dense, at most. */
enum { AW_DENSE_MOST = 2 };

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
    for (int i = 0; i <= AW_RULES_MOST; ++i) rules->gain[i] = AW_GAIN;
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

int aw_rules_densify(aw_rules *r, double dear)
{
    if (r->dense == AW_DENSE_MOST || r->cost > dear) return 0;
    r->failed = aw_rules_error(r);
    r->left = AW_RULES_MOST;
    r->dense++;
    return 1;
}

int aw_rules_tighten(aw_rules *r, double dear)
{
    const int next = r->level + 1;
    const int tiles = r->convolved || (r->convolves && next == r->n);
    if (r->cost > dear || (next == r->n && !tiles)) return 0;
    r->failed = aw_rules_error(r);
    r->left = tiles ? r->n - 1 : r->level;
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
    const double now = aw_rules_error(r), doubt = r->trying ? AW_GAIN_DOUBT : 1.0;
    const double gain = r->failed < AW_GAIN_MOST * now ? fmax(r->failed / now, 1.0) : AW_GAIN_MOST;
    r->gain[r->left] = doubt * gain;
    r->trying = 0;
}

void aw_rules_look_again(aw_rules *r, int again)
{
    if (!again) r->compared = r->nodes;
    if (r->compared == r->nodes) r->before = again ? fmax(r->before, r->rate_error) : r->rate_error;
}

void aw_rules_note(aw_rules *r)
{
    r->trying = 0;
    r->floor *= AW_FORGET;
    r->lately = fmax(aw_rules_error(r), AW_LATELY * r->lately);
    for (int i = 0; i <= AW_RULES_MOST; ++i) r->gain[i] = pow(r->gain[i], AW_GAIN_FORGET);
}

/* Whether an error that is larger by `gain` might do. */
static int would_do(const aw_rules *r, const aw_rules *other, double gain, double estimated,
                    double tolerance)
{
    const double all = r->lately + other->lately, share = all > 0.0 ? r->lately / all : 0.0;
    return gain * r->lately <= AW_COARSER * tolerance &&
           (1.0 + share * (gain - 1.0)) * estimated <= AW_SHARE * tolerance;
}

void aw_rules_relax(aw_rules *r, const aw_rules *other, double estimated, double tolerance)
{
    const int coarser = r->tiles ? r->n - 1 : r->level - 1;
    if (r->convolved) return; /* which tells nothing of the rule */
    if (coarser >= 0 && would_do(r, other, r->gain[coarser], estimated, tolerance)) {
        /* A convolution, if there may be one, is better than tiles and cheaper. */
        if (r->tiles)
            r->tiles = 0;
        else
            r->level--;
        r->trying = 1;
    } else if (r->dense && would_do(r, other, r->gain[AW_RULES_MOST], estimated, tolerance)) {
        r->dense--;
        r->trying = 1;
    }
}

void aw_rules_go_back(aw_rules *r)
{
    r->level = r->level > AW_BACK ? r->level - AW_BACK : 0;
    r->tiles = r->dense = 0;
}
