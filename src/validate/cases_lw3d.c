/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A case of the height from another program: the field of 6.2e8 single electrons on a circle, by
 * LW3D (validation/lw3d/README.md, with the licence of its data). */
#include <math.h>

#include "src/base/units.h"
#include "src/validate/cases.h"
#include "validation/circle.h"

#define RADIUS 1.0
#define SIGMA 10e-6
#define FAR (5.0 * SIGMA) /* the data's outermost row and place */

enum { SIDE = 9, ROWS = 11, ROW = 33, ALONG = 129, PLACES = ROWS * SIDE };

/* The field along the motion on the inner side, x = -50 um, where no single electron is near: every
 * fourth of the data's places, from s = -50 to 50 um [V/m]. */
static const double inner[ROW] = {-0.0224e6, -0.0263e6, -0.0317e6, -0.0396e6, -0.0530e6, -0.0770e6,
                                  -0.1230e6, -0.2096e6, -0.3618e6, -0.6132e6, -0.9844e6, -1.4599e6,
                                  -1.9820e6, -2.4316e6, -2.6687e6, -2.5790e6, -2.1483e6, -1.4573e6,
                                  -0.6684e6, 0.0525e6,  0.5632e6,  0.8496e6,  0.9333e6,  0.8882e6,
                                  0.7812e6,  0.6592e6,  0.5519e6,  0.4655e6,  0.3989e6,  0.3475e6,
                                  0.3075e6,  0.2755e6,  0.2493e6};
/* The lowest and highest there, and the mean of all eleven rows' means over the Gaussian in s. */
static const double lowest = -2.68052e6, highest = 0.933951e6, mean_of_rows = -1.454236e6;

/* In the data the sources have the height sigma, and the field is that in the plane of the bend;
 * here it is a mean over observers of the sources' own height. */
static aw_status steady_state(aw_validation *v, aw_config **config, aw_simulation **sim)
{
    static const aw_element bend = {.kind = AW_BEND, .name = "bend", .length = 0.4, .angle = 0.4};
    aw_status status = AW_OK;
    AW_TRY(aw_case_config(v, &bend, 1, 500.0, AW_UPSTREAM_DRIFT, config));
    aw_beam_params *beam = &(*config)->beam;
    beam->charge = 100e-12;
    beam->sigma_s = beam->sigma_x = SIGMA;
    beam->sigma_y = SIGMA / sqrt(2.0);
    beam->cutoff_sigma = 6.0;    /* so that the outermost rows are within the grid */
    (*config)->tolerance = 1e-7; /* F_x_eff is a thirtieth of F_s: 1e-6 leaves 3e-3 of it */
    (*config)->grid[0] = (*config)->grid[1] = 96;
    (*config)->step_m = 2.5e-3; /* 1/25 of the overtaking length */
    AW_TRY(aw_case_begin(*config, sim));
    AW_TRY(aw_case_to(*sim, 0.3)); /* twice the way until the head sees only the circle */
    AW_TRY(aw_simulation_solve(*sim));
done:
    return status;
}

/* Point by point: the quadrature, of observers without a height. */
static aw_status check_quadrature(aw_validation *v, const aw_simulation *sim)
{
    const aw_solid known = {.charge = 100e-12,
                            .gamma = 500.0,
                            .sigma_s = SIGMA,
                            .sigma_x = SIGMA,
                            .sigma_y = SIGMA,
                            .observers_y = 0.0};
    aw_status status = AW_OK;
    double ours[2][PLACES], exact[2][PLACES], scale[2] = {0.0, 0.0};
    for (int i = 0; i < PLACES; ++i) {
        const int along = i % SIDE - SIDE / 2, across = i / SIDE - ROWS / 2;
        const aw_circle_place place = {.R = RADIUS, .s = along * SIGMA, .x = 0.5 * across * SIGMA};
        const aw_circle_force force = aw_circle_forces(&known, &place);
        ours[0][i] = aw_simulation_at(sim, sim->field.forces.Fs, place.s, place.x);
        ours[1][i] = aw_simulation_at(sim, sim->field.forces.Fx_eff, place.s, place.x);
        exact[0][i] = force.F_s;
        exact[1][i] = force.F_x_eff;
        for (int k = 0; k < 2; ++k) scale[k] = fmax(scale[k], fabs(exact[k][i]));
    }
    AW_TRY(aw_check_worst(v, "F_s, worst of 99 places, quadrature [eV/m]",
                          (aw_pairs){ours[0], exact[0], PLACES}, scale[0], 1e-3));
    AW_TRY(aw_check_worst(v, "F_x_eff, worst of 99 places, quadrature [eV/m]",
                          (aw_pairs){ours[1], exact[1], PLACES}, scale[1], 1e-3));
done:
    return status;
}

/* Mean over the Gaussian in s at the data's places of the row x. */
static double mean_of_row(const aw_simulation *sim, double x)
{
    double sum = 0.0, weights = 0.0;
    for (int i = 0; i < ALONG; ++i) {
        const double s = FAR * (2.0 * i / (ALONG - 1) - 1.0);
        const double weight = exp(-0.5 * s * s / (SIGMA * SIGMA));
        sum += weight * aw_simulation_at(sim, sim->field.forces.Fs, s, x);
        weights += weight;
    }
    return sum / weights;
}

/* The data: on the inner side, and the mean of all rows, as single electrons make 3 % of noise in
 * the mean of one of them. */
static aw_status check_data(aw_validation *v, const aw_simulation *sim)
{
    aw_status status = AW_OK;
    double ours[ROW], low = 0.0, high = 0.0, mean = 0.0;
    for (int i = 0; i < ALONG; ++i) {
        const double s = FAR * (2.0 * i / (ALONG - 1) - 1.0);
        const double force = aw_simulation_at(sim, sim->field.forces.Fs, s, -FAR);
        low = fmin(low, force);
        high = fmax(high, force);
        if (i % 4 == 0) ours[i / 4] = force;
    }
    for (int j = 0; j < ROWS; ++j)
        mean += mean_of_row(sim, FAR * (2.0 * j / (ROWS - 1) - 1.0)) / ROWS;
    AW_TRY(aw_check_worst(v, "E_s at x = -50 um, worst of 33 places, LW3D [V/m]",
                          (aw_pairs){ours, inner, ROW}, -lowest, 1e-2));
    AW_TRY(aw_check_add(v, "its lowest, LW3D [V/m]", low, lowest, -lowest, 5e-3));
    AW_TRY(aw_check_add(v, "its highest, LW3D [V/m]", high, highest, highest, 1e-2));
    AW_TRY(aw_check_add(v, "mean of the means of 11 rows, LW3D [V/m]", mean, mean_of_rows,
                        -mean_of_rows, 5e-3));
done:
    return status;
}

static aw_status run(aw_validation *v)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    AW_TRY(steady_state(v, &config, &sim));
    AW_TRY(check_quadrature(v, sim));
    AW_TRY(check_data(v, sim));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_height_lw3d = {
    .name = "height-lw3d",
    .claim = "a round ball on a circle, against LW3D's sum over its electrons",
    .seconds = 70,
    .full = 1,
    .run = run,
};
