/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beams of `arcwake bench`: a round one, and three that are harder to resolve. Rigid motion keeps
 * the offsets of every particle from the centre, and so the shape that the beam is given here. */
#include <math.h>

#include "pic/push.h"
#include "src/base/units.h"
#include "src/bench/case.h"

/* Tilted beam: rms along its axes [m], and the angle between the long axis and the normal [rad]. It
 * is as wide and as tilted as a bunch in the middle of a chicane. */
#define AW_TILTED_S 30e-6
#define AW_TILTED_X 2e-3
#define AW_TILTED_ANGLE 0.1
/* Long beam: rms length [m]; it is modulated. */
#define AW_LONG_S 1e-3
/* Modulated beams: relative amplitude of the density, and wavelength in cells of the grid. */
#define AW_MODULATION 0.2
#define AW_MODULATION_CELLS 8.0

const char *const aw_bench_beam_name[AW_BENCH_BEAMS + 1] = {[AW_BENCH_ROUND] = "round",
                                                            [AW_BENCH_TILTED] = "tilted",
                                                            [AW_BENCH_MODULATED] = "modulated",
                                                            [AW_BENCH_LONG] = "long"};

void aw_bench_beam_size(int beam, aw_beam_params *params)
{
    if (beam == AW_BENCH_LONG) params->sigma_s = AW_LONG_S;
    if (beam != AW_BENCH_TILTED) return;
    params->sigma_s = AW_TILTED_S;
    params->sigma_x = AW_TILTED_X;
}

aw_status aw_bench_beam_shape(int beam, aw_simulation *sim)
{
    const aw_config *config = sim->config;
    const aw_beam_params *params = &config->beam;
    aw_particles *p = sim->particles;
    const double cell = 2.0 * sim->reach * params->sigma_s / (config->grid[0] - 1);
    const double k = 2.0 * AW_PI / (AW_MODULATION_CELLS * cell);
    const double c = cos(AW_TILTED_ANGLE), s = sin(AW_TILTED_ANGLE);
    if (beam == AW_BENCH_ROUND) return AW_OK;
    for (size_t i = 0; i < p->n; ++i) {
        const double along = p->s0[i], across = p->x0[i];
        if (beam == AW_BENCH_TILTED) {
            p->s0[i] = c * along + s * across;
            p->x0[i] = c * across - s * along;
        } else { /* this displacement modulates the density by AW_MODULATION */
            p->s0[i] = along - AW_MODULATION / k * sin(k * along);
        }
    }
    sim->fit_grid = beam == AW_BENCH_TILTED;
    return aw_push_rigid(config->lattice, p, params->gamma, 0.0);
}
