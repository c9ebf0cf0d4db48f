/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grid, steps, particles and tolerance from the wanted accuracy of the results and the case
 * (docs/accuracy.md has the measurements behind the rules). */
#ifndef AW_PLAN_CHOOSE_H
#define AW_PLAN_CHOOSE_H
#include "src/base/status.h"
#include "src/input/config.h"

AW_BEGIN_DECLS

/** What is chosen, in the order in which it is printed. */
typedef enum aw_choice_item {
    AW_CHOICE_GRID,
    AW_CHOICE_STEP,
    AW_CHOICE_PARTICLES,
    AW_CHOICE_TOLERANCE,
    AW_CHOICES
} aw_choice_item;

enum { AW_WHY_SIZE = 192 };

/** Where an axis of the grid, which follows the bunch without self-force, needs most nodes. */
typedef struct aw_choice_narrow {
    double S;       /* [m] */
    double sigma;   /* rms of the bunch along the axis, without what T166 and T566 bend [m] */
    double half;    /* half the grid that holds the bunch with that [m] */
    double nodes;   /* needed, before rounding */
    int across;     /* 1: the axis is across the bunch's longer one */
    double per_one; /* cells per sigma that are needed there */
} aw_choice_narrow;

/** The numbers that a run takes, given ones included, and one line on each. */
typedef struct aw_choice {
    int grid[2];
    double step_m, step_scale; /* AW_STEP_AUTO; step_scale only with that */
    size_t particles;
    double tolerance;
    char why[AW_CHOICES][AW_WHY_SIZE];
    int needed[2];              /* nodes that the accuracy needs, at most `most` a side */
    int most;                   /* nodes a side beyond which the choice does not go */
    size_t needed_particles;    /* on this grid */
    aw_choice_narrow narrow[2]; /* of each axis; nodes = 0: the base grid is enough everywhere */
} aw_choice;

/** Choose for config->accuracy what the input does not give (config->given):
 *
 *  - nodes a side: 4 + 2 c 4.4 (A/0.01)^(-1/5), to the next multiple of 4, with c = cutoff_sigma:
 *    the grid's error falls with the fifth power of such cells. More along an axis on which the
 *    bunch, as the optics predict it without self-force, has too few cells per sigma at some place:
 *    2.5 where that axis decides on the length of the bunch, 0.6 across a thin tilted one, over
 *    (A/0.01)^(1/5); three times the base at most;
 *  - step_m: auto, with step_scale (A/0.01)^(1/2), from 0.1 to 2.25: second order;
 *  - particles: 87 (0.01/A) a cell with a quiet start, at least 20; 250 (0.01/A)^2 with a random
 *    one, at least 50;
 *  - tolerance 0.3 A, at most 0.003.
 *
 *  With forces: line: 6 (0.01/A)^(1/4) nodes per sigma_s, 100 particles a node or 400 (0.06/A)^2.
 *  A function of the input alone: not of the machine, and what it has chosen is given afterwards
 *  (src/input/config.h: in resolved.yaml).
 *  @param[in] config  resolved, accuracy > 0
 *  @return AW_OK, AW_ERR_NOMEM (message) */
aw_status aw_choose(const aw_config *config, aw_choice *out);

/** Put the numbers of aw_choose into the configuration; nothing without accuracy. The keys given
 *  remain those of the input, so that aw_choose returns the same again.
 *  @return as aw_choose */
aw_status aw_choose_apply(aw_config *config);

/** Warn, in one line each, of a given grid, number of particles, step_scale or tolerance with which
 *  the accuracy cannot be expected, and of a place where no grid that is chosen resolves the bunch;
 *  without accuracy, of places where the given grid does not resolve a bunch that it resolves at
 *  the start. @return the number of warnings */
int aw_choose_warn(const aw_config *config);

AW_END_DECLS
#endif
