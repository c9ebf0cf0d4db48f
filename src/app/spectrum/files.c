/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/spectrum/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pic/frame.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/beam/mesh_file.h"
#include "src/beam/vertical.h"
#include "src/io/directory.h"
#include "src/io/series.h"

struct aw_slice_files {
    const aw_config *config;
    char folder[AW_PATH_MAX_LEN]; /* DIRECTORY/diag */
    struct dirent **entry;        /* [n], owned */
    double *S, *change;           /* [n]: what monitor.csv says of these steps */
    size_t n;
    aw_field_point *point; /* [nodes] */
    double *cells;         /* of the slice */
};

/* Of a name as aw_openpmd_path makes it. */
static long step_of(const char *name)
{
    return strtol(name + strcspn(name, "0123456789"), NULL, 10);
}

/* Places and energies of the files' steps. */
static aw_status read_monitor(aw_slice_files *f, const char *directory)
{
    char path[AW_PATH_MAX_LEN + 64];
    aw_series table = {.rows = 0};
    aw_status status = AW_OK;
    snprintf(path, sizeof path, "%s/monitor.csv", directory);
    AW_TRY(aw_series_read(path, &table));
    const int step = aw_series_column(&table, "step"), place = aw_series_column(&table, "s_ref_m");
    const int change = aw_series_column(&table, "energy_change_mean_eV");
    for (size_t i = 0; i < f->n; ++i) {
        const long wanted = step_of(f->entry[i]->d_name);
        f->S[i] = f->change[i] = (double)NAN;
        for (size_t j = 0; step >= 0 && place >= 0 && change >= 0 && j < table.rows; ++j) {
            const double *row = table.value + j * table.columns;
            if (row[step] != (double)wanted) continue;
            f->S[i] = row[place];
            f->change[i] = row[change];
        }
        if (!isfinite(f->S[i]))
            AW_TRY(aw_error(AW_ERR_INPUT,
                            "%s has no row of step %ld, of which there is a mesh file (expected "
                            "the files of one run)",
                            path, wanted));
    }
done:
    aw_series_free(&table);
    return status;
}

static aw_status allocate(aw_slice_files *f)
{
    const int ns = f->config->grid[0], nx = f->config->grid[1];
    f->point = aw_alloc((size_t)ns * (size_t)nx, sizeof *f->point);
    f->cells = aw_alloc(aw_slice_bytes(ns, nx, 0), 1);
    f->S = aw_alloc(f->n, sizeof *f->S);
    f->change = aw_alloc(f->n, sizeof *f->change);
    return f->point && f->cells && f->S && f->change ? AW_OK : AW_ERR_NOMEM;
}

aw_status aw_slice_files_open(const char *directory, const aw_config *config, aw_slice_files **out)
{
    aw_status status = AW_OK;
    aw_slice_files *f = aw_alloc(1, sizeof *f);
    *out = NULL;
    AW_TRY(f ? AW_OK : AW_ERR_NOMEM);
    if (!f) goto done; /* never */
    f->config = config;
    if (snprintf(f->folder, sizeof f->folder, "%s/diag", directory) >= (int)sizeof f->folder)
        AW_TRY(aw_error(AW_ERR_INPUT, "%s: the path is too long", directory));
    f->n = aw_directory_meshes(directory, &f->entry);
    if (f->n == 0)
        AW_TRY(aw_error(AW_ERR_INPUT,
                        "%s: no mesh files, of which a spectrum needs one at each step (run with "
                        "output.every: 1)",
                        directory));
    AW_TRY(allocate(f));
    AW_TRY(read_monitor(f, directory));
    *out = f;
done:
    if (status != AW_OK) aw_slice_files_free(f);
    return status;
}

void aw_slice_files_free(aw_slice_files *f)
{
    if (!f) return;
    for (size_t i = 0; i < f->n; ++i) free(f->entry[i]);
    free(f->entry);
    aw_free(f->S);
    aw_free(f->change);
    aw_free(f->point);
    aw_free(f->cells);
    aw_free(f);
}

size_t aw_slice_files_count(const aw_slice_files *files) { return files->n; }

double aw_slice_files_place(const aw_slice_files *files, size_t i) { return files->S[i]; }

double aw_slice_files_change(const aw_slice_files *files, size_t i) { return files->change[i]; }

/* The place of the grid on the design orbit. */
static aw_grid_view grid_of(const aw_slice_files *f, const aw_mesh_file *mesh)
{
    aw_grid_view grid = {.ns = (int)mesh->ns,
                         .nx = (int)mesh->nx,
                         .hs = mesh->h[0],
                         .hx = mesh->h[1],
                         .z = mesh->z,
                         .x = mesh->x,
                         .theta = mesh->theta,
                         .tilt = mesh->tilt};
    grid.S = aw_orbit_project(&f->config->lattice->orbit, grid.z, grid.x, mesh->S, &grid.offset);
    return grid;
}

/* Moments of the nodes along the design tangent and normal at the centre, from those along each
 * node's own; the beam's charge counts as positive (src/base/units.h). */
static void fill_cells(aw_slice_files *f, const aw_mesh_file *mesh, const aw_grid_view *grid)
{
    const double design = grid->theta - grid->tilt;
    aw_frame_points(grid, &f->config->lattice->orbit, f->config->beam.gamma, f->point);
    for (int j = 0; j < grid->nx; ++j)
        for (int i = 0; i < grid->ns; ++i) {
            const size_t at = (size_t)j * (size_t)grid->ns + (size_t)i;
            double *cell =
                f->cells +
                ((ptrdiff_t)(j + AW_PAD) * (grid->ns + 2 * AW_PAD) + i + AW_PAD) * AW_COMPONENTS;
            const double a = f->point[at].theta - design, c = cos(a), s = sin(a);
            const double z = -mesh->value[AW_MESH_J][at] / AW_C;
            const double x = -mesh->value[AW_MESH_J + 1][at] / AW_C;
            cell[0] = -mesh->value[AW_MESH_RHO][at];
            cell[1] = cell[0] - (z * c - x * s);
            cell[2] = z * s + x * c;
        }
}

aw_status aw_slice_files_read(aw_slice_files *f, size_t i, aw_slice *slice)
{
    const aw_config *config = f->config;
    char path[AW_PATH_MAX_LEN + 300];
    aw_mesh_file mesh = {
        .values = AW_MESH_VALUES, .ns = (size_t)config->grid[0], .nx = (size_t)config->grid[1]};
    aw_status status;
    snprintf(path, sizeof path, "%s/%s", f->folder, f->entry[i]->d_name);
    status = aw_mesh_file_read(path, &mesh);
    if (status == AW_ERR_INPUT) aw_error_print("%s: %s", path, mesh.why);
    AW_TRY(status);
    const aw_grid_view grid = grid_of(f, &mesh);
    fill_cells(f, &mesh, &grid);
    *slice = (aw_slice){.cells = f->cells,
                        .S = grid.S,
                        .x = grid.offset,
                        .tilt = grid.tilt,
                        .hs = grid.hs,
                        .hx = grid.hx,
                        .height2 = aw_vertical_size2(config->lattice, &config->beam, mesh.S)};
done:
    aw_mesh_file_free(&mesh);
    return status;
}
