/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leftovers, the regions that the uniform evaluation of clusters refuses: they are cut and
 * evaluated again tile by tile, and what is then still refused is refined adaptively, point by
 * point. */
#ifndef AW_SOLVERS_LEFTOVERS_H
#define AW_SOLVERS_LEFTOVERS_H
#include "predictor/conversion.h"
#include "src/solvers/internal.h"

/** Passes over clusters, the first and those over the leftovers of the one before. AW_PASS_LIMITS:
 *  part of a point's tolerance that its errors may reach in each pass; the rest is left for the
 *  adaptive refinement. */
enum { AW_PASSES = 4 };
#define AW_PASS_LIMITS        \
    {                         \
        0.9, 0.95, 0.97, 0.98 \
    }

/** Clusters of one pass and their outputs; all arrays are owned. Begin with zeros. */
typedef struct aw_pass {
    aw_cluster *cluster; /* [clusters] */
    size_t clusters;
    float *worst;     /* outputs (aw_cluster) of all clusters, one after the other */
    uint8_t *refused; /* likewise */
    float *coarse;    /* likewise, one number a tile */
    float *total; /* [tiles of all clusters]: largest sum of a point's errors, with refused ones */
    aw_tile_ref *tile; /* [clusters]: the tile of each; not of the first pass */
    size_t *cut; /* [clusters + 1]: where the regions of each begin in `intervals`; likewise */
    aw_intervals intervals;
    size_t capacity[7];
} aw_pass;

/** Position of a point in a pass. */
typedef struct aw_place {
    const aw_cluster *cluster; /* NULL: the point is in none */
    size_t tile;               /* index in the cluster */
} aw_place;

/** Workspaces, owned. Begin with zeros. */
typedef struct aw_leftovers {
    aw_pass pass[2];   /* passes over leftovers alternate between them */
    aw_region *region; /* regions of a block of points that are refined */
    aw_place *place;   /* [points]: positions in the last pass */
    size_t region_capacity, place_capacity;
} aw_leftovers;

void aw_pass_free(aw_pass *pass);
void aw_leftovers_free(aw_leftovers *leftovers);

/** Allocate the outputs of all clusters, and point the clusters to them.
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_pass_grow(aw_pass *pass);

/** Evaluate the clusters of a pass.
 *  @param[in] number      0: the first
 *  @param[in,out] out     sums and errors of all points
 *  @return AW_OK, or what the device returns */
aw_status aw_pass_run(aw_pass *pass, int number, aw_solver *solver, const aw_problem *problem,
                      const aw_clustered *out, aw_report *report);

/** Do the passes after the first one and the refinement, and fill the caller's results.
 *  @param[in,out] sums  of all points, after the first pass
 *  @return as aw_solver_solve */
aw_status aw_leftovers_solve(aw_leftovers *leftovers, const aw_pass *first, aw_solver *solver,
                             const aw_problem *problem, const aw_clustered *sums,
                             const aw_solution *solution);

#endif
