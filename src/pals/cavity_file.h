/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The RF of a cavity in a lattice file: the group RFP of PALS. */
#ifndef AW_PALS_CAVITY_FILE_H
#define AW_PALS_CAVITY_FILE_H
#include "src/pals/element_file.h"

AW_BEGIN_DECLS

/** Largest gain of the reference over its energy with which a cavity leaves that as it is. */
#define AW_CAVITY_GAIN 1e-6

/** Names that RFP may have; *n: their number. */
const char *const *aw_cavity_words(size_t *n);

/** Read the RF of a cavity whose length is known into out->rf: voltage 0 (a drift), or one at which
 *  the reference gains nothing (AW_CAVITY_GAIN).
 *  @return 1, or 0 with the problems noted. */
int aw_cavity_read(const aw_element_reader *reader, const aw_spec *spec, aw_element *out);

/** Check that there is neither voltage nor gradient. @return 1, or 0 with the problems noted. */
int aw_cavity_check_off(const aw_element_reader *reader, const aw_spec *spec);

AW_END_DECLS
#endif
