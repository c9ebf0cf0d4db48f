/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/forces.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernels/math/slope.h"
#include "pic/simd/simd.h"
#include "src/base/units.h"

/* phi - v.A at q with the velocity of p, and c A_z, c A_x there. */
static void held_velocity(const aw_field_point *p, const aw_field_point *q, const double *I,
                          double out[3])
{
    double half = 0.5 * (q->theta - p->theta), mean = 0.5 * (q->theta + p->theta);
    double dz = -2.0 * sin(mean) * sin(half), dx = 2.0 * cos(mean) * sin(half);
    out[0] = I[AW_PSI] + p->beta * (dz * I[AW_AZ] + dx * I[AW_AX]);
    out[1] = I[AW_AZ];
    out[2] = I[AW_AX];
}

/* Derivative along one axis of the grid at node p: `place` of p's index i among n, `stride` between
 * neighbours. */
static void derive(const aw_field_point *point, const double *result, size_t at, int i, int n,
                   size_t stride, double h, double out[3])
{
    int first;
    const double *slope = aw_slope_weights(i, n, &first);
    out[0] = out[1] = out[2] = 0.0;
    for (int k = 0; k < AW_SLOPE_NODES; ++k) {
        size_t q = at + (size_t)(first + k) * stride - (size_t)i * stride;
        double held[3], w = slope[k] / (AW_SLOPE_UNIT * h);
        held_velocity(&point[at], &point[q], &result[q * AW_RESULTS], held);
        for (int c = 0; c < 3; ++c) out[c] += w * held[c];
    }
}

/* Both gradients of a node, wherever it is: each neighbour by itself. */
static void gradients(const aw_grid_view *grid, const aw_field_point *point, const double *result,
                      int i, int j, double du[3], double dw[3])
{
    const int ns = grid->ns;
    const size_t at = (size_t)j * (size_t)ns + (size_t)i;
    derive(point, result, at, i, ns, 1, grid->hs, du);
    derive(point, result, at, j, grid->nx, (size_t)ns, grid->hx, dw);
}

/* What gradients need of a patch of nodes and those around it. */
typedef struct aw_patch {
    int i0, j0, n, m; /* its first node, its columns and rows */
    int first, last;  /* rows that are held: last is the first one that is not */
    aw_simd_nodes
        node; /* columns i0 - AW_HALO .. i0 + n + AW_HALO - 1 of the rows from `first` on */
    double du[3][AW_STRIP], dw[3][AW_STRIP]; /* gradients of one of its rows */
} aw_patch;

/* Beyond the grid's edges the outermost node is repeated: it is read, but not used. */
static void take_nodes(const aw_grid_view *grid, const aw_field_point *point, const double *result,
                       aw_patch *h)
{
    const int ns = grid->ns;
    aw_simd_nodes *to = &h->node;
    for (int j = h->first; j < h->last; ++j)
        for (int l = 0, r = j - h->first; l < h->n + 2 * AW_HALO; ++l) {
            const int i = h->i0 - AW_HALO + l, inside = i < 0 ? 0 : (i < ns ? i : ns - 1);
            const size_t q = (size_t)j * (size_t)ns + (size_t)inside;
            const double *I = &result[q * AW_RESULTS];
            to->theta[r][l] = point[q].theta;
            to->ct[r][l] = point[q].ct;
            to->st[r][l] = point[q].st;
            to->beta[r][l] = point[q].beta;
            to->psi[r][l] = I[AW_PSI];
            to->az[r][l] = I[AW_AZ];
            to->ax[r][l] = I[AW_AX];
        }
}

/* Gradients of row j of the patch, into du and dw. */
static void row_gradients(const aw_particle_kernels *lanes, const aw_grid_view *grid,
                          const aw_field_point *point, const double *result, int j, aw_patch *h)
{
    int first, centred, wide = 0;
    const double *across = aw_slope_weights(j, grid->nx, &first);
    const double *along = aw_slope_weights(AW_HALO, AW_SLOPE_NODES, &centred);
    const int own = j - h->first;
    memset(h->du, 0, sizeof h->du);
    memset(h->dw, 0, sizeof h->dw);
    for (int k = 0; k < AW_SLOPE_NODES; ++k) {
        const int row = first + k - h->first;
        const double ws = along[k] / (AW_SLOPE_UNIT * grid->hs);
        const double wx = across[k] / (AW_SLOPE_UNIT * grid->hx);
        if (ws != 0.0) wide |= lanes->neighbours(&h->node, own, own, k - AW_HALO, h->n, ws, h->du);
        if (wx != 0.0) wide |= lanes->neighbours(&h->node, own, row, 0, h->n, wx, h->dw);
    }
    /* At the grid's edges the windows are shifted, and a grid may span a good part of a ring. */
    for (int l = 0; l < h->n; ++l) {
        double du[3], dw[3];
        const int i = h->i0 + l;
        if (!wide && i >= AW_HALO && i < grid->ns - AW_HALO) continue;
        gradients(grid, point, result, i, j, du, dw);
        for (int c = 0; c < 3; ++c) {
            h->du[c][l] = du[c];
            h->dw[c][l] = dw[c];
        }
    }
}

/* Forces on node `at`, of which du and dw are the gradients along the grid's axes. */
static void set_forces(const aw_field_point *p, const double *I, const double du[3],
                       const double dw[3], const double axis[2], size_t at, const aw_forces *out)
{
    double dz[3], dx[3];
    for (int c = 0; c < 3; ++c) {
        dz[c] = axis[0] * du[c] - axis[1] * dw[c];
        dx[c] = axis[1] * du[c] + axis[0] * dw[c];
    }
    double rate_t = I[AW_DAZ] * p->ct + I[AW_DAX] * p->st;
    double rate_n = -I[AW_DAZ] * p->st + I[AW_DAX] * p->ct;
    double along = I[AW_AZ] * p->ct + I[AW_AX] * p->st;
    double psi_t = dz[0] * p->ct + dx[0] * p->st, psi_n = -dz[0] * p->st + dx[0] * p->ct;
    double fs = -psi_t - rate_t, fx = -psi_n - rate_n;
    out->Fs[at] = AW_K_COULOMB * fs;
    out->Fx[at] = AW_K_COULOMB * fx;
    out->Fs_eff[at] = AW_K_COULOMB * (fs + I[AW_DPHI] / p->beta);
    out->Fx_eff[at] = AW_K_COULOMB * (fx - p->kappa * p->beta * along);
    out->Fz_lab[at] = AW_K_COULOMB * (fs * p->ct - fx * p->st);
    out->Fx_lab[at] = AW_K_COULOMB * (fs * p->st + fx * p->ct);
    out->cBy[at] = AW_K_COULOMB * (dz[2] - dx[1]);
    out->theta[at] = p->theta;
}

/* The patch of which (i0, j0) is the first node. */
static void patch_forces(const aw_particle_kernels *lanes, const aw_grid_view *grid,
                         const aw_field_point *point, const double *result, int i0, int j0,
                         const aw_forces *out)
{
    const double axis[2] = {cos(grid->theta), sin(grid->theta)};
    int beyond;
    aw_patch h;
    h.i0 = i0;
    h.j0 = j0;
    h.n = grid->ns - i0 < AW_STRIP ? grid->ns - i0 : AW_STRIP;
    h.m = grid->nx - j0 < AW_PATCH_ROWS ? grid->nx - j0 : AW_PATCH_ROWS;
    aw_slope_weights(j0, grid->nx, &h.first);
    aw_slope_weights(j0 + h.m - 1, grid->nx, &beyond);
    h.last = beyond + AW_SLOPE_NODES;
    take_nodes(grid, point, result, &h);
    for (int j = j0; j < j0 + h.m; ++j) {
        row_gradients(lanes, grid, point, result, j, &h);
        for (int l = 0; l < h.n; ++l) {
            const size_t at = (size_t)j * (size_t)grid->ns + (size_t)(i0 + l);
            const double du[3] = {h.du[0][l], h.du[1][l], h.du[2][l]};
            const double dw[3] = {h.dw[0][l], h.dw[1][l], h.dw[2][l]};
            set_forces(&point[at], &result[at * AW_RESULTS], du, dw, axis, at, out);
        }
    }
}

void aw_forces_from_potentials(const aw_grid_view *grid, const aw_field_point *point,
                               const double *result, const aw_forces *out)
{
    const aw_particle_kernels *lanes = aw_particle_kernels_find(NULL);
#pragma omp parallel for collapse(2) schedule(static)
    for (int j0 = 0; j0 < grid->nx; j0 += AW_PATCH_ROWS)
        for (int i0 = 0; i0 < grid->ns; i0 += AW_STRIP)
            patch_forces(lanes, grid, point, result, i0, j0, out);
}
