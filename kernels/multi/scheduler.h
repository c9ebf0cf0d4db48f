/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pool of bins of unequal weight, and workers of unequal speed that empty it. */
#ifndef AW_KERNELS_MULTI_SCHEDULER_H
#define AW_KERNELS_MULTI_SCHEDULER_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Most workers of a pool. */
enum { AW_WORKERS_MAX = 64 };

/** A worker does bins one after the other, on a thread of its own. */
typedef struct aw_worker {
    /** Do a bin. @return AW_OK: it is done. Otherwise the worker is lost, and another one does the
     *  bin from its beginning (unless it is the worker's own bin). */
    aw_status (*run)(void *context, size_t bin);
    void *context;
    int heavy;    /* 1: begins with the heaviest bins, 0: with the lightest */
    double speed; /* in, out: weight per second; 0: not known */
    size_t own;   /* 1 + a bin that this worker does first and no other worker may do; 0: none */
    double slow;  /* factor by which it is slowed down, for studies; at most 1: it is not */
    int on_host;  /* 1: a device on the host: time in which it waits for a core is not work */
    /* Results: */
    double busy;      /* time in `run`, and of being slowed down [s] */
    double weight;    /* total weight of the bins that it has done */
    size_t bins;      /* number of these bins */
    aw_status status; /* AW_OK, or the error of `run` with which it was lost */
} aw_worker;

/** Sort bins by weight, the heaviest first, and equal weights by index.
 *  @param[out] order  [bins]
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_heaviest_first(const double *weight, size_t bins, size_t *order);

/** Let the workers empty the pool. Each takes a bin from its end of the pool, one at a time, until
 *  all are done. If all speeds are known, a worker leaves a bin to the others if they would finish
 *  all waiting bins before it could do that bin. Every bin is done exactly once, whichever workers
 *  are lost, as long as one worker is left; except for the own bin of a lost worker, which stays
 *  undone. Which worker does which bin depends on time; results must not.
 *  @param[in] weight  [bins]: expected work, >= 0, in any unit
 *  @return AW_OK; AW_ERR_NOMEM; AW_ERR_ARG (number of workers); the error of a worker if all were
 *  lost and bins are left, or if its own bin is.
 *  Source: dissertation 5.1.4, COMPUTE-POTENTIALS-HT, lines 9 to 22 (accelerators from the heavy
 *  end, CPUs from the light one). Differs: there a slow device may take the last bin and all wait
 *  for it; devices do not fail. */
aw_status aw_schedule(const double *weight, size_t bins, aw_worker *worker, int workers);

AW_END_DECLS
#endif
