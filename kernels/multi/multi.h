/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of several devices: units.c and the files that share out its operations. */
#ifndef AW_KERNELS_MULTI_MULTI_H
#define AW_KERNELS_MULTI_MULTI_H
#include "kernels/multi/devices.h"
#include "kernels/multi/tasks.h"

/* Data blocks and bins for every device. Blocks: few, since each costs every point a node and sums
 * of its own; bins: enough that the last ones end at about the same time. */
enum { AW_BLOCKS_PER_DEVICE = 4, AW_BINS_PER_DEVICE = 24 };

/* What is shared out; a device has a speed for each. */
enum {
    AW_WORK_SWEEP,
    AW_WORK_REFINE,
    AW_WORK_INTEGRATE,
    AW_WORK_EVALUATE,
    AW_WORK_WHOLE,
    AW_WORK_KINDS
};

typedef struct aw_multi_member {
    aw_named_device unit;
    aw_status status;            /* AW_OK, or how it was lost */
    int rests;                   /* 1: aw_multi_only has named another */
    double speed[AW_WORK_KINDS]; /* weight a second, as seen last; 0: not known */
    aw_device_record share;      /* what it has done */
} aw_multi_member;

/** Clusters of all bins, one bin after the other, and what is found of them. */
typedef struct aw_multi_chunks {
    aw_cluster *cluster;
    float *worst, *coarse;
    uint8_t *refused;
    double *start; /* [points]: errors at the start */
    size_t capacity[5];
} aw_multi_chunks;

typedef struct aw_multi {
    aw_multi_member member[AW_DEVICES_MAX];
    int n;
    aw_history_view history;
    size_t points;
    int ranks;             /* that share the work; 1 without MPI */
    aw_common_rule near;   /* to be convolved with the next nodes that are shared out, or when it is
                     * waited for; no nodes: nothing is */
    double near_weight;    /* of that, in nodes; 0: not known */
    size_t list_points;    /* that all devices together want */
    int everyone;          /* devices that worked on all of them when the problem came */
    size_t *first;         /* [bins + 1]: where the bins of a list begin */
    double *weight;        /* [bins] */
    aw_work *work;         /* [bins]; of other ranks' bins: nothing */
    char *mine;            /* [bins]: 1: this rank's */
    size_t *order, *which; /* [bins], scratch: all by weight, and this rank's */
    double *load;          /* [bins], scratch: weights of these */
    double *spent;         /* [bins]: seconds that this rank's took, and by which device */
    int *by;
    double *cost; /* [2 costs]: of a block, what its weight proved to be over what it was thought to
                   * be, when clusters were begun last; then scratch */
    size_t costs; /* blocks then */
    double *wire; /* what goes over the ranks; so does wire_single */
    float *wire_single;
    aw_tasks tasks;
    aw_multi_chunks pieces;
    double (*I)[AW_RESULTS]; /* sums of blocks or bins [points], one after the other */
    double *error;           /* likewise */
    size_t firsts, weights, works, mines, orders, whiches, loads, spents, bys, wires, singles, sums,
        errors;
    size_t costs_room;
    char text[512];
} aw_multi;

/** Do a bin of `call` on a device. */
typedef aw_status (*aw_bin_fn)(const aw_device *device, void *call, size_t bin);

/** Into how many bins a list should be cut for so many units. */
size_t aw_multi_bins(int units);

/** Room for `first`, `weight` and `work`; and for n sums at all points. */
aw_status aw_multi_grow_bins(aw_multi *set, size_t bins);
aw_status aw_multi_grow_sums(aw_multi *set, size_t n);

/** Let the devices do bins of one kind of work; bin `convolved` (SIZE_MAX: none) is the first
 *  convolver's of rank 0, or another one's there if that one fails. Without accelerators all begin
 *  with the heaviest: what is left for the end should be light. Each rank gets a part of the bins,
 *  by the speeds of its devices, and `mine` says which.
 *  @return AW_OK, or how the last device of a rank was lost; the same on all ranks */
aw_status aw_multi_run_bins(aw_multi *set, int kind, aw_bin_fn run, void *call,
                            const double *weight, size_t bins, size_t convolved);

/** Add up what the bins did, of all ranks. */
void aw_multi_work_sum(const aw_multi *set, size_t bins, aw_work *work);

/** Room for n numbers that go over the ranks, zeroed. */
aw_status aw_multi_grow_exchange(aw_multi *set, size_t n);

/** kernels/device/device.h, of the same names. */
aw_status aw_multi_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                         aw_work *work);
aw_status aw_multi_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                          const aw_scales *scales, aw_work *work);
/* shared NULL: only what is to be convolved. */
aw_status aw_multi_integrate(void *state, aw_common_rule *shared, const aw_scales *scales,
                             aw_work *work);
aw_status aw_multi_convolve(void *state, const aw_common_rule *shared);
aw_status aw_multi_wait(void *state);
aw_status aw_multi_evaluate(void *state, const aw_cluster_call *call, aw_work *work);

#endif
