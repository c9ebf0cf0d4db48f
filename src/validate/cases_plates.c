/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The case of a bend between parallel plates. */
#include <math.h>
#include <stdio.h>

#include "src/input/lcls.h"
#include "src/validate/cases.h"
#include "validation/plates.h"

enum { ON_AXIS = 9 };

static aw_status plates_of(aw_validation *v, double gap)
{
    const aw_solid known = {.charge = 1e-9,
                            .gamma = 1e4,
                            .sigma_s = AW_LCLS_SIGMA,
                            .sigma_x = AW_LCLS_SIGMA,
                            .sigma_y = 20e-6,
                            .observers_y = 20e-6};
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    double ours[ON_AXIS], exact[ON_AXIS], peak = 0.0;
    char name[80];
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    config->beam.sigma_y = known.sigma_y;
    config->beam.particles = 100000;
    config->plates_gap = gap;
    config->grid[0] = config->grid[1] = 48;
    config->tolerance = 1e-4;
    AW_TRY(aw_case_begin(config, &sim));
    AW_TRY(aw_case_to(sim, 3.0));
    AW_TRY(aw_simulation_solve(sim));
    for (int i = 0; i < ON_AXIS; ++i) {
        const double s = (i - ON_AXIS / 2) * 0.5 * known.sigma_s;
        const aw_circle_place place = {.R = AW_LCLS_RADIUS, .s = s};
        ours[i] = aw_simulation_at(sim, sim->field.forces.Fs, s, 0.0);
        exact[i] = aw_images_solid(&known, &place, gap).F_s;
        peak = fmax(peak, fabs(aw_circle_forces(&known, &place).F_s));
    }
    snprintf(name, sizeof name, "F_s, worst of 9 places, gap %g mm [eV/m]", 1e3 * gap);
    AW_TRY(aw_check_worst(v, name, (aw_pairs){ours, exact, ON_AXIS}, peak, 2e-3));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

static aw_status plates(aw_validation *v)
{
    static const double gap[] = {10e-3, 4.7e-3};
    aw_status status = AW_OK;
    for (size_t i = 0; i < sizeof gap / sizeof gap[0]; ++i) AW_TRY(plates_of(v, gap[i]));
done:
    return status;
}

const aw_case aw_case_plates = {
    .name = "plates",
    .claim = "steady state of the LCLS bend between parallel plates",
    .seconds = 180,
    .full = 1,
    .run = plates,
};
