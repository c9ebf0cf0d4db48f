/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact nearest neighbours among points of three dimensions, as a search of all would find them. */
#ifndef AW_PREDICTOR_KNN_H
#define AW_PREDICTOR_KNN_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

typedef struct aw_knn aw_knn; /* a tree of points; its memory grows from build to build */

/** An empty tree. @return AW_OK, AW_ERR_NOMEM. Free with aw_knn_free. */
aw_status aw_knn_new(aw_knn **out);
void aw_knn_free(aw_knn *knn);

/** Make the tree of n points, in O(n log n) whatever they are: points may coincide, or lie on a
 *  line, a plane or a lattice. The points are copied.
 *  @param[in] point  [n], in units in which the three axes compare; any n, 0 too
 *  @return AW_OK; AW_ERR_NONFINITE (the point is named); AW_ERR_ARG (n beyond 32 bits);
 *  AW_ERR_NOMEM. On an error the tree is empty.
 *  Source: J. L. Bentley, Commun. ACM 18 (1975) 509, in the form of J. H. Friedman, J. L. Bentley
 *  and R. A. Finkel, ACM Trans. Math. Softw. 3 (1977) 209: each node is cut at the median of its
 *  longest side. Differs: equal coordinates are cut by index; a node keeps its points' own box and
 *  lowest index, so that ties end the search as distances do. */
aw_status aw_knn_build(aw_knn *knn, const double (*point)[3], size_t n);

/** The nearest min(k, n) points to q, by ascending (distance, index): just what sorting all points
 *  by dx^2 + dy^2 + dz^2, summed in double from the left without fused operations, would give.
 *  Several threads may ask one tree. Neighbours are kept in order by insertion: meant for small k.
 *  @param[out] index      [k], places in the array that was given to aw_knn_build
 *  @param[out] distance2  [k], squared distances (infinite where they overflow)
 *  @return how many were found; 0 if k < 1 or q is not finite */
int aw_knn_query(const aw_knn *knn, const double q[3], int k, uint32_t *index, double *distance2);

AW_END_DECLS
#endif
