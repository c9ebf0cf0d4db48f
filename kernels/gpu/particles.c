/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: particles that are resident on the device. Each step downloads the moments on the grid and
 * a few sums over the particles, and uploads the forces on the grid. */
#include "kernels/gpu/blocks/particles.h"

#include <math.h>
#include <string.h>

#include "kernels/gpu/device.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Deposits are added as integers, whose sum over all particles stays below 2^62. */
#define AW_GPU_DEPOSIT_BITS 62

struct aw_gpu_resident {
    aw_gpu_particles call;            /* arguments that all kernels have in common */
    size_t blocks;                    /* of each kernel */
    void *particle;                   /* all arrays of the particles, on the device, owned */
    size_t bytes;                     /* of `particle` */
    aw_gpu_array fields, orbit;       /* owned */
    aw_gpu_array found, cells, field; /* owned */
};

void aw_gpu_particles_free(aw_gpu_state *g)
{
    aw_gpu_resident *r = g->resident_particles;
    if (!r) return;
    aw_gpu_array *const all[] = {&r->fields, &r->orbit, &r->found, &r->cells, &r->field};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) aw_gpu_array_free(g, all[i]);
    if (r->particle) g->runtime->free(g->context, r->particle);
    g->info.memory += r->bytes;
    aw_free(r);
    g->resident_particles = NULL;
}

/* Allocate positions, momenta, forces, vector potentials and their rates, initial gammas, lattice
 * regions, and what else the beam has, as one buffer, of at most half the free memory: slices and
 * workspaces need some as well. */
static aw_status particles_alloc(aw_gpu_state *g, aw_gpu_resident *r, const aw_particles_view *like)
{
    double **const array[] = {&r->call.beam.z,       &r->call.beam.x,      &r->call.beam.pz,
                              &r->call.beam.px,      &r->call.Fz,          &r->call.Fx,
                              &r->call.vector[0],    &r->call.vector[1],   &r->call.vector[2],
                              &r->call.vector[3],    &r->call.beam.gamma0, &r->call.beam.weight,
                              &r->call.beam.radiated};
    const int wanted[] = {
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, like->weight != NULL, like->radiated != NULL};
    const size_t n = like->n, all = sizeof array / sizeof array[0];
    size_t arrays = 0;
    for (size_t i = 0; i < all; ++i) arrays += (size_t)wanted[i];
    const size_t bytes = n * (arrays * sizeof(double) + sizeof(int32_t));
    aw_status status = AW_OK;
    if (bytes > g->info.memory / 2) return AW_ERR_NOMEM;
    AW_TRY(g->runtime->alloc(g->context, bytes, &r->particle));
    r->bytes = bytes;
    g->info.memory -= bytes;
    r->call.beam.n = n;
    double *next = r->particle;
    for (size_t i = 0; i < all; ++i) {
        if (!wanted[i]) continue;
        *array[i] = next;
        next += n;
    }
    r->call.beam.element = (int32_t *)next;
done:
    return status;
}

static aw_status send_machine(aw_gpu_state *g, aw_gpu_resident *r, const aw_fields_view *fields,
                              const aw_orbit_view *orbit)
{
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_send(g, &r->fields, fields->region, (size_t)fields->n * sizeof *fields->region));
    AW_TRY(aw_gpu_send(g, &r->orbit, orbit->piece, (size_t)orbit->n * sizeof *orbit->piece));
    r->call.fields = *fields;
    r->call.fields.region = r->fields.device;
    r->call.orbit = *orbit;
    r->call.orbit.piece = r->orbit.device;
done:
    return status;
}

static double heaviest_of(const aw_particles_view *beam)
{
    double most = beam->weight ? 0.0 : 1.0;
    for (size_t i = 0; beam->weight && i < beam->n; ++i) most = fmax(most, beam->weight[i]);
    return most;
}

static aw_status particles_offload(void *state, const aw_particles_view *beam,
                                   const aw_fields_view *fields, const aw_orbit_view *orbit)
{
    aw_gpu_state *g = state;
    const size_t bytes = beam->n * sizeof(double);
    aw_status status = AW_OK;
    aw_gpu_particles_free(g);
    aw_gpu_resident *r = g->resident_particles = aw_alloc(1, sizeof *r);
    if (!r) return AW_ERR_NOMEM;
    AW_TRY(particles_alloc(g, r, beam));
    const aw_particles_view *to = &r->call.beam;
    const double *const from[] = {beam->z,      beam->x,      beam->pz,      beam->px,
                                  beam->gamma0, beam->weight, beam->radiated};
    double *const device[] = {to->z, to->x, to->pz, to->px, to->gamma0, to->weight, to->radiated};
    r->call.heaviest = heaviest_of(beam);
    for (size_t i = 0; i < sizeof from / sizeof from[0]; ++i)
        if (from[i]) AW_TRY(g->runtime->to_device(g->context, 0, device[i], from[i], bytes));
    AW_TRY(g->runtime->to_device(g->context, 0, to->element, beam->element,
                                 beam->n * sizeof *beam->element));
    if (send_machine(g, r, fields, orbit) != AW_OK)
        AW_TRY(AW_ERR_BACKEND); /* it has written a message */
    AW_TRY(aw_gpu_wait(g, 0));
    r->blocks = (beam->n + AW_GPU_THREADS - 1) / AW_GPU_THREADS;
    if (r->blocks > AW_GPU_PARTICLE_BLOCKS) r->blocks = AW_GPU_PARTICLE_BLOCKS;
    r->call.stride = r->blocks * AW_GPU_THREADS;
done:
    if (status != AW_OK) aw_gpu_particles_free(g);
    return status;
}

static aw_status particles_download(void *state, const aw_particles_view *to)
{
    aw_gpu_state *g = state;
    const aw_particles_view *from = &g->resident_particles->call.beam;
    const double *const device[] = {from->z,  from->x,      from->pz,
                                    from->px, from->gamma0, from->radiated};
    double *const host[] = {to->z, to->x, to->pz, to->px, to->gamma0, to->radiated};
    aw_status status = AW_OK;
    if (to->n != from->n)
        return aw_error(AW_ERR_BACKEND, "%s: another beam is resident on it by now", g->text);
    for (size_t i = 0; i < sizeof host / sizeof host[0]; ++i) {
        if (!device[i]) continue;
        AW_TRY(g->runtime->to_host(g->context, 0, host[i], device[i], to->n * sizeof(double)));
    }
    AW_TRY(g->runtime->to_host(g->context, 0, to->element, from->element,
                               to->n * sizeof *to->element));
    AW_TRY(aw_gpu_wait(g, 0));
done:
    return status;
}

/* Run a kernel over all particles and reduce the results of its blocks, `rows` numbers each: the
 * sums of the first `sums` rows, the largest values of the other rows. */
static aw_status reduce(aw_gpu_state *g, aw_gpu_kernel kernel, aw_gpu_particles *call, int sums,
                        int rows, double *out)
{
    aw_gpu_resident *r = g->resident_particles;
    const size_t bytes = r->blocks * (size_t)rows * sizeof(double);
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_grow(g, &r->found, bytes));
    call->found = r->found.device;
    AW_TRY(aw_gpu_launch(g, 0, kernel, r->blocks, call));
    AW_TRY(aw_gpu_to_host(g, 0, &r->found, bytes));
    AW_TRY(aw_gpu_wait(g, 0));
    const double *found = r->found.host;
    memset(out, 0, (size_t)rows * sizeof *out);
    for (size_t b = 0; b < r->blocks; ++b)
        for (int k = 0; k < rows; ++k, ++found)
            out[k] = k < sums ? out[k] + *found : fmax(out[k], *found);
done:
    return status;
}

/* The particle at this distance from the end; SIZE_MAX: none (the distance is 0). */
static size_t particle_at(const aw_gpu_particles *c, double from_end)
{
    return from_end > 0.0 ? c->beam.n - (size_t)from_end : SIZE_MAX;
}

static aw_status particles_second_moments(void *state, double z, double x, double sum[5])
{
    aw_gpu_state *g = state;
    aw_gpu_particles call = g->resident_particles->call;
    call.frame[0] = z;
    call.frame[1] = x;
    return reduce(g, AW_GPU_particles_moments, &call, AW_GPU_MOMENTS, AW_GPU_MOMENTS, sum);
}

static aw_status particles_reach(void *state, const double place[4], double reach[2])
{
    aw_gpu_state *g = state;
    aw_gpu_particles call = g->resident_particles->call;
    memcpy(call.frame, place, sizeof call.frame);
    return reduce(g, AW_GPU_particles_reach, &call, 0, AW_GPU_REACH, reach);
}

/* Integer that represents 1, a power of two, where each of n particles deposits at most `max`. */
static double scale_of(size_t n, double max)
{
    int bits;
    if (!(max > 0.0)) return 1.0;
    frexp((double)n * max, &bits);
    return ldexp(1.0, AW_GPU_DEPOSIT_BITS - bits);
}

/* Convert the integers of n cells to moments. */
static void to_moments(const uint64_t *from, const double scale[AW_GPU_DEPOSITED], size_t n,
                       double *cells)
{
    for (size_t i = 0; i < n; ++i, from += AW_GPU_DEPOSITED, cells += AW_COMPONENTS) {
        for (int k = 0; k < AW_GPU_DEPOSITED; ++k) cells[k] = (double)(int64_t)from[k] / scale[k];
        cells[AW_GPU_DEPOSITED] = 0.0;
    }
}

static aw_status particles_deposit(void *state, const aw_particle_grid *grid, double *cells,
                                   size_t *lost)
{
    aw_gpu_state *g = state;
    aw_gpu_resident *r = g->resident_particles;
    aw_gpu_particles call = r->call;
    const size_t n = aw_slice_bytes(grid->ns, grid->nx, 0) / (AW_COMPONENTS * sizeof(double));
    const size_t bytes = n * AW_GPU_DEPOSITED * sizeof(uint64_t);
    double bounds[AW_GPU_BOUNDS];
    aw_status status = AW_OK;
    call.grid = *grid;
    AW_TRY(aw_gpu_grow(g, &r->cells, bytes));
    AW_TRY(reduce(g, AW_GPU_particles_bounds, &call, 0, AW_GPU_BOUNDS, bounds));
    *lost = particle_at(&call, bounds[AW_GPU_OFF]);
    if (*lost != SIZE_MAX) return AW_OK;
    call.scale[0] = scale_of(call.beam.n, call.heaviest);
    call.scale[1] = scale_of(call.beam.n, call.heaviest * bounds[AW_GPU_LATE]);
    call.scale[2] = scale_of(call.beam.n, call.heaviest * bounds[AW_GPU_PERP]);
    call.cells = r->cells.device;
    memset(r->cells.host, 0, bytes);
    AW_TRY(aw_gpu_to_device(g, 0, &r->cells, bytes));
    AW_TRY(aw_gpu_launch(g, 0, AW_GPU_particles_deposit, r->blocks, &call));
    AW_TRY(aw_gpu_to_host(g, 0, &r->cells, bytes));
    AW_TRY(aw_gpu_wait(g, 0));
    to_moments(r->cells.host, call.scale, n, cells);
done:
    return status;
}

static aw_status particles_gather(void *state, const aw_particle_grid *grid,
                                  const aw_particle_gather *what, double sum[2][3], size_t *lost)
{
    const size_t quads = (what->vectors ? 3 : 1) * (size_t)grid->ns * (size_t)grid->nx;
    aw_gpu_state *g = state;
    aw_gpu_resident *r = g->resident_particles;
    aw_gpu_particles call = r->call;
    double found[AW_GPU_GATHER];
    aw_status status = AW_OK;
    AW_TRY(aw_gpu_send(g, &r->field, what->field, 4 * quads * sizeof *what->field));
    call.grid = *grid;
    call.field = r->field.device;
    call.factor = what->factor;
    call.vectors = what->vectors;
    call.settles = what->vectors && what->times;
    if (call.settles) call.times = *what->times;
    AW_TRY(reduce(g, AW_GPU_particles_gather, &call, AW_GPU_MIN_S, AW_GPU_GATHER, found));
    sum[0][0] = found[AW_GPU_SUM_S];
    sum[0][1] = -found[AW_GPU_MIN_S];
    sum[0][2] = found[AW_GPU_MAX_S];
    sum[1][0] = found[AW_GPU_SUM_N];
    sum[1][1] = -found[AW_GPU_MIN_N];
    sum[1][2] = found[AW_GPU_MAX_N];
    *lost = particle_at(&call, found[AW_GPU_KICK_LOST]);
done:
    return status;
}

static aw_status particles_push(void *state, double factor, double until, double cdt,
                                const aw_radiation *radiation, aw_particles_lost *lost)
{
    aw_gpu_state *g = state;
    aw_gpu_particles call = g->resident_particles->call;
    double found[AW_GPU_PUSH];
    aw_status status = AW_OK;
    call.factor = factor;
    call.cdt = cdt;
    call.fields.until = until;
    call.radiation = *radiation;
    AW_TRY(reduce(g, AW_GPU_particles_push, &call, 0, AW_GPU_PUSH, found));
    lost->kicked = particle_at(&call, found[AW_GPU_KICKED]);
    lost->turned = particle_at(&call, found[AW_GPU_TURNED]);
    lost->nonfinite = particle_at(&call, found[AW_GPU_NONFINITE]);
done:
    return status;
}

static aw_status particles_stats(void *state, double S, double gamma, aw_beam_sums *sums)
{
    aw_gpu_state *g = state;
    aw_gpu_resident *r = g->resident_particles;
    aw_gpu_particles call = r->call;
    const aw_orbit_view orbit = {r->orbit.host, call.orbit.n};
    double found[AW_GPU_STATS];
    aw_status status = AW_OK;
    call.ref = aw_orbit_at(&orbit, S);
    call.gamma = gamma;
    AW_TRY(reduce(g, AW_GPU_particles_stats, &call, AW_GPU_STATS, AW_GPU_STATS, found));
    const double *product = &found[AW_GPU_PRODUCTS];
    memset(sums, 0, sizeof *sums);
    memcpy(sums->radiated, &found[AW_GPU_RADIATED], sizeof sums->radiated);
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

/* A step takes some ten launches and transfers of about 10 us each, and sixteen cores take a
 * nanosecond or two for a particle. An emulated device takes any number of particles, for tests. */
const aw_particle_ops aw_cuda_particles = {.many = 100000, AW_GPU_BEAM_OPERATIONS};
const aw_particle_ops aw_emulated_particles = {AW_GPU_BEAM_OPERATIONS};
