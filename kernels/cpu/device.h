/* SPDX-License-Identifier: GPL-3.0-or-later */
/* State of the CPU device, and its operations that have source files of their own. */
#ifndef AW_KERNELS_CPU_DEVICE_H
#define AW_KERNELS_CPU_DEVICE_H
#include "kernels/cpu/passage.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/device/device.h"
#include "kernels/device/tuning.h"
#include "quadrature/rules/refine.h"

/** A slice as lines (kernels/cpu/interpolated_lines.c): nx + 2 AW_PAD rows of three lines, one line
 *  for each moment. */
typedef struct aw_cpu_slice_lines {
    uint64_t id;    /* of the slice; 0: empty, or of a slice without an id, which is never reused */
    void *lines;    /* owned */
    int (*span)[2]; /* [nx + 2 AW_PAD], owned: of each row the columns that may be non-zero, first
                     * and last + 1 */
} aw_cpu_slice_lines;

/* Axis of the slices along which lines run. */
enum { AW_ALONG_S = 0, AW_ALONG_X, AW_ALONG_COUNT };

/** Cache of slices as lines. */
typedef struct aw_cpu_line_cache {
    aw_history_view view;      /* the history; for lines along x its grids are turned by a quarter,
                                * so that code for lines along s reads them unchanged */
    aw_slice *turned;          /* [turned_capacity], owned: slices of a turned view, or NULL */
    aw_cpu_slice_lines *slice; /* [capacity], owned: item i is slice i of the view, if cached */
    size_t capacity, turned_capacity;
    int along, single; /* AW_ALONG_*, and 1: float, 0: double; the same for all slices */
} aw_cpu_line_cache;

/** Memory of the lines interpolated at one retarded time. */
typedef struct aw_cpu_line_buffer {
    void *cells;           /* up to three parts (aw_interpolated_lines), owned */
    size_t cells_capacity; /* numbers, as doubles */
    int (*span)[2];        /* [3 + 1][nx + 2 AW_PAD], owned: the span of each part, and the columns
                            * to interpolate */
    size_t span_capacity;
} aw_cpu_line_buffer;

/** Where lines are interpolated, and what. */
typedef struct aw_cpu_line_range {
    double box[4];    /* u_lo, u_hi, w_lo, w_hi [m] (aw_tile_span) */
    double margin[2]; /* cells beyond the box, along and across */
    int rates;        /* 1: also the rates of the moments */
} aw_cpu_line_range;

/** Workspace of one thread for the evaluation of clusters. All pointers are owned. */
typedef struct aw_cpu_cluster_workspace {
    aw_cpu_line_buffer lines;
    aw_tile *tile;                       /* [AW_CLUSTER_TILES] */
    aw_tile_place *place;                /* [AW_CLUSTER_TILES] */
    double (*f)[5][AW_RESULTS][AW_TILE]; /* [AW_CLUSTER_TILES]: nodes of the current region */
    double (*start)[AW_TILE];            /* [AW_CLUSTER_TILES]: errors before the first region */
} aw_cpu_cluster_workspace;

/** Workspace of one thread. */
typedef struct aw_cpu_workspace {
    aw_refine_space refine;
    aw_work work;  /* counted by this thread in the current call */
    double *cells; /* [cells_capacity], owned: slices interpolated at one retarded time */
    size_t cells_capacity;
    void *directions; /* entries in double, owned: what the table in making sees in each direction,
                       * and two of scratch (kernels/cpu/projection.c) */
    size_t direction_capacity;
    aw_passage passage;
    aw_cpu_cluster_workspace cluster;
} aw_cpu_workspace;

/** Tiles of the whole grid, along its s or its x axis. */
typedef struct aw_cpu_tiles {
    aw_tile_ref *tile;        /* [n], owned; a tile has the points first, first + step, ... */
    size_t n, capacity, step; /* step: points of the grid from one lane to the next */
    size_t points;            /* in all of them */
    int along;                /* AW_ALONG_* */
} aw_cpu_tiles;

/** A common node, and the table of the beam's projection from there. */
typedef struct aw_cpu_table {
    aw_projection at;
    float *value; /* [n][order + 1][AW_PROJECTION_WIDTH], owned */
    size_t capacity;
    int direct; /* 1: there is no table, the node is evaluated at every point */
} aw_cpu_table;

/** Lattices of a block of the convolution. */
typedef struct aw_cpu_lattices {
    aw_block_lattice lattice[3]; /* [n] */
    int n;
} aw_cpu_lattices;

/* Common nodes that are tabulated together, and those whose lines are in memory together. */
enum { AW_COMMON_BATCH = 32, AW_COMMON_LINES = 8 };

typedef struct aw_cpu_state {
    const aw_variant *variant;
    int threads;
    double density;   /* nodes of the inner rule per cell crossed */
    aw_tuning tuning; /* resolved: no zeros */
    aw_history_view history;
    const aw_field_point *point; /* [points], borrowed */
    size_t points;
    aw_cpu_workspace *workspace; /* [threads] */
    struct aw_cpu_group *group;  /* [group_capacity]: groups of one sweep */
    size_t group_capacity;
    aw_cpu_line_cache line_cache[AW_ALONG_COUNT];
    aw_cpu_table *table;              /* [AW_COMMON_BATCH] */
    aw_cpu_line_buffer *common_lines; /* [AW_COMMON_LINES] */
    aw_cpu_tiles tiles;
    struct aw_cpu_convolver *convolver; /* for the size of the last grid, or NULL */
    aw_cpu_lattices *lattices; /* [lattices_capacity], owned: of the blocks of the last call */
    size_t lattices_capacity;
    char text[192]; /* aw_device_ops.describe */
} aw_cpu_state;

/** Add the threads' counts to `work`, and reset them. */
void aw_cpu_work_sum(aw_cpu_state *cpu, aw_work *work);

/** kernels/device/device.h, `sweep` and `evaluate`. */
aw_status aw_cpu_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                       aw_work *work);
aw_status aw_cpu_evaluate(void *state, const aw_cluster_call *call, aw_work *work);

/** Set the cache's view of the history, with lines along s or x (AW_ALONG_*), and cache the slices
 *  that are needed up to r' = longest [m] (below 0: none). Slices that are cached already stay.
 *  @param[in] single  1: lines in single precision; a change of it empties the cache
 *  @return AW_OK or AW_ERR_NOMEM */
aw_status aw_cpu_line_cache_update(aw_cpu_line_cache *cache, const aw_history_view *h, int along,
                                   double longest, int single, int threads);
void aw_cpu_line_cache_free(aw_cpu_line_cache *cache);

/** Interpolate the slices of f in time, within `range`. What lies outside of it is not set.
 *  @param[in]  f    of the cache's view, whose slices are cached
 *  @param[out] out  borrows from `buffer` */
void aw_cpu_interpolate_lines(const aw_variant *variant, const aw_cpu_line_cache *cache,
                              const aw_retarded *f, const aw_cpu_line_range *range,
                              aw_cpu_line_buffer *buffer, aw_interpolated_lines *out);

/** The same over the whole slices: every cell that a tile anywhere may read. */
void aw_cpu_interpolate_all_lines(const aw_variant *variant, const aw_cpu_line_cache *cache,
                                  const aw_retarded *f, int rates, aw_cpu_line_buffer *buffer,
                                  aw_interpolated_lines *out);

/** Grow the buffer for the grids of h. @return AW_OK or AW_ERR_NOMEM */
aw_status aw_cpu_line_buffer_grow(aw_cpu_line_buffer *buffer, const aw_history_view *h);
void aw_cpu_line_buffer_free(aw_cpu_line_buffer *buffer);

/** kernels/device/device.h, `integrate`. */
aw_status aw_cpu_integrate(void *state, aw_common_rule *common, const aw_scales *scales,
                           aw_work *work);
void aw_cpu_integrate_free(aw_cpu_state *cpu);

/** kernels/device/device.h, `convolve`. */
aw_status aw_cpu_convolve(void *state, const aw_common_rule *common);
void aw_cpu_convolver_free(struct aw_cpu_convolver *convolver);
/** Memory that the convolutions take [bytes].
 *  @param[in] n       nodes of a slice, along and across
 *  @param[in] beyond  nodes by which points lie beyond slices that are turned against the grid, or
 *                     of other spacings; 0: all lattices are in place
 *  @param[in] slices  of the history, whose spectra are kept as far as there is room */
size_t aw_cpu_convolver_bytes(const int n[2], const double beyond[2], int threads, size_t slices);

/** Tabulate the beam's projection from a node for all points of the device. The line cache of the
 *  axis that aw_projection_across chooses must have the node's slices.
 *  @param[in,out] workspace  of the calling thread
 *  @param[out]    t          valid if 1 is returned
 *  @return 1; 0: no table, as it would cost more than it saves, or the node does not permit one
 *          (kernels/math/projection.h), or memory is short */
int aw_cpu_table_make(const aw_cpu_state *cpu, const aw_common_rule *common,
                      const aw_common_node *node, const aw_scales *scales,
                      aw_cpu_workspace *workspace, aw_cpu_table *t);
void aw_cpu_table_free(aw_cpu_table *t);

/** kernels/device/device.h, `form_factor`. */
aw_status aw_cpu_form_factor(void *state, const aw_form_call *call);

void aw_cpu_cluster_workspace_free(aw_cpu_cluster_workspace *workspace);

#endif
