/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of monitor.csv as curves over the arc length. */
#ifndef AW_CERTIFY_CURVE_H
#define AW_CERTIFY_CURVE_H
#include "src/io/series.h"

AW_BEGIN_DECLS

/** A column over s_ref_m, without the rows that do not have it. Free with aw_curve_free. */
typedef struct aw_curve {
    size_t n;
    double *S, *f; /* owned, [n]; S ascends */
} aw_curve;

/** @return AW_OK, AW_ERR_NOMEM. A column that does not exist gives n = 0. */
aw_status aw_curve_of(const aw_series *series, const char *name, aw_curve *out);
void aw_curve_free(aw_curve *curve);

/** The curve at S: by a cubic through the four nearest points, two on each side where there are;
 *  NaN outside, but for rounding. */
double aw_curve_at(const aw_curve *curve, double S);

/** The extremum of largest magnitude, of the parabola through the largest point and its neighbours.
 *  @param[out] S  its place  @return NaN without points */
double aw_curve_peak(const aw_curve *curve, double *S);

AW_END_DECLS
#endif
