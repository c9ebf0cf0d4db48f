/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the cases of the radiation have in common. */
#ifndef AW_VALIDATE_RADIATION_RADIATE_H
#define AW_VALIDATE_RADIATION_RADIATE_H
#include "src/spectrum/spectrum.h"
#include "src/validate/cases.h"

AW_BEGIN_DECLS

/** Add the slices of a simulation, from the one just deposited to the end of the lattice, with the
 *  straights before and behind; nothing is solved. @return as the calls that it makes */
aw_status aw_case_radiate(aw_simulation *simulation, aw_spectrum *spectrum);

/** Coherent energy of a spectrum, over all its frequencies, which are at equal ratios, and its
 *  directions [J]; below the lowest the energy per frequency is taken as constant. */
double aw_case_energy(const aw_spectrum *spectrum);

AW_END_DECLS
#endif
