/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What strategies with clusters share: tiles of a grid, their classes, uniform evaluation on one
 * partition per class, and the leftovers. */
#ifndef AW_SOLVERS_CLUSTERED_H
#define AW_SOLVERS_CLUSTERED_H
#include "predictor/conversion.h"
#include "src/solvers/internal.h"
#include "src/solvers/leftovers.h"

/** Classes of tiles and their partitions, as they were at the step before. */
typedef struct aw_tiling_classes {
    aw_intervals intervals;
    size_t *cut;
    uint32_t *label;
    size_t tiles; /* 0 at first */
    size_t cut_capacity, label_capacity;
} aw_tiling_classes;

/** Workspaces; zeroed they are empty, and grow. Free with aw_tiling_free. */
typedef struct aw_tiling {
    aw_tile_ref *tile;      /* [tiles]: the grid's, row by row */
    aw_field_point *middle; /* [tiles] */
    double (*where)[2];     /* [tiles]: place on the grid, -1/2 .. 1/2 along and across */
    double reach;           /* [m]: every point of a tile lies so near to its middle */
    size_t tiles;
    uint32_t *label;     /* [tiles]: the class, < classes */
    size_t *begin;       /* [classes + 1]: where a class's tiles begin ... */
    aw_tile_ref *sorted; /* [tiles]: ... here */
    uint32_t *origin;    /* [tiles]: index of a sorted tile in `tile` */
    size_t classes;
    aw_intervals intervals; /* partitions of the classes, one after the other */
    size_t *cut;            /* [classes + 1]: where a class's partition begins there */
    aw_pass main;           /* the first: classes in pieces that the device likes */
    aw_leftovers leftovers;
    double (*I)[AW_RESULTS]; /* [points], as the next three: aw_clustered */
    double *error;
    double (*rest)[AW_RESULTS];
    double *rest_error;
    float *coarse; /* [judged]: what rates at every other node added last, or would (aw_cluster) */
    size_t judged; /* tiles for which that is known */
    aw_tiling_classes before;
    size_t cut_capacity, label_capacity, capacity[16];
} aw_tiling;

void aw_tiling_free(aw_tiling *tiling);

/** The tiles of the problem's points; the classes so far become those before. */
aw_status aw_tiling_make(aw_tiling *tiling, const aw_problem *problem);

/** How many classes are asked for: 1 .. tiles. */
size_t aw_tiling_classes_for(const aw_tiling *tiling, const aw_problem *problem,
                             const aw_forecast *forecast);

/** After `label` is filled: sort the tiles by class. */
aw_status aw_tiling_sort(aw_tiling *tiling, size_t classes);

/** Partitions of the classes from what each needs, one row of `need` a class. */
aw_status aw_tiling_partition(aw_tiling *tiling, aw_conversion how, const aw_patterns *need);

/** Evaluate all clusters, refine what is left, and hand the results to the caller and the report.
 *  @return as aw_solver_solve */
aw_status aw_tiling_solve(aw_tiling *tiling, aw_solver *solver, const aw_problem *problem,
                          double *result, double *error, aw_report *report);

/** After aw_tiling_solve: roughness (aw_patterns_allot) of the cells of `seen`, a row for every
 *  tile, from the errors of its worst points, region by region, as shares of the largest sum of
 *  errors that one of its points has. */
void aw_tiling_observe(const aw_tiling *tiling, aw_patterns *seen);

#endif
