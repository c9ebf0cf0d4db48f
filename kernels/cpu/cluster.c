/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device's evaluation of clusters: tiles of points on one shared partition. A cluster is one
 * thread's; its tiles are taken node by node in r', which they all share. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "src/base/memory.h"

void aw_cpu_cluster_free(aw_cpu_cluster_space *space)
{
    aw_free(space->planes);
    aw_free(space->span);
    aw_free(space->tile);
    aw_free(space->place);
    aw_free(space->f);
    aw_free(space->start);
    memset(space, 0, sizeof *space);
}

static aw_status space_grow(aw_cpu_cluster_space *space, const aw_history_view *h)
{
    aw_status status = AW_OK;
    if (!space->tile) space->tile = aw_alloc(AW_CLUSTER_TILES, sizeof *space->tile);
    if (!space->place) space->place = aw_alloc(AW_CLUSTER_TILES, sizeof *space->place);
    if (!space->f) space->f = aw_alloc(AW_CLUSTER_TILES, sizeof *space->f);
    if (!space->start) space->start = aw_alloc(AW_CLUSTER_TILES, sizeof *space->start);
    if (!space->tile || !space->place || !space->f || !space->start) return AW_ERR_NOMEM;
    AW_TRY(aw_cpu_lines_grow(space, h));
done:
    return status;
}

/* Node k of the current region, at r, for all tiles of the cluster. */
static void cluster_node(const aw_cpu_state *cpu, const aw_cluster *c, double r, int k,
                         aw_cpu_cluster_space *space, aw_work *work)
{
    const aw_cpu_packs *packs = &cpu->packs[AW_ALONG_S];
    const aw_retarded f = aw_retarded_at(&cpu->history, r);
    double box[4] = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL}, margin[2] = {0.0, 0.0};
    aw_interpolated_lines planes = {.n = 0};
    const aw_tile_how how = {.density = cpu->density,
                             .single = packs->single,
                             .rates = aw_tile_rated(k, c->fine),
                             .batch = cpu->tuning.cluster_batch};
    for (size_t i = 0; i < c->tiles; ++i) {
        aw_tile_place *place = &space->place[i];
        aw_tile_at(&cpu->history, &f, &space->tile[i], place);
        aw_tile_span(place, box);
        /* Lanes that are shifted along an arc leave the tile's span by a few of their offsets. */
        margin[0] = fmax(margin[0], 3.0 * place->w_half / f.hx);
        margin[1] = fmax(margin[1], 3.0 * fabs(place->u_half / f.hs - 0.5 * (AW_TILE - 1)));
    }
    if (f.nt > 0 && box[0] <= box[1])
        aw_cpu_lines_make(cpu->variant, packs, &f, box, margin, how.rates, space, &planes);
    for (size_t i = 0; i < c->tiles; ++i)
        cpu->variant->tile(&cpu->history, &f, &planes, &how, &space->tile[i], &space->place[i],
                           space->f[i][k], work);
}

/* Region k of the cluster, whose nodes are there: accept or refuse it for each tile. */
static void cluster_rule(const aw_cpu_state *cpu, const aw_cluster *c, size_t k,
                         const aw_scales *scales, const aw_cpu_cluster_space *space,
                         const aw_clustered *out)
{
    const double length = c->region[k][1] - c->region[k][0];
    const double share = aw_accept_share(k, c->regions);
    for (size_t i = 0; i < c->tiles; ++i) {
        const uint32_t first = c->tile[i].first, n = c->tile[i].count;
        aw_tile_estimate estimate;
        const double *error = estimate.error, *coarse = estimate.coarse;
        double worst = 0.0, more = 0.0;
        int accepted = 1;
        cpu->variant->tile_rule((const double(*)[AW_RESULTS][AW_TILE])space->f[i], length, scales,
                                c->fine, &estimate);
        for (uint32_t l = 0; l < n; ++l) {
            const double budget = aw_accept_budget(c->limit, c->part, space->start[i][l], share);
            if (!(error[l] <= worst) && !isnan(worst)) worst = error[l];
            if (coarse[l] > more) more = coarse[l];
            if (!(out->error[first + l] + error[l] <= budget)) accepted = 0;
        }
        double(*sum)[AW_RESULTS] = accepted ? out->I : out->rest;
        double *errors = accepted ? out->error : out->rest_error;
        for (uint32_t l = 0; l < n; ++l) {
            for (unsigned j = 0; j < AW_RESULTS; ++j) sum[first + l][j] += estimate.I[j][l];
            errors[first + l] += error[l];
        }
        c->worst[i * c->regions + k] = (float)worst;
        c->coarse[i] += (float)more;
        c->refused[i * c->regions + k] = !accepted;
    }
}

static void cluster_begin(const aw_cpu_state *cpu, const aw_cluster *c, aw_cpu_cluster_space *space,
                          const aw_clustered *out, aw_work *work)
{
    for (size_t i = 0; i < c->tiles; ++i) {
        const uint32_t first = c->tile[i].first, n = c->tile[i].count;
        aw_tile_take(&cpu->point[first], (int)n, &space->tile[i]);
        for (uint32_t l = 0; l < n; ++l) {
            if (c->begin) {
                memset(out->I[first + l], 0, sizeof out->I[first + l]);
                out->error[first + l] = 0.0;
            }
            memset(out->rest[first + l], 0, sizeof out->rest[first + l]);
            out->rest_error[first + l] = 0.0;
            space->start[i][l] = out->error[first + l];
        }
        c->coarse[i] = 0.0F;
        work->regions += c->regions * n;
    }
}

static void cluster_run(const aw_cpu_state *cpu, const aw_cluster *c, const aw_scales *scales,
                        aw_cpu_cluster_space *space, const aw_clustered *out, aw_work *work)
{
    cluster_begin(cpu, c, space, out, work);
    for (size_t k = 0; k < c->regions; ++k) {
        const double a = c->region[k][0], b = c->region[k][1];
        const int follows = k > 0 && c->region[k - 1][1] == a;
        if (!follows) cluster_node(cpu, c, a, 0, space, work);
        for (size_t i = 0; follows && i < c->tiles; ++i)
            memcpy(space->f[i][0], space->f[i][4], sizeof space->f[i][0]);
        for (int m = 1; m < 4; ++m) cluster_node(cpu, c, a + 0.25 * m * (b - a), m, space, work);
        cluster_node(cpu, c, b, 4, space, work);
        cluster_rule(cpu, c, k, scales, space, out);
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
    AW_TRY(aw_cpu_packs_hold(&cpu->packs[AW_ALONG_S], h, AW_ALONG_S, longest, call->single,
                             cpu->threads));
    for (int i = 0; i < cpu->threads; ++i) AW_TRY(space_grow(&cpu->space[i].cluster, h));
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
    for (ptrdiff_t c = 0; c < (ptrdiff_t)call->n; ++c) {
        aw_cpu_space *space = &cpu->space[omp_get_thread_num()];
        cluster_run(cpu, &cluster[c], call->scales, &space->cluster, &call->out, &space->work);
    }
    aw_cpu_work_sum(cpu, work);
done:
    return status;
}
