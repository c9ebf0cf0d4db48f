/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MagneticMultipoleP of a lattice element: the one normal component that the element may have. */
#ifndef AW_INPUT_MULTIPOLE_FILE_H
#define AW_INPUT_MULTIPOLE_FILE_H
#include "src/input/element_file.h"

AW_BEGIN_DECLS

/** The component that is asked for, and what the file says of it. */
typedef struct aw_multipole {
    int order;                /* in: 0 dipole, 1 quadrupole */
    double length;            /* in: of the element [m], for integrated values (KnNL, BnNL) */
    const aw_yaml_node *node; /* out: NULL when the file gives none */
    double value;             /* out: KnN [1/m^(N+1)] */
} aw_multipole;

/** Normalised strength of a field (or gradient) for the reference electron of momentum pc [eV]:
 *  (q/p) B, so positive fields give negative strengths, as in PALS. */
double aw_strength_of_field(double field, double pc);

/** Read KnN, BnN, KnNL or BnNL of the wanted order N; every other component must be zero.
 *  @return 1, or 0 with the problems noted.
 *  Source: PALS standard, source/parameters/magneticmultipole.md. */
int aw_multipole_read(const aw_element_reader *reader, const aw_spec *spec, aw_multipole *wanted);

AW_END_DECLS
#endif
