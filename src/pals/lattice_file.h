/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lattice in the PALS subset of docs/input.md becomes a list of elements. */
#ifndef AW_PALS_LATTICE_FILE_H
#define AW_PALS_LATTICE_FILE_H
#include <stddef.h>

#include "pic/lattice.h"
#include "src/yaml/yaml.h"

AW_BEGIN_DECLS

#define AW_LATTICE_ELEMENTS_MAX 100000

/** Line and column of an element in its file, 1-based; line 0: given by --set. */
typedef struct aw_place {
    int line, column;
} aw_place;

/** A lattice as it was read; initialise with {0}, free with aw_lattice_input_free. */
typedef struct aw_lattice_input {
    aw_element *element; /* [n]; one of zero length is a marker, a bend without curvature a drift */
    aw_place *place;     /* [n] */
    size_t n;
    double energy;    /* of the BeginningEle [eV] */
    double gamma_ref; /* the same over the rest energy, > 1 */
    char *name;       /* of the Lattice */
    char *file;       /* in which the places are */
} aw_lattice_input;

/** Read a lattice file and expand the branch of the Lattice in use: BeamLines, `repeat` and
 *  `inherit` are resolved, bends solved for length and angle, fields converted to strengths.
 *  @param[in]  from  node of the run file with the path, where a file that cannot be opened is
 *                    reported; NULL: report it at the file itself
 *  @return AW_OK, AW_ERR_INPUT (noted in `errors`), AW_ERR_NOMEM; *out is empty unless AW_OK.
 *  Source: PALS, Particle Accelerator Lattice Standard, commit e6e4437. */
aw_status aw_lattice_file_read(const char *path, const aw_yaml_node *from, aw_input_errors *errors,
                               aw_lattice_input *out);

/** The same from a mapping with the key PALS, such as the root of a lattice file. */
aw_status aw_lattice_tree_read(const aw_yaml_node *root, aw_input_errors *errors,
                               aw_lattice_input *out);

void aw_lattice_input_free(aw_lattice_input *input);

AW_END_DECLS
#endif
