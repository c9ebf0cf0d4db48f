/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MagneticMultipoleP of a lattice element: the one normal component that its kind may have. */
#ifndef AW_PALS_MULTIPOLE_FILE_H
#define AW_PALS_MULTIPOLE_FILE_H
#include "src/pals/element_file.h"

AW_BEGIN_DECLS

/** The wanted component (in) and its value in the file (out). */
typedef struct aw_multipole {
    int order;                /* in: N; 0 dipole, 1 quadrupole */
    double length;            /* in: of the element [m], for integrated values (KnNL, BnNL) */
    const aw_yaml_node *node; /* out: its place; NULL if the file does not give it */
    double value;             /* out: KnN [1/m^(N+1)] */
} aw_multipole;

/** Strength (q/p) B [1/m^(N+1)] of a field [T/m^N] for an electron of momentum pc [eV]. A positive
 *  field has a negative strength, as in PALS. */
double aw_strength_of_field(double field, double pc);

/** Read KnN, BnN, KnNL or BnNL of the wanted order N; every other component must be zero.
 *  @return 1, or 0 with the problems noted.
 *  Source: PALS standard, source/parameters/magneticmultipole.md. */
int aw_multipole_read(const aw_element_reader *reader, const aw_spec *spec, aw_multipole *wanted);

AW_END_DECLS
#endif
