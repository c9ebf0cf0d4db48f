/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particles of a beam file, or those that a run wrote last, as a bunch for form factors. */
#ifndef AW_FORM_FACTOR_BUNCH_H
#define AW_FORM_FACTOR_BUNCH_H
#include "src/form_factor/form_factor.h"

AW_BEGIN_DECLS

/** Positions about the centre of charge: s along the mean momentum in the plane, x across it, y up
 *  [m]; charges, of which the sum is one. All [n], owned; free with aw_bunch_free. */
typedef struct aw_bunch {
    size_t n;
    double *at[3], *charge;
    double rms[3]; /* rms sizes [m] */
} aw_bunch;

/** @param[in] path  a file of particles (docs/input.md), or the output directory of a run
 *  @return AW_OK, AW_ERR_INPUT (message), AW_ERR_NOMEM */
aw_status aw_bunch_read(const char *path, aw_bunch *bunch);
void aw_bunch_free(aw_bunch *bunch);

AW_END_DECLS
#endif
