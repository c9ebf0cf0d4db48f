/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K-means clustering of rows of numbers, independent of the number of threads. */
#ifndef AW_PREDICTOR_KMEANS_H
#define AW_PREDICTOR_KMEANS_H
#include <stddef.h>
#include <stdint.h>

#include "src/archive/archive.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Workspace, which grows from call to call, and the centroids of the last call. */
typedef struct aw_kmeans aw_kmeans;

/** An empty workspace. @return AW_OK, AW_ERR_NOMEM (message). Free with aw_kmeans_free. */
aw_status aw_kmeans_new(aw_kmeans **out);
void aw_kmeans_free(aw_kmeans *kmeans);

/** The rows to be clustered. */
typedef struct aw_kmeans_rows {
    const float *row; /* [n][dim], borrowed */
    size_t n, dim;
} aw_kmeans_rows;

/** Options of the clustering. */
typedef struct aw_kmeans_options {
    size_t k;       /* clusters, at least 1; may exceed the rows */
    int warm;       /* 1: start from the last call's centroids, if that had the same k and dim */
    int iterations; /* largest number, at least 1; fewer once no label changes */
    int threads;    /* 0: OpenMP's default */
} aw_kmeans_options;

/** Divide n rows into k clusters of small inertia, the sum of the squared distances of the rows to
 *  the means of their clusters. An iteration assigns every row to the nearest centroid (the lowest
 *  index among equally near ones), assigns to each empty cluster the row that is farthest from its
 *  own centroid (again the lowest index; never the only row of a cluster, nor one at distance
 *  zero), and moves each centroid to the mean of its rows. A cluster that stays empty keeps its
 *  centroid; some do with k > n, or with fewer than k different rows.
 *  @param[out] label    [n], < k; of the last iteration, whose centroids are the means of their
 *                       rows
 *  @param[out] inertia  of these labels and centroids; may be NULL
 *  @return AW_OK; AW_ERR_ARG (nothing to cluster, or a count beyond 32 bits: message);
 *  AW_ERR_NOMEM (message); AW_ERR_NONFINITE (a NaN, an infinity, or a number so large that a
 *  squared distance could exceed a float: the message names the first such row). After an error the
 *  next call starts cold.
 *  Error model: squared distances are sums of squared differences, in float and in the order of
 *  the columns, without the cancellation of |x|^2 - 2 x.c + |c|^2: a label may be that of a
 *  centroid farther by the relative rounding of such a sum, dim 2^-24 at most and about
 *  sqrt(dim) 2^-24 in practice. Means and inertia are summed in double.
 *  Source: S. P. Lloyd, IEEE Trans. Inf. Theory 28 (1982) 129; greedy k-means++ seeds of D. Arthur
 *  and S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA (2007) 1027.
 *  Differs: one of the candidates for a seed is the farthest row, and the others are drawn with
 *  random numbers that depend on the seed's index alone; the treatment of empty clusters. */
aw_status aw_kmeans_run(aw_kmeans *kmeans, const aw_kmeans_rows *rows,
                        const aw_kmeans_options *options, uint32_t *label, double *inertia);

/** Centroids of the last call, [k][dim], borrowed until the next call; NULL if there are none. */
const float *aw_kmeans_centroids(const aw_kmeans *kmeans);

/** Save or load the centroids, from which the next call starts. */
void aw_kmeans_archive(aw_kmeans *w, aw_archive *archive);

AW_END_DECLS
#endif
