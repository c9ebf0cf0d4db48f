/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lattice file (the PALS subset of docs/input.md) becomes a list of elements. */
#ifndef AW_INPUT_LATTICE_FILE_H
#define AW_INPUT_LATTICE_FILE_H
#include <stddef.h>

#include "pic/lattice.h"
#include "src/input/yaml.h"

AW_BEGIN_DECLS

#define AW_LATTICE_ELEMENTS_MAX 100000

/** Read and expand the branch of the Lattice in use: BeamLines, `repeat` and `inherit` are
 *  resolved, bends solved for length and angle, fields converted to strengths.
 *  @param[in]  from       node of the run file with the path, where a file that cannot be opened is
 *                         reported; NULL: report it at the file itself
 *  @param[out] element    n elements, to be freed with aw_free; those of zero length are markers, a
 *                         bend without curvature is a drift
 *  @param[out] gamma_ref  energy of the BeginningEle over the rest energy, > 1
 *  @return AW_OK, AW_ERR_INPUT (noted in `errors`, nothing to free), AW_ERR_NOMEM.
 *  Source: PALS, Particle Accelerator Lattice Standard, commit e6e4437. */
aw_status aw_lattice_file_read(const char *path, const aw_yaml_node *from, aw_input_errors *errors,
                               aw_element **element, size_t *n, double *gamma_ref);

AW_END_DECLS
#endif
