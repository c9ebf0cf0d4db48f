/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Case `strategies`: every strategy against a finer adaptive one, at every step of a run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/input/lcls.h"
#include "src/simulation/verify.h"
#include "src/validate/cases.h"

/* Half a metre of the LCLS bend and half a metre of drift behind it, in 50 steps of the default
 * c dt: the overtaking length is 0.9 m, so that at every step but the first the circles of
 * causality cross an edge. */
#define SHORT_BEND 0.5
#define LAST_S 1.0
/* Rates also carry the error of the inner rule, which no tolerance controls; the reference, with
 * four times as many nodes in angle, is free of it. Largest error seen: 3.8 tolerances,
 * `two-phase`, in the first steps, where the bunch has not begun to bend and the rates are noise
 * about zero. */
#define RATE_TOLERANCES 5.0
/* Here the LCLS bend is in steady state: the entrance lies more than 0.9 m and a bunch length
 * back. */
#define STEADY_S 2.0

enum {
    STRATEGIES_MAX = 8,
    GRID = 48,
    SAMPLE = 60,      /* nodes compared at a step, others at the next: all of them in 51 steps */
    LEARNING = 3,     /* steps in which a forecast may learn: their leftovers do not count */
    STEADY_STEPS = 8, /* LEARNING of them included */
};

/* Largest error of one result of one strategy: at S [m], at a node of the grid. */
typedef struct worst {
    double error, S;
    size_t node;
} worst;

/* Solvers of several strategies, on one history. */
typedef struct contest {
    aw_simulation *sim;
    aw_solver *solver[STRATEGIES_MAX];
    const char *name[STRATEGIES_MAX];
    int n;
    worst phi[STRATEGIES_MAX], psi[STRATEGIES_MAX];
    worst rate[STRATEGIES_MAX];       /* of all rates, relative to their scale (aw_scales) */
    double leftovers[STRATEGIES_MAX]; /* largest share of the regions, once it has learned */
    int steps;
} contest;

static void contest_close(contest *c)
{
    for (int i = 0; i < c->n; ++i) aw_solver_free(c->solver[i]);
    aw_simulation_free(c->sim);
}

/* All strategies but that of the reference, or only `name`. */
static aw_status contest_open(contest *c, const aw_config *config, const char *name)
{
    aw_status status = AW_OK;
    memset(c, 0, sizeof *c);
    AW_TRY(aw_case_begin(config, &c->sim));
    for (int i = 0; aw_solver_list(i); ++i) {
        const char *one = aw_solver_list(i);
        if (strcmp(one, "adaptive") == 0 || (name && strcmp(one, name) != 0)) continue;
        if (c->n == STRATEGIES_MAX)
            return aw_error(AW_ERR_ARG, "strategies: more than %d of them", (int)STRATEGIES_MAX);
        AW_TRY(aw_solver_new(one, &c->sim->device, &c->solver[c->n]));
        c->name[c->n++] = one;
    }
done:
    return status;
}

static void note_worst(worst *w, const contest *c, const aw_reference *reference, unsigned k,
                       double scale)
{
    size_t node = 0;
    const double error =
        aw_reference_error(reference, c->sim->field.result, c->sim->field.nodes, k, scale, &node);
    if (error <= w->error || isnan(w->error)) return;
    *w = (worst){error, c->sim->S_ref, node};
}

/* Solve this step with every strategy, and compare with the reference if `compare`. */
static aw_status contest_step(contest *c, int compare)
{
    aw_simulation *sim = c->sim;
    const aw_config *config = sim->config;
    aw_status status = AW_OK;
    aw_reference reference = {.result = NULL};
    aw_frame_points(&sim->field.frame.grid, &config->lattice->orbit, config->beam.gamma,
                    sim->field.point);
    aw_problem problem =
        aw_self_field_problem(&sim->field, sim->field.point, sim->field.nodes, config->tolerance);
    problem.columns = (size_t)sim->field.frame.grid.ns;
    AW_TRY(aw_solver_scales(sim->field.solver, &problem, &sim->field.scales));
    problem.scales = sim->field.scales;
    if (compare) AW_TRY(aw_reference_make(sim, SAMPLE, (size_t)c->steps, &reference));
    for (int i = 0; i < c->n; ++i) {
        aw_report report;
        AW_TRY(aw_solver_solve(c->solver[i], &problem, sim->field.result, NULL, &report));
        const double share = (double)report.leftovers / (double)report.work.regions;
        if (c->steps >= LEARNING && !(share <= c->leftovers[i])) c->leftovers[i] = share;
        if (!compare) continue;
        note_worst(&c->phi[i], c, &reference, AW_PHI, 0.0);
        note_worst(&c->psi[i], c, &reference, AW_PSI, 0.0);
        for (unsigned k = AW_DPHI; k < AW_RESULTS; ++k)
            note_worst(&c->rate[i], c, &reference, k, sim->field.scales.rate);
    }
    c->steps++;
done:
    aw_reference_free(&reference);
    return status;
}

/* Check the largest error, and print where it is: in sigma from the centre. */
static aw_status check_worst(aw_validation *v, const contest *c, const char *quantity,
                             const worst *w, double tolerances)
{
    const aw_grid_view *g = &c->sim->field.frame.grid;
    const size_t ns = (size_t)g->ns, column = w->node % ns, row = w->node / ns;
    aw_status status =
        aw_check_add(v, quantity, w->error, 0.0, 1.0, tolerances * c->sim->config->tolerance);
    aw_info("    at S = %.2f m, s = %.2f sigma, x = %.2f sigma", w->S,
            ((double)column - 0.5 * (g->ns - 1)) * g->hs / c->sim->config->beam.sigma_s,
            ((double)row - 0.5 * (g->nx - 1)) * g->hx / c->sim->config->beam.sigma_x);
    return status;
}

/* Check phi, psi and the rates of strategy i. */
static aw_status check_strategy(aw_validation *v, const contest *c, int i, const char *start)
{
    const struct {
        const char *result;
        const worst *w;
        double tolerances;
    } row[3] = {{"phi", &c->phi[i], 1.0},
                {"psi", &c->psi[i], 1.0},
                {"rates", &c->rate[i], RATE_TOLERANCES}};
    aw_status status = AW_OK;
    char quantity[96];
    for (int k = 0; k < 3; ++k) {
        snprintf(quantity, sizeof quantity, "%s of %s, %s, worst step and node", row[k].result,
                 c->name[i], start);
        AW_TRY(check_worst(v, c, quantity, row[k].w, row[k].tolerances));
    }
done:
    return status;
}

/* Through entrance, bend and exit of a short bend. */
static aw_status edges(aw_validation *v, int quiet, const char *start)
{
    const aw_element line[] = {{.kind = AW_BEND,
                                .name = "bend",
                                .length = SHORT_BEND,
                                .angle = SHORT_BEND / AW_LCLS_RADIUS},
                               {.kind = AW_DRIFT, .name = "after", .length = 1.0}};
    aw_status status = AW_OK;
    aw_config *config = NULL;
    contest c = {.n = 0};
    char quantity[96];
    AW_TRY(aw_case_config(v, line, 2, 1e4, AW_UPSTREAM_DRIFT, &config));
    config->beam.particles = 100000;
    config->beam.quiet = quiet;
    config->grid[0] = config->grid[1] = GRID;
    config->steps = lround(LAST_S / config->step_m);
    AW_TRY(contest_open(&c, config, NULL));
    for (;;) {
        AW_TRY(contest_step(&c, 1));
        if (c.sim->step == config->steps) break;
        AW_TRY(aw_simulation_advance(c.sim));
        AW_TRY(aw_simulation_deposit(c.sim));
    }
    for (int i = 0; i < c.n; ++i) {
        AW_TRY(check_strategy(v, &c, i, start));
        if (strcmp(c.name[i], "predictive") != 0) continue;
        snprintf(quantity, sizeof quantity, "left over by predictive through the edges, %s", start);
        AW_TRY(aw_check_add(v, quantity, c.leftovers[i], 0.0, 1.0, 0.15));
    }
done:
    contest_close(&c);
    aw_config_free(config);
    return status;
}

/* In the steady state of the LCLS bend: what `predictive` leaves over. */
static aw_status steady(aw_validation *v, int quiet, const char *start)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    contest c = {.n = 0};
    char quantity[96];
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    config->beam.particles = 100000;
    config->beam.quiet = quiet;
    config->grid[0] = config->grid[1] = GRID;
    AW_TRY(contest_open(&c, config, "predictive"));
    AW_TRY(aw_case_to(c.sim, STEADY_S));
    for (int i = 0; i < STEADY_STEPS; ++i) {
        AW_TRY(contest_step(&c, 0));
        AW_TRY(aw_simulation_advance(c.sim));
        AW_TRY(aw_simulation_deposit(c.sim));
    }
    snprintf(quantity, sizeof quantity, "left over by predictive in the steady state, %s", start);
    AW_TRY(aw_check_add(v, quantity, c.leftovers[0], 0.0, 1.0, 0.02));
done:
    contest_close(&c);
    aw_config_free(config);
    return status;
}

static aw_status strategies(aw_validation *v)
{
    aw_status status = AW_OK;
    AW_TRY(edges(v, 1, "quiet"));
    AW_TRY(edges(v, 0, "random"));
    AW_TRY(steady(v, 1, "quiet"));
    AW_TRY(steady(v, 0, "random"));
done:
    return status;
}

const aw_case aw_case_strategies = {
    .name = "strategies",
    .claim = "every strategy agrees with the adaptive rule at a 1000 times smaller tolerance",
    .seconds = 180,
    .full = 1,
    .run = strategies,
};
