/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials and forces beside a sum over single electrons (validation/referee.h). */
#include <math.h>
#include <stdio.h>

#include "src/base/log.h"
#include "src/base/units.h"
#include "src/validate/cases.h"
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
