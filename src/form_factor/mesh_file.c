/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/form_factor/mesh_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/beam/guard.h"
#include "src/beam/hdf5_file.h"

enum { PATH_MOST = 4096 };
/* Nodes of a mesh at most: the grid of a run has far fewer. */
#define NODES_MOST ((size_t)1 << 28)
/* Processor time of the child: many times what a slow machine needs. */
#define SECONDS 10.0
#define PER_SECOND 1e6 /* nodes */
/* By how much directions may be off 1: their nine numbers are written in double precision. */
#define DIRECTION 1e-9

/* What the child process does, in memory that it shares with its parent. */
typedef struct job {
    char path[PATH_MOST];
    aw_mesh_rho mesh; /* rho NULL: only its size is wanted */
} job;

static aw_status refuse(aw_mesh_rho *mesh, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static aw_status refuse(aw_mesh_rho *mesh, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(mesh->why, sizeof mesh->why, format, list);
    va_end(list);
    aw_one_line(mesh->why);
    return AW_ERR_INPUT;
}

/* Direction of the third axis of a rotation, in the lab's (z, x) plane [rad]. @return 0: none */
static int direction(hid_t set, const char *name, double *angle)
{
    double m[9];
    if (!aw_hdf5_numbers(set, name, 9, m)) return 0;
    *angle = atan2(m[2], m[8]);
    return fabs(hypot(m[2], m[8]) - 1.0) <= DIRECTION;
}

/* Spacing and axes. */
static aw_status read_frame(hid_t set, aw_mesh_rho *mesh)
{
    double h[2], unit = 1.0, grid, design;
    if (!aw_hdf5_numbers(set, "gridSpacing", 2, h) || !direction(set, "frameRotation", &grid) ||
        !direction(set, "designRotation", &design))
        return refuse(mesh, "has a mesh rho without gridSpacing, frameRotation or designRotation "
                            "(expected a mesh file of arcwake run)");
    aw_hdf5_number(set, "gridUnitSI", &unit);
    mesh->h[0] = h[1] * unit; /* the file's axes are x, z */
    mesh->h[1] = h[0] * unit;
    mesh->tilt = grid - design;
    if (mesh->h[0] > 0.0 && mesh->h[1] > 0.0 && isfinite(mesh->h[0]) && isfinite(mesh->h[1]))
        return AW_OK;
    return refuse(mesh, "has a mesh rho with the spacings %g and %g m (expected more than 0)",
                  mesh->h[0], mesh->h[1]);
}

/* Open rho of the only iteration; < 0: there is none. */
static hid_t open_rho(hid_t file, aw_mesh_rho *mesh)
{
    char path[AW_HDF5_NAME + 32];
    hid_t set = H5I_INVALID_HID;
    aw_hdf5_names *names = malloc(sizeof *names);
    const hid_t data = aw_hdf5_object(file, "data");
    if (names && data >= 0) {
        aw_hdf5_groups(data, names);
        if (names->n == 1) {
            mesh->step = strtol(names->name[0], NULL, 10);
            snprintf(path, sizeof path, "data/%s/meshes/rho", names->name[0]);
            set = aw_hdf5_object(file, path);
        }
    }
    if (data >= 0) H5Oclose(data);
    free(names);
    if (set >= 0 && H5Iget_type(set) == H5I_DATASET) return set;
    if (set >= 0) H5Oclose(set);
    refuse(mesh, "has no mesh rho (expected diag/arcwake_*.h5 of arcwake run)");
    return H5I_INVALID_HID;
}

static aw_status read_size(hid_t set, aw_mesh_rho *mesh)
{
    hsize_t n[2] = {0, 0};
    const hid_t space = H5Dget_space(set);
    const int plane =
        H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, n, NULL) == 2;
    if (space >= 0) H5Sclose(space);
    if (!plane || n[0] < 1 || n[1] < 1 || n[0] > NODES_MOST / n[1])
        return refuse(mesh, "has a mesh rho that is no plane of numbers (expected [x][z])");
    mesh->nx = (size_t)n[0];
    mesh->ns = (size_t)n[1];
    return AW_OK;
}

static aw_status read_nodes(hid_t set, aw_mesh_rho *mesh)
{
    double unit = 1.0;
    aw_hdf5_number(set, "unitSI", &unit);
    if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, mesh->rho) < 0)
        return refuse(mesh, "is damaged: rho cannot be read (expected a whole file)");
    for (size_t i = 0; i < mesh->nx * mesh->ns; ++i) {
        mesh->rho[i] *= unit;
        if (!isfinite(mesh->rho[i]))
            return refuse(mesh, "has a mesh rho that is not finite at node %zu (expected numbers)",
                          i);
    }
    return AW_OK;
}

static aw_status do_job(void *context)
{
    job *j = context;
    aw_mesh_rho *mesh = &j->mesh;
    aw_status status = AW_OK;
    hid_t set = H5I_INVALID_HID;
    const size_t ns = mesh->ns, nx = mesh->nx;
    const hid_t file = aw_hdf5_open(j->path);
    if (file < 0)
        AW_TRY(refuse(mesh, "cannot be opened as HDF5, or is not there (expected "
                            "diag/arcwake_*.h5 of arcwake run)"));
    set = open_rho(file, mesh);
    AW_TRY(set >= 0 ? AW_OK : AW_ERR_INPUT);
    AW_TRY(read_frame(set, mesh));
    AW_TRY(read_size(set, mesh));
    if (!mesh->rho) goto done;
    if (mesh->ns != ns || mesh->nx != nx)
        AW_TRY(refuse(mesh, "has changed while it was read (expected a file at rest)"));
    AW_TRY(read_nodes(set, mesh));
done:
    if (set >= 0) H5Oclose(set);
    if (file >= 0) H5Fclose(file);
    return status;
}

static aw_status run_job(job *j)
{
    const double nodes = j->mesh.rho ? (double)(j->mesh.ns * j->mesh.nx) : 0.0;
    int ended;
    const aw_status status = aw_guard_run(do_job, j, SECONDS + nodes / PER_SECOND, &ended);
    if (!ended) return refuse(&j->mesh, "is damaged: libhdf5 fails on it (expected a whole file)");
    return status;
}

aw_status aw_mesh_rho_read(const char *path, aw_mesh_rho *mesh)
{
    job *j = aw_guard_alloc(sizeof *j);
    aw_status status = AW_OK;
    *mesh = (aw_mesh_rho){.rho = NULL};
    if (!j) return AW_ERR_NOMEM;
    if (snprintf(j->path, sizeof j->path, "%s", path) >= (int)sizeof j->path)
        AW_TRY(refuse(&j->mesh, "has a path that is too long (expected a shorter one)"));
    AW_TRY(run_job(j));
    j->mesh.rho = aw_guard_alloc(j->mesh.ns * j->mesh.nx * sizeof *j->mesh.rho);
    AW_TRY(j->mesh.rho ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(run_job(j));
done:
    *mesh = j->mesh;
    aw_guard_free(j, sizeof *j);
    return status;
}

void aw_mesh_rho_free(aw_mesh_rho *mesh)
{
    aw_guard_free(mesh->rho, mesh->ns * mesh->nx * sizeof *mesh->rho);
    mesh->rho = NULL;
}
