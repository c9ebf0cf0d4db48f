/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients on the grid, a row of nodes at a time; part of variant.c. */
#ifndef AW_PIC_SIMD_NODES_H
#define AW_PIC_SIMD_NODES_H
#include "pic/simd/simd.h"
#include "pic/simd/small_angles.h"

/* For nodes p and neighbours q: with d the angle from the tangent t of p to that of q, and n the
 * normal of p, v_q - v_p = beta (sin d n - (1 - cos d) t). */
static int neighbours(const aw_simd_nodes *node, const aw_simd_line *line, double w,
                      double (*AW_RESTRICT out)[AW_STRIP])
{
    const int own = line->own, row = line->row, shift = line->shift, n = line->n;
    const double *theta = node->theta[own] + AW_HALO, *ct = node->ct[own] + AW_HALO;
    const double *st = node->st[own] + AW_HALO, *beta = node->beta[own] + AW_HALO;
    const double *turned = node->theta[row] + AW_HALO + shift;
    const double *psi = node->psi[row] + AW_HALO + shift;
    const double *az = node->az[row] + AW_HALO + shift, *ax = node->ax[row] + AW_HALO + shift;
    double *AW_RESTRICT to_psi = out[0], *AW_RESTRICT to_z = out[1], *AW_RESTRICT to_x = out[2];
    double wide = 0.0;
#pragma omp simd reduction(+ : wide)
    for (int l = 0; l < n; ++l) {
        const double d = turned[l] - theta[l], q = d * d, z = az[l], x = ax[l];
        const double along = ct[l] * z + st[l] * x, across = ct[l] * x - st[l] * z;
        const double change = d * aw_small_sinc(q) * across - aw_small_versine(q) * along;
        wide += q <= AW_SMALL * AW_SMALL ? 0.0 : 1.0;
        to_psi[l] += w * (psi[l] + beta[l] * change);
        to_z[l] += w * z;
        to_x[l] += w * x;
    }
    return wide > 0.0;
}

#endif
