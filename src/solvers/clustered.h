/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For strategies with clusters: tiles of a grid, their classes, uniform evaluation on one partition
 * per class, and the leftovers. */
#ifndef AW_SOLVERS_CLUSTERED_H
#define AW_SOLVERS_CLUSTERED_H
#include "predictor/conversion.h"
#include "src/solvers/internal.h"
#include "src/solvers/leftovers.h"

/** The classes of the last step and their partitions. */
typedef struct aw_tiling_classes {
    aw_intervals intervals;
    size_t *cut;
    uint32_t *label;
    size_t tiles; /* 0 at the first step */
    size_t cut_capacity, label_capacity;
} aw_tiling_classes;

/** Tiles, classes and workspaces, all owned. Begin with zeros; free with aw_tiling_free. */
typedef struct aw_tiling {
    aw_tile_ref *tile;      /* [tiles]: those of the grid, row by row */
    aw_field_point *middle; /* [tiles] */
    double (*where)[2];     /* [tiles]: position on the grid, -1/2 .. 1/2 along and across */
    double reach;           /* largest distance of a point from the middle of its tile [m] */
    size_t tiles;
    uint32_t *label;     /* [tiles]: the class, < classes */
    aw_tile_ref *sorted; /* [tiles]: the tiles, class by class */
    size_t *begin;       /* [classes + 1]: where the tiles of a class begin in `sorted` */
    uint32_t *origin;    /* [tiles]: index of a sorted tile in `tile` */
    size_t classes;
    aw_intervals intervals; /* partitions of the classes, one after the other */
    size_t *cut;            /* [classes + 1]: where the partition of a class begins there */
    aw_pass main;           /* the first: clusters are classes cut to the size for the device */
    aw_leftovers leftovers;
    double (*I)[AW_RESULTS]; /* [points]; this and the next three are aw_clustered */
    double *error;
    double (*rest)[AW_RESULTS];
    double *rest_error;
    float *coarse; /* [judged]: error of rates at every other node at the last step (aw_cluster) */
    size_t judged; /* tiles for which that is known */
    aw_tiling_classes before;
    size_t cut_capacity, label_capacity, capacity[16];
} aw_tiling;

void aw_tiling_free(aw_tiling *tiling);

/** Save or load what the next step takes from this one: classes, partitions and errors. */
void aw_tiling_archive(aw_tiling *tiling, aw_archive *archive);

/** Make the tiles of the problem's grid; the classes become those of the last step.
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_tiling_make(aw_tiling *tiling, const aw_problem *problem);

/** Number of classes to make, 1 .. tiles. */
size_t aw_tiling_classes_for(const aw_tiling *tiling, const aw_problem *problem,
                             const aw_forecast *forecast);

/** Sort the tiles by class; `label` is filled. @return AW_OK, AW_ERR_NOMEM */
aw_status aw_tiling_sort(aw_tiling *tiling, size_t classes);

/** Make the partitions of the classes.
 *  @param[in] need  numbers of regions, one row a class
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_tiling_partition(aw_tiling *tiling, aw_conversion conversion, const aw_patterns *need);

/** Evaluate all clusters, refine the leftovers, and fill the caller's results and the report.
 *  @return as aw_solver_solve */
aw_status aw_tiling_solve(aw_tiling *tiling, aw_solver *solver, const aw_problem *problem,
                          double *result, double *error, aw_report *report);

/** Roughness of the cells (aw_patterns_allot) after aw_tiling_solve, from the error of the worst
 *  point of each region; scaled so that they add up to the largest sum of errors at one point.
 *  @param[out] seen  one row a tile */
void aw_tiling_observe(const aw_tiling *tiling, aw_patterns *seen);

#endif
