/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/validate/radiation/radiate.h"

aw_status aw_case_radiate(aw_simulation *sim, aw_spectrum *spectrum)
{
    aw_status status = AW_OK;
    for (;;) {
        AW_TRY(aw_spectrum_add(spectrum, &sim->field.view->slice[0], sim->S_ref));
        if (aw_simulation_is_last(sim)) break;
        AW_TRY(aw_simulation_advance(sim));
        AW_TRY(aw_simulation_deposit(sim));
    }
    AW_TRY(aw_spectrum_end(spectrum));
done:
    return status;
}
