/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench --patterns FILE`: how unevenly the work is distributed over the points
 * (dissertation 3.2.2): the work at every point, and for a few points the partition and the slices
 * that it uses. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu/simd/simd.h"
#include "kernels/math/retarded.h"
#include "quadrature/rules/refine.h"
#include "src/base/memory.h"
#include "src/bench/case.h"
#include "src/io/json.h"

/* Points whose partitions are written: positions as fractions of the sides of the grid. */
enum { SHOWN = 4 };
/* Significant digits of lengths and of mean counts in the file. */
enum { LENGTH_DIGITS = 9, COUNT_DIGITS = 4 };
static const double places[SHOWN][2] = {{0.25, 0.5}, {0.5, 0.5}, {0.75, 0.5}, {0.5, 0.75}};

/* A region of the adaptive strategy's final partition of a point. */
typedef struct leaf {
    double a, b;   /* from, to [m] */
    double halves; /* how often its starting region was halved */
} leaf;

/* Work of the adaptive strategy, run on one point at a time so that each has its own count. */
typedef struct pattern_map {
    aw_simulation *sim;
    aw_partition *partition;
    double *evaluations, *regions, *nodes; /* owned, [sim->field.nodes] each */
    aw_patterns shown;                     /* subregions used at the shown points */
    size_t at[SHOWN];                      /* their indices in the grid */
    leaf *leaves[SHOWN];                   /* their final partitions, owned */
    size_t leaf_count[SHOWN];
} pattern_map;

/* Subregions in each slice interval of one point. */
typedef struct slice_counts {
    size_t slices;
    double *n;   /* owned, [slices] */
    double *age; /* owned, [slices + 1]: ends of the intervals [m] */
} slice_counts;

/* Workspace of one thread. */
typedef struct pattern_workspace {
    aw_refine_space refine;
    aw_region *start;
} pattern_workspace;

typedef struct node_context {
    const aw_variant *variant;
    const aw_simulation *sim;
    aw_work *work;
} node_context;

static void node(void *context, uint32_t point, double r, double f_in[AW_RESULTS])
{
    const node_context *c = context;
    c->variant->inner(c->sim->field.view, &c->sim->field.point[point], r,
                      c->sim->config->inner_density, f_in, c->work);
}

static void workspace_free(pattern_workspace *space)
{
    aw_refine_space_free(&space->refine);
    aw_free(space->start);
}

static aw_status workspace_make(pattern_workspace *space, size_t cells)
{
    space->start = aw_alloc(cells + 1, sizeof(aw_region));
    return space->start ? aw_refine_space_make(&space->refine) : AW_ERR_NOMEM;
}

/* The final partition of a shown point. */
static aw_status copy_leaves(const pattern_workspace *space, const aw_job *job, leaf **out)
{
    leaf *leaves = *out = aw_alloc(job->regions, sizeof *leaves);
    if (!leaves) return AW_ERR_NOMEM;
    for (size_t i = 0; i < job->regions; ++i) {
        const aw_region *region = &space->refine.region[i];
        size_t k = 0;
        while (k + 1 < job->count && space->start[k + 1].a <= region->a) ++k;
        const double start = space->start[k].b - space->start[k].a;
        leaves[i] = (leaf){region->a, region->b, log2(start / (region->b - region->a))};
    }
    return AW_OK;
}

static aw_status refine_point(pattern_map *map, const aw_scales *scales, uint32_t p,
                              pattern_workspace *space)
{
    const aw_simulation *sim = map->sim;
    aw_work work = {0};
    node_context context = {aw_variant_find(NULL), sim, &work};
    aw_job job = {.tolerance = sim->config->tolerance};
    int shown = -1;
    for (int k = 0; k < SHOWN; ++k)
        if (map->at[k] == p) shown = k;
    if (shown >= 0) {
        job.edge = map->shown.edge;
        job.cells = map->shown.cells;
        job.leaves = &map->shown.need[(size_t)shown * job.cells];
    }
    job.count = aw_partition_regions(map->partition, sim->field.view, &sim->field.point[p], p,
                                     space->start);
    aw_refine_job(space->start, &job, &(aw_nodes){node, &context}, scales, &space->refine, &work);
    map->evaluations[p] = (double)work.evaluations;
    map->nodes[p] = (double)work.nodes;
    map->regions[p] = (double)job.regions;
    if (job.status != AW_OK || shown < 0) return job.status;
    map->leaf_count[shown] = job.regions;
    return copy_leaves(space, &job, &map->leaves[shown]);
}

static aw_status map_fill(pattern_map *map, const aw_problem *problem)
{
    aw_simulation *sim = map->sim;
    aw_status status = AW_OK;
    map->evaluations = aw_alloc(sim->field.nodes, sizeof(double));
    map->regions = aw_alloc(sim->field.nodes, sizeof(double));
    map->nodes = aw_alloc(sim->field.nodes, sizeof(double));
    AW_TRY(map->evaluations && map->regions && map->nodes ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(aw_partition_new(&map->partition));
    AW_TRY(aw_partition_make(map->partition, sim->field.view, &problem->centre, problem->half));
    AW_TRY(aw_patterns_shape(&map->shown, map->partition, SHOWN));
    aw_patterns_clear(&map->shown);
    int worst = AW_OK;
#pragma omp parallel reduction(max : worst)
    {
        pattern_workspace space = {.start = NULL};
        aw_status mine = workspace_make(&space, map->partition->n);
#pragma omp for schedule(dynamic, 16)
        for (ptrdiff_t p = 0; p < (ptrdiff_t)sim->field.nodes; ++p)
            if (mine == AW_OK) mine = refine_point(map, &problem->scales, (uint32_t)p, &space);
        workspace_free(&space);
        worst = (int)mine;
    }
    if (worst != AW_OK)
        AW_TRY(aw_error((aw_status)worst, "patterns: %s", aw_status_text((aw_status)worst)));
done:
    return status;
}

static void map_free(pattern_map *map)
{
    aw_partition_free(map->partition);
    aw_patterns_free(&map->shown);
    aw_free(map->evaluations);
    aw_free(map->regions);
    aw_free(map->nodes);
    for (int k = 0; k < SHOWN; ++k) aw_free(map->leaves[k]);
}

/* A number for each point: an array of the rows of the grid. */
static void add_map(aw_json *json, const char *key, const double *value, const aw_grid_view *grid)
{
    aw_json_begin_array(json, key);
    for (int j = 0; j < grid->nx; ++j) {
        aw_json_begin_array(json, NULL);
        for (int i = 0; i < grid->ns; ++i)
            aw_json_integer(json, NULL, llrint(value[(size_t)j * (size_t)grid->ns + (size_t)i]));
        aw_json_end_array(json);
    }
    aw_json_end_array(json);
}

/* Two numbers, along s and x. */
static void add_pair(aw_json *json, const char *key, double s, double x)
{
    aw_json_begin_array(json, key);
    aw_json_number(json, NULL, s, LENGTH_DIGITS);
    aw_json_number(json, NULL, x, LENGTH_DIGITS);
    aw_json_end_array(json);
}

/* The subregions in each slice interval, up to the last interval that has any. */
static void add_slices(aw_json *json, const char *key, const aw_patterns *patterns, size_t row,
                       const slice_counts *counts)
{
    size_t slices = counts->slices;
    aw_patterns_by_slice(patterns, &patterns->need[row * patterns->cells], counts->age, slices,
                         counts->n);
    while (slices > 0 && !(counts->n[slices - 1] > 0.0)) --slices;
    aw_json_begin_array(json, key);
    for (size_t i = 0; i < slices; ++i) aw_json_number(json, NULL, counts->n[i], COUNT_DIGITS);
    aw_json_end_array(json);
}

/* The k-th of the shown points. */
static void add_point(aw_json *json, const pattern_map *map, size_t k, const aw_patterns *record,
                      const slice_counts *counts)
{
    const aw_grid_view *grid = &map->sim->field.frame.grid;
    const size_t i = map->at[k] % (size_t)grid->ns, j = map->at[k] / (size_t)grid->ns;
    aw_json_begin_object(json, NULL);
    aw_json_begin_array(json, "node");
    aw_json_integer(json, NULL, (long long)i);
    aw_json_integer(json, NULL, (long long)j);
    aw_json_end_array(json);
    aw_json_number(json, "s_m", ((double)i - 0.5 * (grid->ns - 1)) * grid->hs, AW_BENCH_DIGITS);
    aw_json_number(json, "x_m", ((double)j - 0.5 * (grid->nx - 1)) * grid->hx, AW_BENCH_DIGITS);
    aw_json_begin_array(json, "leaves_m");
    for (size_t l = 0; l < map->leaf_count[k]; ++l) {
        const leaf *one = &map->leaves[k][l];
        aw_json_begin_array(json, NULL);
        aw_json_number(json, NULL, one->a, LENGTH_DIGITS);
        aw_json_number(json, NULL, one->b, LENGTH_DIGITS);
        aw_json_integer(json, NULL, llrint(one->halves));
        aw_json_end_array(json);
    }
    aw_json_end_array(json);
    add_slices(json, "slices_adaptive", &map->shown, k, counts);
    add_slices(json, "slices_solver", record, map->at[k], counts);
    aw_json_end_object(json);
}

/* What was computed: grid, beam and strategy. */
static void add_setup(aw_json *json, const aw_bench *b, const aw_simulation *sim)
{
    const aw_grid_view *grid = &sim->field.frame.grid;
    aw_json_begin_array(json, "grid");
    aw_json_integer(json, NULL, grid->ns);
    aw_json_integer(json, NULL, grid->nx);
    aw_json_end_array(json);
    add_pair(json, "spacing_m", grid->hs, grid->hx);
    aw_json_integer(json, "particles", (long long)sim->particles->n);
    aw_json_number(json, "tolerance", sim->config->tolerance, AW_BENCH_DIGITS);
    aw_json_string(json, "sampling", b->random ? "random" : "quiet");
    aw_json_string(json, "solver", sim->config->solver);
    aw_json_number(json, "cdt_m", aw_slice_age(sim->field.view, 1), LENGTH_DIGITS);
}

static aw_status write_patterns(const aw_bench *b, const pattern_map *map,
                                const aw_patterns *record)
{
    const aw_simulation *sim = map->sim;
    const aw_grid_view *grid = &sim->field.frame.grid;
    aw_status status = AW_OK;
    aw_json json = {.depth = 0};
    slice_counts counts = {.slices = (size_t)sim->field.view->n};
    counts.n = aw_alloc(counts.slices, sizeof *counts.n);
    counts.age = aw_alloc(counts.slices + 1, sizeof *counts.age);
    AW_TRY(counts.n && counts.age ? AW_OK : AW_ERR_NOMEM);
    for (size_t i = 0; i <= counts.slices; ++i)
        counts.age[i] = aw_slice_age(sim->field.view, (int)i);
    aw_json_begin_object(&json, NULL);
    add_setup(&json, b, sim);
    aw_json_begin_array(&json, "edges_m");
    for (size_t i = 0; i <= map->shown.cells; ++i)
        aw_json_number(&json, NULL, map->shown.edge[i], LENGTH_DIGITS);
    aw_json_end_array(&json);
    aw_json_begin_array(&json, "points");
    for (size_t k = 0; k < SHOWN; ++k) add_point(&json, map, k, record, &counts);
    aw_json_end_array(&json);
    add_map(&json, "evaluations", map->evaluations, grid);
    add_map(&json, "regions", map->regions, grid);
    add_map(&json, "nodes", map->nodes, grid);
    aw_json_end_object(&json);
    AW_TRY(aw_json_save(&json, b->patterns));
done:
    aw_json_free(&json);
    aw_free(counts.n);
    aw_free(counts.age);
    return status;
}

/* How unevenly the work is distributed. */
static void print_spread(const pattern_map *map)
{
    double min = HUGE_VAL, max = 0.0, sum = 0.0;
    for (size_t i = 0; i < map->sim->field.nodes; ++i) {
        min = fmin(min, map->evaluations[i]);
        max = fmax(max, map->evaluations[i]);
        sum += map->evaluations[i];
    }
    aw_info("adaptive: %.0f to %.0f evaluations per point, %.0f in the mean", min, max,
            sum / (double)map->sim->field.nodes);
}

aw_status aw_bench_patterns(const aw_bench *b)
{
    const long last = AW_BENCH_STEPS + b->skip;
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_patterns record = {.rows = 0};
    aw_report report;
    pattern_map map = {.sim = NULL};
    AW_TRY(aw_bench_case_new(b, b->solver[0], b->grid[0], b->particles[0], &config, &map.sim));
    for (;;) {
        AW_TRY(aw_simulation_deposit(map.sim));
        if (map.sim->step == last) break;
        if (map.sim->step >= AW_BENCH_STEPS) AW_TRY(aw_simulation_solve(map.sim));
        AW_TRY(aw_simulation_advance(map.sim));
    }
    AW_TRY(aw_bench_case_record(map.sim, &record, &report));
    const aw_grid_view *grid = &map.sim->field.frame.grid;
    for (size_t k = 0; k < SHOWN; ++k)
        map.at[k] = (size_t)(places[k][1] * grid->nx) * (size_t)grid->ns +
                    (size_t)(places[k][0] * grid->ns);
    const aw_problem problem = aw_self_field_problem(&map.sim->field, map.sim->field.point,
                                                     map.sim->field.nodes, config->tolerance);
    AW_TRY(map_fill(&map, &problem));
    print_spread(&map);
    AW_TRY(write_patterns(b, &map, &record));
    aw_info("%s", b->patterns);
done:
    map_free(&map);
    aw_patterns_free(&record);
    aw_simulation_free(map.sim);
    aw_config_free(config);
    return status;
}
