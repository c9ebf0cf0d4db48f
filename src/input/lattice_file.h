/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lattice file (the PALS subset of docs/input.md) becomes a list of elements. */
#ifndef AW_INPUT_LATTICE_FILE_H
#define AW_INPUT_LATTICE_FILE_H
#include <stddef.h>

#include "pic/lattice.h"
#include "src/input/yaml.h"

AW_BEGIN_DECLS

#define AW_LATTICE_ELEMENTS_MAX 100000

/** Read the branch that the file's Lattice uses, expanded: BeamLines, `repeat` and `inherit`
 *  resolved, bends solved for length and angle, fields turned into strengths.
 *  @param[in]  from       node of the run file that named the path, blamed when it cannot be
 *                         opened; NULL: the file itself
 *  @param[out] element    aw_free it; elements of zero length come as markers, and a bend without
 *                         curvature as a drift
 *  @param[out] gamma_ref  of the BeginningEle, > 1
 *  @return AW_OK, AW_ERR_INPUT (noted in `errors`, nothing to free), AW_ERR_NOMEM.
 *  Source: PALS, Particle Accelerator Lattice Standard, of its commit e6e4437. */
aw_status aw_lattice_file_read(const char *path, const aw_yaml_node *from, aw_input_errors *errors,
                               aw_element **element, size_t *n, double *gamma_ref);

AW_END_DECLS
#endif
