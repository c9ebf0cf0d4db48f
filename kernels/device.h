/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A processing unit: the small table of operations on which every strategy runs.
 * A new unit is one file with such a table, and one line in device.c; it inherits every test. */
#ifndef AW_KERNELS_DEVICE_H
#define AW_KERNELS_DEVICE_H
#include <stddef.h>

#include "kernels/region.h"
#include "kernels/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

typedef struct aw_device_params {
    const char *variant;  /* SIMD variant of a CPU unit; NULL: the fastest */
    int threads;          /* 0: as many as OpenMP gives */
    double inner_density; /* nodes of the inner rule per cell crossed */
} aw_device_params;

/** Adaptive refinement of a list of regions of one point. */
typedef struct aw_job {
    size_t first, count;  /* the regions with which it begins */
    double tolerance;     /* of the sum of the errors, in scales, > 0 */
    double I[AW_RESULTS]; /* out: best estimate so far, whatever the status */
    double error;         /* out: its error estimate */
    uint64_t regions;     /* out: in the final partition */
    aw_status status;     /* out: AW_OK, AW_ERR_MAXEVAL, AW_ERR_NONFINITE */
} aw_job;

/** Operations of a kind of unit. Optional ones may be NULL. A call may return before the work is
 *  done; what it fills is valid after `wait`, which also reports errors of the calls before it. */
typedef struct aw_device_ops {
    const char *kind; /* "cpu", ... */

    /** Make a unit's state. @return AW_OK, AW_ERR_BACKEND (not built in, no such device or
     *  variant: message), AW_ERR_NOMEM. */
    aw_status (*open)(const aw_device_params *params, void **state);
    void (*close)(void *state);

    /** What the unit runs on, for a line in the log, e.g. "2 threads, avx512". Borrowed. */
    const char *(*describe)(const void *state);

    /** Bring the history and the points to the unit; borrowed until the next upload. A slice's id
     *  tells whether the unit holds it already. */
    aw_status (*upload)(void *state, const aw_history_view *history, const aw_field_point *point,
                        size_t points);

    /** Apply the rule to every region: fills the nodes that are not known, estimate and error.
     *  A region that begins where the one before it (of the same point) ends shares its node. */
    aw_status (*sweep)(void *state, aw_region *region, size_t n, const aw_scales *scales,
                       aw_work *work);

    /** Globally adaptive refinement (RP-QUADRATURE, dissertation 3.1.2) of every job: split the
     *  region with the largest error until the sum of the errors is within the job's tolerance. */
    aw_status (*refine)(void *state, aw_region *region, aw_job *job, size_t jobs,
                        const aw_scales *scales, aw_work *work);

    aw_status (*wait)(void *state);
} aw_device_ops;

/** An open unit. */
typedef struct aw_device {
    const aw_device_ops *ops;
    void *state;
} aw_device;

/** Open the unit that `spec` names: "auto" or "cpu". @return as open; AW_ERR_BACKEND with a message
 *  naming the known units for any other. */
aw_status aw_device_open(const char *spec, const aw_device_params *params, aw_device *out);
void aw_device_close(aw_device *device);

/** Table of the i-th kind of unit; NULL past the last. */
const aw_device_ops *aw_device_kind(int i);

AW_END_DECLS
#endif
