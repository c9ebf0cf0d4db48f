/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/plan.h"

#include <math.h>
#include <string.h>

#include "kernels/math/height.h"
#include "pic/history.h"
#include "pic/line/line.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/beam/vertical.h"
#include "src/input/place.h"
#include "src/plan/optics.h"
#include "src/plan/plan_memory.h"
#include "src/plan/schedule.h"
#include "src/plan/upstream.h"
#include "src/solvers/solver.h"

/* Error of the forces by the grid, times the fifth power of the cells per sigma_s, and the cells
 * below which it exceeds 1 % (docs/theory.md, "Accuracy"). */
#define AW_GRID_ERROR 0.3
#define AW_FEWEST_CELLS 2.0
/* Cells in the rms width of the peak of the current below which a run warns: waves that make such a
 * peak lose 1 % (docs/theory.md, "Moments"). */
#define AW_FEWEST_IN_SPIKE 1.2
/* Nodes of a line per sigma_s below which a run warns. */
#define AW_FEWEST_NODES 3.0
/* Slices of a history, at least. */
#define AW_FEWEST_SLICES ((size_t)4)
/* Slices beyond those of the steps that a run may add: steps at the changes of the ladder. */
#define AW_EXTRA_SLICES 8

/* Reach of the convolutions over the longer half-axis of the bunch
 * (src/solvers/projection/blocks.c). */
#define AW_CONVOLVED_REACH 32.0
/* Change of a size of the bunch with which the spacings of the grid change, at least: half a rung
 * of their ladder. */
#define AW_RESIZED 1.09

static double sharpest_curvature(const aw_lattice *lattice)
{
    double kappa = 0.0;
    for (int i = 0; i < lattice->orbit.n; ++i)
        kappa = fmax(kappa, fabs(lattice->orbit.piece[i].kappa));
    return kappa;
}

/* The bunch's rms axes [m], the longer first, and the tilt of that against the orbit [rad]; a rigid
 * bunch has no tilt. */
static void axes_of(const aw_config *config, const aw_optics_point *p, double axis[2], double *tilt)
{
    const aw_optics_shape b = aw_optics_shape_of(&config->beam, p);
    const aw_optics_axes axes = aw_optics_axes_of(b.ss, b.sx, b.xx);
    axis[0] = axes.longer;
    axis[1] = axes.shorter;
    *tilt = axis[0] > AW_ROUND_AXES * axis[1] ? axes.tilt : 0.0;
    if (config->motion != AW_MOTION_RIGID) return;
    axis[0] = fmax(config->beam.sigma_s, config->beam.sigma_x);
    axis[1] = fmin(config->beam.sigma_s, config->beam.sigma_x);
    *tilt = 0.0;
}

/* How far the bunch turns within the reach of the convolutions, and whether its size changes, as
 * the optics predict it: the grid's corners are displaced by the turn times the bunch's aspect. */
static void find_turning(const aw_config *config, const aw_optics *optics, aw_plan *plan)
{
    double low[2], high[2], last = 0.0;
    plan->sheared = 0.0;
    for (size_t i = 0; i < optics->n && optics->point[i].S <= plan->end + plan->longest_step; ++i) {
        const aw_optics_point *p = &optics->point[i];
        double axis[2], tilt = 0.0, turn = 0.0;
        axes_of(config, p, axis, &tilt);
        for (int k = 0; k < 2; ++k) {
            low[k] = i > 0 ? fmin(low[k], axis[k]) : axis[k];
            high[k] = i > 0 ? fmax(high[k], axis[k]) : axis[k];
        }
        const double reach = AW_CONVOLVED_REACH * config->beam.cutoff_sigma * axis[0];
        const double change = tilt - last - AW_PI * rint((tilt - last) / AW_PI);
        if (i > 0 && p->S > p[-1].S) turn = fabs(change) / (p->S - p[-1].S);
        turn = fmin((turn + fabs(p->kappa)) * reach, 0.5 * AW_PI);
        plan->sheared = fmax(plan->sheared, turn * axis[0] / axis[1]);
        plan->resized |= high[0] > AW_RESIZED * low[0] || high[1] > AW_RESIZED * low[1];
        last = tilt;
    }
}

/* The smallest overtaking length on the way; where the optics are not known (the run will say why),
 * with the initial length of the bunch. */
static void find_shortest(const aw_config *config, aw_plan *plan)
{
    const aw_lattice *lattice = config->lattice;
    const double end = plan->end + plan->longest_step;
    aw_plan_bend *found = &plan->shortest;
    aw_optics *optics = NULL;
    found->sigma_s = config->beam.sigma_s;
    found->overtaking = plan->overtaking;
    plan->sheared = HUGE_VAL;
    if (aw_optics_new(lattice, &config->beam, config->motion == AW_MOTION_RIGID, &optics) != AW_OK)
        return;
    found->overtaking = 0.0;
    find_turning(config, optics, plan);
    for (size_t i = 0; i < optics->n; ++i) {
        const aw_optics_point *p = &optics->point[i];
        if (!p->end || p->kappa == 0.0) continue;
        if (p->S - lattice->element[p->element].length > end) break; /* --steps ends before it */
        const double length = aw_overtaking_length(p->shortest, p->kappa);
        if (found->overtaking > 0.0 && !(length < found->overtaking)) continue;
        *found = (aw_plan_bend){.S = p->shortest_S, .sigma_s = p->shortest, .overtaking = length};
        memcpy(found->name, lattice->element[p->element].name, sizeof found->name);
    }
    aw_optics_free(optics);
}

size_t aw_plan_slices(const aw_config *config, const aw_plan *plan)
{
    /* The line model knows no past; the meshes are made of the newest slice. */
    return config->line ? AW_FEWEST_SLICES : (size_t)plan->most_steps + 1;
}

/* Steps of the run, and where it ends. */
static aw_status plan_steps(const aw_config *config, aw_plan *plan)
{
    aw_schedule *schedule = NULL;
    aw_status status = AW_OK;
    int64_t tick = 0, step = 0;
    AW_TRY(aw_schedule_new(config, &schedule));
    plan->beta = schedule->beta;
    plan->steps = schedule->steps;
    plan->end = aw_schedule_S(schedule, schedule->end);
    plan->shortest_step = aw_schedule_ct(schedule, schedule->shortest);
    plan->longest_step = aw_schedule_ct(schedule, schedule->longest);
    if (config->steps > 0 && config->steps < plan->steps) {
        plan->steps = config->steps;
        for (long i = 0; i < plan->steps; ++i)
            tick += step = aw_schedule_step(schedule, tick, step, 0);
        plan->end = aw_schedule_S(schedule, tick);
    }
    plan->most_steps = plan->steps;
    if (config->step_m == AW_STEP_AUTO && config->motion == AW_MOTION_SELF_CONSISTENT)
        plan->most_steps += plan->steps / AW_EXTRA_STEPS + AW_EXTRA_SLICES;
    if (config->steps > 0 && config->steps < plan->most_steps) plan->most_steps = config->steps;
done:
    aw_schedule_free(schedule);
    return status;
}

/* Largest height between plates, in rms of the bunch, over half the gap: particles beyond it are
 * few enough to be neglected. */
#define AW_PLATES_REACH 3.0

/* Length of a grid, in rms of the bunch. */
#define AW_PLATES_SIZE 10.0

/* Images of the bunch between plates where they are most, at the end. */
static int images_between(const aw_config *config)
{
    const aw_lattice *lattice = config->lattice;
    const double size[2] = {AW_PLATES_SIZE * config->beam.sigma_s,
                            AW_PLATES_SIZE * config->beam.sigma_x};
    return aw_images_of(&lattice->orbit, lattice->length, config->plates_gap, size, 0.0);
}

/* Plates that touch the bunch, that need too many images, or that have no part in the forces. */
static aw_status check_plates(const aw_config *config)
{
    const char *const key = "numerics.plates_gap_m";
    const double gap = config->plates_gap;
    double S = 0.0, rms;
    if (!(gap > 0.0)) return AW_OK;
    if (config->line)
        return aw_config_error(config, AW_ERR_INPUT, key,
                               "has no part in forces: line (expected 0, or forces: full)");
    rms = sqrt(aw_vertical_size2(config->lattice, &config->beam, 0.0));
    for (size_t i = 0; i < config->lattice->n; ++i) {
        S += config->lattice->element[i].length;
        rms = fmax(rms, sqrt(aw_vertical_size2(config->lattice, &config->beam, S)));
    }
    if (2.0 * AW_PLATES_REACH * rms > gap)
        return aw_config_error(config, AW_ERR_INPUT, key,
                               "the bunch, up to %.3g m high (rms), reaches the plates with %g rms "
                               "(expected a gap of at least %.3g m)",
                               rms, AW_PLATES_REACH, 2.0 * AW_PLATES_REACH * rms);
    if (images_between(config) > AW_IMAGES_MOST)
        return aw_config_error(
            config, AW_ERR_INPUT, key,
            "needs more than %d images at the end of the lattice (expected a larger "
            "gap)",
            AW_IMAGES_MOST);
    return AW_OK;
}

aw_status aw_plan_make(const aw_config *config, aw_plan *plan)
{
    aw_status status = AW_OK;
    const aw_beam_params *beam = &config->beam;
    double gamma = beam->gamma, kappa = sharpest_curvature(config->lattice);
    *plan = (aw_plan){.steps = 0};
    AW_TRY(plan_steps(config, plan));
    plan->upstream_cut = fmin(config->upstream_m, 2.0 * gamma * gamma * 10.0 * beam->sigma_s);
    if (kappa > 0.0) {
        plan->radius = 1.0 / kappa;
        plan->overtaking = aw_overtaking_length(beam->sigma_s, kappa);
        plan->derbenev = beam->sigma_x / cbrt(beam->sigma_s * beam->sigma_s / kappa);
    }
    find_shortest(config, plan);
    plan->cells_s = 0.5 * (config->grid[0] - 4) / beam->cutoff_sigma;
    plan->cells_x = 0.5 * (config->grid[1] - 4) / beam->cutoff_sigma;
    plan->per_cell = (double)beam->particles / ((double)config->grid[0] * config->grid[1]);
    aw_history_params history = {.ns = config->grid[0],
                                 .nx = config->grid[1],
                                 .single = config->history_single,
                                 .slices = aw_plan_slices(config, plan)};
    plan->history_bytes = aw_history_bytes(&history);
    plan->other_bytes = aw_plan_other_bytes(config, plan);
done:
    return status;
}

static aw_status check_history(const aw_config *config, const aw_plan *plan)
{
    const double need = (double)plan->history_bytes / 1048576.0;
    const char *longer = config->step_m == AW_STEP_AUTO ? "step_scale" : "step_m";
    if (need <= config->history_MiB) return AW_OK;
    return aw_config_error(config, AW_ERR_INPUT, "numerics.history_MiB",
                           "the history of %ld steps needs %.3g MiB, the budget is %.3g MiB "
                           "(expected %.4g, history: single, %sa coarser grid or a larger %s)",
                           plan->steps, need, config->history_MiB, ceil(need),
                           config->accuracy > 0.0 ? "a larger accuracy, " : "", longer);
}

static aw_status check_particles(const aw_config *config)
{
    const double machine = (double)aw_memory_physical();
    const double most = machine / (double)AW_PARTICLE_BYTES * aw_comm_size();
    if (!(machine > 0.0) || (double)config->beam.particles <= most) return AW_OK;
    return aw_config_error(config, AW_ERR_NOMEM, "beam.particles",
                           "%zu particles need %.4g GiB, this machine has %.4g GiB (expected fewer "
                           "than %.2g)",
                           config->beam.particles,
                           (double)config->beam.particles * AW_PARTICLE_BYTES / 1073741824.0,
                           machine / 1073741824.0, most);
}

/* Fewer particles than nodes are no line. */
static aw_status check_line(const aw_config *config)
{
    const size_t nodes = (size_t)config->grid[0];
    if (!config->line || config->beam.particles >= nodes) return AW_OK;
    return aw_config_error(config, AW_ERR_INPUT, "beam.particles",
                           "%zu particles are no line on %zu nodes (expected at least as many, or "
                           "a smaller numerics.grid)",
                           config->beam.particles, nodes);
}

/* In a bend the coordinates (s, x) of a bunch as large as its circle are not unique. A rigid bunch
 * lies along the orbit, but its grid is straight, and only as wide as the bunch. */
static double longest_bunch(const aw_config *config, double radius)
{
    const aw_beam_params *beam = &config->beam;
    const double unique = 0.5 * radius / beam->cutoff_sigma;
    const double sagitta = 0.5 * beam->cutoff_sigma * beam->sigma_x;
    if (config->motion != AW_MOTION_RIGID) return unique;
    return fmin(unique, sqrt(2.0 * radius * sagitta) / beam->cutoff_sigma);
}

static aw_status check_size(const aw_config *config, const aw_plan *plan)
{
    const aw_beam_params *beam = &config->beam;
    const char *width = beam->emittance > 0.0 ? "beam.emittance_x_m" : "beam.sigma_x_m";
    const double widest = 0.5 * plan->radius / beam->cutoff_sigma;
    const double longest = longest_bunch(config, plan->radius);
    aw_status status = AW_OK;
    if (plan->radius > 0.0 && !(beam->sigma_x <= widest))
        status = aw_config_error(config, AW_ERR_INPUT, width,
                                 "the bunch of +-%g m is too wide for the bend of radius %.4g m "
                                 "(expected sigma_x of at most %.3g m)",
                                 beam->cutoff_sigma * beam->sigma_x, plan->radius, widest);
    if (plan->radius > 0.0 && !(beam->sigma_s <= longest))
        status =
            aw_config_error(config, AW_ERR_INPUT, "beam.sigma_s_m",
                            "the bunch of +-%g m is too long for the bend of radius %.4g m%s "
                            "(expected sigma_s of at most %.3g m)",
                            beam->cutoff_sigma * beam->sigma_s, plan->radius,
                            config->motion == AW_MOTION_RIGID ? " and rigid motion" : "", longest);
    return status;
}

/* A run warns of a larger relative error of the forces by the cut upstream. Grids of the usual
 * fineness smooth forces by as much (docs/theory.md). */
#define AW_UPSTREAM_ERROR 0.01

static aw_upstream_case upstream_case(const aw_config *config, const aw_plan *plan)
{
    const aw_beam_params *beam = &config->beam;
    return (aw_upstream_case){.gamma = beam->gamma,
                              .sigma_s = beam->sigma_s,
                              .sigma_x = beam->sigma_x,
                              .cutoff = beam->cutoff_sigma,
                              .radius = plan->radius,
                              .transients = config->upstream == AW_UPSTREAM_DRIFT ||
                                            config->upstream_m < aw_lattice_way(config->lattice)};
}

static aw_status check_upstream(const aw_config *config, const aw_plan *plan)
{
    if (config->line) return AW_OK;
    const aw_upstream_case c = upstream_case(config, plan);
    const double least = aw_upstream_least(&c);
    if (config->upstream_m >= least) return AW_OK;
    return aw_config_error(config, AW_ERR_INPUT, "numerics.upstream_m",
                           "%g m is below %s, %.3g m (expected %.3g m or more, for errors of the "
                           "forces below %g %%)",
                           config->upstream_m,
                           fabs(least - plan->overtaking) < 1e-9 * least
                               ? "the overtaking length"
                               : "the distance over which the bunch acts on itself",
                           least, aw_upstream_needed(&c, AW_UPSTREAM_ERROR),
                           100.0 * AW_UPSTREAM_ERROR);
}

static int warn_upstream(const aw_config *config, const aw_plan *plan)
{
    if (config->line) return 0;
    const aw_upstream_case c = upstream_case(config, plan);
    if (config->upstream_m < aw_upstream_least(&c)) return 0; /* refused by aw_plan_check */
    const double error = aw_upstream_error(&c, config->upstream_m);
    if (error <= AW_UPSTREAM_ERROR) return 0;
    aw_config_warn(config, "numerics.upstream_m",
                   "sources more than %g m back make up to %.2g %% of the forces and are "
                   "ignored (use %.3g m or more for %g %%)",
                   config->upstream_m, 100.0 * error, aw_upstream_needed(&c, AW_UPSTREAM_ERROR),
                   100.0 * AW_UPSTREAM_ERROR);
    return 1;
}

aw_status aw_plan_check(const aw_config *config, const aw_plan *plan)
{
    const aw_status particles = check_particles(config);
    const aw_status history = check_history(config, plan);
    aw_status bunch = check_size(config, plan);
    if (bunch == AW_OK) bunch = check_upstream(config, plan); /* depends on the size */
    if (bunch == AW_OK) bunch = check_line(config);
    if (bunch == AW_OK) bunch = check_plates(config);
    return bunch ? bunch : particles ? particles : history;
}

/* The longest step that resolves the forces in edges, cut to two digits [m]. */
static double longest_step(double overtaking)
{
    const double step = overtaking / AW_STEPS_PER_OVERTAKING, unit = pow(10.0, floor(log10(step)));
    return floor(10.0 * step / unit) * unit / 10.0;
}

static int is_too_long(double step, double overtaking)
{
    return overtaking > 0.0 && step > overtaking / AW_STEPS_PER_OVERTAKING;
}

/* 0.17 (k h)^4 of a wave of k = 1.5/sigma_s is 1 % (docs/theory.md, "Line model"). */
static int warn_nodes(const aw_config *config)
{
    const double nodes = aw_line_resolution(config->grid[0], 2.0 * config->beam.cutoff_sigma);
    if (!config->line || nodes >= AW_FEWEST_NODES) return 0;
    aw_warn(
        "%.1f nodes of the line per sigma_s: forces are off by more than 1 %% (use grid: [%.0f, "
        "...] or more)",
        nodes, ceil(AW_FEWEST_NODES / nodes * config->grid[0]));
    return 1;
}

/* With a random start the noise of a force is that of the density at a node, 1/sqrt(number), times
 * (sigma_s over the spacing)^(1/3). Measured in the steady state of the LCLS bend, 128 nodes: the
 * largest force is off by 6 % at 400 a node; with a quiet start by 0.01 % at 20 and 1.5 % at 16. */
static int warn_noise(const aw_config *config)
{
    const double number = (double)config->beam.particles / config->grid[0];
    if (!config->line || number >= (config->beam.quiet ? 20.0 : 400.0)) return 0;
    aw_warn("%.3g macro-particles per node of the line: shot noise of the forces will exceed a few "
            "per cent (more particles, a coarser grid%s)",
            number, aw_config_quieter(config));
    return 1;
}

int aw_plan_warn(const aw_config *config, const aw_plan *plan)
{
    const aw_beam_params *beam = &config->beam;
    int n = 0;
    if (is_too_long(config->step_m, plan->shortest.overtaking)) {
        const aw_plan_bend *bend = &plan->shortest;
        aw_warn("step_m = %g m is more than 1/%g of the overtaking length %.3g m of the bunch in "
                "%s, where sigma_s is %.3g um at S = %.4g m: forces in edges will be smeared (use "
                "%.2g m or less)",
                config->step_m, AW_STEPS_PER_OVERTAKING, bend->overtaking, bend->name,
                1e6 * bend->sigma_s, bend->S, longest_step(bend->overtaking));
        n++;
    }
    n += warn_upstream(config, plan);
    n += warn_nodes(config) + warn_noise(config);
    if (!config->line && plan->cells_s < AW_FEWEST_CELLS) {
        aw_warn("%.1f grid cells per sigma_s: forces are off by more than 1 %% (use grid: "
                "[%.0f, ...] or more)",
                plan->cells_s, ceil(2.0 * AW_FEWEST_CELLS * beam->cutoff_sigma + 4.0));
        n++;
    }
    if (!config->line && plan->per_cell < (beam->quiet ? 2.0 : 20.0)) {
        aw_warn("%.2g macro-particles per grid cell: shot noise of the forces will exceed a few "
                "per cent (more particles%s)",
                plan->per_cell, aw_config_quieter(config));
        n++;
    }
    if (plan->derbenev > 1.0) {
        aw_warn("Derbenev number sigma_x/(R sigma_s^2)^(1/3) = %.2g: the bunch is wide; one-"
                "dimensional formulas do not hold for comparison",
                plan->derbenev);
        n++;
    }
    if (plan->radius > 0.0 && beam->gamma < 10.0 * cbrt(plan->radius / beam->sigma_s)) {
        aw_warn("gamma = %.3g is not far above (R/sigma_s)^(1/3) = %.3g: space charge is part of "
                "the answer, one-dimensional CSR formulas are not a reference",
                beam->gamma, cbrt(plan->radius / beam->sigma_s));
        n++;
    }
    return n;
}

double aw_plan_cells(const aw_plan_bunch *bunch)
{
    return bunch->h_s > 0.0 ? bunch->sigma_s / bunch->h_s : INFINITY;
}

static double overtaking_of(const aw_plan_bunch *bunch)
{
    return bunch->kappa != 0.0 ? aw_overtaking_length(bunch->sigma_s, bunch->kappa) : 0.0;
}

int aw_plan_broken(const aw_config *config, const aw_plan *plan, const aw_plan_bunch *bunch)
{
    const int expected = is_too_long(config->step_m, plan->shortest.overtaking);
    const double fewest = fmin(AW_FEWEST_CELLS, 0.5 * plan->cells_s);
    int broken = 0;
    /* a ladder of longer steps is what was asked for */
    const double scale = config->step_m == AW_STEP_AUTO ? fmax(config->step_scale, 1.0) : 1.0;
    if (!expected && is_too_long(bunch->step / scale, overtaking_of(bunch))) broken |= AW_RULE_STEP;
    if (!config->line && aw_plan_cells(bunch) < fewest) broken |= AW_RULE_CELLS;
    if (!config->line && bunch->spike < fmin(AW_FEWEST_IN_SPIKE, fewest) * bunch->h_s)
        broken |= AW_RULE_SPIKE;
    return broken;
}

void aw_plan_warn_broken(const aw_plan_bunch *bunch, int broken)
{
    const double overtaking = overtaking_of(bunch), cells = aw_plan_cells(bunch);
    if (broken & AW_RULE_STEP)
        aw_warn("S = %.4g m: sigma_s has become %.3g um, and step_m = %g m is more than 1/%g of "
                "the overtaking length %.3g m: forces in edges are smeared (use %.2g m or less)",
                bunch->S, 1e6 * bunch->sigma_s, bunch->step, AW_STEPS_PER_OVERTAKING, overtaking,
                longest_step(overtaking));
    if (broken & AW_RULE_CELLS)
        aw_warn("S = %.4g m: %.1f grid cells per sigma_s, which has become %.3g um in a bunch with "
                "long tails: forces are off by about %.0f %% (use a finer grid)",
                bunch->S, cells, 1e6 * bunch->sigma_s,
                fmin(100.0 * AW_GRID_ERROR / pow(cells, 5.0), 100.0));
    if (broken & AW_RULE_SPIKE)
        aw_warn("S = %.4g m: the peak of the current is %.3g um wide (rms), %.1f grid cells: its "
                "height, and the forces about it, are limited by the grid (use a finer grid, and "
                "certify)",
                bunch->S, 1e6 * bunch->spike, bunch->spike / bunch->h_s);
}
