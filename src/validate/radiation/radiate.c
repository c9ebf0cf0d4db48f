/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/validate/radiation/radiate.h"

#include <math.h>

#include "src/base/units.h"
#include "src/spectrum/transform.h"

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

/* |rho|^2 of the loaded slice at a wave vector along and across the design tangent [C^2]. */
static double square_at(const aw_transform *transform, double tilt, double ks, double kx)
{
    const double c = cos(tilt), s = sin(tilt);
    double m[AW_TRANSFORMED][2];
    aw_transform_at(transform, ks * c + kx * s, kx * c - ks * s, m);
    return m[0][0] * m[0][0] + m[0][1] * m[0][1];
}

/* The integral over k_x = (k_s/gamma) sinh t, by the trapezoidal rule up to `most`: there
 * int dk_y of k_y^2/(k_y^2 + B^2)^2 is pi/(2 B), of 1/(k_y^2 + B^2)^2 pi/(2 B^3), and dk_x/B = dt
 * with B = (k_s/gamma) cosh t. */
static double over_width(const aw_transform *transform, double tilt, double gamma, double ks,
                         double most)
{
    enum { POINTS = 100 };
    const double q = ks / gamma, end = asinh(most / q), step = end / POINTS;
    const double beta2 = 1.0 - 1.0 / (gamma * gamma);
    double sum = 0.0;
    for (int i = -POINTS; i <= POINTS; ++i) {
        const double kx = q * sinh(i * step), B2 = q * q + kx * kx;
        const double rest = kx * kx * (1.0 + beta2) + q * q / (gamma * gamma);
        sum += square_at(transform, tilt, ks, kx) * (1.0 + beta2 + rest / B2);
    }
    return 0.5 * AW_PI * step * sum;
}

aw_status aw_case_bound(const aw_simulation *sim, double *energy, double *density)
{
    enum { WAVES = 300 };
    const aw_slice *slice = &sim->field.view->slice[0];
    const double gamma = sim->config->beam.gamma, charge = sim->field.charge;
    const double c = fabs(cos(slice->tilt)), s = fabs(sin(slice->tilt));
    /* what the grid holds along and across the motion, whatever its tilt */
    const double along = AW_TRANSFORM_PHASE / fmax(slice->hs * c, slice->hx * s);
    const double over = AW_TRANSFORM_PHASE / fmax(slice->hs * s, slice->hx * c);
    aw_transform *transform;
    aw_status status = aw_transform_new(sim->config->grid[0], sim->config->grid[1], &transform);
    if (status != AW_OK) return status;
    aw_transform_load(transform, slice, sim->config->history_single);
    const double step = along / WAVES;
    *energy = *density = 0.0;
    for (int i = 0; i < WAVES; ++i) { /* both signs of k_s */
        const double ks = (i + 0.5) * step;
        *energy += 2.0 * step * over_width(transform, slice->tilt, gamma, ks, over);
        *density += 2.0 * step * square_at(transform, slice->tilt, ks, 0.0);
    }
    *energy /= 2.0 * AW_EPS0 * pow(2.0 * AW_PI, 3);
    *density /= 2.0 * AW_PI * charge * charge;
    aw_transform_free(transform);
    return AW_OK;
}
