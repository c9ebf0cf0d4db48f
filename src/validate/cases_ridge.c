/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forces on and beside the ridge of a chirped bunch that a bend compresses, beside an integral over
 * exact paths of electrons (validation/ridge.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/log.h"
#include "src/validate/cases.h"
#include "validation/ridge.h"

/* Field points are where the electrons are that began at -2 .. 2 rms along the bunch and across it,
 * without the corners. */
enum { RANGE = 2, POINTS = (2 * RANGE + 1) * (2 * RANGE + 1) - 4 };

enum { REAL, EFFECTIVE, FORCES };

typedef struct comparison {
    double ours[FORCES][POINTS], reference[FORCES][POINTS]; /* [eV/m] */
} comparison;

/* Where the electrons of the field points are, as places on the design orbit. */
static void places_of(const aw_simulation *sim, const aw_ridge *ridge,
                      aw_referee_place place[POINTS])
{
    const aw_beam_params *b = &sim->config->beam;
    const double ct = aw_simulation_ct(sim);
    double z, x, offset;
    int n = 0;
    for (int i = -RANGE; i <= RANGE; ++i)
        for (int j = -RANGE; j <= RANGE; ++j) {
            if (abs(i) == RANGE && abs(j) == RANGE) continue;
            const double initial[2] = {i * b->sigma_s, j * b->sigma_x};
            aw_ridge_electron(&ridge->beam, ct, initial, &z, &x);
            const double S =
                aw_orbit_project(&sim->config->lattice->orbit, z, x, sim->S_ref, &offset);
            place[n++] = (aw_referee_place){ct, S, offset, 0.0};
        }
}

static aw_status compare(aw_simulation *sim, const aw_ridge *ridge, comparison *c)
{
    aw_status status = AW_OK;
    const aw_grid_view *grid = &sim->field.frame.grid;
    aw_referee_place place[POINTS];
    aw_ridge_force force[POINTS];
    AW_TRY(aw_simulation_solve(sim));
    places_of(sim, ridge, place);
    aw_ridge_forces(ridge, place, POINTS, force);
    for (int i = 0; i < POINTS; ++i) {
        const double s = place[i].S - grid->S, x = place[i].x - grid->offset;
        c->ours[REAL][i] = aw_simulation_at(sim, sim->field.forces.Fs, s, x);
        c->ours[EFFECTIVE][i] = aw_simulation_at(sim, sim->field.forces.Fs_eff, s, x);
        c->reference[REAL][i] = force[i].s;
        c->reference[EFFECTIVE][i] = force[i].s_eff;
    }
done:
    return status;
}

/* Record the rms difference of a force over the points of a place; its scale is the largest force
 * there. */
static aw_status judge(aw_validation *v, const char *what, const aw_pairs *p, double tolerance)
{
    char quantity[96];
    double square = 0.0, largest = 0.0, worst = 0.0;
    for (size_t i = 0; i < p->n; ++i) {
        const double apart = p->ours[i] - p->reference[i];
        square += apart * apart / (double)p->n;
        worst = fmax(worst, fabs(apart));
        largest = fmax(largest, fabs(p->reference[i]));
    }
    aw_info("  %s: largest %.4e eV/m, worst point off by %.1e of it", what, largest,
            worst / largest);
    snprintf(quantity, sizeof quantity, "%s, rms error [eV/m]", what);
    return aw_check_add(v, quantity, sqrt(square), 0.0, largest, tolerance);
}

typedef struct stop {
    double S;
    int change; /* 1: at the first step behind S where the grid has new spacings */
} stop;

/* Go on to the first step behind S at which the spacings of the grid are not those of the step
 * before. */
static aw_status to_change(aw_simulation *sim, double S)
{
    aw_status status = AW_OK;
    double hs, hx;
    AW_TRY(aw_case_to(sim, S));
    do {
        hs = sim->field.frame.grid.hs;
        hx = sim->field.frame.grid.hx;
        AW_TRY(aw_simulation_advance(sim));
        AW_TRY(aw_simulation_deposit(sim));
    } while (sim->field.frame.grid.hs == hs && sim->field.frame.grid.hx == hx &&
             !aw_simulation_is_last(sim));
done:
    return status;
}

static aw_status stop_at(aw_validation *v, aw_simulation *sim, const aw_ridge *ridge,
                         const stop *at)
{
    static const char *const name[FORCES] = {"F_s", "F_s_eff"};
    static const double tolerance[FORCES] = {4e-3, 1e-3}; /* rms over the largest value */
    aw_status status = AW_OK;
    comparison c;
    char what[64];
    AW_TRY(at->change ? to_change(sim, at->S) : aw_case_to(sim, at->S));
    AW_TRY(compare(sim, ridge, &c));
    for (int k = 0; k < FORCES; ++k) {
        const aw_pairs pairs = {c.ours[k], c.reference[k], POINTS};
        snprintf(what, sizeof what, "%s at %.2f m%s", name[k], sim->S_ref,
                 at->change ? ", new spacing" : "");
        AW_TRY(judge(v, what, &pairs, tolerance[k]));
    }
done:
    return status;
}

enum { ELEMENTS = 3 };

/* The bend is from S = 0.1 m to 1.6 m. Tolerance of the solver: at 1e-4 the rates may change F_s
 * by more than the case allows. */
static aw_status input_of(aw_validation *v, aw_config **config, aw_referee_beam *beam)
{
    const aw_element element[ELEMENTS] = {
        {.kind = AW_DRIFT, .name = "before", .length = 0.1},
        {.kind = AW_BEND, .name = "bend", .length = 1.5, .angle = 0.3},
        {.kind = AW_DRIFT, .name = "after", .length = 1.0}};
    const aw_status status = aw_case_config(v, element, ELEMENTS, 5e3, AW_UPSTREAM_DRIFT, config);
    if (status != AW_OK) return status;
    (*config)->motion = AW_MOTION_EXTERNAL;
    (*config)->grid[0] = (*config)->grid[1] = 64;
    (*config)->tolerance = 1e-5;
    (*config)->step_m = 0.01;
    aw_beam_params *b = &(*config)->beam;
    b->sigma_s = 100e-6;
    b->emittance = 2e-10;
    b->beta_x = 12.5;
    b->sigma_x = sqrt(b->emittance * b->beta_x);
    b->chirp = 36.0;
    *beam = (aw_referee_beam){.elements = ELEMENTS,
                              .charge = b->charge,
                              .gamma = b->gamma,
                              .sigma_s = b->sigma_s,
                              .sigma_x = b->sigma_x,
                              .divergence = sqrt(b->emittance / b->beta_x),
                              .chirp = b->chirp};
    for (int i = 0; i < ELEMENTS; ++i)
        beam->element[i] = (aw_referee_element){element[i].length, element[i].angle, 0.0, 0.0};
    return AW_OK;
}

static aw_status run(aw_validation *v)
{
    /* 1.61 m is the first step behind the exit. */
    static const stop stops[] = {{0.50, 1}, {0.60, 0}, {0.70, 1}, {0.85, 1}, {1.05, 1},
                                 {1.20, 0}, {1.40, 0}, {1.60, 1}, {1.70, 1}, {1.80, 0}};
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_referee_beam beam;
    AW_TRY(input_of(v, &config, &beam));
    AW_TRY(aw_case_begin(config, &sim));
    const aw_ridge ridge = aw_ridge_default(&beam, sim->plan.upstream_cut);
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; ++i)
        AW_TRY(stop_at(v, sim, &ridge, &stops[i]));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_ridge = {
    .name = "ridge",
    .claim = "F_s and F_s_eff of a bunch that a bend compresses agree with an integral over paths",
    .seconds = 35,
    .run = run,
};
