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

enum { P_X, P_Z, P_PX, P_PZ, PARTICLE_ARRAYS };

/* A node of a solved step: the sources of the mesh records. Beam charge counts as positive here
 * (src/base/units.h). */
typedef struct node {
    size_t index; /* into arrays [nodes] */
    const aw_field_point *point;
    const double *result; /* [AW_RESULTS] */
    const aw_forces *forces;
    double density;        /* charge per area [C/m^2] */
    double parallel, perp; /* current over c along design tangent and normal at the grid's centre */
    double cosine, sine;   /* of the angle from that tangent to the design tangent at the node */
} node;

static void rho(const node *n, double value[2]) { value[0] = n->density; }

static void current(const node *n, double value[2])
{
    value[0] = AW_C * (n->parallel * n->cosine + n->perp * n->sine);
    value[1] = AW_C * (n->perp * n->cosine - n->parallel * n->sine);
}

static void phi(const node *n, double value[2]) { value[0] = AW_K_COULOMB * n->result[AW_PHI]; }

static void vector_potential(const node *n, double value[2])
{
    const double *I = n->result, ct = n->point->ct, st = n->point->st;
    value[0] = AW_K_COULOMB / AW_C * (I[AW_AZ] * ct + I[AW_AX] * st);
    value[1] = AW_K_COULOMB / AW_C * (I[AW_AX] * ct - I[AW_AZ] * st);
}

static void psi(const node *n, double value[2]) { value[0] = AW_K_COULOMB * n->result[AW_PSI]; }

static void force(const node *n, double value[2])
{
    value[0] = n->forces->Fs[n->index];
    value[1] = n->forces->Fx[n->index];
}

static void effective_force(const node *n, double value[2])
{
    value[0] = n->forces->Fs_eff[n->index];
    value[1] = n->forces->Fx_eff[n->index];
}

/* The mesh records of a file, in this order. The scale -1 gives quantities that are odd in the
 * charge the sign of electrons; a force on a beam particle is even. `fill` computes the scalar, or
 * the components along the node's own design tangent and normal. Forces are in eV/m. */
static const struct {
    aw_mesh_record record; /* name, components, scale, unitDimension, unitSI */
    void (*fill)(const node *n, double value[2]);
} MESHES[] = {
    {{"rho", 1, -1.0, {-2, 0, 1, 1, 0, 0, 0}, 1.0}, rho},
    {{"J", 2, -1.0, {-1, 0, 0, 1, 0, 0, 0}, 1.0}, current},
    {{"phi", 1, -1.0, {2, 1, -3, -1, 0, 0, 0}, 1.0}, phi},
    {{"A", 2, -1.0, {1, 1, -2, -1, 0, 0, 0}, 1.0}, vector_potential},
    {{"psi", 1, -1.0, {2, 1, -3, -1, 0, 0, 0}, 1.0}, psi},
    {{"F", 2, 1.0, {1, 1, -2, 0, 0, 0, 0}, AW_E}, force},
    {{"F_eff", 2, 1.0, {1, 1, -2, 0, 0, 0, 0}, AW_E}, effective_force},
};

enum { RECORDS = sizeof MESHES / sizeof *MESHES };

struct aw_diag {
    const char *input;                 /* borrowed: the resolved input */
    double *mesh[RECORDS][2];          /* [nodes] each; a scalar has only the first */
    double *particle[PARTICLE_ARRAYS]; /* [particles] each, allocated at the first use */
    uint64_t *id;                      /* [particles], likewise */
};

const aw_mesh_record *aw_diag_record(const char *name)
{
    for (int k = 0; k < RECORDS; ++k)
        if (strcmp(name, MESHES[k].record.name) == 0) return &MESHES[k].record;
    return NULL;
}

aw_status aw_diag_new(const aw_simulation *sim, const char *input, aw_diag **out)
{
    aw_diag *d = aw_alloc(1, sizeof *d);
    *out = NULL;
    if (!d) return AW_ERR_NOMEM;
    d->input = input;
    for (int k = 0; k < RECORDS; ++k)
        for (int i = 0; i < MESHES[k].record.ncomp; ++i)
            if (!(d->mesh[k][i] = aw_alloc(sim->nodes, sizeof(double)))) {
                aw_diag_free(d);
                return AW_ERR_NOMEM;
            }
    *out = d;
    return AW_OK;
}

void aw_diag_free(aw_diag *d)
{
    if (!d) return;
    for (int k = 0; k < RECORDS; ++k)
        for (int i = 0; i < 2; ++i) aw_free(d->mesh[k][i]);
    for (int i = 0; i < PARTICLE_ARRAYS; ++i) aw_free(d->particle[i]);
    aw_free(d->id);
    aw_free(d);
}

static node node_of(const aw_simulation *sim, int i, int j)
{
    const int ns = sim->view->ns, single = sim->view->single;
    const void *cells = sim->view->slice[0].cells;
    const size_t index = (size_t)j * (size_t)ns + (size_t)i;
    const ptrdiff_t cell =
        ((ptrdiff_t)(j + AW_PAD) * (ns + 2 * AW_PAD) + i + AW_PAD) * AW_COMPONENTS;
    const double density = aw_cell_get(cells, single, cell);
    const double angle = sim->point[index].theta - sim->frame.theta_design;
    return (node){.index = index,
                  .point = &sim->point[index],
                  .result = &sim->result[index * AW_RESULTS],
                  .forces = &sim->forces,
                  .density = density,
                  .parallel = density - aw_cell_get(cells, single, cell + 1),
                  .perp = aw_cell_get(cells, single, cell + 2),
                  .cosine = cos(angle),
                  .sine = sin(angle)};
}

static void fill_meshes(aw_diag *d, const aw_simulation *sim, aw_mesh mesh[RECORDS])
{
    for (int j = 0; j < sim->view->nx; ++j)
        for (int i = 0; i < sim->view->ns; ++i) {
            const node n = node_of(sim, i, j);
            for (int k = 0; k < RECORDS; ++k) {
                double value[2];
                MESHES[k].fill(&n, value);
                for (int c = 0; c < MESHES[k].record.ncomp; ++c) d->mesh[k][c][n.index] = value[c];
            }
        }
    for (int k = 0; k < RECORDS; ++k)
        mesh[k] = (aw_mesh){&MESHES[k].record, {d->mesh[k][0], d->mesh[k][1]}};
}

/* All particles in the frame of the grid; the species borrows the arrays of d. */
static aw_status fill_particles(aw_diag *d, aw_simulation *sim, aw_species *species)
{
    const aw_particles *p;
    aw_status status = AW_OK;
    AW_TRY(aw_simulation_particles(sim, &p));
    const aw_grid_view *g = &sim->frame.grid;
    const double c = cos(g->theta), s = sin(g->theta), momentum = AW_ME * AW_C;
    for (int k = 0; k < PARTICLE_ARRAYS; ++k)
        if (!d->particle[k] && !(d->particle[k] = aw_alloc(p->n, sizeof(double))))
            AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory for the particle output"));
    if (!d->id && !(d->id = aw_alloc(p->n, sizeof *d->id)))
        AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory for the particle output"));
    for (size_t i = 0; i < p->n; ++i) {
        double dz = p->z[i] - g->z, dx = p->x[i] - g->x;
        d->particle[P_Z][i] = dz * c + dx * s;
        d->particle[P_X][i] = -dz * s + dx * c;
        d->particle[P_PZ][i] = momentum * (p->pz[i] * c + p->px[i] * s);
        d->particle[P_PX][i] = momentum * (-p->pz[i] * s + p->px[i] * c);
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
    aw_mesh mesh[RECORDS];
    aw_species species;
    fill_meshes(d, sim, mesh);
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
                            .meshes = RECORDS,
                            .species = particles ? &species : NULL};
    AW_TRY(aw_openpmd_path(directory, sim->step, path, sizeof path));
    AW_TRY(aw_openpmd_write(path, &snapshot));
done:
    return status;
}
