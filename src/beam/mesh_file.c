/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/mesh_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
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

static const char *const name_of[AW_MESH_VALUES] = {"rho", "J/z", "J/x"};

/* What the child process does, in memory that it shares with its parent. */
typedef struct job {
    char path[PATH_MOST];
    aw_mesh_file mesh; /* value[0] NULL: only its size is wanted */
} job;

static aw_status refuse(aw_mesh_file *mesh, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static aw_status refuse(aw_mesh_file *mesh, const char *format, ...)
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

/* Spacing, place and axes. */
static aw_status read_frame(hid_t set, aw_mesh_file *mesh)
{
    double h[2], origin[3], unit = 1.0, design;
    if (!aw_hdf5_numbers(set, "gridSpacing", 2, h) ||
        !aw_hdf5_numbers(set, "frameOrigin", 3, origin) ||
        !direction(set, "frameRotation", &mesh->theta) ||
        !direction(set, "designRotation", &design) || !aw_hdf5_number(set, "s_ref", &mesh->S))
        return refuse(mesh, "has a mesh rho without gridSpacing, frameOrigin, frameRotation, "
                            "designRotation or s_ref (expected a mesh file of arcwake run)");
    aw_hdf5_number(set, "gridUnitSI", &unit);
    mesh->h[0] = h[1] * unit; /* the file's axes are x, z */
    mesh->h[1] = h[0] * unit;
    mesh->z = origin[2];
    mesh->x = origin[0];
    mesh->tilt = mesh->theta - design;
    if (!isfinite(mesh->S) || !isfinite(mesh->z) || !isfinite(mesh->x))
        return refuse(mesh, "has a mesh rho at a place that is not finite (expected numbers)");
    if (mesh->h[0] > 0.0 && mesh->h[1] > 0.0 && isfinite(mesh->h[0]) && isfinite(mesh->h[1]))
        return AW_OK;
    return refuse(mesh, "has a mesh rho with the spacings %g and %g m (expected more than 0)",
                  mesh->h[0], mesh->h[1]);
}

/* Open the meshes of the only iteration; < 0: there are none. */
static hid_t open_meshes(hid_t file, aw_mesh_file *mesh)
{
    char path[AW_HDF5_NAME + 32];
    hid_t meshes = H5I_INVALID_HID;
    aw_hdf5_names *names = malloc(sizeof *names);
    const hid_t data = aw_hdf5_object(file, "data");
    if (names && data >= 0) {
        aw_hdf5_groups(data, names);
        if (names->n == 1) {
            mesh->step = strtol(names->name[0], NULL, 10);
            snprintf(path, sizeof path, "data/%s/meshes", names->name[0]);
            meshes = aw_hdf5_object(file, path);
        }
    }
    if (data >= 0) H5Oclose(data);
    free(names);
    if (meshes < 0) refuse(mesh, "has no meshes (expected diag/arcwake_*.h5 of arcwake run)");
    return meshes;
}

/* Open one of the arrays, which are all of one size: the first one found says which, unless it is
 * known. */
static aw_status open_array(hid_t meshes, int i, aw_mesh_file *mesh, hid_t *set)
{
    hsize_t n[2] = {0, 0};
    *set = aw_hdf5_object(meshes, name_of[i]);
    if (*set < 0 || H5Iget_type(*set) != H5I_DATASET)
        return refuse(mesh, "has no mesh %s (expected diag/arcwake_*.h5 of arcwake run)",
                      name_of[i]);
    const hid_t space = H5Dget_space(*set);
    const int plane =
        H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, n, NULL) == 2;
    if (space >= 0) H5Sclose(space);
    if (!plane || n[0] < 1 || n[1] < 1 || n[0] > NODES_MOST / n[1])
        return refuse(mesh, "has a mesh %s that is no plane of numbers (expected [x][z])",
                      name_of[i]);
    if (mesh->ns == 0) {
        mesh->nx = (size_t)n[0];
        mesh->ns = (size_t)n[1];
    }
    if (mesh->nx != (size_t)n[0] || mesh->ns != (size_t)n[1])
        return refuse(mesh, "has a mesh %s of %zu x %zu nodes (expected %zu x %zu)", name_of[i],
                      (size_t)n[1], (size_t)n[0], mesh->ns, mesh->nx);
    return AW_OK;
}

static aw_status read_nodes(hid_t set, int i, aw_mesh_file *mesh)
{
    double unit = 1.0, *value = mesh->value[i];
    aw_hdf5_number(set, "unitSI", &unit);
    if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) < 0)
        return refuse(mesh, "is damaged: %s cannot be read (expected a whole file)", name_of[i]);
    for (size_t k = 0; k < mesh->nx * mesh->ns; ++k) {
        value[k] *= unit;
        if (!isfinite(value[k]))
            return refuse(mesh, "has a mesh %s that is not finite at node %zu (expected numbers)",
                          name_of[i], k);
    }
    return AW_OK;
}

/* One of the arrays: its size, with rho its frame, and its numbers if there is room for them. */
static aw_status read_array(hid_t meshes, int i, aw_mesh_file *mesh)
{
    hid_t set;
    aw_status status = open_array(meshes, i, mesh, &set);
    if (status == AW_OK && i == AW_MESH_RHO) status = read_frame(set, mesh);
    if (status == AW_OK && mesh->value[0]) status = read_nodes(set, i, mesh);
    if (set >= 0) H5Oclose(set);
    return status;
}

static aw_status do_job(void *context)
{
    job *j = context;
    aw_mesh_file *mesh = &j->mesh;
    aw_status status = AW_OK;
    hid_t meshes = H5I_INVALID_HID;
    const hid_t file = aw_hdf5_open(j->path);
    if (file < 0)
        AW_TRY(refuse(mesh, "cannot be opened as HDF5, or is not there (expected "
                            "diag/arcwake_*.h5 of arcwake run)"));
    meshes = open_meshes(file, mesh);
    AW_TRY(meshes >= 0 ? AW_OK : AW_ERR_INPUT);
    for (int i = 0; i < mesh->values; ++i) AW_TRY(read_array(meshes, i, mesh));
done:
    if (meshes >= 0) H5Oclose(meshes);
    if (file >= 0) H5Fclose(file);
    return status;
}

static size_t bytes_of(const aw_mesh_file *mesh)
{
    return (size_t)mesh->values * mesh->ns * mesh->nx * sizeof(double);
}

static aw_status run_job(job *j)
{
    const double nodes = j->mesh.value[0] ? (double)(j->mesh.ns * j->mesh.nx) : 0.0;
    int ended;
    const aw_status status = aw_guard_run(do_job, j, SECONDS + nodes / PER_SECOND, &ended);
    if (!ended) return refuse(&j->mesh, "is damaged: libhdf5 fails on it (expected a whole file)");
    return status;
}

aw_status aw_mesh_file_read(const char *path, aw_mesh_file *mesh)
{
    job *j = aw_guard_alloc(sizeof *j);
    aw_status status = AW_OK;
    if (!j) return AW_ERR_NOMEM;
    j->mesh = (aw_mesh_file){.values = mesh->values, .ns = mesh->ns, .nx = mesh->nx};
    if (snprintf(j->path, sizeof j->path, "%s", path) >= (int)sizeof j->path)
        AW_TRY(refuse(&j->mesh, "has a path that is too long (expected a shorter one)"));
    if (j->mesh.ns == 0) AW_TRY(run_job(j));
    j->mesh.value[0] = aw_guard_alloc(bytes_of(&j->mesh));
    AW_TRY(j->mesh.value[0] ? AW_OK : AW_ERR_NOMEM);
    for (int i = 1; i < j->mesh.values; ++i)
        j->mesh.value[i] = j->mesh.value[i - 1] + j->mesh.ns * j->mesh.nx;
    AW_TRY(run_job(j));
done:
    *mesh = j->mesh;
    aw_guard_free(j, sizeof *j);
    return status;
}

void aw_mesh_file_free(aw_mesh_file *mesh)
{
    if (mesh->value[0]) aw_guard_free(mesh->value[0], bytes_of(mesh));
    mesh->value[0] = NULL;
}
