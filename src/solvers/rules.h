/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How finely the strategy `projection` integrates a zone: rules from coarse to fine, and which of
 * them the next pass takes, by the errors that were measured. Owns the table of rules (rules.c:
 * near_rule, far_rule) and what is remembered of them; read aw_rules_tighten (finer) and
 * aw_rules_relax (coarser) first. */
#ifndef AW_SOLVERS_RULES_H
#define AW_SOLVERS_RULES_H
#include <stddef.h>

#include "src/solvers/projection_constants.h"

/** A rule, of one zone. */
typedef struct aw_rule {
    int order;
    double density, spacing, sweep; /* spacing: in cells */
    double tables; /* errors of all tables if they added up, in tolerances; they do not */
    int few_rates; /* aw_panels_how */
} aw_rule;

/* Rules of a zone, at most. */
enum { AW_RULES_MAX = 11 };

/** Rules of one zone, and what is known of them. */
typedef struct aw_rules {
    const aw_rule *rule; /* [n] */
    int n, level;        /* which of them is used */
    int tiles;           /* 1: a convolution has not done, and tiles take its place */
    int dense;     /* 1: with finer tables and twice its nodes in angle, 2: with the sample's */
    int coarsened; /* 1: a coarser one than at the last step */
    /* Of the last pass, filled in by who did it: */
    double error;      /* of potentials, the worst of the sample, in scales */
    double rate_error; /* the same of the rates */
    double cost;       /* evaluations a point, or their like */
    size_t nodes;
    int convolves; /* 1: some of it was a convolution, */
    int convolved; /* 1: all of it, so that a finer rule is the same */
    /* What is known of other rules: */
    int replaced;    /* which one has just been replaced by a finer one, */
    double failed;   /* and its error */
    double recent;   /* largest recent error */
    double floor;    /* below which finer rules have not brought the rates' error */
    size_t compared; /* nodes of the rule with which the next ones are compared, */
    double before;   /* and the rates' error by it */
    /* Errors of a rule over those of the next, when that took its place; of the last: those of the
     * convolution; and of half as many nodes in angle. */
    double gain[AW_RULES_MAX + 1];
} aw_rules;

/** Begin with the coarsest rule of the near or the far zone. */
void aw_rules_begin(aw_rules *rules, int far);

/** Error of the rates, as far as it counts: over how much larger than potentials' it may be. */
double aw_rules_rate_error(const aw_rules *rules);

/** Error that counts, in scales; a NaN of the potentials stays one. */
double aw_rules_error(const aw_rules *rules);

/** Which zone to do again with a finer rule. @return 1: the far one */
int aw_rules_worse(const aw_rules *near, const aw_rules *far);

/** Take more nodes in angle. @return 0: there are no more, or it is not worth it */
int aw_rules_densify(aw_rules *rules, double cost_limit);

/** Take a finer rule.
 *  @param[in] cost_limit  cost beyond which that is not worth it
 *  @return 0: there is none that is worth it */
int aw_rules_tighten(aw_rules *rules, double cost_limit);

/** After a pass whose errors are known at the points of the sample: what the finer rule gained,
 *  and whether it lowered the rates' error at all. */
void aw_rules_learn(aw_rules *rules);

/** The errors of the same pass at more points: the rates' may be larger. `again`: of a pass that
 *  was not the first of its step. */
void aw_rules_resample(aw_rules *rules, int again);

/** After a step that the rule has done. */
void aw_rules_step_done(aw_rules *rules);

/** Let a coarser rule do the next step, if it might: the zone's error would grow, and with it its
 *  share of the estimate, which is of both zones. */
void aw_rules_relax(aw_rules *rules, const aw_rules *other, double estimated, double tolerance);

/** Begin again with a much coarser rule, after one over cost. */
void aw_rules_coarsen(aw_rules *rules);

#endif
