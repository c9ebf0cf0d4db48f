/* SPDX-License-Identifier: GPL-3.0-or-later */
/* State of the CPU unit, and its operations that have files of their own. */
#ifndef AW_KERNELS_CPU_UNIT_H
#define AW_KERNELS_CPU_UNIT_H
#include "kernels/refine.h"
#include "kernels/tuning.h"
#include "kernels/variant.h"

/** A slice as lines of numbers (cpu_planes.c): nx + 2 AW_PAD rows of three lines. */
typedef struct aw_cpu_pack {
    uint64_t id;    /* of the slice; 0: none, or one that must not be kept */
    void *lines;    /* owned */
    int (*span)[2]; /* [nx + 2 AW_PAD], owned: columns that may be other than zero, from and to */
} aw_cpu_pack;

/** Slices that the unit holds as lines. */
typedef struct aw_cpu_packs {
    aw_cpu_pack *pack; /* [n], owned: pack i is slice i of the history, if it is held */
    size_t n, capacity;
    int ns, nx, single; /* of all of them */
} aw_cpu_packs;

/** Sums over the regions of a tile that are refused so far. */
typedef struct aw_cpu_rest {
    double I[AW_RESULTS][AW_TILE], error[AW_TILE];
} aw_cpu_rest;

/** Space of one thread for the evaluation of clusters. */
typedef struct aw_cpu_cluster_space {
    void *planes; /* of three parts */
    size_t planes_capacity;
    int (*span)[2]; /* [3 + 1][nx + 2 AW_PAD]: of each part, and columns to combine */
    size_t span_capacity;
    aw_tile *tile;                       /* [AW_CLUSTER_TILES] */
    aw_tile_place *place;                /* [AW_CLUSTER_TILES] */
    double (*f)[5][AW_RESULTS][AW_TILE]; /* [AW_CLUSTER_TILES]: nodes of the current region */
    struct aw_cpu_rest *rest;            /* [AW_CLUSTER_TILES]: of the refused regions */
    double (*start)[AW_TILE];            /* [AW_CLUSTER_TILES]: errors before the first region */
} aw_cpu_cluster_space;

/** Space of one thread. */
typedef struct aw_cpu_space {
    aw_refine_space refine;
    aw_work work; /* of this thread in the current call */
    double *blend;
    size_t blend_capacity;
    aw_cpu_cluster_space cluster;
} aw_cpu_space;

typedef struct aw_cpu_state {
    const aw_variant *variant;
    int threads;
    double density;
    aw_tuning tuning; /* no zeros */
    aw_history_view history;
    const aw_field_point *point;
    aw_cpu_space *space;        /* [threads] */
    struct aw_cpu_group *group; /* of one sweep */
    size_t group_capacity;
    aw_cpu_packs packs;
    char text[192];
} aw_cpu_state;

/** Hand over what the threads have counted. */
void aw_cpu_collect(aw_cpu_state *cpu, aw_work *work);

/** kernels/device.h, `sweep` and `evaluate`. */
aw_status aw_cpu_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                       aw_work *work);
aw_status aw_cpu_evaluate(void *state, const aw_cluster *cluster, size_t n, const aw_scales *scales,
                          int single, const aw_clustered *out, aw_work *work);

/** Hold the first n slices of the history as lines; what is held already is kept.
 *  @return AW_OK or AW_ERR_NOMEM */
aw_status aw_cpu_packs_hold(aw_cpu_packs *packs, const aw_history_view *h, size_t n, int single,
                            int threads);
void aw_cpu_packs_free(aw_cpu_packs *packs);

/** Bytes of one slice as lines. */
size_t aw_cpu_pack_bytes(const aw_history_view *h, int single);

/** Combine the slices of f into the planes (kernels/tile.h) of `space`, where `box` [m]
 *  (aw_tile_span) lies and `margin` cells along and across beyond it. */
void aw_cpu_planes_make(const aw_cpu_state *cpu, const aw_retarded *f, const double box[4],
                        const double margin[2], int rates, aw_cpu_cluster_space *space,
                        aw_planes *planes);

void aw_cpu_cluster_free(aw_cpu_cluster_space *space);

#endif
