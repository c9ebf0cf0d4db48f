/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/deposit.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/math/view.h"
#include "pic/chunks.h"
#include "src/base/log.h"
#include "src/base/memory.h"

struct aw_deposit {
    int ns, nx;
    size_t cells; /* of one padded grid */
    int grids;    /* private grids */
    double *grid; /* [grids][cells][AW_COMPONENTS] */
};

/* Private grids take at most this much; their number depends on the grid alone. */
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
    if (!d->grid) {
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
    aw_free(deposit);
}

size_t aw_deposit_bytes(const aw_deposit *deposit)
{
    return (size_t)deposit->grids * deposit->cells * AW_COMPONENTS * sizeof(double);
}

static aw_status refuse(const aw_particles *p, size_t i, const aw_frame *frame)
{
    const aw_particle body = aw_particles_one(p, i);
    const int finite = aw_particle_finite(&body);
    return aw_error(finite ? AW_ERR_RANGE : AW_ERR_NONFINITE,
                    "particle %zu at z = %.9g m, x = %.9g m is %s at S = %.6g m (a smaller "
                    "numerics.step_m, or check the beam)",
                    p->first + i, p->z[i], p->x[i], finite ? "off the grid" : "not finite",
                    frame->grid.S);
}

typedef double quad __attribute__((vector_size(32), may_alias));
typedef float narrow __attribute__((vector_size(16), may_alias));

/* Pieces of the grid: as many as there are threads to be had, and more. */
enum { CELL_PIECES = 64 };

/* Sum the private grids cell by cell, in order, and scale to densities. */
static void reduce(const aw_deposit *d, int grids, double density, int single, void *cells,
                   double *charge)
{
    const quad *grid = (const quad *)d->grid;
    const size_t n = d->cells;
    double part[CELL_PIECES], total = 0.0;
#pragma omp parallel for schedule(static)
    for (int c = 0; c < CELL_PIECES; ++c) {
        quad in_all = {0.0, 0.0, 0.0, 0.0};
        for (size_t k = n * (size_t)c / CELL_PIECES; k < n * (size_t)(c + 1) / CELL_PIECES; ++k) {
            quad sum = grid[k];
            for (int g = 1; g < grids; ++g) sum += grid[(size_t)g * n + k];
            in_all += sum;
            sum *= density;
            if (single)
                ((narrow *)cells)[k] = __builtin_convertvector(sum, narrow);
            else
                ((quad *)cells)[k] = sum;
        }
        part[c] = in_all[0];
    }
    for (int c = 0; c < CELL_PIECES; ++c) total += part[c];
    *charge = total;
}

/* Add a private grid to the first one. */
static void add_grid(const aw_deposit *d, int g)
{
    const size_t n = d->cells * AW_COMPONENTS;
    const double *from = d->grid + (size_t)g * n;
#pragma omp parallel for simd schedule(static)
    for (size_t k = 0; k < n; ++k) d->grid[k] += from[k];
}

static aw_particle_grid place_of(const aw_frame *frame)
{
    aw_particle_grid place = aw_particle_grid_of(&frame->grid);
    place.ct = cos(frame->theta_design);
    place.st = sin(frame->theta_design);
    return place;
}

/* First particle of a block that cannot be deposited. */
static size_t find_lost(const aw_particle_kernels *lanes, const aw_particles *p, size_t i, size_t n,
                        const aw_particle_grid *place, double *grid)
{
    for (size_t l = 0; l < n; ++l)
        if (lanes->deposit(p, i + l, 1, place, grid)) return i + l;
    return i;
}

/* Private grids in use: each is cleared and summed, which pays with a few particles a node. Their
 * number depends on grid and particles alone. */
static int grids_for(const aw_deposit *d, size_t particles)
{
    const int scarce = particles / 4 / (size_t)d->grids < d->cells;
    return scarce && d->grids > AW_DEPOSIT_GRIDS / 2 ? AW_DEPOSIT_GRIDS / 2 : d->grids;
}

/* On the workspace's private grids. @return the first particle that cannot be deposited */
static size_t host_deposit(aw_deposit *d, const aw_particles *p, const aw_particle_grid *place,
                           int grids)
{
    const aw_particle_kernels *lanes = aw_particle_kernels_find(NULL);
    const size_t n = d->cells * AW_COMPONENTS;
    size_t lost = SIZE_MAX;
#pragma omp parallel for schedule(dynamic) reduction(min : lost)
    for (int g = 0; g < grids; ++g) {
        const size_t end = aw_chunk_begin(p->n, grids, g + 1);
        double *mine = d->grid + (size_t)g * n;
        memset(mine, 0, n * sizeof *mine);
        for (size_t i = aw_chunk_begin(p->n, grids, g); i < end; i += AW_BLOCK) {
            const size_t m = aw_block_size(i, end);
            if (!lanes->deposit(p, i, m, place, mine)) continue;
            const size_t first = find_lost(lanes, p, i, m, place, mine);
            if (first < lost) lost = first;
            break;
        }
    }
    return lost;
}

/* By the device that keeps the particles, on the first of the grids. */
static aw_status kept_deposit(aw_deposit *d, const aw_particles *p, const aw_particle_grid *place,
                              size_t *lost)
{
    const aw_device *keeper = p->resident_on;
    aw_status status = AW_OK;
    AW_TRY(keeper->ops->particles->deposit(keeper->state, place, d->grid, lost));
    if (*lost != SIZE_MAX) AW_TRY(aw_particles_download(p)); /* to say where it is */
done:
    return status;
}

aw_status aw_deposit_run(aw_deposit *d, const aw_particles *p, const aw_frame *frame, int single,
                         void *cells, double *charge)
{
    const aw_particle_grid place = place_of(frame);
    int grids = p->resident_on ? 1 : grids_for(d, p->n);
    size_t lost = SIZE_MAX;
    aw_status status = AW_OK;
    if (p->resident_on)
        status = kept_deposit(d, p, &place, &lost);
    else
        lost = host_deposit(d, p, &place, grids);
    if (status == AW_OK && lost != SIZE_MAX) status = refuse(p, lost, frame);
    AW_TRY(aw_particles_agree(p, status));
    if (p->distributed) { /* the sum of this rank's grids, and then of all ranks' */
        for (int g = 1; g < grids; ++g) add_grid(d, g);
        aw_particles_sum(p, d->grid, d->cells * AW_COMPONENTS);
        grids = 1;
    }
    reduce(d, grids, p->charge / (frame->grid.hs * frame->grid.hx), single, cells, charge);
    *charge *= p->charge;
done:
    return status;
}
