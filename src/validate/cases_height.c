/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases of the height of the bunch: uniform motion of a three-dimensional Gaussian. */
#include <math.h>
#include <stdio.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/input/lcls.h"
#include "src/validate/cases.h"

static const aw_element straight = {.kind = AW_DRIFT, .name = "straight", .length = 1.0};

/* A Gaussian in uniform motion. Forces and potentials are means over the height of the points, so
 * that at sigma_y = height/sqrt(2) the potential at the centre is that of a source of this height
 * seen in the middle of it. */
typedef struct gaussian {
    double gamma, sigma_x, sigma_s, height; /* [m] */
    double phi;                             /* at the centre, over Q/(4 pi eps0) [1/m] */
} gaussian;

static aw_status phi_of(aw_validation *v, const gaussian *g)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    double result[AW_RESULTS];
    char name[80];
    AW_TRY(aw_case_config(v, &straight, 1, g->gamma, AW_UPSTREAM_DRIFT, &config));
    config->beam.sigma_x = g->sigma_x;
    config->beam.sigma_s = g->sigma_s;
    config->beam.sigma_y = g->height / sqrt(2.0);
    config->upstream_m = 1e8; /* all that is seen: 2 gamma^2 * 10 sigma_s is less */
    AW_TRY(aw_case_begin(config, &sim));
    AW_TRY(aw_case_to(sim, 0.1));
    const aw_grid_view *grid = &sim->field.frame.grid;
    const aw_field_point centre =
        aw_frame_point(grid, &config->lattice->orbit, config->beam.gamma, 0.5 * (grid->ns - 1),
                       0.5 * (grid->nx - 1));
    AW_TRY(aw_case_points(sim, &centre, 1, 0, result));
    snprintf(name, sizeof name, "phi(0), gamma %g, height %g um [1/m]", g->gamma,
             1e6 * g->height);
    AW_TRY(aw_check_add(v, name, result[AW_PHI] / config->beam.charge, g->phi, g->phi, 3e-3));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

static aw_status height(aw_validation *v)
{
    static const gaussian known[] = {
        {1e4, 50e-6, 50e-6, 0.0, 169097.83},   {1e4, 50e-6, 50e-6, 5e-6, 167576.89},
        {1e4, 50e-6, 50e-6, 10e-6, 166188.39}, {1e4, 50e-6, 50e-6, 25e-6, 162627.54},
        {1e4, 50e-6, 50e-6, 50e-6, 158036.80}, {1e4, 50e-6, 50e-6, 100e-6, 151566.51},
        {100.0, 100e-6, 50e-6, 0.0, 84555.77}, {100.0, 100e-6, 50e-6, 5e-6, 83777.21},
        {100.0, 100e-6, 50e-6, 10e-6, 83034.92}, {100.0, 100e-6, 50e-6, 25e-6, 80995.37},
        {100.0, 100e-6, 50e-6, 50e-6, 78087.19}, {100.0, 100e-6, 50e-6, 100e-6, 73500.99},
    };
    aw_status status = AW_OK;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) AW_TRY(phi_of(v, &known[i]));
done:
    return status;
}

const aw_case aw_case_height = {
    .name = "height",
    .claim = "potentials of a three-dimensional Gaussian in straight uniform motion",
    .seconds = 5,
    .run = height,
};
