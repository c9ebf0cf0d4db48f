/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of this program as processes of their own, several side by side. */
#ifndef AW_CERTIFY_PROCESS_H
#define AW_CERTIFY_PROCESS_H
#include "src/certify/neighbours.h"

AW_BEGIN_DECLS

/** How runs are started. */
typedef struct aw_process_params {
    const aw_case_input *input;
    int threads;          /* of each run; 0: as many as it chooses */
    int jobs;             /* side by side, at least 1 */
    int force;            /* --force for the case itself; neighbours have it always */
    int quiet;            /* --quiet for the case itself */
    int (*stopped)(void); /* 1: end the runs and return */
    void (*ended)(const aw_neighbour *run, double seconds); /* for messages; NULL: none */
} aw_process_params;

/** Run those of the list from `first` to `last` (not included) that are not done. The case itself
 *  prints as usual; of a neighbour only the first error is printed, with its name. A run that goes
 *  wrong is marked as failed, and the others go on.
 *  @return AW_OK: all were run, see `failed`; AW_ERR_INTERRUPTED (message); AW_ERR_IO,
 *          AW_ERR_NOMEM: a process cannot be started (message) */
aw_status aw_process_runs(const aw_process_params *params, aw_neighbours *list, size_t first,
                          size_t last);

AW_END_DECLS
#endif
