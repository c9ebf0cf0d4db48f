/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wakes from tables, in a run. */
#include <math.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/input/wakes.h"
#include "src/validate/cases.h"

/* So large that the kicks across do not move the particles: by 4e-8 m, 6e-5 of the wake. */
#define GAMMA 1e6
#define W0 4e14      /* [V/C/m] */
#define DECAY 1e-4   /* of the wake [m] */
#define X0_WAKE 6e17 /* of the term 03 [V/C/m^2], over the same distance */
/* Places that are not at steps: a twelfth and a third of one beyond. */
#define FROM 0.3583
#define TO 1.5333

/* Points of the exponential: between them a line is off by (1/400)^2/8 of it. */
enum { POINTS = 16001 };

static aw_status add_exponential(aw_wake_function *f, double value)
{
    aw_status status = AW_OK;
    for (int k = 0; k < POINTS; ++k)
        AW_TRY(aw_wake_points_add(&f->w, DECAY * k / 400.0, value * exp(-k / 400.0)));
    AW_TRY(aw_wake_function_finish(f));
done:
    return status;
}

/* A longitudinal wake and the horizontal term 03, per length. */
static aw_status add_wake(aw_config *config)
{
    aw_status status = AW_OK;
    config->wake = aw_alloc(1, sizeof *config->wake);
    config->wake_item = aw_alloc(1, sizeof *config->wake_item);
    AW_TRY(config->wake && config->wake_item ? AW_OK : AW_ERR_NOMEM);
    config->wakes = 1;
    aw_wake *wake = &config->wake[0];
    wake->range = aw_alloc(1, sizeof *wake->range);
    AW_TRY(wake->range ? AW_OK : AW_ERR_NOMEM);
    wake->range[wake->ranges++] = (aw_wake_range){FROM, TO, 1.0};
    AW_TRY(add_exponential(&wake->term[AW_WAKE_00], W0));
    AW_TRY(add_exponential(&wake->term[AW_WAKE_03], X0_WAKE));
done:
    return status;
}

/* The mean of exp(-y/DECAY) over the charge at a distance y > 0 ahead of s. */
static double weighted(double s, double sigma)
{
    const double u = sigma / DECAY;
    return 0.5 * exp(0.5 * u * u + s / DECAY) * erfc((u + s / sigma) / sqrt(2.0));
}

/* What a particle at (s, x) loses, and its kick across, by the integral of the wake from what is
 * ahead, DECAY (1 - exp(-y/DECAY)) [eV]. */
static double loss_at(const aw_beam_params *beam, double s, double x)
{
    return beam->charge * (TO - FROM) * (W0 + X0_WAKE * x) * weighted(s, beam->sigma_s);
}

static double kick_at(const aw_beam_params *beam, double s)
{
    const double ahead = 0.5 * erfc(s / (sqrt(2.0) * beam->sigma_s));
    return beam->charge * (TO - FROM) * X0_WAKE * DECAY * (ahead - weighted(s, beam->sigma_s));
}

/* Compare each particle; numbers are [2][2][n]: along and across, found and expected. */
static aw_status compare(aw_validation *v, const aw_simulation *sim, double *number)
{
    const aw_particles *p = sim->particles;
    const aw_beam_params *beam = &sim->config->beam;
    const size_t n = p->n;
    double most[2] = {0.0, 0.0};
    aw_status status = AW_OK;
    for (size_t i = 0; i < n; ++i) {
        number[i] = AW_ME_EV * (GAMMA - p->gamma0[i]);
        number[n + i] = loss_at(beam, p->s0[i], p->x0[i]);
        number[2 * n + i] = AW_ME_EV * p->px[i];
        number[3 * n + i] = kick_at(beam, p->s0[i]);
        for (int k = 0; k < 2; ++k)
            most[k] = fmax(most[k], fabs(number[(2 * (size_t)k + 1) * n + i]));
    }
    /* The current of 1e5 quiet particles is off by 1e-4 of all of it at most, and so is what is
     * ahead of a particle; the cut at 5 sigma is below that. */
    AW_TRY(aw_check_worst(v, "energy lost by each particle [eV]", (aw_pairs){number, number + n, n},
                          most[0], 5e-4));
    AW_TRY(aw_check_worst(v, "kick across of each particle [eV]",
                          (aw_pairs){number + 2 * n, number + 3 * n, n}, most[1], 5e-4));
done:
    return status;
}

static aw_status wakes(aw_validation *v)
{
    const aw_element element = {.kind = AW_DRIFT, .length = 2.0, .name = "d1"};
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_beam_stats end;
    double *number = NULL;
    AW_TRY(aw_case_config(v, &element, 1, GAMMA, AW_UPSTREAM_DRIFT, &config));
    config->motion = AW_MOTION_EXTERNAL;
    config->beam.particles = 100000;
    config->step_m = 0.1;
    AW_TRY(add_wake(config));
    AW_TRY(aw_simulation_new(config, NULL, 0, &sim));
    while (!aw_simulation_is_last(sim)) AW_TRY(aw_simulation_advance(sim));
    number = aw_alloc(4 * sim->particles->n, sizeof *number);
    AW_TRY(number ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(compare(v, sim, number));
    /* The mean over pairs, whose distances have twice the variance; the offsets average out. */
    const double u = config->beam.sigma_s / DECAY;
    const double mean = 0.5 * config->beam.charge * (TO - FROM) * W0 * exp(u * u) * erfc(u);
    AW_TRY(aw_check_add(v, "mean loss [eV]", sim->wake_loss, mean, mean, 1e-4));
    AW_TRY(aw_simulation_stats(sim, &end));
    /* gamma to 1e-10, 6e-5 eV, in 24 kicks */
    AW_TRY(aw_check_add(v, "energy change by the self-field, which there is not [eV]",
                        end.energy_mean, 0.0, 1.0, 1e-3));
done:
    aw_free(number);
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_wakes = {
    .name = "wakes",
    .claim =
        "a wake of a table kicks a Gaussian bunch, along and across, as the closed form has it",
    .seconds = 2,
    .run = wakes,
};
