/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/plan/plan_memory.h"
#include "src/plan/schedule.h"
#include "src/simulation/force_error.h"
#include "src/simulation/simulation.h"

/* Places at 48 x 48 nodes; fewer where a solve takes longer, as nodes^(3/2), but no fewer than
 * the second number. */
enum { PLACES = 12, FEWEST_PLACES = 4, REFERENCE_NODES = 48 * 48 };
/* The estimate goes on to no further place after so long [s]: processor time a thread, so that
 * other load does not shorten it, and wall time. */
#define LONGEST 20.0
#define LONGEST_WALL 60.0
/* Part of the steps of a run in which a solver that has not the coarsest rules looks for others, as
 * long as for its first; but that takes no more than half of what steps take that have their rules.
 * With a fifth at all places, evaluations of five runs of the Berlin-Zeuthen chicane were estimated
 * as 0.8 to 1.24 of the true ones (without, as 0.56 to 0.86). */
#define SEARCHES 0.2
#define MOST_SEARCHES 0.5
/* Particles, at most: in all steps together, but in each step so many at least, and so many per
 * cell: the noise of the density is then below what the solver's samples see. */
#define MOST_MOVES 5e8
#define LEAST_PARTICLES 200000.0
#define LEAST_PER_CELL 40.0
/* Output: opening a file [s], and the rate of its bytes with HDF5's checks [bytes/s]; 12 numbers a
 * node, and 5 a particle. */
#define FILE_SECONDS 3e-3
#define MESH_RATE 2e8
#define PARTICLE_RATE 1e8
/* Elements that are printed, at most, and the part of the time below which one is not. */
enum { SHOWN = 6 };
#define LEAST_PART 0.02

typedef struct work {
    aw_config config; /* of the estimate: a copy that owns nothing */
    aw_simulation *sim;
    int every_step;       /* the run solves at every step */
    long steps;           /* of the run, with the one at the start */
    int places, done;     /* planned, measured */
    double solve[PLACES]; /* potentials and forces at each [s] */
    double search;        /* the first of two solves at the present place [s]; 0: none */
    int solves;
    /* Sums [s]: gather of all solves, errors of forces and statistics at the places; deposit and
     * push of all `moves` steps. */
    double gather, force_error, statistics, moved;
    long moves;
} work;

static int places_of(const aw_config *config)
{
    const double nodes = (double)config->grid[0] * config->grid[1];
    const double places = PLACES * pow(REFERENCE_NODES / nodes, 1.5);
    return (int)fmin(fmax(places, FEWEST_PLACES), PLACES);
}

/* Step at the middle of the k-th of equal parts of the steps. */
static long step_of(const work *w, int k)
{
    return (long)((k + 0.5) * (double)w->steps / w->places);
}

/* The part of the steps to which a step belongs, of those that were measured. */
static int part_of(const work *w, long step)
{
    const int k = (int)((double)step * w->places / (double)w->steps);
    return k < w->done ? k : w->done - 1;
}

static void begin(const aw_config *config, const aw_plan *plan, work *w)
{
    const double cells = (double)config->grid[0] * config->grid[1];
    const double least = fmax(LEAST_PARTICLES, LEAST_PER_CELL * cells);
    const double most = fmax(MOST_MOVES / (double)(plan->steps + 1), least);
    w->config = *config;
    w->every_step = config->line || config->motion == AW_MOTION_SELF_CONSISTENT;
    if (config->motion == AW_MOTION_SELF_CONSISTENT) w->config.motion = AW_MOTION_EXTERNAL;
    if (!config->beam_at && (double)config->beam.particles > most)
        w->config.beam.particles = (size_t)most;
    w->steps = plan->steps + 1;
    w->places = places_of(config);
    if (w->steps < 2 * w->places) w->places = w->steps > 1 ? (int)w->steps / 2 : 1;
}

/* Solve at the present step: a place's own, or the one before it. */
static aw_status solve(work *w, int place)
{
    aw_simulation *sim = w->sim;
    aw_monitor_row row;
    aw_status status = AW_OK;
    const int counts = sim->step == step_of(w, place);
    /* what was learned at the last place is not what a run has learned here */
    if (w->every_step && !w->config.line && !counts) AW_TRY(aw_self_field_forget(&sim->field));
    double from = aw_now();
    AW_TRY(aw_simulation_solve_felt(sim));
    const double seconds = aw_now() - from - sim->seconds[AW_PART_GATHER];
    w->solves++;
    w->gather += sim->seconds[AW_PART_GATHER];
    w->solve[place] = seconds + fmin(SEARCHES * w->search, MOST_SEARCHES * seconds);
    /* none is coarser than the first rule; and a fresh solver gives up more easily than one that
     * has followed the bunch */
    const int searches = sim->field.report.rule[0] > 0 || sim->field.report.rule[1] > 0;
    w->search = !counts && searches && !sim->field.report.fell_back ? seconds : 0.0;
    if (!counts) goto done;
    w->done = place + 1;
    from = aw_now();
    if (!w->config.line) AW_TRY(aw_simulation_force_error(sim));
    w->force_error += aw_now() - from;
    from = aw_now();
    AW_TRY(aw_simulation_monitor(sim, &row));
    w->statistics += aw_now() - from;
done:
    return status;
}

static int is_late(const work *w, double began)
{
    const double all = (double)clock() / CLOCKS_PER_SEC;
    return all > LONGEST * aw_plan_threads(&w->config) || aw_now() - began > LONGEST_WALL;
}

/* The whole way, or as far as the time allows. */
static aw_status walk(work *w, int (*stopped)(void), double began)
{
    aw_simulation *sim = w->sim;
    aw_status status = AW_OK;
    while (w->done < w->places) {
        const long next = step_of(w, w->done);
        if (stopped && stopped()) return AW_ERR_INTERRUPTED;
        if (w->done > 0 && is_late(w, began)) break;
        const double from = aw_now();
        AW_TRY(aw_simulation_deposit(sim));
        w->moved += aw_now() - from;
        w->moves++;
        if (sim->step == next || (w->every_step && sim->step == next - 1))
            AW_TRY(solve(w, w->done));
        if (aw_simulation_is_last(sim) || w->done == w->places) break;
        const double then = aw_now();
        AW_TRY(aw_simulation_advance(sim));
        w->moved += aw_now() - then;
    }
done:
    return status;
}

/* Times that something is written or solved in a run: every so many steps, and at places. */
static double times_of(const work *w, int every, size_t places)
{
    return (every > 0 ? floor((double)(w->steps - 1) / every) + 1.0 : 0.0) + (double)places;
}

static void add_output(const work *w, const aw_config *config, aw_estimate *out)
{
    const double nodes = (double)config->grid[0] * config->grid[1];
    const double particles = (double)config->beam.particles;
    const double last = (w->steps - 1) % (config->every > 0 ? config->every : w->steps + 1) != 0;
    const double files = 2.0 + times_of(w, config->particles_every, config->particles_at_n);
    double meshes = last + times_of(w, config->every, config->at_n + config->particles_at_n);
    if (config->particles_every > 0) meshes += times_of(w, config->particles_every, 0);
    meshes = fmin(meshes, (double)w->steps);
    out->output = meshes * (FILE_SECONDS + 12.0 * 8.0 * nodes / MESH_RATE) +
                  files * 5.0 * 8.0 * particles / PARTICLE_RATE;
    const double also = times_of(w, config->solve_every, 0);
    out->solves = w->every_step ? (double)w->steps : fmin(meshes + also, (double)w->steps);
    if (!config->line)
        out->output +=
            (meshes + (double)w->steps / AW_FORCE_ERROR_EVERY) * w->force_error / (double)w->done;
}

static int by_seconds(const void *a, const void *b)
{
    const aw_estimate_element *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? 1 : -1;
    return (x->element > y->element) - (x->element < y->element);
}

/* Share the time of all steps out to the elements in which they begin.
 * @param[in] each  of a step, but for its solve; `share`: solves per step */
static aw_status share_out(const work *w, double each, double share, aw_estimate *out)
{
    const aw_lattice *lattice = w->config.lattice;
    const aw_schedule *schedule = w->sim->schedule;
    int64_t tick = 0, step = 0;
    double end = 0.0;
    size_t i = 0;
    aw_estimate_element *e = out->element = aw_alloc(lattice->n + 1, sizeof *e);
    if (!e) return AW_ERR_NOMEM;
    for (size_t k = 0; k < lattice->n; ++k) e[k].element = k;
    end = lattice->element[0].length;
    for (long k = 0; k < w->steps; ++k) {
        const double S = aw_schedule_S(schedule, tick);
        while (i + 1 < lattice->n && S >= end - 1e-9) end += lattice->element[++i].length;
        const double solve = share * w->solve[part_of(w, k)];
        e[i].steps++;
        e[i].seconds += each + solve;
        out->potentials += solve;
        if (tick < schedule->end) tick += step = aw_schedule_step(schedule, tick, step, 0);
    }
    qsort(e, lattice->n, sizeof *e, by_seconds);
    while (out->n < lattice->n && e[out->n].steps > 0) out->n++;
    return AW_OK;
}

static aw_status sum_up(const work *w, const aw_config *config, aw_estimate *out)
{
    const double more = (double)config->beam.particles / (double)w->config.beam.particles;
    const double steps = (double)w->steps, done = (double)w->done;
    if (w->done == 0) return AW_ERR_RANGE; /* never: a run has a step */
    add_output(w, config, out);
    const double share = out->solves / steps;
    const double moved =
        w->moved / (double)w->moves + w->statistics / done + share * w->gather / (double)w->solves;
    out->particles = more * moved * steps;
    const aw_status status = share_out(w, more * moved, share, out);
    out->total = out->potentials + out->particles + out->output;
    out->measured = w->solves;
    out->places = w->done;
    out->cut = w->done < w->places;
    return status;
}

aw_status aw_estimate_make(const aw_config *config, const aw_plan *plan, int (*stopped)(void),
                           aw_estimate *out)
{
    const double began = aw_now();
    aw_status status = AW_OK;
    work w = {.places = 0};
    *out = (aw_estimate){.total = 0.0};
    begin(config, plan, &w);
    aw_log_mute(1);
    AW_TRY(aw_plan_memory(config, plan));
    AW_TRY(aw_simulation_new(&w.config, NULL, 0, &w.sim));
    AW_TRY(w.sim ? AW_OK : AW_ERR_NOMEM); /* it is set up, which an analyser cannot know */
    aw_simulation_expect_felt(w.sim, config->motion);
    AW_TRY(aw_simulation_offload(w.sim));
    AW_TRY(walk(&w, stopped, began));
    AW_TRY(sum_up(&w, config, out));
    out->spent = aw_now() - began;
done:
    aw_simulation_free(w.sim);
    aw_log_mute(0);
    return status;
}

void aw_estimate_free(aw_estimate *estimate)
{
    aw_free(estimate->element);
    estimate->element = NULL;
    estimate->n = 0;
}

void aw_estimate_print(const aw_config *config, const aw_estimate *e)
{
    aw_info("time         about %.3g s: %.0f solves %.3g s, particles %.2g s, output %.2g s (from "
            "%d solves at %d places%s, in %.1f s)",
            e->total, e->solves, e->potentials, e->particles, e->output, e->measured, e->places,
            e->cut ? ", not to the end" : "", e->spent);
    for (size_t i = 0; i < e->n && i < SHOWN; ++i) {
        const aw_estimate_element *at = &e->element[i];
        if (at->seconds < LEAST_PART * e->total) break;
        aw_info("  %-11.11s%6ld step%s %8.3g s", config->lattice->element[at->element].name,
                at->steps, at->steps == 1 ? " " : "s", at->seconds);
    }
}
