/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the uniform evaluation of clusters leaves over: refused regions are cut and evaluated again
 * tile by tile, and what resists that is refined adaptively, point by point. */
#ifndef AW_SOLVERS_LEFTOVERS_H
#define AW_SOLVERS_LEFTOVERS_H
#include "predictor/conversion.h"
#include "src/solvers/internal.h"

/** Passes over clusters: the first, and those over what the one before it left. A pass may use so
 *  much of a point's tolerance in all; the last part is for the adaptive refinement. */
enum { AW_PASSES = 4 };
#define AW_PASS_LIMITS        \
    {                         \
        0.9, 0.95, 0.97, 0.98 \
    }

/** Clusters of one pass and what was seen of them. Zeroed it is empty, and grows. */
typedef struct aw_pass {
    aw_cluster *cluster; /* [clusters] */
    size_t clusters;
    float *worst;      /* of all clusters, one after the other */
    uint8_t *refused;  /* likewise */
    aw_tile_ref *tile; /* [clusters], of a pass over leftovers: their tiles */
    size_t *cut;       /* [clusters + 1]: where their regions begin in `intervals` */
    aw_intervals intervals;
    float *coarse; /* likewise, a number a tile */
    float *total;  /* [tiles of all]: the largest sum of a point's errors, refused ones too */
    size_t capacity[7];
} aw_pass;

/** Where a point is in a pass. */
typedef struct aw_place {
    const aw_cluster *cluster; /* NULL: nowhere */
    size_t tile;
} aw_place;

/** Workspaces. Zeroed they are empty, and grow. */
typedef struct aw_leftovers {
    aw_pass pass[2];   /* of leftovers, by turns */
    aw_region *region; /* that are refined, of a block of points */
    aw_place *place;   /* [points], in the last pass */
    size_t region_capacity, place_capacity;
} aw_leftovers;

void aw_pass_free(aw_pass *pass);
void aw_leftovers_free(aw_leftovers *leftovers);

/** Room for what a device says of the clusters; points their outputs there. */
aw_status aw_pass_grow(aw_pass *pass);

/** Evaluate the clusters of pass number `number`. */
aw_status aw_pass_run(aw_pass *pass, int number, aw_solver *solver, const aw_problem *problem,
                      const aw_clustered *out, aw_report *report);

/** After the first pass: the others, the refinement, and the results to the caller.
 *  @param[in] sums  of the clusters' evaluation
 *  @return as aw_solver_solve */
aw_status aw_leftovers_solve(aw_leftovers *leftovers, const aw_pass *first, aw_solver *solver,
                             const aw_problem *problem, const aw_clustered *sums,
                             const aw_solution *out);

#endif
