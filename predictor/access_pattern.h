/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access patterns: how many subregions of r' the integral at a point wants, cell by cell. */
#ifndef AW_PREDICTOR_ACCESS_PATTERN_H
#define AW_PREDICTOR_ACCESS_PATTERN_H
#include "quadrature/partition.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Patterns of many points (or tiles of points) over the cells between the break points of one
 *  time's starting partition. Cells, not slice intervals S_i = [i c dt, (i+1) c dt], because S_0
 *  alone holds the whole near zone, from micrometres to centimetres; cells end on slices wherever
 *  they are as long, so that the dissertation's n_i are sums over them (aw_patterns_by_slice).
 *  Numbers need not be whole: 1.3 is a wish for regions of length 1/1.3 of the cell.
 *  Source: dissertation 4.1.1. */
typedef struct aw_patterns {
    size_t rows, cells;
    double *edge; /* [cells + 1]: break points [m] */
    int *hard;    /* [cells + 1]: break points that every partition keeps (aw_partition) */
    float *need;  /* [rows][cells]: what the user keeps there, one number a cell */
    size_t edge_capacity, hard_capacity, need_capacity;
} aw_patterns;

/** Room for `rows` patterns over the cells of a partition; `need` is not cleared.
 *  @return AW_OK, AW_ERR_NOMEM. Free with aw_patterns_free (a zeroed struct is empty). */
aw_status aw_patterns_shape(aw_patterns *patterns, const aw_partition *partition, size_t rows);
void aw_patterns_free(aw_patterns *patterns);

/** All numbers to 0. */
void aw_patterns_clear(aw_patterns *patterns);

/** A pattern over the cells of one partition, spread over those of another: lengths in common
 *  carry their share. Cells beyond the old partition's end get none.
 *  @param[out] out  [to->cells] */
void aw_patterns_carry(const aw_patterns *from, const float *need, const aw_patterns *to,
                       float *out);

/** Numbers of subregions that share out an error. The error of a region falls with the fourth power
 *  of its length (Simpson's rule has a fifth, of which kinks of the B-splines take one): a cell of
 *  roughness s in n equal regions has the error s^4/n^3. The fewest regions in all for a total
 *  error have equal errors e: n_j = s_j e^(-1/4), and no cell less than `least`.
 *  @param[in]  rough  [cells]: fourth root of the error of the cell as one region, in scales; below
 *              0 where the circles miss the beam: such cells get 0
 *  @param[in]  total  sum of the errors asked for, in scales, > 0
 *  @param[out] need   [cells] */
void aw_patterns_allot(const float *rough, size_t cells, double least, double total, float *need);

/** Sum of the errors of cells of these roughnesses in need[j] regions each; 0 for cells of none. */
double aw_patterns_error(const float *rough, const float *need, size_t cells);

/** Sum over the cells of each slice interval; a cell of several intervals gives each its share.
 *  @param[out] n  [slices]: subregions in [i cdt, (i+1) cdt] */
void aw_patterns_by_slice(const aw_patterns *patterns, const float *need, double cdt, size_t slices,
                          double *n);

AW_END_DECLS
#endif
