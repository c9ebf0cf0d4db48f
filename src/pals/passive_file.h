/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a lattice element that this program does not model and accepts where they do nothing. */
#ifndef AW_PALS_PASSIVE_FILE_H
#define AW_PALS_PASSIVE_FILE_H
#include "src/pals/element_file.h"

AW_BEGIN_DECLS

/* Groups of any element that may be given if they change nothing. */
#define AW_NEUTRAL_GROUPS \
    "ApertureP", "BodyShiftP", "FloorP", "ReferenceChangeP", "TrackingP", "ElectricMultipoleP"

/** Check the parameters of a group: each is 0, false, null, empty or a list of these, or without
 *  effect where the others are (the shape of an aperture, the tilt of a multipole).
 *  @return 1, or 0 with the problems noted. */
int aw_neutral_group(const aw_element_reader *reader, const aw_spec *spec, const char *group);

/** aw_neutral_group for each of AW_NEUTRAL_GROUPS. */
int aw_neutral_groups(const aw_element_reader *reader, const aw_spec *spec);

AW_END_DECLS
#endif
