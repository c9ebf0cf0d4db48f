/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/form_factor/bunch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/beam/beam_file.h"
#include "src/beam/mesh_file.h"
#include "src/form_factor/mesh_run.h"
#include "src/io/directory.h"
#include "src/io/file.h"

/* Phase per cell up to which a grid resolves a wave, as in spectra: four cells long. */
#define RESOLVED (0.5 * AW_PI)

enum { PATH_MOST = 4096 };

static aw_status read_file(const char *path, aw_particles **particles, char why[AW_WHY_MAX])
{
    /* F does not depend on the total charge, which some files lack. */
    const aw_beam_source source = {.path = path, .iteration = AW_ITERATION_LAST, .charge = 1.0};
    aw_beam_found found;
    return aw_beam_read(&source, particles, &found, why);
}

/* ----------------------------------------------------------------------------- particles */

/* The particles of the last output of a run that has any. */
static aw_status read_run(const char *path, aw_particles **particles)
{
    char file[PATH_MOST + 300], why[AW_WHY_MAX];
    struct dirent **entry;
    aw_status status = AW_ERR_INPUT;
    for (size_t i = aw_directory_meshes(path, &entry); i-- > 0;) {
        snprintf(file, sizeof file, "%s/diag/%s", path, entry[i]->d_name);
        if (status == AW_ERR_INPUT) status = read_file(file, particles, why);
        free(entry[i]);
    }
    free(entry);
    if (status == AW_ERR_INPUT)
        return aw_error(status,
                        "%s: no output with particles (give a directory of arcwake run; "
                        "output.particles_every writes more of them)",
                        path);
    return status;
}

/* Subtract the mean over the charge. @return the rms */
static double centre(double *x, const double *charge, size_t n)
{
    double all = 0.0, mean = 0.0, square = 0.0;
    for (size_t j = 0; j < n; ++j) {
        all += charge[j];
        mean += charge[j] * x[j];
    }
    mean /= all;
    for (size_t j = 0; j < n; ++j) {
        x[j] -= mean;
        square += charge[j] * x[j] * x[j];
    }
    return sqrt(square / all);
}

static aw_status take(const aw_particles *p, aw_bunch *b)
{
    double along = 0.0, across = 0.0;
    b->n = p->n;
    b->charge = aw_alloc(p->n, sizeof *b->charge);
    for (int c = 0; c < 3; ++c) b->at[c] = aw_alloc(p->n, sizeof **b->at);
    if (!b->charge || !b->at[0] || !b->at[1] || !b->at[2]) return AW_ERR_NOMEM;
    for (size_t j = 0; j < p->n; ++j) {
        b->charge[j] = p->charge * (p->weight ? p->weight[j] : 1.0);
        along += b->charge[j] * p->pz[j];
        across += b->charge[j] * p->px[j];
    }
    const double length = hypot(along, across);
    const double c = length > 0.0 ? along / length : 1.0, s = length > 0.0 ? across / length : 0.0;
    for (size_t j = 0; j < p->n; ++j) {
        b->at[0][j] = c * p->z[j] + s * p->x[j];
        b->at[1][j] = c * p->x[j] - s * p->z[j];
        b->at[2][j] = p->y ? p->y[j] : 0.0;
    }
    for (int i = 0; i < 3; ++i) b->rms[i] = centre(b->at[i], b->charge, b->n);
    return AW_OK;
}

aw_status aw_bunch_read(const char *path, aw_bunch *b)
{
    char why[AW_WHY_MAX];
    aw_particles *particles = NULL;
    aw_status status = AW_OK;
    memset(b, 0, sizeof *b);
    if (aw_file_is_directory(path)) {
        status = read_run(path, &particles);
    } else {
        status = read_file(path, &particles, why);
        if (status == AW_ERR_INPUT) aw_error_print("%s: %s", path, why);
    }
    if (status == AW_OK) status = take(particles, b);
    aw_particles_free(particles);
    return status;
}

void aw_bunch_free(aw_bunch *b)
{
    for (int c = 0; c < 3; ++c) aw_free(b->at[c]);
    aw_free(b->charge);
}

/* --------------------------------------------------------------------------------- meshes */

/* The last output file of a run. @return AW_OK, AW_ERR_INPUT (message) */
static aw_status last_output(const char *run, char file[PATH_MOST])
{
    struct dirent **entry;
    const size_t n = aw_directory_meshes(run, &entry);
    if (n > 0) snprintf(file, PATH_MOST, "%s/diag/%s", run, entry[n - 1]->d_name);
    for (size_t i = 0; i < n; ++i) free(entry[i]);
    free(entry);
    if (n > 0) return AW_OK;
    return aw_error(AW_ERR_INPUT, "%s: no output with meshes (give a directory of arcwake run)",
                    run);
}

/* The directory of the run that wrote a mesh file. */
static void run_of(const char *file, char run[PATH_MOST])
{
    const char *slash = strrchr(file, '/');
    snprintf(run, PATH_MOST, "%.*s/..", slash ? (int)(slash - file) : 1, slash ? file : ".");
}

/* The nodes that have a charge. */
static aw_status take_nodes(const aw_mesh_file *m, aw_bunch *b)
{
    const double c = cos(m->tilt), s = sin(m->tilt);
    const size_t nodes = m->nx * m->ns;
    b->charge = aw_alloc(nodes, sizeof *b->charge);
    for (int i = 0; i < 3; ++i) b->at[i] = aw_alloc(nodes, sizeof **b->at);
    if (!b->charge || !b->at[0] || !b->at[1] || !b->at[2]) return AW_ERR_NOMEM;
    for (size_t i = 0; i < nodes; ++i) {
        const size_t row = i / m->ns;
        const double u = ((double)(i % m->ns) - 0.5 * (double)(m->ns - 1)) * m->h[0];
        const double w = ((double)row - 0.5 * (double)(m->nx - 1)) * m->h[1];
        if (m->value[AW_MESH_RHO][i] == 0.0) continue;
        b->charge[b->n] = m->value[AW_MESH_RHO][i] * m->h[0] * m->h[1];
        b->at[0][b->n] = c * u - s * w;
        b->at[1][b->n++] = s * u + c * w;
    }
    return AW_OK;
}

/* Sizes of the bunch about its centre of charge. The nodes' are smaller: their filter makes up for
 * two B-splines, of which only one has been applied (docs/theory.md, "Moments"). */
static aw_status measure(const char *file, aw_bunch *b)
{
    const aw_bunch_grid *g = &b->grid;
    double all = 0.0;
    for (size_t j = 0; j < b->n; ++j) all += b->charge[j];
    if (!(fabs(all) > 0.0))
        return aw_error(AW_ERR_INPUT, "%s: the mesh rho adds up to no charge (expected a bunch)",
                        file);
    for (int i = 0; i < 2; ++i) {
        const double along = g->h[0] * (i ? g->sine : g->cosine);
        const double across = g->h[1] * (i ? g->cosine : g->sine);
        const double rms = centre(b->at[i], b->charge, b->n);
        b->rms[i] = sqrt(rms * rms + 0.25 * (along * along + across * across));
    }
    return AW_OK;
}

aw_status aw_bunch_read_mesh(const char *path, aw_bunch *b)
{
    char file[PATH_MOST], run[PATH_MOST];
    aw_mesh_file mesh = {.values = 1};
    aw_status status = AW_OK;
    memset(b, 0, sizeof *b);
    snprintf(file, sizeof file, "%s", path);
    if (aw_file_is_directory(path)) AW_TRY(last_output(path, file));
    run_of(file, run);
    status = aw_mesh_file_read(file, &mesh);
    if (status == AW_ERR_INPUT) aw_error_print("%s: %s", file, mesh.why);
    AW_TRY(status);
    b->grid = (aw_bunch_grid){.h = {mesh.h[0], mesh.h[1]},
                              .cosine = cos(mesh.tilt),
                              .sine = sin(mesh.tilt),
                              .height = aw_mesh_run_height(run, mesh.step),
                              .particles = aw_mesh_run_particles(run),
                              .step = mesh.step};
    AW_TRY(take_nodes(&mesh, b));
    AW_TRY(measure(file, b));
done:
    aw_mesh_file_free(&mesh);
    return status;
}

double aw_bunch_factor(const aw_bunch *b, const double k[3])
{
    const aw_bunch_grid *g = &b->grid;
    if (!(g->h[0] > 0.0)) return 1.0;
    const double along = g->h[0] * (k[0] * g->cosine + k[1] * g->sine);
    const double across = g->h[1] * (k[1] * g->cosine - k[0] * g->sine);
    if (!(fabs(along) <= RESOLVED && fabs(across) <= RESOLVED)) return (double)NAN;
    const double turn = k[2] != 0.0 ? k[2] * g->height : 0.0;
    return exp(-0.5 * turn * turn) / (aw_spline_deposited(along) * aw_spline_deposited(across));
}
