/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device's evaluation of clusters: tiles of points with a common partition of r'. One
 * thread evaluates a cluster, node by node in r', at each node all tiles. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "src/base/memory.h"

void aw_cpu_cluster_workspace_free(aw_cpu_cluster_workspace *workspace)
{
    aw_cpu_line_buffer_free(&workspace->lines);
    aw_free(workspace->tile);
    aw_free(workspace->place);
    aw_free(workspace->f);
    aw_free(workspace->start);
    memset(workspace, 0, sizeof *workspace);
}

static aw_status workspace_grow(aw_cpu_cluster_workspace *w, const aw_history_view *h)
{
    aw_status status = AW_OK;
    if (!w->tile) w->tile = aw_alloc(AW_CLUSTER_TILES, sizeof *w->tile);
    if (!w->place) w->place = aw_alloc(AW_CLUSTER_TILES, sizeof *w->place);
    if (!w->f) w->f = aw_alloc(AW_CLUSTER_TILES, sizeof *w->f);
    if (!w->start) w->start = aw_alloc(AW_CLUSTER_TILES, sizeof *w->start);
    if (!w->tile || !w->place || !w->f || !w->start) return AW_ERR_NOMEM;
    AW_TRY(aw_cpu_line_buffer_grow(&w->lines, h));
done:
    return status;
}

/* One circle of node k of the current region. */
typedef struct cluster_circle {
    const aw_retarded *node;
    const aw_circles *circles; /* of the node */
    int circle, k;
} cluster_circle;

/* Evaluate it for all tiles of the cluster. */
static void add_circle(const aw_cpu_state *cpu, const aw_cluster *c, const cluster_circle *at,
                       aw_cpu_cluster_workspace *workspace, aw_work *work)
{
    const aw_cpu_line_cache *cache = &cpu->line_cache[AW_ALONG_S];
    const aw_retarded f = aw_circle_of(at->node, at->circles, at->circle);
    aw_interpolated_lines lines = {.n = 0};
    const aw_retarded_beam beam = {.history = &cpu->history, .f = &f, .lines = &lines};
    const aw_tile_options options = {.density =
                                         aw_circle_density(at->circles, at->circle, cpu->density),
                                     .single = cache->single,
                                     .rates = aw_tile_rated(at->k, c->fine),
                                     .batch = cpu->tuning.cluster_batch};
    aw_cpu_line_range range = {.box = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL},
                               .rates = options.rates};
    double *margin = range.margin;
    for (size_t i = 0; i < c->tiles; ++i) {
        aw_tile_place *place = &workspace->place[i];
        aw_tile_at(&cpu->history, &f, &workspace->tile[i], place);
        aw_tile_span(place, range.box);
        /* Lanes that are shifted along an arc leave the tile's box by up to three offsets. */
        margin[0] = fmax(margin[0], 3.0 * place->w_half / f.hx);
        margin[1] = fmax(margin[1], 3.0 * fabs(place->u_half / f.hs - 0.5 * (AW_TILE - 1)));
    }
    if (f.nt > 0 && range.box[0] <= range.box[1])
        aw_cpu_interpolate_lines(cpu->variant, cache, &f, &range, &workspace->lines, &lines);
    for (size_t i = 0; i < c->tiles; ++i) {
        double one[AW_RESULTS][AW_TILE];
        cpu->variant->tile(&beam, &options, &workspace->tile[i], &workspace->place[i], one, work);
        aw_tile_circle_add(at->circles, at->circle, (const double(*)[AW_TILE])one,
                           workspace->f[i][at->k]);
    }
}

/* Evaluate node k of the current region, at r, for all tiles of the cluster. */
static void cluster_node(const aw_cpu_state *cpu, const aw_cluster *c, double r, int k,
                         aw_cpu_cluster_workspace *workspace, aw_work *work)
{
    const aw_retarded f = aw_retarded_at(&cpu->history, r);
    aw_circles circles = aw_circles_at(&f);
    aw_span span = aw_span_of_none();
    for (size_t i = 0; i < c->tiles; ++i) aw_tile_span_add(&f, &workspace->tile[i], &span);
    aw_circles_see_span(&f, &span, &circles);
    for (size_t i = 0; i < c->tiles; ++i) memset(workspace->f[i][k], 0, sizeof workspace->f[i][k]);
    for (int i = 0; i < aw_circles_count(&circles); ++i) {
        const cluster_circle at = {&f, &circles, i, k};
        add_circle(cpu, c, &at, workspace, work);
    }
}

/* Apply the rule to region k of the cluster, whose nodes are known: accept or refuse the region for
 * each tile. */
static void cluster_rule(const aw_cpu_state *cpu, const aw_cluster *c, size_t k,
                         const aw_scales *scales, const aw_cpu_cluster_workspace *workspace,
                         const aw_clustered *out)
{
    const double length = c->region[k][1] - c->region[k][0];
    const double share = aw_accept_share(k, c->regions);
    for (size_t i = 0; i < c->tiles; ++i) {
        const uint32_t first = c->tile[i].first, n = c->tile[i].count;
        double worst = 0.0, coarsest = 0.0;
        aw_tile_estimate estimate;
        const double *error = estimate.error;
        int accepted = 1;
        cpu->variant->tile_rule((const double(*)[AW_RESULTS][AW_TILE])workspace->f[i], length,
                                scales, c->fine, &estimate);
        for (uint32_t l = 0; l < n; ++l) {
            const double budget =
                aw_accept_budget(c->limit, c->part, workspace->start[i][l], share);
            if (!(error[l] <= worst) && !isnan(worst)) worst = error[l];
            if (estimate.coarse[l] > coarsest) coarsest = estimate.coarse[l];
            if (!(out->error[first + l] + error[l] <= budget)) accepted = 0;
        }
        double(*sum)[AW_RESULTS] = accepted ? out->I : out->rest;
        double *errors = accepted ? out->error : out->rest_error;
        for (uint32_t l = 0; l < n; ++l) {
            for (unsigned j = 0; j < AW_RESULTS; ++j) sum[first + l][j] += estimate.I[j][l];
            errors[first + l] += error[l];
        }
        c->worst[i * c->regions + k] = (float)worst;
        c->coarse[i] += (float)coarsest;
        c->refused[i * c->regions + k] = !accepted;
    }
}

static void cluster_begin(const aw_cpu_state *cpu, const aw_cluster *c,
                          aw_cpu_cluster_workspace *workspace, const aw_clustered *out,
                          aw_work *work)
{
    for (size_t i = 0; i < c->tiles; ++i) {
        const uint32_t first = c->tile[i].first, n = c->tile[i].count;
        aw_tile_take(&cpu->point[first], (int)n, &workspace->tile[i]);
        for (uint32_t l = 0; l < n; ++l) {
            if (c->begin) {
                memset(out->I[first + l], 0, sizeof out->I[first + l]);
                out->error[first + l] = 0.0;
            }
            memset(out->rest[first + l], 0, sizeof out->rest[first + l]);
            out->rest_error[first + l] = 0.0;
            workspace->start[i][l] = out->error[first + l];
        }
        c->coarse[i] = 0.0F;
        work->regions += c->regions * n;
    }
}

static void cluster_run(const aw_cpu_state *cpu, const aw_cluster *c, const aw_scales *scales,
                        aw_cpu_cluster_workspace *workspace, const aw_clustered *out, aw_work *work)
{
    cluster_begin(cpu, c, workspace, out, work);
    for (size_t k = 0; k < c->regions; ++k) {
        const double a = c->region[k][0], b = c->region[k][1];
        const int follows = k > 0 && c->region[k - 1][1] == a;
        if (!follows) cluster_node(cpu, c, a, 0, workspace, work);
        for (size_t i = 0; follows && i < c->tiles; ++i)
            memcpy(workspace->f[i][0], workspace->f[i][4], sizeof workspace->f[i][0]);
        for (int m = 1; m < 4; ++m)
            cluster_node(cpu, c, a + 0.25 * m * (b - a), m, workspace, work);
        cluster_node(cpu, c, b, 4, workspace, work);
        cluster_rule(cpu, c, k, scales, workspace, out);
    }
}

aw_status aw_cpu_evaluate(void *state, const aw_cluster_call *call, aw_work *work)
{
    aw_cpu_state *cpu = state;
    const aw_history_view *h = &cpu->history;
    const aw_cluster *cluster = call->cluster;
    aw_status status = AW_OK;
    double longest = 0.0;
    for (size_t c = 0; c < call->n; ++c)
        if (cluster[c].regions > 0)
            longest = fmax(longest, cluster[c].region[cluster[c].regions - 1][1]);
    AW_TRY(aw_cpu_line_cache_update(&cpu->line_cache[AW_ALONG_S], h, AW_ALONG_S, longest,
                                    call->single, cpu->threads));
    for (int i = 0; i < cpu->threads; ++i) AW_TRY(workspace_grow(&cpu->workspace[i].cluster, h));
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
    for (ptrdiff_t c = 0; c < (ptrdiff_t)call->n; ++c) {
        aw_cpu_workspace *workspace = &cpu->workspace[omp_get_thread_num()];
        cluster_run(cpu, &cluster[c], call->scales, &workspace->cluster, &call->out,
                    &workspace->work);
    }
    aw_cpu_work_sum(cpu, work);
done:
    return status;
}
