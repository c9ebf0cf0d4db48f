/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of a beam that concern several keys of the run file. */
#ifndef AW_INPUT_BEAM_CHECK_H
#define AW_INPUT_BEAM_CHECK_H
#include "src/input/config.h"
#include "src/yaml/yaml.h"

AW_BEGIN_DECLS

/** Shortest and longest rms size of a bunch [m]. */
#define AW_SIZE_MIN 1e-9
#define AW_SIZE_MAX 1e3

/** Note a beam that cannot be drawn: particles without kinetic energy, more particles than the
 *  quiet sequence has points, a width or height out of range, large
 *  slopes. A member of `beam` that could not
 *  be read must be 0; no further problem is noted for it. */
void aw_beam_check(aw_input_errors *errors, const aw_yaml_node *root, const aw_beam_params *beam);

AW_END_DECLS
#endif
