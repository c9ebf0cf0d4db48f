/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/plan.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "kernels/math/interpolated_cells.h"
#include "kernels/math/tile.h"
#include "kernels/multi/devices.h"
#include "pic/deposit.h"
#include "pic/history.h"
#include "pic/line/line.h"
#include "quadrature/rules/refine.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/threads.h"
#include "src/input/place.h"
#include "src/simulation/optics.h"
#include "src/simulation/schedule.h"
#include "src/simulation/upstream.h"
#include "src/solvers/solver.h"

/* What the program and its libraries take beyond what they have at the start: HDF5 and OpenMP, when
 * they are first used. */
#define AW_LIBRARY_BYTES ((size_t)6 << 20)
/* Cells of the starting partition per node along the longer side. */
#define AW_LISTED_REGIONS ((size_t)8)
/* Regions in the lists of `two-phase` per point of a block: predicts the peaks of the LCLS bend
 * with 32 to 128 nodes, at tolerances of 1e-4 and 1e-6, within 15 %. */
#define AW_POINT_REGIONS(side) (180 + 16 * (size_t)(side) / 5)
/* Regions of the points at which scales are found and errors are measured, of any strategy; more
 * with leftovers, which are refined by so many regions. */
#define AW_SAMPLED_REGIONS ((size_t)30000)
/* What `projection` lists to find its first rules, and what the step that is left to another
 * strategy then takes. */
#define AW_FIRST_RULES_BYTES ((size_t)12 << 20)
/* More of that below this tolerance, where the first steps are left to it as a rule. */
#define AW_FALLBACK_BYTES ((size_t)32 << 20)
#define AW_FALLBACK_TOLERANCE 5e-6
/* Per particle while a file of particles is written: five numbers for the file, its image in HDF5,
 * and the copy that is stored. */
#define AW_WRITTEN_BYTES ((size_t)15 * sizeof(double))
/* Arrays of access patterns of `predictive`, and the workspace of a tile. */
#define AW_PATTERNS ((size_t)6)
#define AW_TILE_BYTES (sizeof(aw_tile) + sizeof(aw_tile_place) + 6 * AW_RESULTS * AW_TILE * 8)

/* Error of the forces by the grid, times the fourth power of the cells per sigma_s, and the cells
 * below which it exceeds 1 % (docs/theory.md, "Accuracy"). */
#define AW_GRID_ERROR 0.37
#define AW_FEWEST_CELLS 2.5
/* Nodes of a line per sigma_s below which a run warns. */
#define AW_FEWEST_NODES 3.0
/* Slices of a history, at least. */
#define AW_FEWEST_SLICES ((size_t)4)
/* Coordinates, start, forces and element of a macro-particle. */
#define AW_PARTICLE_BYTES (9 * sizeof(double) + sizeof(int32_t))

/* Slices beyond those of the steps that a run may add: steps at the changes of the ladder. */
#define AW_EXTRA_SLICES 8

/* Entries in a table of `projection` per node along the longer side. */
#define AW_TABLE_ENTRIES ((size_t)8)

/* Addresses for what libraries allocate during a run, which the prediction of the resident memory
 * has as part of AW_LIBRARY_BYTES; and a quarter of the rest, since blocks grow by halves. */
#define AW_ADDRESS_BYTES ((size_t)64 << 20)

int aw_plan_threads(const aw_config *config)
{
    return config->threads > 0 ? config->threads : omp_get_max_threads();
}

static double sharpest_curvature(const aw_lattice *lattice)
{
    double kappa = 0.0;
    for (int i = 0; i < lattice->orbit.n; ++i)
        kappa = fmax(kappa, fabs(lattice->orbit.piece[i].kappa));
    return kappa;
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
    if (aw_optics_new(lattice, &config->beam, config->motion == AW_MOTION_RIGID, &optics) != AW_OK)
        return;
    found->overtaking = 0.0;
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

static int is_projection(const aw_config *config)
{
    return strcmp(config->solver, "projection") == 0;
}

/* Whether the strategy has a slice cache: slices a second time, as lines for tiles. */
static int has_clusters(const aw_config *config)
{
    static const char *const name[] = {"predictive", "heterogeneous", "heuristic"};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; ++i)
        if (strcmp(config->solver, name[i]) == 0) return 1;
    return is_projection(config);
}

/* Additional memory of `projection`: sums and checks of its zones, interpolated slices of common
 * nodes, tables, and the spectra of convolutions. */
static size_t projection_bytes(const aw_config *config, size_t nodes, size_t threads)
{
    const aw_history_view view = {.ns = config->grid[0], .nx = config->grid[1]};
    const size_t side = (size_t)(view.ns > view.nx ? view.ns : view.nx);
    const size_t slices = AW_COMMON_LINES * aw_interpolated_lines_size(&view) * sizeof(float);
    const size_t tables = AW_COMMON_BATCH * AW_TABLE_ENTRIES * side * AW_RESULTS * sizeof(double);
    if (!is_projection(config)) return 0;
    const size_t fallback = config->tolerance < AW_FALLBACK_TOLERANCE ? AW_FALLBACK_BYTES : 0;
    return AW_FIRST_RULES_BYTES + fallback + nodes * (3 * AW_RESULTS + 2) * sizeof(double) +
           slices + tables + aw_cpu_convolver_bytes(view.ns, view.nx, (int)threads);
}

/* Memory of each thread of the CPU device: a pool of regions, and interpolated slices as cells or
 * as lines (of at most three spacings, usually one). */
static size_t thread_bytes(const aw_config *config)
{
    const aw_history_view view = {.ns = config->grid[0], .nx = config->grid[1]};
    const size_t pool = AW_REFINE_MAX * (sizeof(aw_region) + sizeof(uint32_t));
    if (!has_clusters(config)) return pool + aw_interpolated_cells_size(&view) * sizeof(double);
    return pool + aw_interpolated_lines_size(&view) * sizeof(double) +
           AW_CLUSTER_TILES * AW_TILE_BYTES;
}

/* Memory of the strategies with clusters: the slice cache, assumed to go back to the start of the
 * run, for `projection` with lines along x, too; and access patterns, three rows of numbers per
 * tile. */
static size_t cluster_bytes(const aw_config *config, size_t nodes, size_t slices)
{
    const aw_history_view view = {.ns = config->grid[0], .nx = config->grid[1]};
    const size_t line = aw_interpolated_lines_size(&view) / 2 * sizeof(float);
    const size_t cells = AW_LISTED_REGIONS * (size_t)(view.ns > view.nx ? view.ns : view.nx);
    if (!has_clusters(config)) return 0;
    const size_t kinds = is_projection(config) ? 2 : 1;
    return kinds * slices * line + nodes / AW_TILE * cells * AW_PATTERNS * sizeof(float) +
           nodes * (AW_RESULTS + 1) * sizeof(double);
}

/* Number of devices of a kind that the input requests; of any kind for "". */
static size_t devices_of_kind(const aw_config *config, const char *kind)
{
    size_t n = 0;
    for (const char *entry = config->device; entry; entry = strchr(entry, ',')) {
        entry += *entry == ',';
        n += strncmp(entry, kind, strlen(kind)) == 0;
    }
    return n;
}

/* Additional memory of several devices: a slice cache for each, a copy of the history for each
 * many-core device, and the sums over the devices. */
static size_t several_devices_bytes(const aw_config *config, size_t nodes, size_t slices,
                                    size_t history)
{
    const size_t n = devices_of_kind(config, ""), copies = devices_of_kind(config, "manycore");
    return (n - 1) * cluster_bytes(config, nodes, slices) + copies * history +
           (n > 1 ? aw_multi_bytes((int)n, nodes) : 0);
}

/* Points in a block of the solver. */
static size_t block_points(const aw_config *config, size_t nodes)
{
    const size_t gpus = devices_of_kind(config, "cuda"),
                 others = devices_of_kind(config, "") - gpus;
    const size_t requested =
        (others * AW_LIST_POINTS + gpus * AW_GPU_LIST_POINTS) * (size_t)aw_comm_size();
    const size_t limit = requested < AW_POINT_BLOCK ? requested : AW_POINT_BLOCK;
    return nodes < limit ? nodes : limit;
}

/* What the strategy takes; where none works, what the device has for each thread. */
static size_t solver_bytes(const aw_config *config, size_t nodes, size_t slices)
{
    const size_t threads = (size_t)aw_plan_threads(config);
    if (config->line) return threads * thread_bytes(config);
    const int side = config->grid[0] > config->grid[1] ? config->grid[0] : config->grid[1];
    size_t lists = AW_SAMPLED_REGIONS * sizeof(aw_region);
    if (strcmp(config->solver, "two-phase") == 0)
        lists = AW_POINT_REGIONS(side) * block_points(config, nodes) * sizeof(aw_region);
    return threads * thread_bytes(config) + lists + cluster_bytes(config, nodes, slices) +
           projection_bytes(config, nodes, threads);
}

static size_t other_bytes(const aw_config *config, size_t slices)
{
    size_t nodes = (size_t)config->grid[0] * (size_t)config->grid[1];
    size_t slice = aw_slice_bytes(config->grid[0], config->grid[1], 0);
    size_t per_node = sizeof(aw_field_point) + (AW_RESULTS + 1 + 12) * sizeof(double);
    return aw_memory_now() + AW_LIBRARY_BYTES + solver_bytes(config, nodes, slices) +
           AW_DEPOSIT_GRIDS * slice + nodes * per_node +
           config->beam.particles * (AW_PARTICLE_BYTES + AW_WRITTEN_BYTES) +
           (config->line ? aw_line_bytes(config->grid[0], config->beam.particles) : 0);
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
    plan->other_bytes =
        other_bytes(config, history.slices) +
        several_devices_bytes(config, (size_t)config->grid[0] * (size_t)config->grid[1],
                              history.slices, plan->history_bytes);
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
                           "%zu particles need %.3g GiB, this machine has %.3g GiB (expected fewer "
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
                                            config->upstream_m < config->lattice->length};
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

aw_status aw_plan_memory(const aw_config *config, const aw_plan *plan)
{
    const size_t all = plan->history_bytes + plan->other_bytes, now = aw_memory_now();
    const char *limit;
    size_t need = all > now ? all - now : 0;
    if (aw_memory_addresses_left() != SIZE_MAX)
        need += need / 4 + AW_ADDRESS_BYTES +
                (size_t)(aw_plan_threads(config) - 1) * aw_threads_stack();
    const size_t left = aw_memory_left(&limit);
    if (need <= left) return AW_OK;
    return aw_error(AW_ERR_NOMEM,
                    "the run needs about %.0f MiB more, but %s leaves %.0f MiB (raise that, or use "
                    "fewer particles, threads or steps, a coarser grid, or history: single)",
                    (double)need / 1048576.0, limit, (double)left / 1048576.0);
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
            number, config->beam.quiet ? "" : ", or sampling: quiet");
    return 1;
}

int aw_plan_warn(const aw_config *config, const aw_plan *plan)
{
    const aw_beam_params *beam = &config->beam;
    int n = 0;
    if (is_too_long(config->step_m, plan->shortest.overtaking)) {
        const aw_plan_bend *bend = &plan->shortest;
        aw_warn("step_m = %g m is more than 1/20 of the overtaking length %.3g m of the bunch in "
                "%s, where sigma_s is %.3g um at S = %.4g m: forces in edges will be smeared (use "
                "%.2g m or less)",
                config->step_m, bend->overtaking, bend->name, 1e6 * bend->sigma_s, bend->S,
                longest_step(bend->overtaking));
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
                plan->per_cell, beam->quiet ? "" : ", or sampling: quiet");
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

static double cells_of(const aw_plan_bunch *bunch)
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
    if (!config->line && cells_of(bunch) < fewest) broken |= AW_RULE_CELLS;
    return broken;
}

void aw_plan_warn_broken(const aw_plan_bunch *bunch, int broken)
{
    const double overtaking = overtaking_of(bunch), cells = cells_of(bunch);
    if (broken & AW_RULE_STEP)
        aw_warn("S = %.4g m: sigma_s has become %.3g um, and step_m = %g m is more than 1/20 of "
                "the overtaking length %.3g m: forces in edges are smeared (use %.2g m or less)",
                bunch->S, 1e6 * bunch->sigma_s, bunch->step, overtaking, longest_step(overtaking));
    if (broken & AW_RULE_CELLS)
        aw_warn("S = %.4g m: %.1f grid cells per sigma_s, which has become %.3g um in a bunch with "
                "long tails: forces are off by about %.0f %% (use a finer grid)",
                bunch->S, cells, 1e6 * bunch->sigma_s,
                fmin(100.0 * AW_GRID_ERROR / pow(cells, 4.0), 100.0));
}
