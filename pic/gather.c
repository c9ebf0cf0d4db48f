/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/gather.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/math/integrand.h"
#include "pic/chunks.h"
#include "pic/compensation.h"
#include "pic/push.h"
#include "src/base/log.h"
#include "src/base/memory.h"

struct aw_gather {
    int ns, nx;
    double *field;   /* [3][nx][ns][AW_QUAD]: Fz_lab, Fx_lab, cBy and theta of each node; and what
                        aw_forces.vector has */
    double *scratch; /* [nx][ns][AW_QUAD] */
    double *vector;  /* [4][particles], of particles on the host: q c A and its rate along the path
                        at the last call with vectors [eV, eV/m]; or NULL */
    const void *kept_by; /* the device that has them, or this workspace; NULL: nobody yet */
};

static double interpolate(const aw_particle_grid *g, const aw_particle_nodes *at,
                          const double *field)
{
    double sum = 0.0;
    for (int q = 0; q < AW_SHAPE_NODES; ++q)
        for (int p = 0; p < AW_SHAPE_NODES; ++p)
            sum += at->wv[q] * at->wu[p] *
                   aw_compensated_at(field, g->ns, g->nx, at->i + p, at->j + q);
    return sum;
}

double aw_gather_at(const aw_grid_view *grid, const double *field, double z, double x)
{
    const aw_particle_grid g = aw_particle_grid_of(grid);
    aw_particle_nodes at;
    aw_particle_nodes_find(&g, z, x, &at);
    return interpolate(&g, &at, field);
}

void aw_gather_run(const aw_gather_params *params, const aw_particles *p, double *Fz, double *Fx,
                   double *Fs, double *Fn)
{
    const aw_forces *forces = params->forces;
    const aw_particle_grid g = aw_particle_grid_of(params->grid);
    const double gamma = params->gamma, beta = sqrt((1.0 - 1.0 / gamma) * (1.0 + 1.0 / gamma));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->n; ++i) {
        aw_particle_nodes at;
        aw_particle_nodes_find(&g, p->z[i], p->x[i], &at);
        const double field[4] = {
            interpolate(&g, &at, forces->Fz_lab), interpolate(&g, &at, forces->Fx_lab),
            interpolate(&g, &at, forces->cBy), interpolate(&g, &at, forces->theta)};
        const aw_particle_force f = aw_particle_force_of(field, NULL, p->pz[i], p->px[i], beta);
        Fz[i] = f.z;
        Fx[i] = f.x;
        if (Fs) Fs[i] = f.s;
        if (Fn) Fn[i] = f.n;
    }
}

aw_status aw_gather_new(int ns, int nx, aw_gather **out)
{
    aw_gather *g = aw_alloc(1, sizeof *g);
    *out = NULL;
    if (!g) return AW_ERR_NOMEM;
    g->ns = ns;
    g->nx = nx;
    g->field = aw_alloc(3 * (size_t)ns * (size_t)nx, AW_QUAD * sizeof *g->field);
    g->scratch = aw_alloc((size_t)ns * (size_t)nx, AW_QUAD * sizeof *g->scratch);
    if (!g->field || !g->scratch) {
        aw_gather_free(g);
        return AW_ERR_NOMEM;
    }
    *out = g;
    return AW_OK;
}

void aw_gather_free(aw_gather *gather)
{
    if (!gather) return;
    aw_free(gather->field);
    aw_free(gather->scratch);
    aw_free(gather->vector);
    aw_free(gather);
}

static aw_particle_grid grid_of(const aw_gather_params *params)
{
    const aw_grid_view *g = params->grid;
    const double gamma = params->gamma;
    const size_t centre = (size_t)(g->nx / 2) * (size_t)g->ns + (size_t)(g->ns / 2);
    aw_particle_grid grid = aw_particle_grid_of(g);
    grid.theta = params->forces->theta[centre];
    grid.ct = cos(grid.theta);
    grid.st = sin(grid.theta);
    grid.beta = sqrt((1.0 - 1.0 / gamma) * (1.0 + 1.0 / gamma));
    return grid;
}

static void compensate(const aw_gather *gather, double *field)
{
    aw_compensate_field(&(aw_quad_grid){gather->ns, gather->nx, gather->ns}, field,
                        gather->scratch);
}

/* Interleave the fields of a node, and compensate them for the interpolation. */
static void pack(const aw_gather *gather, const aw_forces *f, int vectors)
{
    const size_t n = (size_t)gather->ns * (size_t)gather->nx;
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < n; ++k) {
        double *to = &gather->field[AW_QUAD * k];
        to[0] = f->Fz_lab[k];
        to[1] = f->Fx_lab[k];
        to[2] = f->cBy[k];
        to[3] = f->theta[k];
    }
    compensate(gather, gather->field);
    if (!vectors) return;
    double *vector = gather->field + AW_QUAD * n;
    memcpy(vector, f->vector, 2 * AW_QUAD * n * sizeof *vector);
    compensate(gather, vector);
    compensate(gather, vector + AW_QUAD * n);
}

/* Blocks whose forces are summed by one call: adding up the lanes of a vector is the expensive
 * part. */
enum { BLOCKS_PER_SUM = 4 };

/* Arguments of a gather and kick of all particles. */
typedef struct step {
    const double *field; /* aw_gather.field */
    const aw_particle_kernels *kernels;
    const aw_particle_grid *grid;
    double factor; /* of the kick; 0: no kick */
    aw_particles *p;
    double *Fz, *Fx;
    double *vector;             /* of aw_gather; NULL: none are kept */
    const aw_kick_times *times; /* of the step that ends; NULL: vectors are only stored */
} step;

/* Replace the rates of A in the kicks of a block by its difference, and store the new A and rates.
 * @return as of the kick */
static int settle(const step *s, size_t i, size_t n, const aw_block_forces *f)
{
    double *const kept[4] = {s->vector + i, s->vector + s->p->n + i, s->vector + 2 * s->p->n + i,
                             s->vector + 3 * s->p->n + i};
    int bad = 0;
    if (s->times) bad = s->kernels->settle(s->p, i, n, s->times, f, kept);
    for (int k = 0; k < 4; ++k) memcpy(kept[k], f->vector[k], n * sizeof *kept[k]);
    return bad;
}

/* extremes, with the sum over the charge of particles i, i + 1, .. */
static void add_extremes(const step *s, size_t i, const double *value, size_t n, double sum[3])
{
    const double before = sum[0];
    s->kernels->extremes(value, n, sum);
    if (!s->p->weight) return;
    sum[0] = before;
    for (size_t l = 0; l < n; ++l) sum[0] += s->p->weight[i + l] * value[l];
}

/* Gather and kick one chunk of particles. Row 0 of `sum` is for F_s, row 1 for F_n; each gets the
 * sum, the minimum and the maximum.
 * @return the first particle whose momentum is not finite after the kick; SIZE_MAX: none */
static size_t step_chunk(const step *s, const size_t range[2], double sum[2][3])
{
    double along[2][BLOCKS_PER_SUM * AW_BLOCK], vector[4][AW_BLOCK];
    size_t summed = 0;
    for (size_t i = range[0]; i < range[1]; i += AW_BLOCK) {
        const size_t n = aw_block_size(i, range[1]);
        aw_block_forces out = {s->Fz + i, s->Fx + i, along[0] + summed, along[1] + summed, {NULL}};
        for (int k = 0; s->vector && k < 4; ++k) out.vector[k] = vector[k];
        int bad = 0;
        s->kernels->gather(s->p, i, n, s->grid, s->field, &out);
        summed += n;
        if (summed + AW_BLOCK > BLOCKS_PER_SUM * AW_BLOCK || i + n == range[1]) {
            for (int k = 0; k < 2; ++k) add_extremes(s, i + n - summed, along[k], summed, sum[k]);
            summed = 0;
        }
        if (s->factor != 0.0) bad = s->kernels->kick(s->p, i, n, s->factor, out.z, out.x);
        if (s->vector) bad |= settle(s, i, n, &out);
        if (bad) return aw_push_first_nonfinite(s->p, i, n);
    }
    return SIZE_MAX;
}

static double peak(double min, double max) { return -min > max ? min : max; }

/* step_chunk of all chunks. */
static size_t host_step(const step *s, double all[2][3])
{
    double sum[AW_CHUNKS][2][3];
    size_t bad = SIZE_MAX;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int k = 0; k < AW_CHUNKS; ++k) {
        const size_t range[2] = {aw_chunk_begin(s->p->n, AW_CHUNKS, k),
                                 aw_chunk_begin(s->p->n, AW_CHUNKS, k + 1)};
        double own[2][3] = {{0.0}, {0.0}};
        const size_t first = step_chunk(s, range, own);
        memcpy(sum[k], own, sizeof own);
        if (first < bad) bad = first;
    }
    for (int k = 0; k < AW_CHUNKS; ++k)
        for (int a = 0; a < 2; ++a) {
            all[a][0] += sum[k][a][0];
            all[a][1] = fmin(all[a][1], sum[k][a][1]);
            all[a][2] = fmax(all[a][2], sum[k][a][2]);
        }
    return bad;
}

aw_status aw_gather_step(aw_gather *gather, const aw_gather_params *params, aw_particles *p,
                         double *Fz, double *Fx, aw_gather_stats *stats)
{
    const aw_device *device = p->resident_on;
    const aw_particle_grid grid = grid_of(params);
    const double factor = aw_push_kick_factor(params->kick), n = (double)aw_particles_all(p);
    const aw_kick_times times = {.before = params->since, .now = params->kick};
    const void *here = device ? (const void *)device : gather;
    const aw_kick_times *ends = params->vectors && gather->kept_by == here ? &times : NULL;
    double all[2][3] = {{0.0}, {0.0}};
    size_t bad = SIZE_MAX;
    aw_status status = AW_OK;
    if (params->vectors && !device && !gather->vector &&
        !(gather->vector = aw_alloc(p->n, 4 * sizeof *gather->vector)))
        status = aw_error(AW_ERR_NOMEM, "out of memory for vector potentials");
    AW_TRY(aw_particles_agree(p, status));
    pack(gather, params->forces, params->vectors);
    const step host = {.field = gather->field,
                       .kernels = aw_particle_kernels_find(NULL),
                       .grid = &grid,
                       .factor = factor,
                       .p = p,
                       .Fz = Fz,
                       .Fx = Fx,
                       .vector = params->vectors ? gather->vector : NULL,
                       .times = ends};
    const aw_particle_gather resident = {gather->field, params->vectors, factor, ends};
    if (device)
        status = device->ops->particles->gather(device->state, &grid, &resident, all, &bad);
    else
        bad = host_step(&host, all);
    gather->kept_by = params->vectors ? here : NULL;
    if (status == AW_OK && bad != SIZE_MAX) status = aw_push_kick_error(p, bad, Fz, Fx);
    AW_TRY(aw_particles_agree(p, status));
    double total[2] = {all[0][0], all[1][0]};
    double max[4] = {-all[0][1], all[0][2], -all[1][1], all[1][2]};
    aw_particles_sum(p, total, 2);
    aw_particles_max(p, max, 4);
    *stats = (aw_gather_stats){.mean_s = total[0] / n,
                               .peak_s = peak(-max[0], max[1]),
                               .mean_n = total[1] / n,
                               .peak_n = peak(-max[2], max[3])};
done:
    return status;
}

void aw_gather_archive(aw_gather *gather, const aw_particles *p, aw_archive *archive)
{
    const aw_archive_part part = aw_particles_part(p);
    int kept = gather->vector && gather->kept_by == gather;
    AW_ARCHIVE_ITEM(archive, kept);
    if (kept && !gather->vector && !(gather->vector = aw_alloc(p->n, 4 * sizeof(double))))
        archive->status = AW_ERR_NOMEM;
    if (!kept || !gather->vector) return;
    gather->kept_by = gather;
    for (size_t k = 0; k < 4; ++k)
        aw_archive_spread(archive, &part, gather->vector + k * p->n, sizeof(double));
}
