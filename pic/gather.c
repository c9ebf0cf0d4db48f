/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/gather.h"

#include <math.h>

#include "kernels/integrand.h"

/* The nine nodes of a lab point and their weights. */
typedef struct stencil {
    size_t at[9];
    double w[9];
} stencil;

static stencil find(const aw_grid_view *g, double cg, double sg, double z, double x)
{
    double dz = z - g->z, dx = x - g->x, wu[3], wv[3];
    double a = (dz * cg + dx * sg) / g->hs + 0.5 * (g->ns - 1);
    double b = (-dz * sg + dx * cg) / g->hx + 0.5 * (g->nx - 1);
    int i = (int)fmin(fmax(a + 0.5, 1.0), g->ns - 2.0),
        j = (int)fmin(fmax(b + 0.5, 1.0), g->nx - 2.0);
    stencil s;
    aw_spline(a - i, wu);
    aw_spline(b - j, wv);
    for (int q = 0; q < 3; ++q)
        for (int p = 0; p < 3; ++p) {
            s.at[3 * q + p] = (size_t)(j - 1 + q) * (size_t)g->ns + (size_t)(i - 1 + p);
            s.w[3 * q + p] = wv[q] * wu[p];
        }
    return s;
}

static double take(const stencil *s, const double *field)
{
    double sum = 0.0;
    for (int k = 0; k < 9; ++k) sum += s->w[k] * field[s->at[k]];
    return sum;
}

double aw_gather_at(const aw_grid_view *grid, const double *field, double z, double x)
{
    stencil s = find(grid, cos(grid->theta), sin(grid->theta), z, x);
    return take(&s, field);
}

void aw_gather_run(const aw_grid_view *grid, const aw_forces *forces, double gamma,
                   const aw_particles *p, double *Fz, double *Fx, double *Fs, double *Fn)
{
    const double cg = cos(grid->theta), sg = sin(grid->theta);
    const double beta = sqrt((1.0 - 1.0 / gamma) * (1.0 + 1.0 / gamma));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->n; ++i) {
        stencil s = find(grid, cg, sg, p->z[i], p->x[i]);
        double theta = take(&s, forces->theta), c = cos(theta), q = sin(theta);
        double g = sqrt(1.0 + p->pz[i] * p->pz[i] + p->px[i] * p->px[i]);
        double dz = p->pz[i] / g - beta * c, dx = p->px[i] / g - beta * q;
        double B = take(&s, forces->cBy);
        double fz = take(&s, forces->Fz_lab) + dx * B, fx = take(&s, forces->Fx_lab) - dz * B;
        Fz[i] = fz;
        Fx[i] = fx;
        if (Fs) Fs[i] = fz * c + fx * q;
        if (Fn) Fn[i] = -fz * q + fx * c;
    }
}
