/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/output/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/units.h"
#include "src/simulation/diag.h"
#include "tests/assert_close.h"

#define SIGMA 50e-6  /* rms length and width [m] */
#define CHARGE 1e-9  /* of the bunch [C] */
#define RADIUS 25.13 /* of the bend [m] */
#define DT 6.67e-11  /* [s] */

/* A Gaussian charge density, and fields derived from it, no two of them alike. */
static void fill_meshes(sample *s)
{
    const aw_grid_view *f = &s->snapshot.frame;
    for (int j = 0; j < SAMPLE_NX; ++j) {
        for (int i = 0; i < SAMPLE_NS; ++i) {
            int k = j * SAMPLE_NS + i;
            double u = (i - 0.5 * (SAMPLE_NS - 1)) * f->hs / SIGMA;
            double w = (j - 0.5 * (SAMPLE_NX - 1)) * f->hx / SIGMA;
            double g = exp(-0.5 * (u * u + w * w));
            s->rho[k] = CHARGE * g / (2.0 * AW_PI * SIGMA * SIGMA);
            s->Jz[k] = AW_C * s->rho[k];
            s->Jx[k] = 1e-3 * w * s->Jz[k];
            s->phi[k] = 1e6 * exp(-0.1 * (u * u + w * w));
            s->psi[k] = 100.0 * u * g;
            s->Fz[k] = 3e5 * (u - 0.4) * exp(-0.5 * u * u) * (1.0 - 0.01 * w);
            s->Fx[k] = -5707.0 * exp(-0.5 * u * u) * (1.0 + 0.02 * w);
        }
    }
}

static void fill_particles(sample *s)
{
    const double p = 1e4 * AW_ME * AW_C;
    for (int i = 0; i < SAMPLE_N; ++i) {
        double a = 0.1 * i, r = SIGMA * sqrt((i + 0.5) / SAMPLE_N);
        s->x[i] = r * cos(a);
        s->z[i] = r * sin(a);
        s->px[i] = 1e-5 * p * sin(2.0 * a);
        s->pz[i] = p * (1.0 + 1e-4 * cos(3.0 * a));
        s->id[i] = (uint64_t)i;
    }
    s->species = (aw_species){.n = SAMPLE_N,
                              .x = s->x,
                              .z = s->z,
                              .px = s->px,
                              .pz = s->pz,
                              .id = s->id,
                              .charge = CHARGE / SAMPLE_N,
                              .time = s->snapshot.time};
}

void sample_fill(sample *s, long step)
{
    memset(s, 0, sizeof *s);
    double path = 0.02 * (double)step;
    s->snapshot = (aw_snapshot){.step = step,
                                .time = DT * (double)step,
                                .dt = DT,
                                .s_ref = path,
                                .t_ref = path / AW_C,
                                .gamma_ref = 1e4,
                                .kappa_ref = 1.0 / RADIUS,
                                .frame = {.ns = SAMPLE_NS,
                                          .nx = SAMPLE_NX,
                                          .hs = 1e-5,
                                          .hx = 2e-5,
                                          .z = RADIUS * sin(path / RADIUS),
                                          .x = -RADIUS * (1.0 - cos(path / RADIUS)),
                                          .S = path,
                                          .offset = 0.0,
                                          .theta = 0.1 - path / RADIUS,
                                          .tilt = 0.1},
                                .software = "arcwake",
                                .version = "0.1.0",
                                .author = "tests",
                                .date = "2026-01-01 00:00:00 +0000",
                                .input = "title: sample\n",
                                .lattice = "bend",
                                .mesh = s->mesh,
                                .meshes = SAMPLE_MESHES,
                                .species = &s->species};
    fill_meshes(s);
    fill_particles(s);
    const struct {
        const char *name;
        const double *z, *x; /* or the scalar and NULL */
    } mesh[SAMPLE_MESHES] = {{"rho", s->rho, NULL},  {"J", s->Jz, s->Jx},   {"phi", s->phi, NULL},
                             {"A", s->phi, s->psi},  {"psi", s->psi, NULL}, {"F", s->Fz, s->Fx},
                             {"F_eff", s->Fx, s->Fz}};
    for (int k = 0; k < SAMPLE_MESHES; ++k) {
        s->mesh[k] = (aw_mesh){aw_diag_record(mesh[k].name), {mesh[k].z, mesh[k].x}};
        assert_non_null(s->mesh[k].record);
    }
}
