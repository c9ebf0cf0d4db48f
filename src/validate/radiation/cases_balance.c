/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a bunch loses is found again in the far field, and in the field that it carries along. */
#include <math.h>
#include <stdio.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/spectrum/balance.h"
#include "src/validate/radiation/radiate.h"
#include "validation/radiation.h"

/* Places along the path at which forces are computed. */
enum { PLACES_MOST = 200 };
typedef struct places {
    int n;
    double S[PLACES_MOST];
} places;

static void add_place(places *p, double S)
{
    if (p->n < PLACES_MOST) p->S[p->n++] = S;
}

/* Through a bend at so many equal distances, and behind it at distances with equal ratios. */
static void add_bend(places *p, double begin, double end, int in, double until, int behind)
{
    for (int i = 0; i < in; ++i) add_place(p, begin + (end - begin) * i / in);
    add_place(p, end);
    const double first = 0.02;
    for (int i = 0; i < behind; ++i)
        add_place(p, end + first * pow((until - end) / first, (double)i / (behind - 1)));
}

/** What is wanted of a path. */
typedef struct path {
    aw_simulation *sim;
    aw_spectrum *spectrum;
    const places *places;
    double from; /* from the first place behind this on the work is summed up separately [m] */
    double work; /* of the field on the bunch [J]; trapezoidal rule */
    double work_from;
} path;

/* Move the bunch to the end: its slices to the spectrum, the field's work at the places. */
static aw_status follow(path *p)
{
    aw_simulation *sim = p->sim;
    aw_status status = AW_OK;
    double last_S = 0.0, last_force = 0.0;
    for (int i = 0;;) {
        const int end = aw_simulation_is_last(sim);
        const double half = 0.5 * sim->plan.beta * aw_simulation_cdt(sim);
        AW_TRY(aw_spectrum_add(p->spectrum, &sim->field.view->slice[0], sim->S_ref));
        if (i == 0 || end || (i < p->places->n && sim->S_ref >= p->places->S[i] - half)) {
            AW_TRY(aw_simulation_solve(sim));
            const double force = sim->force_stats.mean_s;
            const double work =
                i > 0 ? 0.5 * (sim->S_ref - last_S) * (force + last_force) * sim->field.charge
                      : 0.0;
            p->work += work;
            if (last_S >= p->from && p->work_from == 0.0) p->from = last_S;
            if (last_S >= p->from) p->work_from += work;
            last_S = sim->S_ref;
            last_force = force;
            while (i == 0 || (i < p->places->n && sim->S_ref >= p->places->S[i] - half)) ++i;
        }
        if (end) break;
        AW_TRY(aw_simulation_advance(sim));
        AW_TRY(aw_simulation_deposit(sim));
    }
    AW_TRY(aw_spectrum_end(p->spectrum));
done:
    return status;
}

/* Frequencies of all the radiation, and what it takes to follow a path. */
enum { WAVES_MOST = 160 };
typedef struct stage {
    int waves;
    double k[WAVES_MOST];
    aw_directions directions;
    aw_simulation *sim;
    aw_spectrum *spectrum;
} stage;

static aw_status stage_open(const aw_config *config, const aw_grading *grading, double k_from,
                            double k_to, stage *s)
{
    aw_status status = AW_OK;
    for (int i = 0; i < s->waves; ++i)
        s->k[i] = k_from * pow(k_to / k_from, (double)i / (s->waves - 1));
    AW_TRY(aw_directions_graded(&config->lattice->orbit, grading, &s->directions));
    AW_TRY(aw_case_begin(config, &s->sim));
    const aw_spectrum_params params = {.orbit = &config->lattice->orbit,
                                       .gamma = config->beam.gamma,
                                       .k = s->k,
                                       .waves = (size_t)s->waves,
                                       .directions = &s->directions,
                                       .ns = config->grid[0],
                                       .nx = config->grid[1]};
    AW_TRY(aw_spectrum_new(&params, &s->spectrum));
done:
    return status;
}

static aw_bound_params bound_of(const aw_simulation *sim)
{
    return (aw_bound_params){.slice = &sim->field.view->slice[0],
                             .ns = sim->config->grid[0],
                             .nx = sim->config->grid[1],
                             .single = sim->field.view->single,
                             .gamma = sim->config->beam.gamma};
}

static void stage_close(stage *s)
{
    aw_spectrum_free(s->spectrum);
    aw_directions_free(&s->directions);
    aw_simulation_free(s->sim);
}

/* ------------------------------------------------------------------------------- rigid bunch */

/* A rigid bunch through a bend, and so far behind it that its field is whole again: a particle at s
 * ahead of another sees it in the bend up to a distance of 2 gamma^2 s. */
#define RIGID_GAMMA 30.0
#define RIGID_R 1.0
#define RIGID_ANGLE 0.6
#define RIGID_SIGMA 1e-3
#define RIGID_BEHIND 12.0
/* Behind the bend, where only the field that the bunch carries along is left to grow. */
#define RIGID_FROM 2.0

static aw_status rigid_config(const aw_validation *v, aw_config **out)
{
    const aw_element line[] = {
        {.kind = AW_BEND, .name = "bend", .length = RIGID_R * RIGID_ANGLE, .angle = RIGID_ANGLE},
        {.kind = AW_DRIFT, .name = "after", .length = RIGID_BEHIND}};
    const aw_status status = aw_case_config(v, line, 2, RIGID_GAMMA, AW_UPSTREAM_DRIFT, out);
    if (status != AW_OK) return status;
    (*out)->beam.sigma_s = RIGID_SIGMA;
    (*out)->beam.sigma_x = 0.2 * RIGID_SIGMA;
    (*out)->beam.particles = 50000;
    (*out)->grid[0] = 64;
    (*out)->grid[1] = 32;
    return AW_OK;
}

static aw_status rigid(aw_validation *v)
{
    /* all directions; beyond 1.5 rad from the orbit's there is nothing */
    const aw_grading grading = {
        .finest = 0.5 / RIGID_GAMMA, .margin = 1.5, .widest = 0.1, .nodes = 4};
    const double bend = RIGID_R * RIGID_ANGLE;
    aw_status status = AW_OK;
    aw_config *config = NULL;
    stage s = {.waves = 61};
    places at = {0};
    aw_bound bound;
    AW_TRY(rigid_config(v, &config));
    AW_TRY(stage_open(config, &grading, 1e-3 / RIGID_SIGMA, 4.0 / RIGID_SIGMA, &s));
    add_bend(&at, 0.0, bend, 24, bend + RIGID_BEHIND, 28);
    path p = {.sim = s.sim, .spectrum = s.spectrum, .places = &at, .from = bend + RIGID_FROM};
    const double closed =
        aw_bound_energy(config->beam.charge, RIGID_GAMMA, RIGID_SIGMA, config->beam.sigma_x);
    AW_TRY(follow(&p));
    aw_bound_params behind = bound_of(s.sim);
    behind.distance = p.from - bend;
    AW_TRY(aw_bound_of(&behind, &bound));
    const double energy = aw_case_energy(s.spectrum);
    AW_TRY(aw_check_add(v, "radiated, beside what the particles lose [J]", energy, -p.work, -p.work,
                        0.03));
    AW_TRY(aw_check_add(v, "of it from 2 m behind the bend on, into the bound field [J]",
                        -p.work_from,
                        aw_bound_rest(config->beam.charge, RIGID_GAMMA, RIGID_SIGMA, p.from - bend),
                        -p.work, 0.01));
    AW_TRY(aw_check_add(v, "energy of the bound field, from the slice [J]", bound.whole, closed,
                        closed, 0.002));
    const double rest =
        aw_bound_rest(config->beam.charge, RIGID_GAMMA, RIGID_SIGMA, behind.distance);
    AW_TRY(aw_check_add(v, "missing in the field there, from the slice [J]", bound.missing, rest,
                        rest, 0.01));
done:
    stage_close(&s);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_balance_rigid = {
    .name = "balance-rigid",
    .claim = "what a rigid bunch loses in and behind a bend is radiated into the far field",
    .seconds = 40,
    .run = rigid,
};

/* --------------------------------------------------------------------------------- Zeuthen */

/* The chicane with its own field, on the grid and the steps of accuracy 0.01. */
static aw_status zeuthen_config(const aw_validation *v, aw_config **out)
{
    const aw_status status = aw_case_chicane(v, out);
    if (status != AW_OK) return status;
    aw_config *config = *out;
    config->motion = AW_MOTION_SELF_CONSISTENT;
    config->beam.quiet = 1;
    config->beam.particles = 200000;
    config->grid[0] = config->grid[1] = 48;
    config->step_m = AW_STEP_AUTO;
    config->tolerance = 3e-3;
    return AW_OK;
}

/* Whether the bunch is at the end of the straight line behind two bends, up to two steps: the
 * further behind a bend, the better is known what the field misses. */
static int is_half_way(const aw_simulation *sim)
{
    const aw_orbit_view *orbit = &sim->config->lattice->orbit;
    const int piece = aw_orbit_find(orbit, sim->S_ref);
    int bends = 0;
    for (int i = 0; i < piece; ++i) bends += orbit->piece[i].kappa != 0.0;
    return bends == 2 && orbit->piece[piece].kappa == 0.0 &&
           sim->S_ref + 2.0 * aw_simulation_cdt(sim) >= orbit->piece[piece + 1].S;
}

/* The balance as if the bunch went straight on from here for ever. */
static aw_status close_here(aw_validation *v, const stage *s, aw_balance balance, const char *where)
{
    char quantity[96];
    aw_status status = AW_OK;
    aw_beam_stats now;
    AW_TRY(aw_simulation_synchronise(s->sim));
    AW_TRY(aw_simulation_stats(s->sim, &now));
    AW_TRY(aw_balance_end(&balance, &s->sim->config->lattice->orbit, bound_of(s->sim)));
    AW_TRY(aw_spectrum_end(s->spectrum));
    balance.radiated = aw_case_energy(s->spectrum);
    AW_TRY(aw_spectrum_reopen(s->spectrum));
    balance.lost = -now.energy_mean * s->sim->field.charge;
    const double bound = balance.bound[1] - balance.bound[0];
    snprintf(quantity, sizeof quantity, "%s: missing in the field [J]", where);
    AW_TRY(aw_check_note(v, quantity, balance.missing, balance.bound[1]));
    snprintf(quantity, sizeof quantity, "%s: radiated, beside lost [J]", where);
    AW_TRY(aw_check_note(v, quantity, balance.radiated, balance.lost));
    snprintf(quantity, sizeof quantity, "%s: found again of what is lost [J]", where);
    AW_TRY(aw_check_add(v, quantity, balance.radiated + bound - balance.missing,
                        balance.open ? (double)NAN : balance.lost, balance.lost, 0.03));
done:
    return status;
}

static aw_status zeuthen(aw_validation *v)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    stage s = {.waves = 160};
    aw_balance balance = {.open = NULL};
    int closed = 0;
    AW_TRY(zeuthen_config(v, &config));
    const double gamma = config->beam.gamma;
    const aw_orbit_view *orbit = &config->lattice->orbit;
    const aw_grading grading = {
        .finest = 0.5 / gamma, .margin = 0.25, .widest = 0.1, .between = 2e-3, .nodes = 4};
    AW_TRY(stage_open(config, &grading, 2e-3 / config->beam.sigma_s, 3e5, &s));
    AW_TRY(aw_balance_begin(&balance, orbit, bound_of(s.sim)));
    for (;;) {
        AW_TRY(aw_spectrum_add(s.spectrum, &s.sim->field.view->slice[0], s.sim->S_ref));
        AW_TRY(aw_simulation_solve(s.sim));
        if (!closed && is_half_way(s.sim)) {
            AW_TRY(close_here(v, &s, balance, "behind two bends"));
            closed = 1;
        }
        if (aw_simulation_is_last(s.sim)) break;
        AW_TRY(aw_simulation_advance(s.sim));
        AW_TRY(aw_simulation_deposit(s.sim));
    }
    AW_TRY(close_here(v, &s, balance, "behind four bends"));
done:
    stage_close(&s);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_balance_zeuthen = {
    .name = "balance-zeuthen",
    .claim = "what a bunch loses that is compressed is radiated, or goes into its bound field",
    .seconds = 120,
    .full = 1,
    .run = zeuthen,
};
