/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The geometry of a bend from any two of curvature, length and angle, as PALS defines them. */
#ifndef AW_PALS_BEND_FILE_H
#define AW_PALS_BEND_FILE_H
#include "src/pals/element_file.h"

AW_BEGIN_DECLS

/** The n keys of BendP that are read; static storage. */
const char *const *aw_bend_words(size_t *n);

/** Fill the length, the angle, the edge angles e1, e2 and the strengths of a bend.
 *  @param[in] rectangular  1 for an RBend: faces not given are parallel (e1_rect = e2_rect = 0)
 *  @return 1, or 0 with the problems noted.
 *  Source: PALS standard, source/parameters/bend.md, with two differences: all three parameters may
 *  be given if they agree to 1e-6, and L_rectangle = radius_ref sin(angle_ref), as the standard's
 *  figure shows and pals-cpp computes (the text divides). */
int aw_bend_read(const aw_element_reader *reader, const aw_spec *spec, int rectangular,
                 aw_element *out);

AW_END_DECLS
#endif
