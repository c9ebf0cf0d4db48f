/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of wave vectors: a lattice of up to three axes, or a list; and how a lattice becomes pairs
 * of waves (kernels/device/form_factor.h). */
#ifndef AW_FORM_FACTOR_WAVES_H
#define AW_FORM_FACTOR_WAVES_H
#include <stddef.h>

#include "kernels/math/form_factor.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** k = origin + i0 step[0] + i1 step[1] + i2 step[2], with i2 fastest in every array; or a list.
 *  Components are along the axes of the positions [1/m]. */
typedef struct aw_waves {
    size_t n[3];    /* points along each axis, 1: none; a list has {1, 1, its length} */
    size_t from[3]; /* of a part of a lattice: indices of its first point */
    double origin[3], step[3][3];
    const double (*list)[3]; /* borrowed; NULL: a lattice */
} aw_waves;

/** Number of wave vectors; 0 if it overflows. */
size_t aw_waves_count(const aw_waves *waves);

/** Wave vector number i [1/m]. */
void aw_waves_at(const aw_waves *waves, size_t i, double k[3]);

/** Largest magnitude of each component [1/m]. */
void aw_waves_reach(const aw_waves *waves, double reach[3]);

/** @return AW_OK; AW_ERR_ARG: there are none, too many, or one is not finite (message) */
aw_status aw_waves_check(const aw_waves *waves);

/** A part of at most `most` waves that are neighbours in every array, and its first wave.
 *  @param[in,out] next  number of the first wave, 0 to begin with; then that of the next part
 *  @return 0: there is no further part */
int aw_waves_part(const aw_waves *waves, size_t most, size_t *next, aw_waves *part, size_t *first);

/** A lattice as blocks of block[0] x block[1] x block[2] points that repeat: an outer wave leads to
 *  the centre of a block, an inner one from there to one half of its points, and its opposite to
 *  the others. */
typedef struct aw_wave_pairs {
    size_t block[3], blocks[3];
    aw_wave *outer, *inner; /* owned; free with aw_wave_pairs_free */
    size_t outers, inners;  /* inners = 0: a list of outer waves */
} aw_wave_pairs;

/** @return AW_OK, AW_ERR_NOMEM */
aw_status aw_wave_pairs_new(const aw_waves *waves, aw_wave_pairs *pairs);
void aw_wave_pairs_free(aw_wave_pairs *pairs);

/** Numbers of the waves outer + inner and outer - inner; SIZE_MAX: not of the lattice, which its
 *  last blocks exceed. */
void aw_wave_pairs_index(const aw_waves *waves, const aw_wave_pairs *pairs, size_t outer,
                         size_t inner, size_t index[2]);

AW_END_DECLS
#endif
