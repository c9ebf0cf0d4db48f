/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/forces.h"

#include <math.h>

#include "kernels/slope.h"
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

void aw_forces_from_potentials(const aw_grid_view *grid, const aw_field_point *point,
                               const double *result, const aw_forces *out)
{
    const int ns = grid->ns, nx = grid->nx;
    const double cg = cos(grid->theta), sg = sin(grid->theta);
#pragma omp parallel for schedule(static)
    for (int j = 0; j < nx; ++j)
        for (int i = 0; i < ns; ++i) {
            size_t at = (size_t)j * (size_t)ns + (size_t)i;
            const aw_field_point *p = &point[at];
            const double *I = &result[at * AW_RESULTS];
            double du[3], dw[3], dz[3], dx[3];
            derive(point, result, at, i, ns, 1, grid->hs, du);
            derive(point, result, at, j, nx, (size_t)ns, grid->hx, dw);
            for (int c = 0; c < 3; ++c) {
                dz[c] = cg * du[c] - sg * dw[c];
                dx[c] = sg * du[c] + cg * dw[c];
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
}
