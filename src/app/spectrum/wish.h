/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `arcwake spectrum` is asked for: frequencies, directions, an aperture, a band. */
#ifndef AW_APP_SPECTRUM_WISH_H
#define AW_APP_SPECTRUM_WISH_H
#include "src/app/options.h"
#include "src/plan/plan.h"
#include "src/spectrum/directions.h"

AW_BEGIN_DECLS

/** Frequencies and directions of a spectrum. Free with aw_spectrum_wish_free. */
typedef struct aw_spectrum_wish {
    double *k; /* [waves], omega/c [1/m], owned */
    size_t waves;
    aw_directions directions;
    int all; /* 1: they are all into which the bunch radiates */
    int has_band;
    double band[2]; /* from and to, omega/c [1/m] */
} aw_spectrum_wish;

/** From the options, with defaults from the bunch and the lattice.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG (one line: the mistake and its remedy) */
aw_status aw_spectrum_wish_make(const aw_options *options, const aw_config *config,
                                const aw_plan *plan, aw_spectrum_wish *out);
void aw_spectrum_wish_free(aw_spectrum_wish *wish);

AW_END_DECLS
#endif
