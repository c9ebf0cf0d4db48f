/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MagneticMultipoleP of a lattice element: its normal components. */
#ifndef AW_PALS_MULTIPOLE_FILE_H
#define AW_PALS_MULTIPOLE_FILE_H
#include "src/pals/element_file.h"

AW_BEGIN_DECLS

/** The components of a field that an element may have (in), and their values (out). */
typedef struct aw_multipole {
    int highest;   /* in: order of the last component; 0 dipole, 1 quadrupole */
    double length; /* in: of the element [m]; 0: values are those times the length */
    const aw_yaml_node *node[AW_ORDERS]; /* out: their places; NULL if the file does not give one */
    double value[AW_ORDERS];             /* out: KnN [1/m^(N+1)], or KnNL where length is 0 */
    const aw_yaml_node *tilt[AW_ORDERS]; /* out: places of tilts other than 0 */
} aw_multipole;

/** Strength (q/p) B [1/m^(N+1)] of a field [T/m^N] for an electron of momentum pc [eV]. A positive
 *  field has a negative strength, as in PALS. */
double aw_strength_of_field(double field, double pc);

/** Read KnN, BnN, KnNL or BnNL of each order N up to the highest; skew components, higher orders
 *  and tilts of what is not zero must be zero. Without a length KnN and BnN have no effect.
 *  @return 1, or 0 with the problems noted.
 *  Source: PALS standard, source/parameters/magneticmultipole.md. */
int aw_multipole_read(const aw_element_reader *reader, const aw_spec *spec, aw_multipole *wanted);

AW_END_DECLS
#endif
