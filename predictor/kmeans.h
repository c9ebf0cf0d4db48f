/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K-means clusters of rows of numbers, the same for any number of threads. */
#ifndef AW_PREDICTOR_KMEANS_H
#define AW_PREDICTOR_KMEANS_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

typedef struct aw_kmeans aw_kmeans; /* workspace; grows from call to call and keeps the centroids */

/** @return AW_OK, AW_ERR_NOMEM. Free with aw_kmeans_free. */
aw_status aw_kmeans_new(aw_kmeans **out);
void aw_kmeans_free(aw_kmeans *kmeans);

/** What is clustered. */
typedef struct aw_kmeans_rows {
    const float *row; /* [n][dim], borrowed */
    size_t n, dim;
} aw_kmeans_rows;

/** How. */
typedef struct aw_kmeans_how {
    size_t k;       /* clusters, at least 1; may exceed the rows */
    int warm;       /* 1: begin with the last call's centroids, if that had the same k and dim */
    int iterations; /* at most, at least 1; fewer when no label changes any more */
    int threads;    /* 0: as many as OpenMP gives */
} aw_kmeans_how;

/** Cut n rows into k clusters of small inertia, the sum of the squared distances of the rows to
 *  the means of their clusters. An iteration gives every row the nearest centroid (the lowest
 *  index among equally near ones), gives each empty cluster the row that is farthest from its own
 *  centroid (the lowest index again; never the only row of a cluster, nor one at distance zero),
 *  and makes each centroid the mean of its rows. A cluster that stays empty keeps its centroid;
 *  with k > n, or with fewer than k different rows, some do.
 *  @param[out] label  [n], < k; of the last iteration, whose centroids are the means of their rows
 *  @param[out] inertia     of these labels and centroids; may be NULL
 *  @return AW_OK; AW_ERR_ARG (nothing to cluster, or a count beyond 32 bits); AW_ERR_NOMEM;
 *  AW_ERR_NONFINITE, which names the first row with a NaN, an infinity, or a number so large that
 *  a squared distance could exceed a float. On an error the next call is not warm.
 *  Error model: squared distances are sums of squared differences, in float and in the order of
 *  the columns, without the cancellation of |x|^2 - 2 x.c + |c|^2: a label may be that of a
 *  centroid farther by the relative rounding of such a sum, dim 2^-24 at most and about
 *  sqrt(dim) 2^-24 in practice. Means and inertia are summed in double.
 *  Source: S. P. Lloyd, IEEE Trans. Inf. Theory 28 (1982) 129; greedy k-means++ seeds of D. Arthur
 *  and S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA (2007) 1027.
 *  Differs: one of the rows that compete for a seed is the farthest one, and the others are drawn
 *  with random numbers that are a function of the seed's index alone; empty clusters. */
aw_status aw_kmeans_run(aw_kmeans *kmeans, const aw_kmeans_rows *rows, const aw_kmeans_how *how,
                        uint32_t *label, double *inertia);

/** Centroids of the last call, [k][dim], borrowed until the next; NULL if there are none. */
const float *aw_kmeans_centroids(const aw_kmeans *kmeans);

AW_END_DECLS
#endif
