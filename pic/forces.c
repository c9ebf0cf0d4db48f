/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/forces.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernels/math/slope.h"
#include "pic/simd/simd.h"
#include "src/base/memory.h"
#include "src/base/units.h"

enum { FORCES = 8, ARRAYS };

/* All arrays, `vector` last. */
static void arrays_of(aw_forces *f, double **array[ARRAYS])
{
    double **const all[ARRAYS] = {&f->Fs,     &f->Fx,  &f->Fs_eff, &f->Fx_eff, &f->Fz_lab,
                                  &f->Fx_lab, &f->cBy, &f->theta,  &f->vector};
    memcpy(array, all, sizeof all);
}

aw_status aw_forces_new(size_t nodes, int vector, aw_forces *out)
{
    double **array[ARRAYS];
    arrays_of(out, array);
    *out = (aw_forces){0};
    for (int i = 0; i < (vector ? ARRAYS : FORCES); ++i) {
        const size_t numbers = i < FORCES ? 1 : 8;
        if ((*array[i] = aw_alloc(nodes, numbers * sizeof(double)))) continue;
        aw_forces_free(out);
        return AW_ERR_NOMEM;
    }
    return AW_OK;
}

void aw_forces_free(aw_forces *forces)
{
    double **array[ARRAYS];
    arrays_of(forces, array);
    for (int i = 0; i < ARRAYS; ++i) aw_free(*array[i]);
    *forces = (aw_forces){0};
}

/* phi - v.A at node q for the velocity v of node p, and c A_z, c A_x at q. */
static void values_at_neighbour(const aw_field_point *p, const aw_field_point *q, const double *I,
                                double out[3])
{
    double half = 0.5 * (q->theta - p->theta), mean = 0.5 * (q->theta + p->theta);
    double dz = -2.0 * sin(mean) * sin(half), dx = 2.0 * cos(mean) * sin(half);
    out[0] = I[AW_PSI] + p->beta * (dz * I[AW_AZ] + dx * I[AW_AX]);
    out[1] = I[AW_AZ];
    out[2] = I[AW_AX];
}

/* Arguments of aw_forces_from_potentials, borrowed. */
typedef struct potentials {
    const aw_grid_view *grid;
    const aw_field_point *point;
    const double *result;
} potentials;

/* Derivatives of psi, c A_z and c A_x along an axis of the grid (0: s, 1: x) at node `at`, whose
 * index on that axis is i. */
static void derive(const potentials *v, size_t at, int axis, int i, double out[3])
{
    const size_t stride = axis ? (size_t)v->grid->ns : 1;
    const double h = axis ? v->grid->hx : v->grid->hs;
    int first;
    const double *slope = aw_slope_weights(i, axis ? v->grid->nx : v->grid->ns, &first);
    out[0] = out[1] = out[2] = 0.0;
    for (int k = 0; k < AW_SLOPE_NODES; ++k) {
        size_t q = at + (size_t)(first + k) * stride - (size_t)i * stride;
        double value[3], w = slope[k] / (AW_SLOPE_UNIT * h);
        values_at_neighbour(&v->point[at], &v->point[q], &v->result[q * AW_RESULTS], value);
        for (int c = 0; c < 3; ++c) out[c] += w * value[c];
    }
}

/* Derivatives along both axes at any node, one neighbour at a time. */
static void gradients(const potentials *v, int i, int j, double du[3], double dw[3])
{
    const size_t at = (size_t)j * (size_t)v->grid->ns + (size_t)i;
    derive(v, at, 0, i, du);
    derive(v, at, 1, j, dw);
}

/* A patch of nodes with the halo that its derivatives need. */
typedef struct aw_patch {
    int i0, j0, n, m;   /* its first node, its columns and rows */
    int first, last;    /* rows first .. last - 1 are copied */
    aw_simd_nodes node; /* columns i0 - AW_HALO .. i0 + n + AW_HALO - 1 of these rows */
    double du[3][AW_STRIP], dw[3][AW_STRIP]; /* derivatives at one row, along s and x */
} aw_patch;

/* Beyond the edges of the grid the outermost node is repeated: it is read, but not used. */
static void copy_nodes(const potentials *v, aw_patch *h)
{
    const int ns = v->grid->ns;
    const aw_field_point *point = v->point;
    aw_simd_nodes *to = &h->node;
    for (int j = h->first; j < h->last; ++j)
        for (int l = 0, r = j - h->first; l < h->n + 2 * AW_HALO; ++l) {
            const int i = h->i0 - AW_HALO + l, inside = i < 0 ? 0 : (i < ns ? i : ns - 1);
            const size_t q = (size_t)j * (size_t)ns + (size_t)inside;
            const double *I = &v->result[q * AW_RESULTS];
            to->theta[r][l] = point[q].theta;
            to->ct[r][l] = point[q].ct;
            to->st[r][l] = point[q].st;
            to->beta[r][l] = point[q].beta;
            to->psi[r][l] = I[AW_PSI];
            to->az[r][l] = I[AW_AZ];
            to->ax[r][l] = I[AW_AX];
        }
}

/* Derivatives at row j of the patch. */
static void row_gradients(const aw_particle_kernels *kernels, const potentials *v, int j,
                          aw_patch *h)
{
    const aw_grid_view *grid = v->grid;
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
        const aw_simd_line to_s = {own, own, k - AW_HALO, h->n}, to_x = {own, row, 0, h->n};
        if (ws != 0.0) wide |= kernels->neighbours(&h->node, &to_s, ws, h->du);
        if (wx != 0.0) wide |= kernels->neighbours(&h->node, &to_x, wx, h->dw);
    }
    /* One at a time: nodes at the edges of the grid, where the window is shifted, and all nodes of
     * a grid that spans so much of a ring that the tangents turn too far for the series. */
    for (int l = 0; l < h->n; ++l) {
        double du[3], dw[3];
        const int i = h->i0 + l;
        if (!wide && i >= AW_HALO && i < grid->ns - AW_HALO) continue;
        gradients(v, i, j, du, dw);
        for (int c = 0; c < 3; ++c) {
            h->du[c][l] = du[c];
            h->dw[c][l] = dw[c];
        }
    }
}

/* Derivatives along the lab axes from those along the axes of the grid, grad[0] and grad[1].
 * axis: direction of the grid's s axis */
static void turn_to_lab(const double grad[2][3], const double axis[2], double dz[3], double dx[3])
{
    for (int c = 0; c < 3; ++c) {
        dz[c] = axis[0] * grad[0][c] - axis[1] * grad[1][c];
        dx[c] = axis[1] * grad[0][c] + axis[0] * grad[1][c];
    }
}

/* Force at node `at` from its derivatives along the lab axes. */
static aw_force force_at(const potentials *v, size_t at, const double dz[3], const double dx[3])
{
    const aw_field_point *p = &v->point[at];
    const double *I = &v->result[at * AW_RESULTS];
    double rate_t = I[AW_DAZ] * p->ct + I[AW_DAX] * p->st;
    double rate_n = -I[AW_DAZ] * p->st + I[AW_DAX] * p->ct;
    double along = I[AW_AZ] * p->ct + I[AW_AX] * p->st;
    double psi_t = dz[0] * p->ct + dx[0] * p->st, psi_n = -dz[0] * p->st + dx[0] * p->ct;
    double fs = -psi_t - rate_t, fx = -psi_n - rate_n;
    return (aw_force){.s = fs,
                      .x = fx,
                      .s_eff = fs + I[AW_DPHI] / p->beta,
                      .x_eff = fx - p->kappa * p->beta * along};
}

/* Store what node `at` has of the vector potential. */
static void set_vector(const potentials *v, size_t at, const double dz[3], const double dx[3],
                       double *out)
{
    const double *I = &v->result[at * AW_RESULTS];
    const double value[4] = {I[AW_AZ], I[AW_AX], I[AW_DAZ], I[AW_DAX]};
    const double slope[4] = {dz[1], dx[1], dz[2], dx[2]};
    const size_t nodes = (size_t)v->grid->ns * (size_t)v->grid->nx;
    for (size_t k = 0; k < 4; ++k) {
        out[4 * at + k] = AW_K_COULOMB * value[k];
        out[4 * (nodes + at) + k] = AW_K_COULOMB * slope[k];
    }
}

/* Store the forces at node `at`. */
static void set_forces(const potentials *v, size_t at, const double grad[2][3],
                       const double axis[2], const aw_forces *out)
{
    const aw_field_point *p = &v->point[at];
    double dz[3], dx[3];
    turn_to_lab(grad, axis, dz, dx);
    const aw_force f = force_at(v, at, dz, dx);
    out->Fs[at] = AW_K_COULOMB * f.s;
    out->Fx[at] = AW_K_COULOMB * f.x;
    out->Fs_eff[at] = AW_K_COULOMB * f.s_eff;
    out->Fx_eff[at] = AW_K_COULOMB * f.x_eff;
    out->Fz_lab[at] = AW_K_COULOMB * (f.s * p->ct - f.x * p->st);
    out->Fx_lab[at] = AW_K_COULOMB * (f.s * p->st + f.x * p->ct);
    out->cBy[at] = AW_K_COULOMB * (dz[2] - dx[1]);
    out->theta[at] = p->theta;
    if (out->vector) set_vector(v, at, dz, dx, out->vector);
}

aw_force aw_force_from_potentials(const aw_grid_view *grid, const aw_field_point *point,
                                  const double *result, int i, int j)
{
    const potentials v = {grid, point, result};
    const double axis[2] = {cos(grid->theta), sin(grid->theta)};
    double grad[2][3], dz[3], dx[3];
    gradients(&v, i, j, grad[0], grad[1]);
    turn_to_lab(grad, axis, dz, dx);
    aw_force f = force_at(&v, (size_t)j * (size_t)grid->ns + (size_t)i, dz, dx);
    f.s *= AW_K_COULOMB;
    f.x *= AW_K_COULOMB;
    f.s_eff *= AW_K_COULOMB;
    f.x_eff *= AW_K_COULOMB;
    return f;
}

/* Forces of the patch whose first node is (i0, j0). */
static void patch_forces(const aw_particle_kernels *kernels, const potentials *v, int i0, int j0,
                         const aw_forces *out)
{
    const aw_grid_view *grid = v->grid;
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
    copy_nodes(v, &h);
    for (int j = j0; j < j0 + h.m; ++j) {
        row_gradients(kernels, v, j, &h);
        for (int l = 0; l < h.n; ++l) {
            const size_t at = (size_t)j * (size_t)grid->ns + (size_t)(i0 + l);
            const double grad[2][3] = {{h.du[0][l], h.du[1][l], h.du[2][l]},
                                       {h.dw[0][l], h.dw[1][l], h.dw[2][l]}};
            set_forces(v, at, grad, axis, out);
        }
    }
}

void aw_forces_from_potentials(const aw_grid_view *grid, const aw_field_point *point,
                               const double *result, const aw_forces *out)
{
    const aw_particle_kernels *kernels = aw_particle_kernels_find(NULL);
    const potentials v = {grid, point, result};
#pragma omp parallel for collapse(2) schedule(static)
    for (int j0 = 0; j0 < grid->nx; j0 += AW_PATCH_ROWS)
        for (int i0 = 0; i0 < grid->ns; i0 += AW_STRIP) patch_forces(kernels, &v, i0, j0, out);
}
