/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: particles that stay on the device from step to step. Of a step, the grid's charge
 * comes from there and its forces go there; of the particles, a few sums come. */
#include "kernels/gpu/blocks/particles.h"

#include <math.h>
#include <string.h>

#include "kernels/gpu/device.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Whole numbers of a deposit: their sum over all particles stays below 2^62. */
#define AW_GPU_BITS 62

struct aw_gpu_resident {
    aw_gpu_particles call;      /* what is the same in all calls */
    size_t blocks;              /* of each */
    void *particle;             /* on the device, owned: all arrays of the particles */
    size_t bytes;               /* of it */
    aw_gpu_array fields, orbit; /* owned */
    aw_gpu_array found, cells, field;
};

void aw_gpu_particles_free(aw_gpu_state *g)
{
    aw_gpu_resident *k = g->resident_particles;
    if (!k) return;
    aw_gpu_array *const all[] = {&k->fields, &k->orbit, &k->found, &k->cells, &k->field};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) aw_gpu_array_free(g, all[i]);
    if (k->particle) g->runtime->free(g->context, k->particle);
    g->info.memory += k->bytes;
    aw_free(k);
    g->resident_particles = NULL;
}

/* Positions, momenta, forces and first gammas, and then regions, in one piece of memory: half of
 * what is free at most, for slices and work need some as well. */
static aw_status take_particles(aw_gpu_state *g, aw_gpu_resident *k, size_t n)
{
    double **const array[] = {&k->call.beam.z,     &k->call.beam.x, &k->call.beam.pz,
                              &k->call.beam.px,    &k->call.Fz,     &k->call.Fx,
                              &k->call.beam.gamma0};
    const size_t arrays = sizeof array / sizeof array[0];
    const size_t bytes = n * (arrays * sizeof(double) + sizeof(int32_t));
    aw_status status = AW_OK;
    if (bytes > g->info.memory / 2) return AW_ERR_NOMEM;
    AW_TRY(g->runtime->alloc(g->context, bytes, &k->particle));
    k->bytes = bytes;
    g->info.memory -= bytes;
    k->call.beam.n = n;
    for (size_t i = 0; i < arrays; ++i) *array[i] = (double *)k->particle + i * n;
    k->call.beam.element = (int32_t *)((double *)k->particle + arrays * n);
done:
    return status;
}

static aw_status bring_machine(aw_gpu_state *g, aw_gpu_resident *k, const aw_fields_view *fields,
                               const aw_orbit_view *orbit)
{
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_send(g, &k->fields, fields->region, (size_t)fields->n * sizeof *fields->region));
    AW_TRY(aw_gpu_send(g, &k->orbit, orbit->piece, (size_t)orbit->n * sizeof *orbit->piece));
    k->call.fields = *fields;
    k->call.fields.region = k->fields.device;
    k->call.orbit = *orbit;
    k->call.orbit.piece = k->orbit.device;
done:
    return status;
}

static aw_status particles_offload(void *state, const aw_particles_view *beam,
                                   const aw_fields_view *fields, const aw_orbit_view *orbit)
{
    aw_gpu_state *g = state;
    const size_t bytes = beam->n * sizeof(double);
    aw_status status = AW_OK;
    aw_gpu_particles_free(g);
    aw_gpu_resident *k = g->resident_particles = aw_alloc(1, sizeof *k);
    if (!k) return AW_ERR_NOMEM;
    AW_TRY(take_particles(g, k, beam->n));
    const aw_particles_view *to = &k->call.beam;
    const double *const from[] = {beam->z, beam->x, beam->pz, beam->px, beam->gamma0};
    double *const there[] = {to->z, to->x, to->pz, to->px, to->gamma0};
    for (size_t i = 0; i < sizeof from / sizeof from[0]; ++i)
        AW_TRY(g->runtime->to_device(g->context, 0, there[i], from[i], bytes));
    AW_TRY(g->runtime->to_device(g->context, 0, to->element, beam->element,
                                 beam->n * sizeof *beam->element));
    if (bring_machine(g, k, fields, orbit) != AW_OK) AW_TRY(AW_ERR_BACKEND); /* it has said so */
    AW_TRY(aw_gpu_wait(g, 0));
    k->blocks = (beam->n + AW_GPU_THREADS - 1) / AW_GPU_THREADS;
    if (k->blocks > AW_GPU_PARTICLE_BLOCKS) k->blocks = AW_GPU_PARTICLE_BLOCKS;
    k->call.stride = k->blocks * AW_GPU_THREADS;
done:
    if (status != AW_OK) aw_gpu_particles_free(g);
    return status;
}

static aw_status particles_download(void *state, const aw_particles_view *to)
{
    aw_gpu_state *g = state;
    const aw_particles_view *from = &g->resident_particles->call.beam;
    const double *const there[] = {from->z, from->x, from->pz, from->px};
    double *const here[] = {to->z, to->x, to->pz, to->px};
    aw_status status = AW_OK;
    if (to->n != from->n)
        return aw_error(AW_ERR_BACKEND, "%s: it keeps another beam by now", g->text);
    for (size_t i = 0; i < sizeof here / sizeof here[0]; ++i)
        AW_TRY(g->runtime->to_host(g->context, 0, here[i], there[i], to->n * sizeof(double)));
    AW_TRY(g->runtime->to_host(g->context, 0, to->element, from->element,
                               to->n * sizeof *to->element));
    AW_TRY(aw_gpu_wait(g, 0));
done:
    return status;
}

/* Go through the particles, and add up what blocks have found: sums first, then what is largest. */
static aw_status look_through(aw_gpu_state *g, aw_gpu_kernel kernel, aw_gpu_particles *call,
                              int sums, int rows, double *out)
{
    aw_gpu_resident *k = g->resident_particles;
    const size_t bytes = k->blocks * (size_t)rows * sizeof(double);
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, &k->found, bytes));
    call->found = k->found.device;
    AW_TRY(aw_gpu_launch(g, 0, kernel, k->blocks, call));
    AW_TRY(aw_gpu_to_host(g, 0, &k->found, bytes));
    AW_TRY(aw_gpu_wait(g, 0));
    const double *of = k->found.host;
    memset(out, 0, (size_t)rows * sizeof *out);
    for (size_t b = 0; b < k->blocks; ++b)
        for (int r = 0; r < rows; ++r, ++of) out[r] = r < sums ? out[r] + *of : fmax(out[r], *of);
done:
    return status;
}

/* The particle so far from the end; SIZE_MAX: none. */
static size_t particle_at(const aw_gpu_particles *c, double from_end)
{
    return from_end > 0.0 ? c->beam.n - (size_t)from_end : SIZE_MAX;
}

static aw_status particles_second_moments(void *state, double z, double x, double sum[5])
{
    aw_gpu_state *g = state;
    aw_gpu_particles call = g->resident_particles->call;
    call.place[0] = z;
    call.place[1] = x;
    return look_through(g, AW_GPU_particles_places, &call, AW_GPU_PLACES, AW_GPU_PLACES, sum);
}

static aw_status particles_reach(void *state, const double place[4], double reach[2])
{
    aw_gpu_state *g = state;
    aw_gpu_particles call = g->resident_particles->call;
    memcpy(call.place, place, sizeof call.place);
    return look_through(g, AW_GPU_particles_reach, &call, 0, AW_GPU_REACH, reach);
}

/* How many are 1, if n particles deposit no more than `most` each: a power of two. */
static double units_of(size_t n, double most)
{
    int bits;
    if (!(most > 0.0)) return 1.0;
    frexp((double)n * most, &bits);
    return ldexp(1.0, AW_GPU_BITS - bits);
}

/* From whole numbers to cells. */
static void spread(const uint64_t *from, const double unit[AW_GPU_DEPOSITED], size_t n,
                   double *cells)
{
    for (size_t i = 0; i < n; ++i, from += AW_GPU_DEPOSITED, cells += AW_COMPONENTS) {
        for (int k = 0; k < AW_GPU_DEPOSITED; ++k) cells[k] = (double)(int64_t)from[k] / unit[k];
        cells[AW_GPU_DEPOSITED] = 0.0;
    }
}

static aw_status particles_deposit(void *state, const aw_particle_grid *grid, double *cells,
                                   size_t *lost)
{
    aw_gpu_state *g = state;
    aw_gpu_resident *k = g->resident_particles;
    aw_gpu_particles call = k->call;
    const size_t n = aw_slice_bytes(grid->ns, grid->nx, 0) / (AW_COMPONENTS * sizeof(double));
    const size_t bytes = n * AW_GPU_DEPOSITED * sizeof(uint64_t);
    double most[AW_GPU_LOOK];
    aw_status status = AW_OK;
    call.grid = *grid;
    AW_TRY(aw_gpu_grow(g, &k->cells, bytes));
    AW_TRY(look_through(g, AW_GPU_particles_look, &call, 0, AW_GPU_LOOK, most));
    *lost = particle_at(&call, most[AW_GPU_OFF]);
    if (*lost != SIZE_MAX) return AW_OK;
    call.unit[0] = units_of(call.beam.n, 1.0);
    call.unit[1] = units_of(call.beam.n, most[AW_GPU_LATE]);
    call.unit[2] = units_of(call.beam.n, most[AW_GPU_PERP]);
    call.cells = k->cells.device;
    memset(k->cells.host, 0, bytes);
    AW_TRY(aw_gpu_to_device(g, 0, &k->cells, bytes));
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_particles_deposit, k->blocks, &call));
    AW_TRY(aw_gpu_to_host(g, 0, &k->cells, bytes));
    AW_TRY(aw_gpu_wait(g, 0));
    spread(k->cells.host, call.unit, n, cells);
done:
    return status;
}

static aw_status particles_gather(void *state, const aw_particle_grid *grid, const double *field,
                                  double factor, double sum[2][3], size_t *lost)
{
    aw_gpu_state *g = state;
    aw_gpu_resident *k = g->resident_particles;
    aw_gpu_particles call = k->call;
    double found[AW_GPU_GATHER];
    aw_status status = AW_OK;
    AW_TRY(
        aw_gpu_send(g, &k->field, field, 4 * (size_t)grid->ns * (size_t)grid->nx * sizeof *field));
    call.grid = *grid;
    call.field = k->field.device;
    call.factor = factor;
    AW_TRY(look_through(g, AW_GPU_particles_gather, &call, AW_GPU_LEAST_S, AW_GPU_GATHER, found));
    sum[0][0] = found[AW_GPU_SUM_S];
    sum[0][1] = -found[AW_GPU_LEAST_S];
    sum[0][2] = found[AW_GPU_MOST_S];
    sum[1][0] = found[AW_GPU_SUM_N];
    sum[1][1] = -found[AW_GPU_LEAST_N];
    sum[1][2] = found[AW_GPU_MOST_N];
    *lost = particle_at(&call, found[AW_GPU_HOT]);
done:
    return status;
}

static aw_status particles_push(void *state, double factor, double cdt, aw_particles_lost *lost)
{
    aw_gpu_state *g = state;
    aw_gpu_particles call = g->resident_particles->call;
    double found[AW_GPU_PUSH];
    aw_status status = AW_OK;
    call.factor = factor;
    call.cdt = cdt;
    AW_TRY(look_through(g, AW_GPU_particles_push, &call, 0, AW_GPU_PUSH, found));
    lost->kicked = particle_at(&call, found[AW_GPU_KICKED]);
    lost->turned = particle_at(&call, found[AW_GPU_TURNED]);
    lost->nonfinite = particle_at(&call, found[AW_GPU_NONFINITE]);
done:
    return status;
}

static aw_status particles_stats(void *state, double S, double gamma, aw_beam_sums *sums)
{
    aw_gpu_state *g = state;
    aw_gpu_resident *k = g->resident_particles;
    aw_gpu_particles call = k->call;
    const aw_orbit_view orbit = {k->orbit.host, call.orbit.n};
    double found[AW_GPU_STATS];
    aw_status status = AW_OK;
    call.ref = aw_orbit_at(&orbit, S);
    call.gamma = gamma;
    AW_TRY(look_through(g, AW_GPU_particles_stats, &call, AW_GPU_STATS, AW_GPU_STATS, found));
    const double *product = &found[AW_BEAM_WIDTH];
    memset(sums, 0, sizeof *sums);
    for (int a = 0; a < AW_BEAM_WIDTH; ++a) {
        sums->mean[a] = found[a];
        for (int b = 0; b <= a; ++b) sums->product[a][b] = *product++;
    }
done:
    return status;
}

#define AW_GPU_BEAM_OPERATIONS                                                        \
    .offload = particles_offload, .download = particles_download,                     \
    .second_moments = particles_second_moments, .reach = particles_reach,             \
    .deposit = particles_deposit, .gather = particles_gather, .push = particles_push, \
    .stats = particles_stats

/* Some ten launches and transfers of a step, of 10 us or so each, against a nanosecond or two of
 * sixteen cores for a particle. An emulated device keeps any, for tests. */
const aw_particle_ops aw_cuda_particles = {.many = 100000, AW_GPU_BEAM_OPERATIONS};
const aw_particle_ops aw_emulated_particles = {AW_GPU_BEAM_OPERATIONS};
