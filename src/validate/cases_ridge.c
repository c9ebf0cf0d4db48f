/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forces on and beside the ridge of a chirped bunch that a bend compresses, beside an integral over
 * exact paths (validation/ridge.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/log.h"
#include "src/base/units.h"
#include "src/validate/cases.h"
#include "validation/ridge.h"

/* Field points are where electrons are that began at -2 .. 2 rms along the ridge and across it,
 * without the corners. */
enum { RANGE = 2, POINTS = (2 * RANGE + 1) * (2 * RANGE + 1) - 4 };

typedef struct comparison {
    double ours[2][POINTS], reference[2][POINTS]; /* F_s and F_s_eff [eV/m] */
} comparison;

static void initial_of(const aw_beam_params *b, double out[POINTS][2])
{
    int n = 0;
    for (int i = -RANGE; i <= RANGE; ++i)
        for (int j = -RANGE; j <= RANGE; ++j) {
            if (abs(i) == RANGE && abs(j) == RANGE) continue;
            out[n][0] = i * b->sigma_s;
            out[n++][1] = j * b->sigma_x;
        }
}

static aw_status compare(aw_simulation *sim, const aw_ridge *ridge, comparison *c)
{
    aw_status status = AW_OK;
    const aw_orbit_view *orbit = &sim->config->lattice->orbit;
    const aw_grid_view *grid = &sim->frame.grid;
    double initial[POINTS][2];
    aw_referee_place place[POINTS];
    aw_ridge_force force[POINTS];
    AW_TRY(aw_simulation_solve(sim));
    initial_of(&sim->config->beam, initial);
    for (int i = 0; i < POINTS; ++i) {
        double z, x, offset;
        aw_ridge_electron(&ridge->beam, aw_simulation_ct(sim), initial[i], &z, &x);
        const double S = aw_orbit_project(orbit, z, x, sim->S_ref, &offset);
        const double s = S - grid->S, across = offset - grid->offset;
        place[i] = (aw_referee_place){aw_simulation_ct(sim), S, offset, 0.0};
        c->ours[0][i] = aw_simulation_at(sim, sim->forces.Fs, s, across);
        c->ours[1][i] = aw_simulation_at(sim, sim->forces.Fs_eff, s, across);
    }
    aw_ridge_forces(ridge, place, POINTS, force);
    for (int i = 0; i < POINTS; ++i) {
        c->reference[0][i] = force[i].s;
        c->reference[1][i] = force[i].s_eff;
    }
    if(getenv("DUMP")) for (int i = 0; i < POINTS; ++i) printf("  u %+.0f w %+.0f ours %.6g %.6g ref %.6g %.6g d %.3g %.3g\n",initial[i][0]/1e-4,initial[i][1]/5e-5,c->ours[0][i],c->ours[1][i],force[i].s,force[i].s_eff,c->ours[0][i]-force[i].s,c->ours[1][i]-force[i].s_eff);
done:
    return status;
}

/* Record the rms difference of a force over the points, and the largest one. */
static aw_status judge(aw_validation *v, const char *what, const aw_pairs *p, double tolerance)
{
    aw_status status = AW_OK;
    char quantity[96];
    double square = 0.0, largest = 0.0;
    for (size_t i = 0; i < p->n; ++i) {
        const double apart = p->ours[i] - p->reference[i];
        square += apart * apart / (double)p->n;
        largest = fmax(largest, fabs(p->reference[i]));
    }
    snprintf(quantity, sizeof quantity, "%s, rms [eV/m]", what);
    AW_TRY(aw_check_add(v, quantity, sqrt(square), 0.0, largest, tolerance));
    snprintf(quantity, sizeof quantity, "%s, worst [eV/m]", what);
    AW_TRY(aw_check_worst(v, quantity, *p, largest, NAN));
done:
    return status;
}

/* Go on to the first step behind S at which the spacings of the grid are not those of the step
 * before. */
static aw_status to_change(aw_simulation *sim, double S)
{
    aw_status status = AW_OK;
    double hs, hx;
    AW_TRY(aw_case_to(sim, S));
    do {
        hs = sim->frame.grid.hs;
        hx = sim->frame.grid.hx;
        AW_TRY(aw_simulation_advance(sim));
        AW_TRY(aw_simulation_deposit(sim));
    } while (sim->frame.grid.hs == hs && sim->frame.grid.hx == hx && !aw_simulation_is_last(sim));
done:
    return status;
}

static double num(const char *n, double d){const char*s=getenv(n);return s?atof(s):d;}

static aw_status run(aw_validation *v)
{
    const aw_element element[] = {{.kind = AW_DRIFT, .name = "before", .length = 0.1},
                                  {.kind = AW_BEND, .name = "bend", .length = 1.5, .angle = 0.3},
                                  {.kind = AW_DRIFT, .name = "after", .length = 1.0}};
    static const struct {
        double S;
        int change;
    } place[] = {{0.3, 1}, {0.6, 0}, {0.75, 1}, {0.9, 0}, {1.0,1}, {1.2, 0}, {1.25, 1}, {1.4,0}, {1.63,1}, {1.8,0}};
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    comparison c;
    AW_TRY(aw_case_config(v, element, 3, num("GAMMA",5e3), AW_UPSTREAM_DRIFT, &config));
    config->motion = AW_MOTION_EXTERNAL;
    config->grid[0] = config->grid[1] = (int)num("NODES",64);
    config->tolerance = num("TOL",1e-4);
    config->step_m = num("STEP",0.01);
    aw_beam_params *b = &config->beam;
    b->particles = (size_t)num("PART",1e6);
    b->sigma_s = 100e-6;
    b->emittance = 2e-10;
    b->beta_x = 12.5;
    b->sigma_x = sqrt(b->emittance * b->beta_x);
    b->chirp = num("CHIRP",36.0);
    aw_referee_beam beam = {.elements = 3, .charge = b->charge, .gamma = b->gamma, .sigma_s = b->sigma_s, .sigma_x = b->sigma_x,
        .divergence = sqrt(b->emittance / b->beta_x), .chirp = b->chirp};
    for (int i = 0; i < 3; ++i)
        beam.element[i] = (aw_referee_element){element[i].length, element[i].angle, 0.0, 0.0};
    AW_TRY(aw_case_begin(config, &sim));
    aw_ridge ridge = aw_ridge_default(&beam, sim->plan.upstream_cut);
    for (size_t i = 0; i < sizeof place / sizeof place[0]; ++i) {
        char what[64];
        AW_TRY(place[i].change ? to_change(sim, place[i].S) : aw_case_to(sim, place[i].S));
        AW_TRY(compare(sim, &ridge, &c));
        aw_beam_stats st;
        AW_TRY(aw_simulation_stats(sim, &st));
        if(getenv("DUMP"))printf("S %.4f hs %g hx %g tilt %g\n",sim->S_ref,sim->frame.grid.hs,sim->frame.grid.hx,sim->frame.grid.tilt);
        snprintf(what, sizeof what, "F_s %.2f m%s", sim->S_ref, place[i].change ? " (new spacing)" : "");
        AW_TRY(judge(v, what, &(aw_pairs){c.ours[0], c.reference[0], POINTS}, 4e-3));
        snprintf(what, sizeof what, "F_s_eff %.2f m%s", sim->S_ref, place[i].change ? " (new spacing)" : "");
        AW_TRY(judge(v, what, &(aw_pairs){c.ours[1], c.reference[1], POINTS}, 1e-3));
    }
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_ridge = {
    .name = "ridge",
    .claim = "F_s within 0.4 % and F_s_eff within 0.1 % on and beside the ridge of a bunch that a bend compresses",
    .seconds = 60,
    .run = run,
};
