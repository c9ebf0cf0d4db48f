/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conversion of an access pattern to a partition of r'. */
#ifndef AW_PREDICTOR_CONVERSION_H
#define AW_PREDICTOR_CONVERSION_H
#include "predictor/access_pattern.h"

AW_BEGIN_DECLS

/** Methods of conversion (dissertation 4.1.4, except `even`). */
typedef enum aw_conversion {
    AW_CONVERT_EVEN,    /* the pattern is a density between hard break points; regions get equal
                         * parts of its integral, wherever the other break points lie */
    AW_CONVERT_UNIFORM, /* each cell in equal regions, their number rounded up */
    AW_CONVERT_ADAPTIVE /* each cell as in an earlier partition, each of its regions subdivided by
                         * the factor by which the number has grown, or some of its break points
                         * left out where it has fallen */
} aw_conversion;

/** A partition of r': regions in ascending order, with gaps where the pattern is 0. Initialise with
 *  zeros; free with aw_intervals_free. */
typedef struct aw_intervals {
    double (*region)[2]; /* [n], owned: from, to [m] */
    size_t n, capacity;
} aw_intervals;

/** Append the partition of one pattern.
 *  @param[in] need     [patterns->cells]
 *  @param[in] earlier  [earlier_n] regions of an earlier partition, for AW_CONVERT_ADAPTIVE; NULL
 *                      and 0: as AW_CONVERT_UNIFORM
 *  @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_convert(aw_conversion method, const aw_patterns *patterns, const float *need,
                     const double (*earlier)[2], size_t earlier_n, aw_intervals *out);
void aw_intervals_free(aw_intervals *out);

/** Append [a, b] as n equal regions. @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_intervals_add(aw_intervals *out, double a, double b, size_t n);

/** Method by name ("even", "uniform", "adaptive").
 *  @return 1; 0: there is none of that name, and `out` is unchanged */
int aw_conversion_find(const char *name, aw_conversion *out);

AW_END_DECLS
#endif
