/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From an access pattern to the partition of r' that it stands for. */
#ifndef AW_PREDICTOR_CONVERSION_H
#define AW_PREDICTOR_CONVERSION_H
#include "predictor/access_pattern.h"

AW_BEGIN_DECLS

/** How a pattern becomes a partition (dissertation 4.1.4; `even` is ours). */
typedef enum aw_conversion {
    AW_CONVERT_EVEN,    /* between two hard break points the pattern is a density; regions get equal
                           shares of its integral, wherever the soft break points lie */
    AW_CONVERT_UNIFORM, /* every cell in as many equal regions as it wants, rounded up */
    AW_CONVERT_ADAPTIVE /* every cell as an earlier partition had it, with each of its regions in
                           as many equal ones as the wish has grown by, or with those left out that
                           it no longer holds */
} aw_conversion;

/** A partition of r': regions in ascending order, with gaps where nothing is wanted. Owned by the
 *  user's zeroed struct; free with aw_intervals_free. */
typedef struct aw_intervals {
    double (*region)[2]; /* [n]: from, to [m] */
    size_t n, capacity;
} aw_intervals;

/** Append the partition of one pattern, need[patterns->cells].
 *  @param[in] earlier, earlier_n  regions of an earlier partition, for AW_CONVERT_ADAPTIVE; may be
 *             NULL and 0: then as AW_CONVERT_UNIFORM
 *  @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_convert(aw_conversion how, const aw_patterns *patterns, const float *need,
                     const double (*earlier)[2], size_t earlier_n, aw_intervals *out);
void aw_intervals_free(aw_intervals *out);

/** Append [a, b] as n equal regions. @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_intervals_add(aw_intervals *out, double a, double b, size_t n);

/** Conversion by name ("even", "uniform", "adaptive"). @return 0 if there is none of that name. */
int aw_conversion_find(const char *name, aw_conversion *out);

AW_END_DECLS
#endif
