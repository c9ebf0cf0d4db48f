/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/validate/radiation/radiate.h"

#include <math.h>

#include "src/base/units.h"

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

double aw_case_energy(const aw_spectrum *spectrum)
{
    const aw_spectrum_params *params = aw_spectrum_params_of(spectrum);
    const double step = log(params->k[1] / params->k[0]);
    double sum = 0.0;
    for (size_t i = 0; i < params->waves; ++i) { /* d omega = c k d ln k */
        const double weight = i == 0                   ? 1.0 + 0.5 * step
                              : i + 1 == params->waves ? 0.5 * step
                                                       : step;
        sum += weight * params->k[i] * aw_spectrum_total(spectrum, aw_spectrum_coherent, i);
    }
    return AW_C * sum;
}
