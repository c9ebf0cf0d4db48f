/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/plan_memory.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "kernels/math/interpolated_cells.h"
#include "kernels/math/tile.h"
#include "kernels/multi/devices.h"
#include "pic/deposit.h"
#include "pic/line/line.h"
#include "quadrature/rules/refine.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/threads.h"
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
#define AW_FIRST_RULES_BYTES ((size_t)3 << 20)
/* More of that below this tolerance, where the first steps are left to it as a rule. */
#define AW_FALLBACK_BYTES ((size_t)32 << 20)
#define AW_FALLBACK_TOLERANCE 5e-6
/* Per node for vector potentials: in the forces, in the gather, and the force of the check. */
#define AW_VECTOR_NUMBERS 17
/* Per particle while a file of particles is written: five numbers for the file, its image in HDF5,
 * and the copy that is stored. */
#define AW_WRITTEN_BYTES ((size_t)15 * sizeof(double))
/* Arrays of access patterns of `predictive`, and the workspace of a tile. */
#define AW_PATTERNS ((size_t)6)
#define AW_TILE_BYTES (sizeof(aw_tile) + sizeof(aw_tile_place) + 6 * AW_RESULTS * AW_TILE * 8)
/* Entries in a table of `projection` per node along the longer side. */
#define AW_TABLE_ENTRIES ((size_t)8)
/* Directions that a thread has in memory while it makes the table of a passage: of the beam's looks
 * and of their means, and one of scratch. */
#define AW_TABLE_DIRECTIONS ((size_t)(2 * (AW_PROJECTION_ORDER + 1) + 1))

/* Addresses for what libraries allocate during a run, which the prediction of the resident memory
 * has as part of AW_LIBRARY_BYTES; and a quarter of the rest, since blocks grow by halves. */
#define AW_ADDRESS_BYTES ((size_t)64 << 20)

/* Tables of passages in memory at once that have as many directions as there can be, where a thin
 * bunch lies at an angle to its motion: half of a batch, in blocks that grow by halves. */
#define AW_PASSAGES ((size_t)AW_COMMON_BATCH * 3 / 4)

int aw_plan_threads(const aw_config *config)
{
    return config->threads > 0 ? config->threads : omp_get_max_threads();
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

/* The convolutions' memory where slices are turned and of other spacings against the grid as far as
 * the optics let expect: then their lattices reach beyond the grid. */
static size_t convolver_bytes(const aw_config *config, const aw_plan *plan, size_t threads)
{
    const double part = 0.5 * plan->sheared + (plan->resized ? 0.5 * (exp2(0.25) - 1.0) : 0.0);
    const double beyond[2] = {part * config->grid[0], part * config->grid[1]};
    return aw_cpu_convolver_bytes(config->grid, beyond, (int)threads, aw_plan_slices(config, plan));
}

/* Tables of passages of a bunch that the optics let expect at an angle to its motion. */
static size_t passage_bytes(const aw_plan *plan, size_t side)
{
    const size_t entries = (AW_PROJECTION_ORDER + 1) * AW_TABLE_ENTRIES * side;
    const size_t table = entries * AW_PROJECTION_WIDTH * sizeof(float);
    return plan->sheared > 0.0 ? AW_PASSAGES * table : 0;
}

/* Additional memory of `projection`: sums and checks of its zones, interpolated slices of common
 * nodes, tables, and the spectra of convolutions. */
static size_t projection_bytes(const aw_config *config, const aw_plan *plan, size_t nodes,
                               size_t threads)
{
    const aw_history_view view = {.ns = config->grid[0], .nx = config->grid[1]};
    const size_t side = (size_t)(view.ns > view.nx ? view.ns : view.nx);
    const size_t slices = AW_COMMON_LINES * aw_interpolated_lines_size(&view) * sizeof(float);
    const size_t tables = AW_COMMON_BATCH * AW_TABLE_ENTRIES * side * AW_RESULTS * sizeof(double);
    const size_t making = threads * AW_TABLE_DIRECTIONS * AW_TABLE_ENTRIES * side *
                          AW_PROJECTION_WIDTH * sizeof(double);
    if (!is_projection(config)) return 0;
    const size_t fallback = config->tolerance < AW_FALLBACK_TOLERANCE ? AW_FALLBACK_BYTES : 0;
    return AW_FIRST_RULES_BYTES + fallback + nodes * (3 * AW_RESULTS + 2) * sizeof(double) +
           slices + tables + passage_bytes(plan, side) + making +
           convolver_bytes(config, plan, threads);
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
static size_t solver_bytes(const aw_config *config, const aw_plan *plan, size_t nodes,
                           size_t slices)
{
    const size_t threads = (size_t)aw_plan_threads(config);
    if (config->line) return threads * thread_bytes(config);
    const int side = config->grid[0] > config->grid[1] ? config->grid[0] : config->grid[1];
    size_t lists = AW_SAMPLED_REGIONS * sizeof(aw_region);
    if (strcmp(config->solver, "two-phase") == 0)
        lists = AW_POINT_REGIONS(side) * block_points(config, nodes) * sizeof(aw_region);
    return threads * thread_bytes(config) + lists + cluster_bytes(config, nodes, slices) +
           projection_bytes(config, plan, nodes, threads);
}

size_t aw_plan_other_bytes(const aw_config *config, const aw_plan *plan)
{
    const size_t slices = aw_plan_slices(config, plan);
    const size_t nodes = (size_t)config->grid[0] * (size_t)config->grid[1];
    const size_t slice = aw_slice_bytes(config->grid[0], config->grid[1], 0);
    const size_t per_node =
        sizeof(aw_field_point) + (AW_RESULTS + 1 + 12 + AW_VECTOR_NUMBERS) * sizeof(double);
    return aw_memory_now() + AW_LIBRARY_BYTES + solver_bytes(config, plan, nodes, slices) +
           AW_DEPOSIT_GRIDS * slice + nodes * per_node +
           config->beam.particles *
               (AW_PARTICLE_BYTES + AW_WRITTEN_BYTES + (config->isr ? sizeof(double) : 0)) +
           (config->wakes > 0
                ? aw_wake_bunch_bytes(aw_wake_nodes(config->beam.particles), config->beam.particles)
                : 0) +
           (config->line ? aw_line_bytes(config->grid[0], config->beam.particles) : 0) +
           several_devices_bytes(config, nodes, slices, plan->history_bytes);
}

int aw_plan_memory_text(const aw_config *config, const aw_plan *plan, char *text, size_t size)
{
    const size_t all = plan->history_bytes + plan->other_bytes, now = aw_memory_now();
    const char *limit;
    size_t need = all > now ? all - now : 0;
    if (aw_memory_addresses_left() != SIZE_MAX)
        need += need / 4 + AW_ADDRESS_BYTES +
                (size_t)(aw_plan_threads(config) - 1) * aw_threads_stack();
    const size_t left = aw_memory_left(&limit);
    if (need <= left) return 0;
    snprintf(
        text, size,
        "the run needs about %.0f MiB more, but %s leaves %.0f MiB (raise that, or use %sfewer "
        "particles, threads or steps, a coarser grid, or history: single)",
        (double)need / 1048576.0, limit, (double)left / 1048576.0,
        config->accuracy > 0.0 ? "a larger accuracy, " : "");
    return 1;
}

aw_status aw_plan_memory(const aw_config *config, const aw_plan *plan)
{
    char text[320];
    if (!aw_plan_memory_text(config, plan, text, sizeof text)) return AW_OK;
    return aw_error(AW_ERR_NOMEM, "%s", text);
}
