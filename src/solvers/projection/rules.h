/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quadrature rules in r' for the zones of the strategy `projection`, from coarse to fine, and the
 * choice among them from the errors that the sample shows.
 * Owns the tables of rules (rules.c) and, in aw_rules, what is known of each rule's error; it
 * integrates nothing. Read first: the tables near_rule and far_rule, then aw_rules_refine. */
#ifndef AW_SOLVERS_PROJECTION_RULES_H
#define AW_SOLVERS_PROJECTION_RULES_H
#include <stddef.h>

/** A rule for one zone. */
typedef struct aw_rule {
    int order;      /* nodes of a panel */
    double density; /* nodes in angle, over those of the inner rule (aw_common_node) */
    double spacing; /* largest distance of nodes on circles smaller than the bunch, in cells */
    double sweep;   /* largest part of the beam's box that the circle sweeps within a panel */
    double tables;  /* errors of all tables if they added up, in tolerances; they do not */
    int few_rates;  /* 1: three nodes of a panel for the rates (aw_panels_options) */
} aw_rule;

/* Largest number of rules of a zone. */
enum { AW_RULES_MAX = 11 };

/** The rules of one zone, and what is known of their errors. Errors are in scales. */
typedef struct aw_rules {
    const aw_rule *rule; /* [n], from coarse to fine */
    int n, level;        /* rule[level] is used */
    int tiles_only;      /* 1: the convolution was not accurate enough, tiles take its place */
    int density_level;   /* 0: the rule's density, 1: more and finer tables, 2: the sample's; of the
                          * near zone, 1, 2: of its convolution (AW_FINE_SWEEP); */
    int density_least;   /* and the lowest that is taken */
    int dense_wait,
        dense_left; /* steps after which a lower density level is tried; still to come */
    int unproven;   /* 1: coarser than at the last step, and not accepted yet */
    struct {
        int level, density_level, tiles_only;
    } accepted;    /* those of the last step that was accepted */
    int goes_back; /* 1: tiles were worse than the convolution, which is to be done again */
    /* Of the last pass, set by the caller: */
    double error;        /* largest error of the potentials at the sample's points */
    double rate_error;   /* the same of the rates, */
    double rate_part;    /* and the part of it that counts */
    double cost;         /* in evaluations a point; table look-ups and convolutions are converted */
    size_t nodes;        /* in r', without those of the convolution */
    int has_convolution; /* 1: a convolution did part of the zone */
    int all_convolution; /* 1: a convolution did all of it: a finer rule changes nothing */
    /* From earlier passes and steps: */
    int replaced;           /* index into `gain` of the rule that was replaced last, */
    double replaced_error;  /* and its error */
    double recent_error;    /* largest recent error */
    double rate_floor;      /* error of the rates that finer rules have not lowered; 0: none */
    size_t reference_nodes; /* nodes of the rule with which the next ones are compared, */
    double reference_error; /* and its error of the rates */
    /* Error of rule i over that of the next finer one, when that took its place. [n - 1]: of the
     * convolution over tiles; [AW_RULES_MAX]: of a density level over the next (not used). */
    double gain[AW_RULES_MAX + 1];
} aw_rules;

/** The rule in r' of a convolution. */
extern const aw_rule aw_convolution_rule;

/** Begin with the coarsest rule of the near zone (far 0) or the far zone (1). density_least is 0,
 *  and may be changed by the caller, who raises density_level to it. */
void aw_rules_init(aw_rules *rules, int far);

/** Error of the rates over AW_RATE_TOLERANCES, as far as it counts; 0 if it is in the floor. */
double aw_rules_rate_error(const aw_rules *rules);

/** The larger of the errors of the potentials and of the rates, as above; NaN if that of the
 *  potentials is one. */
double aw_rules_error(const aw_rules *rules);

/** Whether neither zone's error is a small part of the other's, so that both are worth refining. */
int aw_rules_are_alike(const aw_rules *near, const aw_rules *far);

/** Which zone is worth refining: the one with the larger error, or of two similar errors the one
 *  with the larger error over cost. @return 1: the far one, 0: the near one */
int aw_rules_far_is_worse(const aw_rules *near, const aw_rules *far);

/** Whether the near zone is all convolution, with an error that no rule lowers
 *  (AW_CONVOLUTION_FLOOR), and the far zone's error is so much smaller that to refine it is in
 *  vain. */
int aw_rules_are_at_floor(const aw_rules *near, const aw_rules *far);

/** Take more nodes in angle. @return 0: the zone costs more than the limit [evaluations a point],
 *  or there is no higher density level */
int aw_rules_densify(aw_rules *rules, double cost_limit);

/** Take the next finer rule; where a convolution does everything, lattices with half the spacing;
 *  behind these, or behind the last rule, tiles instead of the convolution, but only if the zone's
 *  error of the potentials is more than `enough`, and if they have not been worse lately: they
 *  cost many times as much, and lower the rates' errors little.
 *  @return 0: the zone costs more than the limit [evaluations a point], or there is no finer rule
 *  that is worth it */
int aw_rules_refine(aw_rules *rules, double cost_limit, double enough);

/** Record the gain of the rule that has replaced another, and whether it lowered the error of the
 *  rates at all. Tiles that are worse than the convolution give way to it again (goes_back). Call
 *  after its pass, with the errors at the points that the sample had before. */
void aw_rules_record_gain(aw_rules *rules);

/** Make this pass the one with which the rates of later ones are compared, or, if it is already,
 *  update its error, which may have grown with the sample.
 *  @param[in] repeated  0: it was the first pass of its step */
void aw_rules_set_reference(aw_rules *rules, int repeated);

/** The rule was accepted for a step: update the recent error, let gains and floor decay. */
void aw_rules_accept(aw_rules *rules);

/** Whether the rule is as fine, in r' and in angle, as the one that was accepted last. */
int aw_rules_are_as_fine(const aw_rules *rules);

/** Take a coarser rule for the next step if its expected error, and the estimate with it, are small
 *  enough.
 *  @param[in] other     rules of the other zone, which has a share of the estimate too
 *  @param[in] estimate  of the error of both zones together, in scales */
void aw_rules_try_coarser(aw_rules *rules, const aw_rules *other, double estimate,
                          double tolerance);

/** Coarsen the rule by AW_COARSEN_LEVELS, after a step that was over cost or did not converge. */
void aw_rules_coarsen(aw_rules *rules);

#endif
