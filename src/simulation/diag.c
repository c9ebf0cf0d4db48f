/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/diag.h"

#include <aw_version.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kernels/math/integrand.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/beam/vertical.h"
#include "src/output/openpmd.h"

enum { P_X, P_Z, P_PX, P_PZ, P_CHARGE, P_Y, P_PY, PARTICLE_ARRAYS };

/** What is known of a node: its point, the results there, and the moments along its own design
 *  tangent and normal, which are turned by an angle of cosine c and sine s against the grid's. */
typedef struct node {
    const aw_field_point *point;
    const double *I;
    double sigma, par, perp; /* charge density and current over c, in the slice's axes [C/m^2] */
    double c, s;
} node;

static void rho(const node *n, double out[2]) { out[0] = n->sigma; }

static void current(const node *n, double out[2])
{
    out[0] = AW_C * (n->par * n->c + n->perp * n->s);
    out[1] = AW_C * (n->perp * n->c - n->par * n->s);
}

static void phi(const node *n, double out[2]) { out[0] = AW_K_COULOMB * n->I[AW_PHI]; }

static void vector_potential(const node *n, double out[2])
{
    const aw_field_point *p = n->point;
    out[0] = AW_K_COULOMB / AW_C * (n->I[AW_AZ] * p->ct + n->I[AW_AX] * p->st);
    out[1] = AW_K_COULOMB / AW_C * (n->I[AW_AX] * p->ct - n->I[AW_AZ] * p->st);
}

static void psi(const node *n, double out[2]) { out[0] = AW_K_COULOMB * n->I[AW_PSI]; }

/* The mesh records: each is filled node by node, or is an array of forces that there is already,
 * with an estimate of its error.
 * Components, signs and units: src/output/openpmd.c. */
static const struct {
    const char *name;
    void (*fill)(const node *n, double out[2]);
    size_t z, x;             /* without `fill`: offsets of the arrays in aw_forces, */
    size_t error_z, error_x; /* and of their errors in aw_force */
    int of_line;             /* 1: a run with the line model has it, too */
} records[] = {{.name = "rho", .fill = rho, .of_line = 1},
               {.name = "J", .fill = current, .of_line = 1},
               {.name = "phi", .fill = phi},
               {.name = "A", .fill = vector_potential},
               {.name = "psi", .fill = psi},
               {.name = "F",
                .z = offsetof(aw_forces, Fs),
                .x = offsetof(aw_forces, Fx),
                .error_z = offsetof(aw_force, s),
                .error_x = offsetof(aw_force, x),
                .of_line = 1},
               {.name = "F_eff",
                .z = offsetof(aw_forces, Fs_eff),
                .x = offsetof(aw_forces, Fx_eff),
                .error_z = offsetof(aw_force, s_eff),
                .error_x = offsetof(aw_force, x_eff)}};
enum { RECORDS = sizeof records / sizeof records[0] };

struct aw_diag {
    const char *input;
    int components[RECORDS];
    double *mesh[RECORDS][2];          /* [nodes] each; NULL where nothing is filled */
    double *particle[PARTICLE_ARRAYS]; /* [particles] each, made at the first use; NULL: not held */
    uint64_t *id;
};

aw_status aw_diag_new(const aw_simulation *sim, const char *input, aw_diag **out)
{
    aw_diag *d = aw_alloc(1, sizeof *d);
    *out = NULL;
    if (!d) return AW_ERR_NOMEM;
    d->input = input;
    for (int i = 0; i < RECORDS; ++i) {
        d->components[i] = aw_mesh_components(records[i].name);
        for (int k = 0; records[i].fill && k < d->components[i]; ++k)
            if (!(d->mesh[i][k] = aw_alloc(sim->field.nodes, sizeof(double)))) {
                aw_diag_free(d);
                return AW_ERR_NOMEM;
            }
    }
    *out = d;
    return AW_OK;
}

void aw_diag_free(aw_diag *d)
{
    if (!d) return;
    for (int i = 0; i < RECORDS; ++i)
        for (int k = 0; k < 2; ++k) aw_free(d->mesh[i][k]);
    for (int i = 0; i < PARTICLE_ARRAYS; ++i) aw_free(d->particle[i]);
    aw_free(d->id);
    aw_free(d);
}

static void fill_node(aw_diag *d, const node *n, size_t at)
{
    for (int i = 0; i < RECORDS; ++i) {
        double value[2];
        if (!records[i].fill) continue;
        records[i].fill(n, value);
        for (int k = 0; k < d->components[i]; ++k) d->mesh[i][k][at] = value[k];
    }
}

/* Moments and potentials of every node, along the node's own design tangent and normal. */
static void fill_meshes(aw_diag *d, const aw_simulation *sim)
{
    const aw_slice *slice = &sim->field.view->slice[0];
    const int ns = sim->field.view->ns, nx = sim->field.view->nx, single = sim->field.view->single;
    for (int j = 0; j < nx; ++j)
        for (int i = 0; i < ns; ++i) {
            const size_t at = (size_t)j * (size_t)ns + (size_t)i;
            const ptrdiff_t cell =
                ((ptrdiff_t)(j + AW_PAD) * (ns + 2 * AW_PAD) + i + AW_PAD) * AW_COMPONENTS;
            node n = {.point = &sim->field.point[at], .I = &sim->field.result[at * AW_RESULTS]};
            const double a = n.point->theta - sim->field.frame.theta_design;
            n.sigma = aw_cell_get(slice->cells, single, cell);
            n.par = n.sigma - aw_cell_get(slice->cells, single, cell + 1);
            n.perp = aw_cell_get(slice->cells, single, cell + 2);
            n.c = cos(a);
            n.s = sin(a);
            fill_node(d, &n, at);
        }
}

/* The array of forces at an offset. */
static const double *forces_at(const aw_forces *forces, size_t offset)
{
    return *(double *const *)(const void *)((const char *)forces + offset);
}

/* A number of an aw_force at an offset. */
static double error_at(const aw_force *force, size_t offset)
{
    return *(const double *)(const void *)((const char *)force + offset);
}

static aw_status describe_meshes(const aw_diag *d, const aw_simulation *sim, aw_mesh mesh[RECORDS],
                                 size_t *meshes)
{
    const aw_forces *forces = &sim->field.forces;
    aw_status status = AW_OK;
    *meshes = 0;
    for (int i = 0; i < RECORDS; ++i) {
        if (sim->line && !records[i].of_line) continue;
        aw_mesh *one = &mesh[(*meshes)++];
        const int filled = records[i].fill != NULL;
        const double *z = filled ? d->mesh[i][0] : forces_at(forces, records[i].z);
        const double *x = filled ? d->mesh[i][1] : forces_at(forces, records[i].x);
        AW_TRY(aw_mesh_describe(records[i].name, z, d->components[i] > 1 ? x : NULL, one));
        if (filled || !sim->force_error_known) continue;
        one->error[0] = error_at(&sim->force_error, records[i].error_z);
        one->error[1] = error_at(&sim->force_error, records[i].error_x);
    }
done:
    return status;
}

/* Heights, moved by the linear optics. */
static void fill_heights(aw_diag *d, const aw_particles *p, const aw_simulation *sim)
{
    const double unit = AW_ME * AW_C;
    double m[4];
    aw_vertical_map(sim->config->lattice, sim->S_ref, m);
    for (size_t i = 0; i < p->n; ++i) {
        aw_vertical_move(m, p, i, &d->particle[P_Y][i], &d->particle[P_PY][i]);
        d->particle[P_PY][i] *= unit;
    }
}

/* Particles along the design tangent and normal at S_ref, from the point of the orbit there. */
static aw_status fill_particles(aw_diag *d, aw_simulation *sim, aw_species *species)
{
    const aw_particles *p;
    aw_status status = AW_OK;
    AW_TRY(aw_simulation_particles(sim, &p));
    const aw_orbit_point at = aw_orbit_at(&sim->config->lattice->orbit, sim->S_ref);
    const double unit = AW_ME * AW_C;
    const int used[PARTICLE_ARRAYS] = {[P_X] = 1,
                                       [P_Z] = 1,
                                       [P_PX] = 1,
                                       [P_PZ] = 1,
                                       [P_Y] = !!p->y,
                                       [P_PY] = !!p->y,
                                       [P_CHARGE] = !!p->weight};
    for (int k = 0; k < PARTICLE_ARRAYS; ++k)
        if (used[k] && !d->particle[k] && !(d->particle[k] = aw_alloc(p->n, sizeof(double))))
            AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory for the particle output"));
    if (!d->id && !(d->id = aw_alloc(p->n, sizeof *d->id)))
        AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory for the particle output"));
    for (size_t i = 0; i < p->n; ++i) {
        double dz = p->z[i] - at.z, dx = p->x[i] - at.x;
        d->particle[P_Z][i] = dz * at.ct + dx * at.st;
        d->particle[P_X][i] = -dz * at.st + dx * at.ct;
        d->particle[P_PZ][i] = unit * (p->pz[i] * at.ct + p->px[i] * at.st);
        d->particle[P_PX][i] = unit * (-p->pz[i] * at.st + p->px[i] * at.ct);
        if (p->weight) d->particle[P_CHARGE][i] = p->charge * p->weight[i];
        d->id[i] = p->id ? p->id[i] : i + 1;
    }
    if (p->y) fill_heights(d, p, sim);
    *species = (aw_species){.n = p->n,
                            .axes = {.z = at.z, .x = at.x, .theta = at.theta},
                            .x = d->particle[P_X],
                            .z = d->particle[P_Z],
                            .px = d->particle[P_PX],
                            .pz = d->particle[P_PZ],
                            .y = d->particle[P_Y],
                            .py = d->particle[P_PY],
                            .charges = d->particle[P_CHARGE],
                            .id = d->id,
                            .charge = p->charge,
                            .time = aw_simulation_ct(sim) / AW_C};
done:
    return status;
}

aw_status aw_diag_write_file(aw_diag *d, aw_simulation *sim, const char *path, int particles)
{
    const aw_config *config = sim->config;
    aw_status status = AW_OK;
    char date[32];
    aw_mesh mesh[RECORDS];
    aw_species species;
    size_t meshes;
    fill_meshes(d, sim);
    AW_TRY(describe_meshes(d, sim, mesh, &meshes));
    if (particles) AW_TRY(fill_particles(d, sim, &species));
    aw_openpmd_date(time(NULL), date);
    aw_snapshot snapshot = {.step = sim->step,
                            .time = aw_simulation_ct(sim) / AW_C,
                            .dt = aw_simulation_cdt(sim) / AW_C,
                            .s_ref = sim->S_ref,
                            .t_ref = aw_simulation_ct(sim) / AW_C,
                            .gamma_ref = config->lattice->gamma_ref,
                            .kappa_ref = aw_orbit_at(&config->lattice->orbit, sim->S_ref).kappa,
                            .frame = sim->field.frame.grid,
                            .software = "arcwake",
                            .version = AW_VERSION,
                            .date = date,
                            .input = d->input,
                            .lattice = config->lattice_name,
                            .mesh = mesh,
                            .meshes = meshes,
                            .species = particles ? &species : NULL};
    AW_TRY(aw_openpmd_write(path, &snapshot));
done:
    return status;
}

aw_status aw_diag_write(aw_diag *d, aw_simulation *sim, const char *directory, int particles)
{
    char path[AW_PATH_MAX_LEN];
    const aw_status status = aw_openpmd_path(directory, sim->step, path, sizeof path);
    return status == AW_OK ? aw_diag_write_file(d, sim, path, particles) : status;
}
