/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a run will take on this machine: by solves of the case itself, at places spread over its
 * steps. */
#ifndef AW_APP_ESTIMATE_H
#define AW_APP_ESTIMATE_H
#include "src/plan/plan.h"

AW_BEGIN_DECLS

/** What the steps in an element will take. */
typedef struct aw_estimate_element {
    size_t element; /* of the lattice */
    long steps;
    double seconds;
} aw_estimate_element;

/** Times in seconds of wall time, on the threads and devices of the run. */
typedef struct aw_estimate {
    double total;
    double potentials, particles, output;
    double solves;        /* in the run */
    int measured, places; /* solves made for the estimate, and how many places they were at */
    int cut;              /* 1: places were left out, since the time for the estimate was over */
    double spent;         /* on the estimate */
    size_t n;             /* elements with steps, */
    aw_estimate_element *element; /* owned, [n]: those that take longest first */
} aw_estimate;

/** Estimate the time of a run. The beam, of a part of its particles where they are many, goes
 *  along the lattice without self-force, by the schedule's own steps and with the grids of the
 *  case. At up to twelve places, each for as many steps, the potentials are solved at two steps in
 *  succession: the first looks for its rules, as only some steps of a run do, the second has them.
 *  In rigid and external motion once, as the run does. Deposit, push, gather and statistics are
 *  timed on the way, and output by its size. docs/accuracy.md has what was measured. Errors and
 *  warnings on the way are not printed.
 *  @param[in] stopped  asked between steps; NULL: never
 *  @return AW_OK; AW_ERR_INTERRUPTED (no message), or what went wrong (no message). Free with
 *  aw_estimate_free in any case. */
aw_status aw_estimate_make(const aw_config *config, const aw_plan *plan, int (*stopped)(void),
                           aw_estimate *out);
void aw_estimate_free(aw_estimate *estimate);

/** Print it, with the elements that take most. */
void aw_estimate_print(const aw_config *config, const aw_estimate *estimate);

AW_END_DECLS
#endif
