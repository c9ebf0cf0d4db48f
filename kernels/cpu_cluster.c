/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU unit's evaluation of clusters: tiles of points on one shared partition. A cluster is one
 * thread's; its tiles are taken node by node in r', which they all share. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu_unit.h"
#include "src/base/memory.h"

void aw_cpu_cluster_free(aw_cpu_cluster_space *space)
{
    aw_free(space->planes);
    aw_free(space->tile);
    aw_free(space->place);
    aw_free(space->f);
    aw_free(space->refused);
    memset(space, 0, sizeof *space);
}

static aw_status space_grow(aw_cpu_cluster_space *space, const aw_history_view *h)
{
    aw_status status = AW_OK;
    if (!space->tile) space->tile = aw_alloc(AW_CLUSTER_TILES, sizeof *space->tile);
    if (!space->place) space->place = aw_alloc(AW_CLUSTER_TILES, sizeof *space->place);
    if (!space->f) space->f = aw_alloc(AW_CLUSTER_TILES, sizeof *space->f);
    if (!space->tile || !space->place || !space->f) return AW_ERR_NOMEM;
    AW_TRY(aw_grow(&space->planes, &space->planes_capacity, 3 * aw_planes_size(h), sizeof(double)));
done:
    return status;
}

/* Node k of the current region, at r, for all tiles of the cluster. */
static void cluster_node(const aw_cpu_state *cpu, size_t tiles, double r, int k,
                         aw_cpu_cluster_space *space, aw_work *work)
{
    const aw_retarded f = aw_retarded_at(&cpu->history, r);
    double box[4] = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL}, margin[2] = {0.0, 0.0};
    aw_planes planes = {.n = 0};
    for (size_t i = 0; i < tiles; ++i) {
        aw_tile_place *place = &space->place[i];
        aw_tile_at(&cpu->history, &f, &space->tile[i], place);
        aw_tile_span(place, box);
        /* Lanes that are shifted along an arc leave the tile's span by a few of their offsets. */
        margin[0] = fmax(margin[0], 3.0 * place->w_half / f.hx);
        margin[1] = fmax(margin[1], 3.0 * fabs(place->u_half / f.hs - 0.5 * (AW_TILE - 1)));
    }
    if (f.nt > 0 && box[0] <= box[1])
        aw_cpu_planes_make(cpu, &f, box, margin, space->planes, &planes);
    for (size_t i = 0; i < tiles; ++i)
        cpu->variant->tile(&cpu->history, &f, &planes, cpu->packs.single, &space->tile[i],
                           &space->place[i], cpu->density, space->f[i][k], work);
}

/* Lane l of a region that was refused. */
static aw_status refuse(aw_cpu_cluster_space *space, const double f[5][AW_RESULTS][AW_TILE],
                        const double I[AW_RESULTS][AW_TILE], int l, aw_region **out)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&space->refused, &space->refused_capacity, space->refused_n + 1,
                   sizeof *space->refused));
    aw_region *q = *out = &space->refused[space->refused_n++];
    q->known = 31u;
    for (unsigned j = 0; j < AW_RESULTS; ++j) {
        q->I[j] = I[j][l];
        for (int k = 0; k < 5; ++k) q->f[k][j] = f[k][j][l];
    }
done:
    return status;
}

/* Region k of the cluster, whose nodes are there: accept or refuse it at each point. */
static aw_status cluster_rule(const aw_cpu_state *cpu, const aw_cluster *c, size_t k,
                              const aw_scales *scales, aw_cpu_cluster_space *space,
                              aw_clustered *out)
{
    aw_status status = AW_OK;
    const double a = c->region[k][0], b = c->region[k][1];
    const double done_then = (double)(k + 1) / (double)c->regions;
    const double budget = c->tolerance * (AW_ACCEPT_FIRST + (1.0 - AW_ACCEPT_FIRST) * done_then);
    for (size_t i = 0; i < c->tiles; ++i) {
        double I[AW_RESULTS][AW_TILE], error[AW_TILE], worst = 0.0;
        const double(*f)[AW_RESULTS][AW_TILE] = space->f[i];
        cpu->variant->tile_rule(f, b - a, scales, I, error);
        for (uint32_t l = 0; l < c->tile[i].count; ++l) {
            const uint32_t point = c->tile[i].first + l;
            if (!(error[l] <= worst) && !isnan(worst)) worst = error[l];
            if (!(out->error[point] + error[l] <= budget)) {
                aw_region *q;
                AW_TRY(refuse(space, f, (const double(*)[AW_TILE])I, (int)l, &q));
                q->a = a;
                q->b = b;
                q->point = point;
                q->error = error[l];
                continue;
            }
            for (unsigned j = 0; j < AW_RESULTS; ++j) out->I[point][j] += I[j][l];
            out->error[point] += error[l];
        }
        c->worst[i * c->regions + k] = (float)worst;
    }
done:
    return status;
}

static aw_status cluster_run(const aw_cpu_state *cpu, const aw_cluster *c, const aw_scales *scales,
                             aw_cpu_cluster_space *space, aw_clustered *out, aw_work *work)
{
    aw_status status = AW_OK;
    for (size_t i = 0; i < c->tiles; ++i) {
        const aw_tile_ref *tile = &c->tile[i];
        aw_tile_take(&cpu->point[tile->first], (int)tile->count, &space->tile[i]);
        for (uint32_t p = tile->first; p < tile->first + tile->count; ++p) {
            memset(out->I[p], 0, sizeof out->I[p]);
            out->error[p] = 0.0;
        }
        work->regions += c->regions * tile->count;
    }
    for (size_t k = 0; k < c->regions; ++k) {
        const double a = c->region[k][0], b = c->region[k][1];
        const int follows = k > 0 && c->region[k - 1][1] == a;
        if (!follows) cluster_node(cpu, c->tiles, a, 0, space, work);
        for (size_t i = 0; follows && i < c->tiles; ++i)
            memcpy(space->f[i][0], space->f[i][4], sizeof space->f[i][0]);
        for (int m = 1; m < 4; ++m)
            cluster_node(cpu, c->tiles, a + 0.25 * m * (b - a), m, space, work);
        cluster_node(cpu, c->tiles, b, 4, space, work);
        AW_TRY(cluster_rule(cpu, c, k, scales, space, out));
    }
done:
    return status;
}

/* Refusals in the order of the clusters, whichever thread had them. */
static aw_status collect_refused(aw_cpu_state *cpu, size_t n, aw_clustered *out)
{
    aw_status status = AW_OK;
    size_t total = 0;
    for (size_t c = 0; c < n; ++c) total += cpu->refusal[c].count;
    AW_TRY(aw_grow((void **)&cpu->refused, &cpu->refused_capacity, total, sizeof *cpu->refused));
    total = 0;
    for (size_t c = 0; c < n; ++c) {
        const aw_cpu_refusal *from = &cpu->refusal[c];
        memcpy(&cpu->refused[total], &cpu->space[from->thread].cluster.refused[from->begin],
               from->count * sizeof *cpu->refused);
        total += from->count;
    }
    out->refused = cpu->refused;
    out->refusals = total;
done:
    return status;
}

aw_status aw_cpu_evaluate(void *state, const aw_cluster *cluster, size_t n, const aw_scales *scales,
                          int single, aw_clustered *out, aw_work *work)
{
    aw_cpu_state *cpu = state;
    const aw_history_view *h = &cpu->history;
    aw_status status = AW_OK;
    double longest = 0.0;
    out->refusals = 0;
    for (size_t c = 0; c < n; ++c)
        if (cluster[c].regions > 0)
            longest = fmax(longest, cluster[c].region[cluster[c].regions - 1][1]);
    const double oldest = longest / h->cdt + 3.0;
    const size_t slices = oldest < h->n ? (size_t)oldest : (size_t)h->n;
    AW_TRY(aw_cpu_packs_hold(&cpu->packs, h, slices, single, cpu->threads));
    AW_TRY(aw_grow((void **)&cpu->refusal, &cpu->refusal_capacity, n, sizeof *cpu->refusal));
    for (int i = 0; i < cpu->threads; ++i) {
        AW_TRY(space_grow(&cpu->space[i].cluster, h));
        cpu->space[i].cluster.refused_n = 0;
        cpu->space[i].status = AW_OK;
    }
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
    for (ptrdiff_t c = 0; c < (ptrdiff_t)n; ++c) {
        const int thread = omp_get_thread_num();
        aw_cpu_space *space = &cpu->space[thread];
        aw_cpu_refusal *refusal = &cpu->refusal[c];
        refusal->thread = thread;
        refusal->begin = space->cluster.refused_n;
        const aw_status mine =
            cluster_run(cpu, &cluster[c], scales, &space->cluster, out, &space->work);
        refusal->count = space->cluster.refused_n - refusal->begin;
        if (mine != AW_OK) space->status = mine;
    }
    aw_cpu_collect(cpu, work);
    for (int i = 0; i < cpu->threads; ++i) AW_TRY(cpu->space[i].status);
    AW_TRY(collect_refused(cpu, n, out));
done:
    return status;
}
