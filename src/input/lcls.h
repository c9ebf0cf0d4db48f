/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The LCLS bend of section 4.3.1 of the dissertation, as a resolved input without files. */
#ifndef AW_INPUT_LCLS_H
#define AW_INPUT_LCLS_H
#include "src/input/config.h"

AW_BEGIN_DECLS

#define AW_LCLS_RADIUS 25.13   /* [m] */
#define AW_LCLS_ANGLE 0.198968 /* [rad], 11.4 degrees */
#define AW_LCLS_SIGMA 50.0e-6  /* rms length and width [m] */

/** A resolved input for a line of n elements, without files: rigid motion of a quiet-start bunch of
 *  1 nC and 1e6 macro-particles, round with sigma = 50 um, on 128 x 128 nodes, c dt = 0.02 m,
 *  tolerance 1e-6, AW_DEFAULT_SOLVER. The caller changes what its case requires. Free with
 *  aw_config_free. @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG (the lattice). */
aw_status aw_line_config(const char *title, const aw_element *element, size_t n, double gamma,
                         aw_upstream upstream, aw_config **out);

/** The input of aw_line_config for the LCLS bend and 1 m of drift, with gamma 1e4 and a grid of
 *  n x n nodes. Free with aw_config_free. @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG. */
aw_status aw_lcls_config(int n, size_t particles, aw_upstream upstream, aw_config **out);

AW_END_DECLS
#endif
