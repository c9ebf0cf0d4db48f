/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench --patterns FILE`: how uneven the work is from point to point (dissertation 3.2.2):
 * the work of every point, and partitions and slices used of a few. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu/simd/simd.h"
#include "quadrature/rules/refine.h"
#include "src/base/memory.h"
#include "src/bench/case.h"

/* Points that are shown: places in units of the grid's sides. */
enum { SHOWN = 4 };
static const double places[SHOWN][2] = {{0.25, 0.5}, {0.5, 0.5}, {0.75, 0.5}, {0.5, 0.75}};

/* The adaptive strategy, point by point, so that each has its own count. */
typedef struct pattern_map {
    aw_simulation *sim;
    aw_partition *partition;
    double *evaluations, *regions, *nodes; /* [sim->nodes] each */
    aw_patterns shown;                     /* of the shown points by the adaptive strategy */
    size_t at[SHOWN];
    aw_text leaves[SHOWN];
} pattern_map;

/* Space of one thread. */
typedef struct pattern_space {
    aw_refine_space refine;
    aw_region *start;
} pattern_space;

typedef struct node_context {
    const aw_variant *variant;
    const aw_simulation *sim;
    aw_work *work;
} node_context;

static void node(void *context, uint32_t point, double r, double f_in[AW_RESULTS])
{
    const node_context *c = context;
    c->variant->inner(c->sim->view, &c->sim->point[point], r, c->sim->config->inner_density, f_in,
                      c->work);
}

static void space_free(pattern_space *space)
{
    aw_refine_space_free(&space->refine);
    aw_free(space->start);
}

static aw_status space_make(pattern_space *space, size_t cells)
{
    space->start = aw_alloc(cells + 1, sizeof(aw_region));
    return space->start ? aw_refine_space_make(&space->refine) : AW_ERR_NOMEM;
}

/* The final regions of a shown point: from, to, how often its starting region was halved. */
static void list_leaves(const pattern_space *space, const aw_job *job, aw_text *out)
{
    for (size_t i = 0; i < job->regions; ++i) {
        const aw_region *leaf = &space->refine.region[i];
        size_t k = 0;
        while (k + 1 < job->count && space->start[k + 1].a <= leaf->a) ++k;
        const double halves = log2((space->start[k].b - space->start[k].a) / (leaf->b - leaf->a));
        aw_text_add(out, "%s[%.9g, %.9g, %.0f]", i > 0 ? ", " : "", leaf->a, leaf->b, halves);
    }
}

static aw_status refine_point(pattern_map *map, const aw_scales *scales, uint32_t p,
                              pattern_space *space)
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
    job.count = aw_partition_regions(map->partition, sim->view, &sim->point[p], p, space->start);
    aw_refine_job(space->start, &job, node, &context, scales, &space->refine, &work);
    map->evaluations[p] = (double)work.evaluations;
    map->nodes[p] = (double)work.nodes;
    map->regions[p] = (double)job.regions;
    if (shown >= 0) list_leaves(space, &job, &map->leaves[shown]);
    return job.status;
}

static aw_status map_fill(pattern_map *map, const aw_problem *problem)
{
    aw_simulation *sim = map->sim;
    aw_status status = AW_OK;
    map->evaluations = aw_alloc(sim->nodes, sizeof(double));
    map->regions = aw_alloc(sim->nodes, sizeof(double));
    map->nodes = aw_alloc(sim->nodes, sizeof(double));
    AW_TRY(map->evaluations && map->regions && map->nodes ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(aw_partition_new(&map->partition));
    AW_TRY(aw_partition_make(map->partition, sim->view, &problem->centre, problem->half));
    AW_TRY(aw_patterns_shape(&map->shown, map->partition, SHOWN));
    aw_patterns_clear(&map->shown);
    int worst = AW_OK;
#pragma omp parallel reduction(max : worst)
    {
        pattern_space space = {.start = NULL};
        aw_status mine = space_make(&space, map->partition->n);
#pragma omp for schedule(dynamic, 16)
        for (ptrdiff_t p = 0; p < (ptrdiff_t)sim->nodes; ++p)
            if (mine == AW_OK) mine = refine_point(map, &problem->scales, (uint32_t)p, &space);
        space_free(&space);
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
    for (int k = 0; k < SHOWN; ++k) aw_text_free(&map->leaves[k]);
}

/* "key": [[...], ...], a row of the grid in each. */
static void add_map(aw_text *text, const char *key, const double *value, const aw_grid_view *grid)
{
    aw_text_add(text, ",\n \"%s\": [", key);
    for (int j = 0; j < grid->nx; ++j)
        for (int i = 0; i < grid->ns; ++i)
            aw_text_add(text, "%s%.0f%s", i > 0 ? ", " : (j > 0 ? ",\n  [" : "["),
                        value[(size_t)j * (size_t)grid->ns + (size_t)i],
                        i + 1 < grid->ns ? "" : "]");
    aw_text_add(text, "]");
}

/* "key": [subregions in each slice interval that has any]. */
static void add_slices(aw_text *text, const char *key, const aw_patterns *patterns, size_t row,
                       double cdt, size_t slices, double *n)
{
    aw_patterns_by_slice(patterns, &patterns->need[row * patterns->cells], cdt, slices, n);
    while (slices > 0 && !(n[slices - 1] > 0.0)) --slices;
    aw_text_add(text, ", \"%s\": [", key);
    for (size_t i = 0; i < slices; ++i) aw_text_add(text, "%s%.4g", i > 0 ? ", " : "", n[i]);
    aw_text_add(text, "]");
}

static aw_status write_patterns(const aw_bench *b, const pattern_map *map,
                                const aw_patterns *record)
{
    const aw_simulation *sim = map->sim;
    const aw_grid_view *grid = &sim->frame.grid;
    const size_t slices = (size_t)sim->view->n;
    aw_status status = AW_OK;
    aw_text text = {.bytes = NULL};
    double *n = aw_alloc(slices, sizeof *n);
    AW_TRY(n ? AW_OK : AW_ERR_NOMEM);
    aw_text_add(&text,
                "{\"grid\": [%d, %d], \"spacing_m\": [%.9g, %.9g], \"particles\": %zu, "
                "\"tolerance\": %.6g, \"sampling\": \"%s\", \"solver\": \"%s\", \"cdt_m\": %.9g",
                grid->ns, grid->nx, grid->hs, grid->hx, sim->particles->n, sim->config->tolerance,
                b->random ? "random" : "quiet", sim->config->solver, sim->view->cdt);
    aw_text_add(&text, ",\n \"edges_m\": [");
    for (size_t i = 0; i <= map->shown.cells; ++i)
        aw_text_add(&text, "%s%.9g", i > 0 ? ", " : "", map->shown.edge[i]);
    aw_text_add(&text, "],\n \"points\": [");
    for (size_t k = 0; k < SHOWN; ++k) {
        const size_t p = map->at[k];
        aw_text_add(&text, "%s\n  {\"node\": [%zu, %zu]", k > 0 ? "," : "", p % (size_t)grid->ns,
                    p / (size_t)grid->ns);
        aw_text_add_number(&text, "s_m",
                           ((double)(p % (size_t)grid->ns) - 0.5 * (grid->ns - 1)) * grid->hs);
        aw_text_add_number(&text, "x_m",
                           ((double)(p / (size_t)grid->ns) - 0.5 * (grid->nx - 1)) * grid->hx);
        aw_text_add(&text, ",\n   \"leaves_m\": [%s]", map->leaves[k].bytes);
        add_slices(&text, "slices_adaptive", &map->shown, k, sim->view->cdt, slices, n);
        add_slices(&text, "slices_solver", record, p, sim->view->cdt, slices, n);
        aw_text_add(&text, "}");
    }
    aw_text_add(&text, "]");
    add_map(&text, "evaluations", map->evaluations, grid);
    add_map(&text, "regions", map->regions, grid);
    add_map(&text, "nodes", map->nodes, grid);
    aw_text_add(&text, "}\n");
    AW_TRY(aw_text_save(&text, b->patterns));
done:
    aw_text_free(&text);
    aw_free(n);
    return status;
}

/* Say how uneven it is. */
static void print_spread(const pattern_map *map)
{
    double least = HUGE_VAL, most = 0.0, sum = 0.0;
    for (size_t i = 0; i < map->sim->nodes; ++i) {
        least = fmin(least, map->evaluations[i]);
        most = fmax(most, map->evaluations[i]);
        sum += map->evaluations[i];
    }
    aw_info("adaptive: %.0f to %.0f evaluations a point, %.0f in the mean", least, most,
            sum / (double)map->sim->nodes);
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
    const aw_grid_view *grid = &map.sim->frame.grid;
    for (size_t k = 0; k < SHOWN; ++k)
        map.at[k] = (size_t)(places[k][1] * grid->nx) * (size_t)grid->ns +
                    (size_t)(places[k][0] * grid->ns);
    const aw_problem problem =
        aw_simulation_problem(map.sim, map.sim->point, map.sim->nodes, config->tolerance);
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
