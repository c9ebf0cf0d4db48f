/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pool of bins of unequal weight, and workers of unequal speed that empty it together. */
#ifndef AW_KERNELS_MULTI_SCHEDULER_H
#define AW_KERNELS_MULTI_SCHEDULER_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Most workers of a pool. */
enum { AW_WORKERS_MAX = 64 };

/** Someone who does bins, one after the other, on a thread of its own. */
typedef struct aw_worker {
    /** Do a bin. @return AW_OK: it is done. Anything else: the worker is lost, and another one does
     *  the bin from its beginning (unless it is its own). */
    aw_status (*run)(void *context, size_t bin);
    void *context;
    int heavy;    /* 1: it begins with the heaviest bins, 0: with the lightest */
    double speed; /* in, out: weight a second, as far as is known; 0: not known */
    size_t own;   /* 1 + a bin that it does first, and nobody else may do; 0: none */
    double slow;  /* it is made that many times slower, for studies; at most 1: it is not */
    int on_host;  /* 1: it works itself, and what it waits for a core does not count as that */
    /* What is found: */
    double busy;      /* seconds in `run`, and of being made slower */
    double weight;    /* of the bins that it has done */
    size_t bins;      /* their number */
    aw_status status; /* AW_OK, or how it was lost */
} aw_worker;

/** Bins in the order of their weight, the heaviest first, equal ones as they come.
 *  @param[out] order  [bins]
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_heaviest_first(const double *weight, size_t bins, size_t *order);

/** Let the workers empty the pool: each takes a bin from its end of the pool, one at a time, until
 *  all are done. A worker of known speed leaves a bin that the others, all of whose speeds are
 *  known, would have done with everything else before it alone had done that bin.
 *  Every bin is done exactly once, whoever is lost on the way, as long as one worker is left; but
 *  for a lost worker's own one, which is left undone.
 *  Which worker does what depends on time; results must not.
 *  @param[in] weight  [bins]: expected work, >= 0, in any unit
 *  @return AW_OK; AW_ERR_NOMEM; how a worker was lost, if all were and bins are left, or if its own
 *  bin is.
 *  Source: dissertation 5.1.4, COMPUTE-POTENTIALS-HT, lines 9 to 22 (accelerators from the heavy
 *  end, CPUs from the light one). Differs: there a slow device may take a last bin and be waited
 *  for; devices do not fail. */
aw_status aw_schedule(const double *weight, size_t bins, aw_worker *worker, int workers);

AW_END_DECLS
#endif
