/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/deposit.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/math/view.h"
#include "pic/chunks.h"
#include "pic/compensation.h"
#include "src/base/log.h"
#include "src/base/memory.h"

struct aw_deposit {
    int ns, nx;
    size_t cells;        /* of one padded grid */
    int grids;           /* number of private grids */
    double *grid;        /* [grids][cells][AW_COMPONENTS] */
    unsigned char *felt; /* [2][nx][ns]: nodes that the gather reads; and a workspace */
};

/* Limit of the memory of the private grids; their number depends on the grid alone. */
#define AW_PRIVATE_BYTES ((size_t)256 << 20)

static size_t padded_cells(int ns, int nx)
{
    return (size_t)(ns + 2 * AW_PAD) * (size_t)(nx + 2 * AW_PAD);
}

aw_status aw_deposit_new(int ns, int nx, aw_deposit **out)
{
    aw_deposit *d = aw_alloc(1, sizeof *d);
    *out = NULL;
    if (!d) return AW_ERR_NOMEM;
    d->ns = ns;
    d->nx = nx;
    d->cells = padded_cells(ns, nx);
    size_t fit = AW_PRIVATE_BYTES / aw_slice_bytes(ns, nx, 0);
    d->grids = fit >= AW_DEPOSIT_GRIDS ? AW_DEPOSIT_GRIDS : fit >= 4 ? 4 : 2;
    d->grid = aw_alloc((size_t)d->grids * d->cells * AW_COMPONENTS, sizeof *d->grid);
    d->felt = aw_alloc(2 * (size_t)ns * (size_t)nx, sizeof *d->felt);
    if (!d->grid || !d->felt) {
        aw_deposit_free(d);
        return AW_ERR_NOMEM;
    }
    *out = d;
    return AW_OK;
}

void aw_deposit_free(aw_deposit *deposit)
{
    if (!deposit) return;
    aw_free(deposit->grid);
    aw_free(deposit->felt);
    aw_free(deposit);
}

static aw_status deposit_error(const aw_particles *p, size_t i, const aw_frame *frame)
{
    const aw_particle particle = aw_particles_one(p, i);
    const int finite = aw_particle_finite(&particle);
    return aw_error(finite ? AW_ERR_RANGE : AW_ERR_NONFINITE,
                    "particle %zu at z = %.9g m, x = %.9g m is %s at S = %.6g m (a smaller "
                    "numerics.step_m, or check the beam)",
                    p->first + i, p->z[i], p->x[i], finite ? "off the grid" : "not finite",
                    frame->grid.S);
}

typedef double quad __attribute__((vector_size(32), may_alias));
typedef float narrow __attribute__((vector_size(16), may_alias));

/* Chunks of the grid: enough for many threads. */
enum { CELL_CHUNKS = 64 };

/* Sum the private grids cell by cell, in order, into the first one.
 * @return the charge, in units of the mean charge of a particle */
static double sum_grids(const aw_deposit *d, int grids)
{
    quad *grid = (quad *)d->grid;
    const size_t n = d->cells;
    double part[CELL_CHUNKS], total = 0.0;
#pragma omp parallel for schedule(static)
    for (int c = 0; c < CELL_CHUNKS; ++c) {
        quad in_all = {0.0, 0.0, 0.0, 0.0};
        for (size_t k = n * (size_t)c / CELL_CHUNKS; k < n * (size_t)(c + 1) / CELL_CHUNKS; ++k) {
            quad sum = grid[k];
            for (int g = 1; g < grids; ++g) sum += grid[(size_t)g * n + k];
            in_all += sum;
            grid[k] = sum;
        }
        part[c] = in_all[0];
    }
    for (int c = 0; c < CELL_CHUNKS; ++c) total += part[c];
    return total;
}

/* Find the nodes that the gather reads: those to which particles give charge, and those from which
 * it compensates them. */
static void find_felt(const aw_deposit *d)
{
    const size_t row = (size_t)d->ns + 2 * AW_PAD, ns = (size_t)d->ns;
    unsigned char *touched = d->felt + ns * (size_t)d->nx;
    for (size_t j = 0; j < (size_t)d->nx; ++j)
        for (size_t i = 0; i < ns; ++i)
            touched[j * ns + i] = d->grid[((j + AW_PAD) * row + i + AW_PAD) * AW_COMPONENTS] != 0.0;
    aw_compensation_reads(d->ns, d->nx, touched, d->felt);
}

const unsigned char *aw_deposit_felt(const aw_deposit *deposit) { return deposit->felt; }

/* Compensate the sums on the first private grid for the smoothing; the second one is overwritten.
 */
static void compensate(const aw_deposit *d)
{
    const ptrdiff_t row = d->ns + 2 * AW_PAD, first = (AW_PAD * row + AW_PAD) * AW_COMPONENTS;
    double *scratch = d->grid + d->cells * AW_COMPONENTS;
    aw_compensate_moments(&(aw_quad_grid){d->ns, d->nx, row}, d->grid + first, scratch + first);
}

/* Store the sums as densities. */
static void store(const aw_deposit *d, double density, int single, void *cells)
{
    const quad *sum = (const quad *)d->grid;
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < d->cells; ++k) {
        if (single)
            ((narrow *)cells)[k] = __builtin_convertvector(sum[k] * density, narrow);
        else
            ((quad *)cells)[k] = sum[k] * density;
    }
}

static aw_particle_grid grid_of(const aw_frame *frame)
{
    aw_particle_grid grid = aw_particle_grid_of(&frame->grid);
    grid.ct = cos(frame->theta_design);
    grid.st = sin(frame->theta_design);
    return grid;
}

/* First particle of a block that cannot be deposited. */
static size_t first_rejected(const aw_particle_kernels *kernels, const aw_particles *p, size_t i,
                             size_t n, const aw_particle_grid *grid, double *cells)
{
    for (size_t l = 0; l < n; ++l)
        if (kernels->deposit(p, i + l, 1, grid, cells)) return i + l;
    return i;
}

/* Number of private grids in use. Each has to be cleared and summed, which pays off from a few
 * particles per node on. The number depends on the grid and the number of particles alone. */
static int grids_for(const aw_deposit *d, size_t particles)
{
    const int scarce = particles / 4 / (size_t)d->grids < d->cells;
    return scarce && d->grids > AW_DEPOSIT_GRIDS / 2 ? AW_DEPOSIT_GRIDS / 2 : d->grids;
}

/* Deposit on the private grids. @return the first particle that cannot be deposited; SIZE_MAX:
 * none */
static size_t host_deposit(aw_deposit *d, const aw_particles *p, const aw_particle_grid *grid,
                           int grids)
{
    const aw_particle_kernels *kernels = aw_particle_kernels_find(NULL);
    const size_t n = d->cells * AW_COMPONENTS;
    size_t rejected = SIZE_MAX;
#pragma omp parallel for schedule(dynamic) reduction(min : rejected)
    for (int g = 0; g < grids; ++g) {
        const size_t end = aw_chunk_begin(p->n, grids, g + 1);
        double *cells = d->grid + (size_t)g * n;
        memset(cells, 0, n * sizeof *cells);
        for (size_t i = aw_chunk_begin(p->n, grids, g); i < end; i += AW_BLOCK) {
            const size_t m = aw_block_size(i, end);
            if (!kernels->deposit(p, i, m, grid, cells)) continue;
            const size_t first = first_rejected(kernels, p, i, m, grid, cells);
            if (first < rejected) rejected = first;
            break;
        }
    }
    return rejected;
}

/* Deposit resident particles on the device, and copy the result to the first private grid. */
static aw_status device_deposit(aw_deposit *d, const aw_particles *p, const aw_particle_grid *grid,
                                size_t *rejected)
{
    const aw_device *device = p->resident_on;
    aw_status status = AW_OK;
    AW_TRY(device->ops->particles->deposit(device->state, grid, d->grid, rejected));
    if (*rejected != SIZE_MAX) AW_TRY(aw_particles_download(p)); /* the message says where it is */
done:
    return status;
}

aw_status aw_deposit_run(aw_deposit *d, const aw_particles *p, const aw_frame *frame, int single,
                         void *cells, double *charge)
{
    const aw_particle_grid grid = grid_of(frame);
    const int grids = p->resident_on ? 1 : grids_for(d, p->n);
    size_t rejected = SIZE_MAX;
    aw_status status = AW_OK;
    if (p->resident_on)
        status = device_deposit(d, p, &grid, &rejected);
    else
        rejected = host_deposit(d, p, &grid, grids);
    if (status == AW_OK && rejected != SIZE_MAX) status = deposit_error(p, rejected, frame);
    AW_TRY(aw_particles_agree(p, status));
    *charge = p->charge * sum_grids(d, grids);
    if (p->distributed) {
        aw_particles_sum(p, d->grid, d->cells * AW_COMPONENTS);
        *charge = p->charge * sum_grids(d, 1); /* of all ranks */
    }
    find_felt(d);
    compensate(d);
    store(d, p->charge / (frame->grid.hs * frame->grid.hx), single, cells);
done:
    return status;
}
