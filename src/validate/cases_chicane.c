/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases of the Berlin-Zeuthen benchmark chicane: its optics, and the full problem. */
#include <math.h>
#include <stdio.h>

#include "pic/push.h"
#include "pic/stats.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/validate/cases.h"

#define GAMMA (5e9 / AW_ME_EV)
/* Exact elements, as other codes use them (R = 10.35 m, 2.77 degrees, 0.5 m projected). Lengths
 * [m], angle [rad]. */
#define ARC 0.500194828041958
#define EDGE 0.048345620280243
#define SLANT 5.0058489435

enum { ELEMENTS = 8 };

aw_status aw_case_chicane(const aw_validation *v, aw_config **out)
{
    const double a = EDGE; /* all pole faces are perpendicular to the incoming axis */
    const aw_element element[ELEMENTS] = {
        {.kind = AW_BEND, .name = "b1", .length = ARC, .angle = a, .e2 = a},
        {.kind = AW_DRIFT, .name = "d1", .length = SLANT},
        {.kind = AW_BEND, .name = "b2", .length = ARC, .angle = -a, .e1 = -a},
        {.kind = AW_DRIFT, .name = "d2", .length = 1.0},
        {.kind = AW_BEND, .name = "b3", .length = ARC, .angle = -a, .e2 = -a},
        {.kind = AW_DRIFT, .name = "d3", .length = SLANT},
        {.kind = AW_BEND, .name = "b4", .length = ARC, .angle = a, .e1 = a},
        {.kind = AW_DRIFT, .name = "d4", .length = 2.0}};
    aw_status status = aw_case_config(v, element, ELEMENTS, GAMMA, AW_UPSTREAM_DRIFT, out);
    if (status != AW_OK) return status;
    aw_beam_params *beam = &(*out)->beam;
    beam->sigma_s = 200e-6;
    beam->emittance = 1e-6 / GAMMA;
    beam->beta_x = 40.0;
    beam->alpha_x = 2.6;
    beam->sigma_x = sqrt(beam->emittance * beam->beta_x);
    beam->energy_spread = 2e-6;
    beam->chirp = -36.0;
    return AW_OK;
}

/* Offset [m] and angle [rad] of a particle that started on the axis, relative to the end of the
 * design orbit. */
static aw_status closed_orbit(const aw_lattice *lattice, double *offset, double *slope)
{
    aw_status status = AW_OK;
    aw_particles *one = NULL;
    AW_TRY(aw_particles_new(1, 1e-12, &one));
    one->z[0] = -0.5;
    one->pz[0] = lattice->p_ref;
    AW_TRY(aw_push_locate(lattice, one));
    AW_TRY(aw_push_transport(lattice, one,
                             (0.5 + lattice->length) * sqrt(1.0 + lattice->p_ref * lattice->p_ref) /
                                 lattice->p_ref));
    aw_orbit_point end = aw_orbit_at(&lattice->orbit, lattice->length);
    aw_orbit_project(&lattice->orbit, one->z[0], one->x[0], lattice->length, offset);
    *slope = (one->px[0] * end.ct - one->pz[0] * end.st) / lattice->p_ref;
done:
    aw_particles_free(one);
    return status;
}

static aw_status optics(aw_validation *v)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_beam_stats begin, end;
    double offset = NAN, slope = NAN;
    AW_TRY(aw_case_chicane(v, &config));
    config->motion = AW_MOTION_EXTERNAL;
    config->beam.particles = 100000;
    config->step_m = 0.1;
    AW_TRY(aw_simulation_new(config, NULL, 0, &sim));
    AW_TRY(aw_simulation_stats(sim, &begin));
    while (!aw_simulation_is_last(sim)) AW_TRY(aw_simulation_advance(sim));
    AW_TRY(aw_simulation_stats(sim, &end));
    AW_TRY(aw_check_add(v, "rms length at the start [m]", begin.sigma_s, 200e-6, 200e-6, 1e-3));
    /* R56 compresses to 20.0 um; T566 = -1.5 R56 adds 2.7 um in quadrature */
    AW_TRY(aw_check_add(v, "rms length at the end [m]", end.sigma_s, 20e-6, 20e-6, 0.02));
    AW_TRY(aw_check_add(v, "rms width at the end, as CSRtrack has it [m]", end.sigma_x, 24.2e-6,
                        24.2e-6, 0.02));
    AW_TRY(aw_check_add(v, "emittance at the end over that at the start",
                        end.emittance / begin.emittance, 1.0, 1.0, 0.01));
    AW_TRY(closed_orbit(config->lattice, &offset, &slope));
    AW_TRY(aw_check_add(v, "closed orbit, offset at the end [m]", offset, 0.0, 1.0, 1e-9));
    AW_TRY(aw_check_add(v, "closed orbit, angle at the end [rad]", slope, 0.0, 1.0, 1e-12));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_chicane_optics = {
    .name = "chicane-optics",
    .claim = "the Zeuthen chicane compresses tenfold and keeps the emittance without self-force",
    .seconds = 3,
    .run = optics,
};

/* ------------------------------------------------------------------- incoherent radiation in it */

/* Mean loss and its rms in the four bends at the design energy [eV], with the constants of electron
 * storage rings: loss C_gamma/(2 pi) E^4 int ds/R^2, variance of dE/E C_q C_gamma/pi (m c^2)^3
 * gamma^5 int ds/|R|^3 (M. Sands, SLAC-121 (1970), eqs. 4.7, 5.46; Handbook of Accelerator Physics
 * and Engineering, 3.1.4). */
static void sands(double *mean, double *rms)
{
    const double C_gamma = 8.846e-5, C_q = 3.832e-13; /* [m/GeV^3], [m] */
    const double energy = 1e-9 * GAMMA * AW_ME_EV, rest = 1e-9 * AW_ME_EV;
    const double path = 4.0 * ARC, R = ARC / EDGE;
    *mean = 1e9 * C_gamma / (2.0 * AW_PI) * pow(energy, 4) * path / (R * R);
    *rms = 1e9 * energy *
           sqrt(C_q * C_gamma / AW_PI * pow(rest, 3) * pow(GAMMA, 5) * path / (R * R * R));
}

static aw_status isr(aw_validation *v)
{
    double mean, rms;
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_beam_stats end;
    sands(&mean, &rms);
    AW_TRY(aw_case_chicane(v, &config));
    config->motion = AW_MOTION_EXTERNAL;
    config->isr = AW_ISR_FULL;
    config->beam.particles = 100000;
    config->step_m = 0.1;
    AW_TRY(aw_simulation_new(config, NULL, 0, &sim));
    while (!aw_simulation_is_last(sim)) AW_TRY(aw_simulation_advance(sim));
    AW_TRY(aw_simulation_stats(sim, &end));
    /* Four standard deviations of a mean of 1e5 numbers, 0.6 %; the chirp adds the square of the
     * rms energy deviation, 5e-5; and the constants have three digits. */
    AW_TRY(aw_check_add(v, "mean loss [eV]", end.isr_mean, mean, mean, 0.01));
    /* The same of an rms, 0.9 %; the chirp, 0.7 % in energy, adds 1.4 % of the mean in quadrature,
     * 0.05 %. */
    AW_TRY(aw_check_add(v, "rms of the loss [eV]", end.isr_rms, rms, rms, 0.02));
    /* gamma to 2e-12 in 150 steps */
    AW_TRY(aw_check_add(v, "energy change by the self-field, which there is not [eV]",
                        end.energy_mean, 0.0, 1.0, 1e-3));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_isr = {
    .name = "isr",
    .claim = "incoherent radiation in the Zeuthen chicane has the mean and rms of the closed forms",
    .seconds = 3,
    .run = isr,
};

/* -------------------------------------------------------------------------- the full problem */

static aw_status zeuthen(aw_validation *v)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_beam_stats begin, end;
    AW_TRY(aw_case_chicane(v, &config));
    config->motion = AW_MOTION_SELF_CONSISTENT;
    config->beam.particles = 100000;
    config->grid[0] = config->grid[1] = 64;
    config->tolerance =
        1e-5; /* F_z to 0.3 % at most points (docs/theory.md), in two thirds of the time */
    AW_TRY(aw_simulation_new(config, NULL, 0, &sim));
    AW_TRY(aw_simulation_stats(sim, &begin));
    for (;;) {
        AW_TRY(aw_simulation_deposit(sim));
        AW_TRY(aw_simulation_solve(sim));
        AW_TRY(aw_simulation_synchronise(sim));
        if (sim->step % 50 == 0)
            aw_info("  step %ld of %ld, S = %.2f m", sim->step, sim->plan.steps, sim->S_ref);
        if (aw_simulation_is_last(sim)) break;
        AW_TRY(aw_simulation_advance(sim));
    }
    AW_TRY(aw_simulation_stats(sim, &end));
    const double energy = GAMMA * AW_ME_EV;
    AW_TRY(aw_check_note(v, "mean dE/E (1D with transients)", end.energy_mean / energy, -0.433e-3));
    AW_TRY(aw_check_note(v, "rms dE/E (1D with transients)", end.energy_rms / energy, 0.24e-3));
    AW_TRY(aw_check_note(v, "emittance growth, projected (1D with transients)",
                         end.emittance / begin.emittance, 1.58));
    AW_TRY(aw_check_note(v, "emittance growth, dispersion taken out (1D as above)",
                         end.emittance_free / begin.emittance, 1.58));
    AW_TRY(aw_check_note(v, "rms length at the end [m] (CSRtrack)", end.sigma_s, 20.5e-6));
    AW_TRY(aw_check_note(v, "rms width at the end [m] (CSRtrack)", end.sigma_x, 24.2e-6));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_zeuthen = {
    .name = "zeuthen",
    .claim = "the self-consistent Zeuthen chicane, beside known one-dimensional results",
    .seconds = 3200,
    .full = 1,
    .run = zeuthen,
};
