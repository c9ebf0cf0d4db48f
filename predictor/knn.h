/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact nearest neighbours among points in three dimensions, with the results of a full search. */
#ifndef AW_PREDICTOR_KNN_H
#define AW_PREDICTOR_KNN_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** A k-d tree of points; its memory grows from build to build. */
typedef struct aw_knn aw_knn;

/** An empty tree. @return AW_OK, AW_ERR_NOMEM (message). Free with aw_knn_free. */
aw_status aw_knn_new(aw_knn **out);
void aw_knn_free(aw_knn *knn);

/** Build the tree of n points, in O(n log n) for any points: they may coincide, or lie on a line, a
 *  plane or a lattice. The points are copied.
 *  @param[in] point  [n], in units that make the three axes comparable; n may be 0
 *  @return AW_OK; AW_ERR_NONFINITE (message, which names the point); AW_ERR_ARG (n beyond 32 bits:
 *  message); AW_ERR_NOMEM (message). After an error the tree is empty.
 *  Source: J. L. Bentley, Commun. ACM 18 (1975) 509, in the form of J. H. Friedman, J. L. Bentley
 *  and R. A. Finkel, ACM Trans. Math. Softw. 3 (1977) 209: each node is cut at the median along its
 *  longest side. Differs: equal coordinates are ordered by index; a node has the bounding box and
 *  the lowest index of its points, so that a search can prune on ties as on distances. */
aw_status aw_knn_build(aw_knn *knn, const double (*point)[3], size_t n);

/** The min(k, n) points nearest to q, by ascending (distance, index): exactly the result of sorting
 *  all points by dx^2 + dy^2 + dz^2, summed in double from left to right without fused operations.
 *  Several threads may query a tree. Neighbours are sorted by insertion, which suits small k.
 *  @param[out] index      [k], indices in the array passed to aw_knn_build
 *  @param[out] distance2  [k], squared distances (infinite where they overflow)
 *  @return the number of neighbours found; 0 if k < 1 or q is not finite */
int aw_knn_query(const aw_knn *knn, const double q[3], int k, uint32_t *index, double *distance2);

AW_END_DECLS
#endif
