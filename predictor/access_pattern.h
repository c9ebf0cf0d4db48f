/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access patterns: the number of regions that the integral at a point needs in each cell of r'. */
#ifndef AW_PREDICTOR_ACCESS_PATTERN_H
#define AW_PREDICTOR_ACCESS_PATTERN_H
#include "quadrature/partition.h"
#include "src/archive/archive.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Patterns of many points (or tiles of points) over the cells between the break points of the
 *  initial partition of one time. Cells are used rather than slice intervals
 *  S_i = [i c dt, (i+1) c dt], because S_0 alone contains the whole near zone, from micrometres to
 *  centimetres. Cells as long as a slice interval end on slices, so the dissertation's n_i are sums
 *  over cells (aw_patterns_by_slice). Numbers need not be whole: 1.3 means regions of 1/1.3 of the
 *  length of the cell.
 *  Source: dissertation 4.1.1. */
typedef struct aw_patterns {
    size_t rows, cells;
    double *edge; /* [cells + 1], owned: break points [m] */
    int *hard;    /* [cells + 1], owned: 1 where every partition keeps the break point */
    float *need;  /* [rows][cells], owned: numbers of regions */
    size_t edge_capacity, hard_capacity, need_capacity;
} aw_patterns;

/** Allocate `rows` patterns over the cells of a partition; `need` is not cleared. A zeroed struct
 *  is empty. @return AW_OK, AW_ERR_NOMEM. Free with aw_patterns_free. */
aw_status aw_patterns_shape(aw_patterns *patterns, const aw_partition *partition, size_t rows);
void aw_patterns_free(aw_patterns *patterns);

/** Save or load all numbers. */
void aw_patterns_archive(aw_patterns *patterns, aw_archive *archive);

/** Set all numbers to 0. */
void aw_patterns_clear(aw_patterns *patterns);

/** Transfer a pattern from the cells of one partition to those of another, by the lengths that the
 *  cells have in common. Cells beyond the end of the old partition get 0.
 *  @param[in]  need  [from->cells]
 *  @param[out] out   [to->cells] */
void aw_patterns_carry(const aw_patterns *from, const float *need, const aw_patterns *to,
                       float *out);

/** Numbers of regions that distribute a permitted error over the cells. The error of a region is
 *  proportional to the fourth power of its length (Simpson's rule has a fifth, but the B-spline's
 *  discontinuities cost one), so a cell of roughness s in n equal regions has the error s^4/n^3.
 *  The total number of regions is smallest if all have the same error e: n_j = s_j e^(-1/4), but at
 *  least `least` in each cell.
 *  @param[in]  rough  [cells]: fourth root of the error of the cell as one region, in scales; below
 *                     0 where the circles miss the beam: such cells get 0
 *  @param[in]  total  permitted sum of the errors, in scales, > 0
 *  @param[out] need   [cells]; may be `rough` */
void aw_patterns_allot(const float *rough, size_t cells, double least, double total, float *need);

/** Sum of the errors of cells [cells] of these roughnesses, cell j in need[j] regions, in scales; a
 *  cell with need 0 counts 0. */
double aw_patterns_error(const float *rough, const float *need, size_t cells);

/** Sum a pattern over the cells of each slice interval; a cell is divided among intervals by
 *  length.
 *  @param[in]  need  [patterns->cells]
 *  @param[in]  age   [slices + 1]: of the slices, rising [m]
 *  @param[out] n     [slices]: regions in [age[i], age[i + 1]] */
void aw_patterns_by_slice(const aw_patterns *patterns, const float *need, const double *age,
                          size_t slices, double *n);

AW_END_DECLS
#endif
