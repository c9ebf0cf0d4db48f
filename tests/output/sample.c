/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/output/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/units.h"
#include "tests/assert_close.h"

#define SIGMA 50e-6  /* rms length and width [m] */
#define CHARGE 1e-9  /* of the bunch [C] */
#define RADIUS 25.13 /* of the bend [m] */
#define DT 6.67e-11  /* [s] */
#define OFFSET 1e-5  /* of the grid's centre from the design orbit [m] */

/* A Gaussian charge density, and fields made of it that are good for telling arrays apart. */
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
    const double p = 1e4 * AW_ME * AW_C, turned = s->snapshot.s_ref / RADIUS;
    for (int i = 0; i < SAMPLE_N; ++i) {
        double a = 0.1 * i, r = SIGMA * sqrt((i + 0.5) / SAMPLE_N);
        s->x[i] = r * cos(a);
        s->z[i] = r * sin(a);
        s->px[i] = 1e-5 * p * sin(2.0 * a);
        s->pz[i] = p * (1.0 + 1e-4 * cos(3.0 * a));
        s->id[i] = (uint64_t)i;
    }
    s->species = (aw_species){
        .n = SAMPLE_N,
        .axes = {.z = RADIUS * sin(turned), .x = -RADIUS * (1.0 - cos(turned)), .theta = -turned},
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
                                          .z = (RADIUS + OFFSET) * sin(path / RADIUS),
                                          .x = (RADIUS + OFFSET) * cos(path / RADIUS) - RADIUS,
                                          .S = path,
                                          .offset = OFFSET,
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
    assert_ok(aw_mesh_describe("rho", s->rho, NULL, &s->mesh[0]));
    assert_ok(aw_mesh_describe("J", s->Jz, s->Jx, &s->mesh[1]));
    assert_ok(aw_mesh_describe("phi", s->phi, NULL, &s->mesh[2]));
    assert_ok(aw_mesh_describe("A", s->phi, s->psi, &s->mesh[3]));
    assert_ok(aw_mesh_describe("psi", s->psi, NULL, &s->mesh[4]));
    assert_ok(aw_mesh_describe("F", s->Fz, s->Fx, &s->mesh[5]));
    s->mesh[5].error[0] = SAMPLE_F_ERROR; /* that of F_x is not known */
    assert_ok(aw_mesh_describe("F_eff", s->Fx, s->Fz, &s->mesh[6]));
}
