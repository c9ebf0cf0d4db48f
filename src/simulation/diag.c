/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/diag.h"

#include <aw_version.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/math/integrand.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/output/openpmd.h"

enum { M_RHO, M_JZ, M_JX, M_PHI, M_AZ, M_AX, M_PSI, MESH_ARRAYS };
enum { P_X, P_Z, P_PX, P_PZ, PARTICLE_ARRAYS };

struct aw_diag {
    const char *input;
    double *mesh[MESH_ARRAYS];         /* [nodes] each */
    double *particle[PARTICLE_ARRAYS]; /* [particles] each, made at the first use */
    uint64_t *id;
};

aw_status aw_diag_new(const aw_simulation *sim, const char *input, aw_diag **out)
{
    aw_diag *d = aw_alloc(1, sizeof *d);
    *out = NULL;
    if (!d) return AW_ERR_NOMEM;
    d->input = input;
    for (int i = 0; i < MESH_ARRAYS; ++i)
        if (!(d->mesh[i] = aw_alloc(sim->nodes, sizeof(double)))) {
            aw_diag_free(d);
            return AW_ERR_NOMEM;
        }
    *out = d;
    return AW_OK;
}

void aw_diag_free(aw_diag *d)
{
    if (!d) return;
    for (int i = 0; i < MESH_ARRAYS; ++i) aw_free(d->mesh[i]);
    for (int i = 0; i < PARTICLE_ARRAYS; ++i) aw_free(d->particle[i]);
    aw_free(d->id);
    aw_free(d);
}

/* Moments and potentials of every node, along the node's own design tangent and normal. */
static void fill_meshes(aw_diag *d, const aw_simulation *sim)
{
    const aw_slice *slice = &sim->view->slice[0];
    const int ns = sim->view->ns, nx = sim->view->nx, single = sim->view->single;
    for (int j = 0; j < nx; ++j)
        for (int i = 0; i < ns; ++i) {
            size_t at = (size_t)j * (size_t)ns + (size_t)i;
            const aw_field_point *p = &sim->point[at];
            const double *I = &sim->result[at * AW_RESULTS];
            ptrdiff_t cell =
                ((ptrdiff_t)(j + AW_PAD) * (ns + 2 * AW_PAD) + i + AW_PAD) * AW_COMPONENTS;
            double sigma = aw_cell_get(slice->cells, single, cell);
            double par = sigma - aw_cell_get(slice->cells, single, cell + 1);
            double perp = aw_cell_get(slice->cells, single, cell + 2);
            double a = p->theta - sim->frame.theta_design, c = cos(a), s = sin(a);
            d->mesh[M_RHO][at] = sigma;
            d->mesh[M_JZ][at] = AW_C * (par * c + perp * s);
            d->mesh[M_JX][at] = AW_C * (perp * c - par * s);
            d->mesh[M_PHI][at] = AW_K_COULOMB * I[AW_PHI];
            d->mesh[M_AZ][at] = AW_K_COULOMB / AW_C * (I[AW_AZ] * p->ct + I[AW_AX] * p->st);
            d->mesh[M_AX][at] = AW_K_COULOMB / AW_C * (I[AW_AX] * p->ct - I[AW_AZ] * p->st);
            d->mesh[M_PSI][at] = AW_K_COULOMB * I[AW_PSI];
        }
}

/* Particles in the axes of the grid. */
static aw_status fill_particles(aw_diag *d, aw_simulation *sim, aw_species *species)
{
    const aw_particles *p;
    aw_status status = AW_OK;
    AW_TRY(aw_simulation_particles(sim, &p));
    const aw_grid_view *g = &sim->frame.grid;
    const double c = cos(g->theta), s = sin(g->theta), unit = AW_ME * AW_C;
    for (int k = 0; k < PARTICLE_ARRAYS; ++k)
        if (!d->particle[k] && !(d->particle[k] = aw_alloc(p->n, sizeof(double))))
            AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory for the particle output"));
    if (!d->id && !(d->id = aw_alloc(p->n, sizeof *d->id)))
        AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory for the particle output"));
    for (size_t i = 0; i < p->n; ++i) {
        double dz = p->z[i] - g->z, dx = p->x[i] - g->x;
        d->particle[P_Z][i] = dz * c + dx * s;
        d->particle[P_X][i] = -dz * s + dx * c;
        d->particle[P_PZ][i] = unit * (p->pz[i] * c + p->px[i] * s);
        d->particle[P_PX][i] = unit * (-p->pz[i] * s + p->px[i] * c);
        d->id[i] = i + 1;
    }
    *species = (aw_species){.n = p->n,
                            .x = d->particle[P_X],
                            .z = d->particle[P_Z],
                            .px = d->particle[P_PX],
                            .pz = d->particle[P_PZ],
                            .id = d->id,
                            .charge = p->charge,
                            .time = (double)sim->step * sim->config->step_m / AW_C};
done:
    return status;
}

aw_status aw_diag_write(aw_diag *d, aw_simulation *sim, const char *directory, int particles)
{
    const aw_config *config = sim->config;
    aw_status status = AW_OK;
    char path[AW_PATH_MAX_LEN], date[32];
    aw_mesh mesh[7];
    aw_species species;
    fill_meshes(d, sim);
    AW_TRY(aw_mesh_describe("rho", d->mesh[M_RHO], NULL, &mesh[0]));
    AW_TRY(aw_mesh_describe("J", d->mesh[M_JZ], d->mesh[M_JX], &mesh[1]));
    AW_TRY(aw_mesh_describe("phi", d->mesh[M_PHI], NULL, &mesh[2]));
    AW_TRY(aw_mesh_describe("A", d->mesh[M_AZ], d->mesh[M_AX], &mesh[3]));
    AW_TRY(aw_mesh_describe("psi", d->mesh[M_PSI], NULL, &mesh[4]));
    AW_TRY(aw_mesh_describe("F", sim->forces.Fs, sim->forces.Fx, &mesh[5]));
    AW_TRY(aw_mesh_describe("F_eff", sim->forces.Fs_eff, sim->forces.Fx_eff, &mesh[6]));
    if (particles) AW_TRY(fill_particles(d, sim, &species));
    aw_openpmd_date(time(NULL), date);
    aw_snapshot snapshot = {.step = sim->step,
                            .time = (double)sim->step * config->step_m / AW_C,
                            .dt = config->step_m / AW_C,
                            .s_ref = sim->S_ref,
                            .t_ref = (double)sim->step * config->step_m / AW_C,
                            .gamma_ref = config->lattice->gamma_ref,
                            .kappa_ref = aw_orbit_at(&config->lattice->orbit, sim->S_ref).kappa,
                            .frame = sim->frame.grid,
                            .software = "arcwake",
                            .version = AW_VERSION,
                            .date = date,
                            .input = d->input,
                            .lattice = config->lattice_path,
                            .mesh = mesh,
                            .meshes = 7,
                            .species = particles ? &species : NULL};
    AW_TRY(aw_openpmd_path(directory, sim->step, path, sizeof path));
    AW_TRY(aw_openpmd_write(path, &snapshot));
done:
    return status;
}
