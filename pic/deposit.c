/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/deposit.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/integrand.h"
#include "pic/chunks.h"
#include "src/base/log.h"
#include "src/base/memory.h"

struct aw_deposit {
    int ns, nx;
    size_t cells; /* of one padded grid */
    int grids;    /* private grids: chunks share one when the grid is very large */
    double *grid; /* [grids][cells][AW_COMPONENTS] */
};

/* Private grids take at most this much; their number depends on the grid alone. */
#define AW_PRIVATE_BYTES ((size_t)256 << 20)

static size_t padded_cells(int ns, int nx)
{
    return (size_t)(ns + 2 * AW_PAD) * (size_t)(nx + 2 * AW_PAD);
}

size_t aw_slice_bytes(int ns, int nx, int single)
{
    return padded_cells(ns, nx) * AW_COMPONENTS * (single ? sizeof(float) : sizeof(double));
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
    d->grids = fit >= AW_CHUNKS ? AW_CHUNKS : fit >= 4 ? 4 : 2;
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

/* What one particle needs of the frame. */
typedef struct place {
    double z, x, cg, sg, ct, st, ihs, ihx, mid_s, mid_x;
    int ns, nx;
} place;

/* Add particle i in units of its charge; 0 when it is off the grid or not finite. */
static int deposit_one(const aw_particles *p, size_t i, const place *f, double *grid)
{
    double dz = p->z[i] - f->z, dx = p->x[i] - f->x;
    double a = (dz * f->cg + dx * f->sg) * f->ihs + f->mid_s;
    double b = (-dz * f->sg + dx * f->cg) * f->ihx + f->mid_x;
    if (!(a >= 0.5 && a < f->ns - 1.5 && b >= 0.5 && b < f->nx - 1.5)) return 0;
    double pz = p->pz[i], px = p->px[i], p2 = pz * pz + px * px, gamma = sqrt(1.0 + p2);
    double along = pz * f->ct + px * f->st, across = -pz * f->st + px * f->ct;
    /* 1 - beta_par = (1 - beta) + beta (1 - cos), each without cancellation */
    double m = sqrt(p2), late = 1.0 / (gamma * (gamma + m));
    if (m > 0.0)
        late += along > 0.0 ? across * across / ((m + along) * gamma) : (m - along) / gamma;
    double perp = across / gamma;
    if (!isfinite(late)) return 0;
    int ia = (int)(a + 0.5), ib = (int)(b + 0.5);
    double wu[3], wv[3];
    ptrdiff_t row = f->ns + 2 * AW_PAD;
    aw_spline(a - ia, wu);
    aw_spline(b - ib, wv);
    for (int q = 0; q < 3; ++q)
        for (int k = 0; k < 3; ++k) {
            double w = wu[k] * wv[q];
            double *g = grid + ((ib + AW_PAD - 1 + q) * row + ia + AW_PAD - 1 + k) * AW_COMPONENTS;
            g[0] += w;
            g[1] += w * late;
            g[2] += w * perp;
        }
    return 1;
}

static aw_status refuse(const aw_particles *p, size_t i, const aw_frame *frame)
{
    int finite = isfinite(p->z[i]) && isfinite(p->x[i]) && isfinite(p->pz[i]) && isfinite(p->px[i]);
    return aw_error(finite ? AW_ERR_RANGE : AW_ERR_NONFINITE,
                    "particle %zu at z = %.9g m, x = %.9g m is %s at S = %.6g m (a smaller "
                    "numerics.step_m, or check the beam)",
                    i, p->z[i], p->x[i], finite ? "off the grid" : "not finite", frame->grid.S);
}

/* Sum the private grids cell by cell, in order, and scale to densities. */
static void reduce(const aw_deposit *d, double density, int single, void *cells, double *charge)
{
    const size_t n = d->cells * AW_COMPONENTS;
    double part[AW_CHUNKS] = {0}, total = 0.0;
#pragma omp parallel for schedule(static)
    for (int c = 0; c < AW_CHUNKS; ++c)
        for (size_t k = aw_chunk_begin(d->cells, c) * AW_COMPONENTS;
             k < aw_chunk_begin(d->cells, c + 1) * AW_COMPONENTS; ++k) {
            double sum = 0.0;
            for (int g = 0; g < d->grids; ++g) sum += d->grid[(size_t)g * n + k];
            if (k % AW_COMPONENTS == 0) part[c] += sum;
            if (single)
                ((float *)cells)[k] = (float)(sum * density);
            else
                ((double *)cells)[k] = sum * density;
        }
    for (int c = 0; c < AW_CHUNKS; ++c) total += part[c];
    *charge = total;
}

aw_status aw_deposit_run(aw_deposit *d, const aw_particles *p, const aw_frame *frame, int single,
                         void *cells, double *charge)
{
    const aw_grid_view *grid = &frame->grid;
    const place f = {.z = grid->z,
                     .x = grid->x,
                     .cg = cos(grid->theta),
                     .sg = sin(grid->theta),
                     .ct = cos(frame->theta_design),
                     .st = sin(frame->theta_design),
                     .ihs = 1.0 / grid->hs,
                     .ihx = 1.0 / grid->hx,
                     .mid_s = 0.5 * (grid->ns - 1),
                     .mid_x = 0.5 * (grid->nx - 1),
                     .ns = grid->ns,
                     .nx = grid->nx};
    const size_t n = d->cells * AW_COMPONENTS;
    const int per_grid = AW_CHUNKS / d->grids;
    size_t lost = SIZE_MAX;
#pragma omp parallel for schedule(dynamic) reduction(min : lost)
    for (int g = 0; g < d->grids; ++g) {
        double *mine = d->grid + (size_t)g * n;
        memset(mine, 0, n * sizeof *mine);
        for (size_t i = aw_chunk_begin(p->n, g * per_grid);
             i < aw_chunk_begin(p->n, (g + 1) * per_grid); ++i)
            if (!deposit_one(p, i, &f, mine) && i < lost) lost = i;
    }
    if (lost != SIZE_MAX) return refuse(p, lost, frame);
    reduce(d, p->charge / (grid->hs * grid->hx), single, cells, charge);
    *charge *= p->charge;
    return AW_OK;
}
