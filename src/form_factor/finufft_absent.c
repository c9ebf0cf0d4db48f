/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In place of finufft.c where the library was not found. */
#include "src/base/log.h"
#include "src/form_factor/fast.h"

int aw_form_is_fast(void) { return 0; }

aw_status aw_form_factor_fast(const aw_form_source *source, const aw_waves *waves, double tolerance,
                              double (*F)[2], aw_form_bunch *bunch)
{
    (void)source;
    (void)waves;
    (void)tolerance;
    (void)F;
    (void)bunch;
    return aw_error(AW_ERR_BACKEND, "form factor: this program was built without FINUFFT (use the "
                                    "direct sum, or build it with -DAW_FINUFFT=ON)");
}
