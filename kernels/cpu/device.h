/* SPDX-License-Identifier: GPL-3.0-or-later */
/* State of the CPU unit, and its operations that have files of their own. */
#ifndef AW_KERNELS_CPU_DEVICE_H
#define AW_KERNELS_CPU_DEVICE_H
#include "kernels/cpu/simd/simd.h"
#include "kernels/device/device.h"
#include "kernels/device/tuning.h"
#include "quadrature/rules/refine.h"

/** A slice as lines of numbers (kernels/cpu/interpolated_lines.c): nx + 2 AW_PAD rows of three lines. */
typedef struct aw_cpu_pack {
    uint64_t id;    /* of the slice; 0: none, or one that must not be kept */
    void *lines;    /* owned */
    int (*span)[2]; /* [nx + 2 AW_PAD], owned: columns that may be other than zero, from and to */
} aw_cpu_pack;

/* Along which of the slices' axes lines run. */
enum { AW_ALONG_S = 0, AW_ALONG_X, AW_LINES };

/** Slices that the device holds as lines. */
typedef struct aw_cpu_packs {
    aw_history_view
        view;          /* the history; with lines along x as if its grids were turned by a quarter,
                           * so that all that reads lines along s reads these */
    aw_slice *slice;   /* [view.n], owned: slices of a view that is turned, or NULL */
    aw_cpu_pack *pack; /* [n], owned: pack i is slice i of the view, if it is held */
    size_t n, capacity, slices;
    int along, single; /* of all of them */
} aw_cpu_packs;

/** Space of one thread for the evaluation of clusters. */
typedef struct aw_cpu_cluster_space {
    void *planes; /* of three parts */
    size_t planes_capacity;
    int (*span)[2]; /* [3 + 1][nx + 2 AW_PAD]: of each part, and columns to combine */
    size_t span_capacity;
    aw_tile *tile;                       /* [AW_CLUSTER_TILES] */
    aw_tile_place *place;                /* [AW_CLUSTER_TILES] */
    double (*f)[5][AW_RESULTS][AW_TILE]; /* [AW_CLUSTER_TILES]: nodes of the current region */
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

/** Tiles of a whole grid, along its s or its x axis. */
typedef struct aw_cpu_tiles {
    aw_tile_ref *tile; /* [n], owned; count lanes from point `first` on, `step` points apart */
    size_t n, capacity, step;
    int along;
} aw_cpu_tiles;

/** A node of a shared rule, and what the beam looks like from there. */
typedef struct aw_cpu_table {
    aw_projection at;
    float *value; /* [n][order + 1][AW_PROJECTION_WIDTH], owned */
    size_t capacity;
    void *raw; /* [order + 1][n] entries in double, owned: values in the tabulated directions */
    size_t raw_capacity;
    int direct; /* 1: there is no table, the node is evaluated at every point */
} aw_cpu_table;

/* Nodes that are tabulated together, and whose combined planes are in memory together. */
enum { AW_COMMON_BATCH = 32, AW_COMMON_LINES = 8 };

typedef struct aw_cpu_state {
    const aw_variant *variant;
    int threads;
    double density;
    aw_tuning tuning; /* no zeros */
    aw_history_view history;
    const aw_field_point *point;
    size_t points;
    aw_cpu_space *space;        /* [threads] */
    struct aw_cpu_group *group; /* of one sweep */
    size_t group_capacity;
    aw_cpu_packs packs[AW_LINES];
    aw_cpu_table *batch;          /* [AW_COMMON_BATCH] */
    aw_cpu_cluster_space *shared; /* planes of shared nodes */
    aw_cpu_tiles tiles;
    struct aw_cpu_convolver *convolver; /* of the last grid's size, or NULL */
    char text[192];
} aw_cpu_state;

/** Hand over what the threads have counted. */
void aw_cpu_work_sum(aw_cpu_state *cpu, aw_work *work);

/** kernels/device/device.h, `sweep` and `evaluate`. */
aw_status aw_cpu_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                       aw_work *work);
aw_status aw_cpu_evaluate(void *state, const aw_cluster_call *call, aw_work *work);

/** View the history with lines along s or x, and hold its slices so as far back as r' = longest
 *  looks (below 0: none); what is held already is kept. @return AW_OK or AW_ERR_NOMEM */
aw_status aw_cpu_packs_hold(aw_cpu_packs *packs, const aw_history_view *h, int along,
                            double longest, int single, int threads);
void aw_cpu_packs_free(aw_cpu_packs *packs);

/** Combine the slices of f, which is of the packs' view, into the planes (kernels/math/tile.h) of
 *  `space`, where `box` [m] (aw_tile_span) lies and `margin` cells along and across beyond it. */
void aw_cpu_lines_make(const aw_variant *variant, const aw_cpu_packs *packs, const aw_retarded *f,
                       const double box[4], const double margin[2], int rates,
                       aw_cpu_cluster_space *space, aw_interpolated_lines *planes);

/** The same of whole slices, with everything that a tile anywhere may read. */
void aw_cpu_lines_whole(const aw_variant *variant, const aw_cpu_packs *packs, const aw_retarded *f,
                        int rates, aw_cpu_cluster_space *space, aw_interpolated_lines *planes);

/** Room for the planes of one node. @return AW_OK or AW_ERR_NOMEM */
aw_status aw_cpu_lines_grow(aw_cpu_cluster_space *space, const aw_history_view *h);

/** kernels/device/device.h, `integrate`. */
aw_status aw_cpu_integrate(void *state, aw_common_rule *shared, const aw_scales *scales,
                           aw_work *work);
void aw_cpu_integrate_free(aw_cpu_state *cpu);

/** kernels/device/device.h, `convolve`. */
aw_status aw_cpu_convolve(void *state, const aw_common_rule *shared);
void aw_cpu_convolver_free(struct aw_cpu_convolver *convolver);
/** Memory that convolutions of a grid take. */
size_t aw_cpu_convolver_bytes(int ns, int nx, int threads);

/** Tabulate what the beam looks like from a node. Held are the slices with the lines that
 *  aw_projection_across chooses.
 *  @param[in] corner  corners of the grid of the points
 *  @return 1; 0: it takes more than it saves, or it cannot be (kernels/math/projection.h) */
int aw_cpu_table_make(const aw_cpu_state *cpu, const aw_common_rule *shared,
                      const aw_common_node *node, const aw_field_point corner[4], size_t points,
                      const aw_scales *scales, aw_cpu_space *space, aw_cpu_table *t);
void aw_cpu_table_free(aw_cpu_table *t);

void aw_cpu_cluster_free(aw_cpu_cluster_space *space);

#endif
