/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials and forces beside a sum over single electrons (validation/referee.h). */
#include <math.h>
#include <stdio.h>

#include "src/base/log.h"
#include "src/base/units.h"
#include "src/validate/cases.h"
#include "validation/circle.h"
#include "validation/referee.h"

enum { POINTS = 12, BUNCHES = 16 };

/* What the referee needs of a case's input. */
static aw_referee_beam beam_of(const aw_config *config, const aw_element *element, int n)
{
    const aw_beam_params *p = &config->beam;
    aw_referee_beam b = {.elements = n,
                         .charge = p->charge,
                         .gamma = p->gamma,
                         .sigma_s = p->sigma_s,
                         .sigma_x = sqrt(p->emittance * p->beta_x),
                         .slope = -p->alpha_x / p->beta_x,
                         .divergence = sqrt(p->emittance / p->beta_x),
                         .chirp = p->chirp,
                         .spread = p->energy_spread,
                         .cutoff = p->cutoff_sigma};
    for (int i = 0; i < n; ++i)
        b.element[i] =
            (aw_referee_element){element[i].length, element[i].angle, element[i].e1, element[i].e2};
    return b;
}

/* Ours and the referee's numbers at the points of one place; the last row is their mean. */
typedef struct comparison {
    aw_referee_force ours[POINTS + 1], mean[POINTS + 1], error[POINTS + 1];
} comparison;

/* The points are the places of some particles, as dense as the charge. */
static aw_status compare(aw_simulation *sim, const aw_referee_beam *beam, double step,
                         comparison *c)
{
    aw_status status = AW_OK;
    const aw_orbit_view *orbit = &sim->config->lattice->orbit;
    aw_referee_place place[POINTS];
    aw_field_point point[POINTS];
    double result[POINTS][AW_RESULTS];
    AW_TRY(aw_simulation_solve(sim));
    for (size_t i = 0; i < POINTS; ++i) {
        const double z = sim->particles->z[1 + 97 * i], x = sim->particles->x[1 + 97 * i];
        double offset, S = aw_orbit_project(orbit, z, x, sim->S_ref, &offset);
        const aw_orbit_point at = aw_orbit_at(orbit, S);
        place[i] = (aw_referee_place){aw_simulation_ct(sim), S, offset, step};
        point[i] = sim->field.point[0]; /* the same speed */
        point[i].z = z;
        point[i].x = x;
        point[i].S = S;
        point[i].offset = offset;
        point[i].theta = at.theta;
        point[i].ct = at.ct;
        point[i].st = at.st;
        point[i].kappa = at.kappa;
        c->ours[i].s_eff =
            aw_simulation_at(sim, sim->field.forces.Fs_eff, S - sim->field.frame.grid.S,
                             offset - sim->field.frame.grid.offset);
    }
    AW_TRY(aw_case_points(sim, point, POINTS, 0, result[0]));
    c->ours[POINTS] = (aw_referee_force){0.0, 0.0, 0.0};
    for (size_t i = 0; i < POINTS; ++i) {
        c->ours[i].phi = AW_K_COULOMB * result[i][AW_PHI];
        c->ours[i].psi = AW_K_COULOMB * result[i][AW_PSI];
        c->ours[POINTS].s_eff += c->ours[i].s_eff / POINTS;
        c->ours[POINTS].psi += c->ours[i].psi / POINTS;
        c->ours[POINTS].phi += c->ours[i].phi / POINTS;
    }
    AW_TRY(aw_referee_mean(beam, BUNCHES, place, POINTS, c->mean, c->error));
done:
    return status;
}

static double largest(const comparison *c, int psi)
{
    double top = 0.0;
    for (int i = 0; i < POINTS; ++i) top = fmax(top, fabs(psi ? c->mean[i].psi : c->mean[i].s_eff));
    return top;
}

/* Record the checks of a place. psi: each point; the force: its mean over the points, which has
 * the smaller error (NaN: without a verdict), and the points in units of their own errors. */
static aw_status judge(aw_validation *v, const char *where, const comparison *c,
                       const double tolerance[2])
{
    aw_status status = AW_OK;
    char quantity[96];
    double ours[POINTS], known[POINTS], square = 0.0, psi_error = 0.0;
    for (int i = 0; i < POINTS; ++i) {
        const double apart = c->ours[i].s_eff - c->mean[i].s_eff;
        ours[i] = c->ours[i].psi;
        known[i] = c->mean[i].psi;
        square += apart * apart / (c->error[i].s_eff * c->error[i].s_eff) / POINTS;
        psi_error = fmax(psi_error, c->error[i].psi);
    }
    const double psi = largest(c, 1), force = largest(c, 0);
    aw_info("  %s, standard errors of the referee: psi %.1e, mean F_s_eff %.1e of the largest",
            where, psi_error / psi, c->error[POINTS].s_eff / force);
    snprintf(quantity, sizeof quantity, "psi %s, worst of %d points [V]", where, POINTS);
    AW_TRY(aw_check_worst(v, quantity, (aw_pairs){ours, known, POINTS}, psi, tolerance[0]));
    snprintf(quantity, sizeof quantity, "F_s_eff %s, mean of %d points [eV/m]", where, POINTS);
    if (isnan(tolerance[1]))
        AW_TRY(aw_check_note(v, quantity, c->ours[POINTS].s_eff, c->mean[POINTS].s_eff));
    else
        AW_TRY(aw_check_add(v, quantity, c->ours[POINTS].s_eff, c->mean[POINTS].s_eff, force,
                            tolerance[1]));
    snprintf(quantity, sizeof quantity, "F_s_eff %s, rms difference in standard errors", where);
    AW_TRY(aw_check_add(v, quantity, sqrt(square), 0.0, 1.0, 2.0));
done:
    return status;
}

static aw_status bend(aw_validation *v)
{
    const aw_element element[] = {{.kind = AW_DRIFT, .name = "before", .length = 0.1},
                                  {.kind = AW_BEND, .name = "bend", .length = 1.5, .angle = 0.3},
                                  {.kind = AW_DRIFT, .name = "after", .length = 1.0}};
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    comparison c;
    AW_TRY(aw_case_config(v, element, 3, 1e3, AW_UPSTREAM_DRIFT, &config));
    config->motion = AW_MOTION_EXTERNAL;
    config->grid[0] = config->grid[1] = 48;
    config->tolerance = 1e-5;
    config->upstream_m = 1e6; /* the referee follows the straight line back without end */
    aw_beam_params *b = &config->beam;
    b->particles = 200000;
    b->sigma_s = 100e-6;
    b->emittance = 1e-9;
    b->beta_x = 40.0;
    b->alpha_x = 2.6;
    b->sigma_x = sqrt(b->emittance * b->beta_x);
    b->energy_spread = 2e-6;
    b->chirp = 15.0;
    aw_referee_beam beam = beam_of(config, element, 3);
    beam.electrons = 20000;
    AW_TRY(aw_case_begin(config, &sim));
    /* Three to four standard errors of the referee, and 1e-3 of the grid. */
    AW_TRY(aw_case_to(sim, 1.3));
    AW_TRY(compare(sim, &beam, 12e-6, &c));
    AW_TRY(judge(v, "1.2 m in the bend", &c, (double[]){0.01, 0.02}));
    AW_TRY(aw_case_to(sim, 1.9));
    AW_TRY(compare(sim, &beam, 12e-6, &c));
    AW_TRY(judge(v, "0.3 m behind it", &c, (double[]){0.002, 0.004}));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_referee = {
    .name = "referee",
    .claim = "psi and F_s_eff of a moving, tilted bunch agree with a sum over single electrons",
    .seconds = 20,
    .run = bend,
};

/* ---------------------------------------------------------------------------------- the chicane */

/* psi: its standard error is a thousandth. The bunch is 1.5 um thick, and steps that resolve that
 * leave the force with errors of several per cent. */
static aw_status chicane(aw_validation *v)
{
    static const struct {
        double S;
        const char *name;
    } place[] = {{0.4, "in b1"},     {6.4, "behind b2"}, {7.4, "in b3"},
                 {8.1, "behind b3"}, {12.9, "in b4"},    {13.6, "behind b4"}};
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_referee_beam beam;
    aw_element element[8];
    comparison c;
    AW_TRY(aw_case_chicane(v, &config));
    for (int i = 0; i < 8; ++i) element[i] = config->lattice->element[i];
    config->motion = AW_MOTION_EXTERNAL;
    config->grid[0] = config->grid[1] = 64;
    config->beam.particles = 100000;
    config->tolerance = 1e-5;
    config->upstream_m = 1e6; /* the referee follows the straight line back without end */
    beam = beam_of(config, element, 8);
    beam.electrons = 20000;
    AW_TRY(aw_case_begin(config, &sim));
    for (size_t i = 0; i < sizeof place / sizeof place[0]; ++i) {
        AW_TRY(aw_case_to(sim, place[i].S));
        AW_TRY(compare(sim, &beam, 1e-6, &c));
        /* Three standard errors of the referee, and what the grid leaves. */
        AW_TRY(judge(v, place[i].name, &c, (double[]){0.01, NAN}));
    }
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_referee_zeuthen = {
    .name = "referee-zeuthen",
    .claim = "psi in the Berlin-Zeuthen chicane agrees with a sum over single electrons",
    .seconds = 200,
    .full = 1,
    .run = chicane,
};

/* ------------------------------------------------------------------------------------ LW3D */

/* The field of 6.2e8 single electrons on a circle, by LW3D (validation/lw3d/README.md, with the
 * licence of its data). */
#define LW3D_RADIUS 1.0
#define LW3D_SIGMA 10e-6
#define LW3D_FAR (5.0 * LW3D_SIGMA) /* the data's outermost row and place */

enum {
    LW3D_SIDE = 9,
    LW3D_ROWS = 11,
    LW3D_ROW = 33,
    LW3D_ALONG = 129,
    LW3D_PLACES = LW3D_ROWS * LW3D_SIDE
};

/* The field along the motion on the inner side, x = -50 um, where no single electron is near: every
 * fourth of the data's places, from s = -50 to 50 um [V/m]. */
static const double lw3d_inner[LW3D_ROW] = {
    -0.0224e6, -0.0263e6, -0.0317e6, -0.0396e6, -0.0530e6, -0.0770e6, -0.1230e6,
    -0.2096e6, -0.3618e6, -0.6132e6, -0.9844e6, -1.4599e6, -1.9820e6, -2.4316e6,
    -2.6687e6, -2.5790e6, -2.1483e6, -1.4573e6, -0.6684e6, 0.0525e6,  0.5632e6,
    0.8496e6,  0.9333e6,  0.8882e6,  0.7812e6,  0.6592e6,  0.5519e6,  0.4655e6,
    0.3989e6,  0.3475e6,  0.3075e6,  0.2755e6,  0.2493e6};
/* The lowest and highest there, and the mean of all eleven rows' means over the Gaussian in s. */
static const double lw3d_lowest = -2.68052e6, lw3d_highest = 0.933951e6,
                    lw3d_mean_of_rows = -1.454236e6;

/* In the data the sources have the height sigma, and the field is that in the plane of the bend;
 * here it is a mean over observers of the sources' own height. */
static aw_status lw3d_steady_state(aw_validation *v, aw_config **config, aw_simulation **sim)
{
    static const aw_element bend = {.kind = AW_BEND, .name = "bend", .length = 0.4, .angle = 0.4};
    aw_status status = AW_OK;
    AW_TRY(aw_case_config(v, &bend, 1, 500.0, AW_UPSTREAM_DRIFT, config));
    aw_beam_params *beam = &(*config)->beam;
    beam->charge = 100e-12;
    beam->sigma_s = beam->sigma_x = LW3D_SIGMA;
    beam->sigma_y = LW3D_SIGMA / sqrt(2.0);
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
static aw_status lw3d_check_quadrature(aw_validation *v, const aw_simulation *sim)
{
    const aw_solid known = {.charge = 100e-12,
                            .gamma = 500.0,
                            .sigma_s = LW3D_SIGMA,
                            .sigma_x = LW3D_SIGMA,
                            .sigma_y = LW3D_SIGMA,
                            .observers_y = 0.0};
    aw_status status = AW_OK;
    double ours[2][LW3D_PLACES], exact[2][LW3D_PLACES], scale[2] = {0.0, 0.0};
    for (int i = 0; i < LW3D_PLACES; ++i) {
        const int along = i % LW3D_SIDE - LW3D_SIDE / 2, across = i / LW3D_SIDE - LW3D_ROWS / 2;
        const aw_circle_place place = {
            .R = LW3D_RADIUS, .s = along * LW3D_SIGMA, .x = 0.5 * across * LW3D_SIGMA};
        const aw_circle_force force = aw_circle_forces(&known, &place);
        ours[0][i] = aw_simulation_at(sim, sim->field.forces.Fs, place.s, place.x);
        ours[1][i] = aw_simulation_at(sim, sim->field.forces.Fx_eff, place.s, place.x);
        exact[0][i] = force.F_s;
        exact[1][i] = force.F_x_eff;
        for (int k = 0; k < 2; ++k) scale[k] = fmax(scale[k], fabs(exact[k][i]));
    }
    AW_TRY(aw_check_worst(v, "F_s, worst of 99 places, quadrature [eV/m]",
                          (aw_pairs){ours[0], exact[0], LW3D_PLACES}, scale[0], 1e-3));
    AW_TRY(aw_check_worst(v, "F_x_eff, worst of 99 places, quadrature [eV/m]",
                          (aw_pairs){ours[1], exact[1], LW3D_PLACES}, scale[1], 1e-3));
done:
    return status;
}

/* Mean over the Gaussian in s at the data's places of the row x. */
static double lw3d_mean_of_row(const aw_simulation *sim, double x)
{
    double sum = 0.0, weights = 0.0;
    for (int i = 0; i < LW3D_ALONG; ++i) {
        const double s = LW3D_FAR * (2.0 * i / (LW3D_ALONG - 1) - 1.0);
        const double weight = exp(-0.5 * s * s / (LW3D_SIGMA * LW3D_SIGMA));
        sum += weight * aw_simulation_at(sim, sim->field.forces.Fs, s, x);
        weights += weight;
    }
    return sum / weights;
}

/* The data: on the inner side, and the mean of all rows, as single electrons make 3 % of noise in
 * the mean of one of them. */
static aw_status lw3d_check_data(aw_validation *v, const aw_simulation *sim)
{
    aw_status status = AW_OK;
    double ours[LW3D_ROW], low = 0.0, high = 0.0, mean = 0.0;
    for (int i = 0; i < LW3D_ALONG; ++i) {
        const double s = LW3D_FAR * (2.0 * i / (LW3D_ALONG - 1) - 1.0);
        const double force = aw_simulation_at(sim, sim->field.forces.Fs, s, -LW3D_FAR);
        low = fmin(low, force);
        high = fmax(high, force);
        if (i % 4 == 0) ours[i / 4] = force;
    }
    for (int j = 0; j < LW3D_ROWS; ++j)
        mean += lw3d_mean_of_row(sim, LW3D_FAR * (2.0 * j / (LW3D_ROWS - 1) - 1.0)) / LW3D_ROWS;
    AW_TRY(aw_check_worst(v, "E_s at x = -50 um, worst of 33 places, LW3D [V/m]",
                          (aw_pairs){ours, lw3d_inner, LW3D_ROW}, -lw3d_lowest, 1e-2));
    AW_TRY(aw_check_add(v, "its lowest, LW3D [V/m]", low, lw3d_lowest, -lw3d_lowest, 5e-3));
    AW_TRY(aw_check_add(v, "its highest, LW3D [V/m]", high, lw3d_highest, lw3d_highest, 1e-2));
    AW_TRY(aw_check_add(v, "mean of the means of 11 rows, LW3D [V/m]", mean, lw3d_mean_of_rows,
                        -lw3d_mean_of_rows, 5e-3));
done:
    return status;
}

static aw_status lw3d(aw_validation *v)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    AW_TRY(lw3d_steady_state(v, &config, &sim));
    AW_TRY(lw3d_check_quadrature(v, sim));
    AW_TRY(lw3d_check_data(v, sim));
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
    .run = lw3d,
};
