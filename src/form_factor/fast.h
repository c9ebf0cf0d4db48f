/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Form factors on lattices by FINUFFT, where the program was built with it: a time of about
 * N + M log M for N particles and M waves, in place of their product. */
#ifndef AW_FORM_FACTOR_FAST_H
#define AW_FORM_FACTOR_FAST_H
#include "src/form_factor/form_factor.h"

AW_BEGIN_DECLS

/** Whether this program has FINUFFT. */
int aw_form_is_fast(void);

/** F at all waves of a lattice, in double precision and in memory, without a budget.
 *  @param[in]  tolerance  of FINUFFT, relative to the largest |F|: 1e-14 to 1e-1
 *  @param[out] F          [waves]
 *  @return AW_OK; AW_ERR_ARG: a list, or as aw_form_factor (message); AW_ERR_BACKEND: built without
 *          FINUFFT, or it failed (message); AW_ERR_NOMEM
 *  Source: A. H. Barnett, J. Magland, L. af Klinteberg, SIAM J. Sci. Comput. 41 (2019) C479. */
aw_status aw_form_factor_fast(const aw_form_source *source, const aw_waves *waves, double tolerance,
                              double (*F)[2], aw_form_bunch *bunch);

AW_END_DECLS
#endif
