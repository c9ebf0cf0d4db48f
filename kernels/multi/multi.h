/* SPDX-License-Identifier: GPL-3.0-or-later */
/* State of several devices that work as one, shared by the files of this folder. */
#ifndef AW_KERNELS_MULTI_MULTI_H
#define AW_KERNELS_MULTI_MULTI_H
#include "kernels/multi/devices.h"
#include "kernels/multi/exchange.h"
#include "kernels/multi/tasks.h"

/* Data blocks and bins per device. Few blocks, since each costs every point a node and sums of its
 * own; enough bins that all devices finish at about the same time. */
enum { AW_BLOCKS_PER_DEVICE = 4, AW_BINS_PER_DEVICE = 24 };

/* Kinds of work; a device has a speed for each. */
enum {
    AW_WORK_SWEEP,
    AW_WORK_REFINE,
    AW_WORK_INTEGRATE,
    AW_WORK_EVALUATE,
    AW_WORK_WHOLE,
    AW_WORK_FORM,
    AW_WORK_KINDS
};

typedef struct aw_multi_member {
    aw_named_device named;
    aw_status status;            /* AW_OK, or the error with which the device failed */
    int idle;                    /* 1: excluded by aw_multi_only */
    double speed[AW_WORK_KINDS]; /* weight per second, as measured last; 0: not known */
    aw_device_record record;
} aw_multi_member;

/** The clusters of all bins, one bin after the other, and their results. */
typedef struct aw_multi_chunks {
    aw_cluster *cluster;
    float *worst, *coarse;
    uint8_t *refused;
    double *start; /* [points]: sums of errors before the call */
    size_t capacity[5];
} aw_multi_chunks;

/* Capacities of the arrays of aw_multi, by their place in `capacity`. */
enum {
    AW_MULTI_FIRST,
    AW_MULTI_WEIGHT,
    AW_MULTI_WORK,
    AW_MULTI_MINE,
    AW_MULTI_ORDER,
    AW_MULTI_WHICH,
    AW_MULTI_LOAD,
    AW_MULTI_SECONDS,
    AW_MULTI_DONE_BY,
    AW_MULTI_COST,
    AW_MULTI_EXCHANGE,
    AW_MULTI_EXCHANGE_SINGLE,
    AW_MULTI_SUMS,
    AW_MULTI_ERRORS,
    AW_MULTI_ARRAYS
};

typedef struct aw_multi {
    aw_multi_member member[AW_DEVICES_MAX]; /* [n]: the devices of this rank */
    int n;
    aw_history_view history;
    size_t points;
    int ranks;                  /* ranks that divide the work; 1 without MPI */
    aw_common_rule convolution; /* to be done with the next integration of common nodes, or by
                                 * `wait`; nodes = 0: there is none */
    double convolution_weight;  /* time of the last convolution, in nodes; 0: not known */
    size_t list_points;         /* points of a list, for all devices of all ranks */
    int working;                /* working devices of all ranks at the last upload */
    size_t *first;              /* [bins + 1]: first item of each bin of a list */
    double *weight;             /* [bins] */
    aw_work *work;              /* [bins]; zero for bins of other ranks */
    char *mine;                 /* [bins]: 1: done by this rank */
    size_t *order, *which;      /* [bins], scratch: all bins by weight; this rank's bins */
    double *load;               /* [bins], scratch: weights of this rank's bins */
    double *seconds;            /* [bins]: time that each of this rank's bins took */
    int *done_by;               /* [bins]: device that did it */
    double *cost;     /* [2 costs]: measured time of a block over its expected time, at the
                                 * last call that began clusters; then scratch */
    size_t costs;     /* number of blocks at that call */
    double *exchange; /* buffers for numbers that one rank has, and that all need */
    float *exchange_single;
    aw_exchange exact; /* sums over the ranks */
    aw_tasks tasks;
    aw_multi_chunks chunks;
    double (*I)[AW_RESULTS]; /* sums of blocks or bins, [points] each, one after the other */
    double *error;           /* likewise */
    size_t capacity[AW_MULTI_ARRAYS];
    char text[512];
} aw_multi;

/** Do one bin on a device. @param[in] call  of the aw_bin_list */
typedef aw_status (*aw_bin_fn)(const aw_device *device, void *call, size_t bin);

/** The bins of one operation. Everything is borrowed. */
typedef struct aw_bin_list {
    int kind; /* AW_WORK_... */
    aw_bin_fn run;
    void *call;           /* for `run` */
    const double *weight; /* [bins]: expected work, in any unit */
    size_t bins;
    size_t convolved; /* the bin that is a convolution; SIZE_MAX: none */
} aw_bin_list;

/** Number of bins into which a list should be cut for `devices` devices. */
size_t aw_multi_bin_count(int devices);

/** Number of working devices of all ranks; collective. */
int aw_multi_working(const aw_multi *multi);

/** Grow the arrays of bins; the sums, to n sums at all points. @return AW_OK, AW_ERR_NOMEM */
aw_status aw_multi_grow_bins(aw_multi *multi, size_t bins);
aw_status aw_multi_grow_sums(aw_multi *multi, size_t n);

/** Let the devices do the bins of an operation. Each rank does a part of the bins, in proportion to
 *  the speeds of its devices; `mine` marks this rank's. The convolution is done by the first device
 *  of rank 0 that convolves or, if that one fails, by another one of rank 0. Without accelerators
 *  all devices begin with the heaviest bins, so that light ones remain for the end.
 *  @return AW_OK, or the error of the last device that a rank lost; the same on all ranks */
aw_status aw_multi_run_bins(aw_multi *multi, const aw_bin_list *list);

/** Add the work counts of the bins of all ranks to `work`. */
void aw_multi_work_sum(const aw_multi *multi, size_t bins, aw_work *work);

/** Grow `exchange` to n numbers and set them to zero. @return AW_OK, AW_ERR_NOMEM */
aw_status aw_multi_grow_exchange(aw_multi *multi, size_t n);

/** Operations of kernels/device/device.h. */
aw_status aw_multi_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                         aw_work *work);
aw_status aw_multi_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                          const aw_scales *scales, aw_work *work);
/* rule NULL: do the pending convolution only. */
aw_status aw_multi_integrate(void *state, aw_common_rule *rule, const aw_scales *scales,
                             aw_work *work);
aw_status aw_multi_convolve(void *state, const aw_common_rule *rule);
aw_status aw_multi_form_factor(void *state, const aw_form_call *call);
aw_status aw_multi_wait(void *state);
aw_status aw_multi_evaluate(void *state, const aw_cluster_call *whole, aw_work *work);

#endif
