/* SPDX-License-Identifier: GPL-3.0-or-later */
/* openPMD files: root, iteration and meshes. */
#include "src/output/openpmd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/io/file.h"
#include "src/io/h5.h"
#include "src/output/species.h"

#define INPUT_MAX 60000 /* HDF5 keeps an attribute in one message of 64 kB at most */

/* Our meshes. `sign` -1: odd in the charge, which counts as positive inside and is an electron's
 * in files. The force on a beam particle is even in it. */
static const struct {
    const char *name;
    int ncomp;
    double sign;
    double dimension[7];
    double unit_SI;
} MESHES[] = {
    {"rho", 1, -1.0, {-2, 0, 1, 1, 0, 0, 0}, 1.0},   {"J", 2, -1.0, {-1, 0, 0, 1, 0, 0, 0}, 1.0},
    {"phi", 1, -1.0, {2, 1, -3, -1, 0, 0, 0}, 1.0},  {"A", 2, -1.0, {1, 1, -2, -1, 0, 0, 0}, 1.0},
    {"psi", 1, -1.0, {2, 1, -3, -1, 0, 0, 0}, 1.0},  {"F", 2, 1.0, {1, 1, -2, 0, 0, 0, 0}, AW_E},
    {"F_eff", 2, 1.0, {1, 1, -2, 0, 0, 0, 0}, AW_E},
};

int aw_mesh_components(const char *name)
{
    for (size_t i = 0; i < sizeof MESHES / sizeof *MESHES; ++i)
        if (strcmp(name, MESHES[i].name) == 0) return MESHES[i].ncomp;
    return 0;
}

aw_status aw_mesh_describe(const char *name, const double *z, const double *x, aw_mesh *mesh)
{
    for (size_t i = 0; i < sizeof MESHES / sizeof *MESHES; ++i) {
        if (strcmp(name, MESHES[i].name) != 0) continue;
        if (!z || (MESHES[i].ncomp == 2) != (x != NULL))
            return aw_error(AW_ERR_ARG, "mesh '%s' wants %d component(s)", name, MESHES[i].ncomp);
        memset(mesh, 0, sizeof *mesh);
        mesh->name = MESHES[i].name;
        mesh->ncomp = MESHES[i].ncomp;
        mesh->component[0] = "z";
        mesh->component[1] = "x";
        mesh->data[0] = z;
        mesh->data[1] = x;
        mesh->error[0] = mesh->error[1] = (double)NAN;
        mesh->scale = MESHES[i].sign;
        memcpy(mesh->unit_dimension, MESHES[i].dimension, sizeof mesh->unit_dimension);
        mesh->unit_SI = MESHES[i].unit_SI;
        return AW_OK;
    }
    return aw_error(AW_ERR_ARG, "there is no mesh called '%s'", name);
}

void aw_openpmd_date(time_t time, char date[32])
{
    struct tm utc;
    if (!gmtime_r(&time, &utc) || strftime(date, 32, "%Y-%m-%d %H:%M:%S +0000", &utc) == 0)
        snprintf(date, 32, "1970-01-01 00:00:00 +0000");
}

aw_status aw_openpmd_path(const char *directory, long step, char *path, size_t size)
{
    int n = snprintf(path, size, "%s/diag/arcwake_%08ld.h5", directory, step);
    if (n < 0 || (size_t)n >= size)
        return aw_error(AW_ERR_ARG, "%s: the path of the output directory is too long", directory);
    return AW_OK;
}

void aw_attr_dimension(aw_h5 *h5, hid_t object, double length, double mass, double time,
                       double current)
{
    double power[7] = {length, mass, time, current, 0.0, 0.0, 0.0};
    aw_h5_attr_doubles(h5, object, "unitDimension", 7, power);
}

/* Row-major matrix from axes (x across, y up, z along `theta` in the lab's (z, x) plane) to the
 * lab's (x, y, z): its columns are the axes. */
static void rotation(double theta, double matrix[9])
{
    double c = cos(theta), s = sin(theta);
    const double m[9] = {c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c};
    memcpy(matrix, m, sizeof m);
}

void aw_attr_frame(aw_h5 *h5, hid_t object, const aw_snapshot *snapshot, const aw_axes *axes,
                   double design)
{
    const double origin[3] = {axes->x, 0.0, axes->z};
    double matrix[9];
    aw_h5_attr_doubles(h5, object, "frameOrigin", 3, origin);
    rotation(axes->theta, matrix);
    aw_h5_attr_doubles(h5, object, "frameRotation", 9, matrix);
    rotation(design, matrix);
    aw_h5_attr_doubles(h5, object, "designRotation", 9, matrix);
    aw_h5_attr_double(h5, object, "s_ref", snapshot->s_ref);
    aw_h5_attr_double(h5, object, "t_ref", snapshot->t_ref);
    aw_h5_attr_double(h5, object, "gamma_ref", snapshot->gamma_ref);
    aw_h5_attr_double(h5, object, "kappa_ref", snapshot->kappa_ref);
    aw_h5_attr_text(h5, object, "referenceUnits",
                    "frameOrigin m, s_ref m, t_ref s, gamma_ref 1, kappa_ref 1/m");
}

/* The attributes of a mesh record: on the dataset of a scalar, on the group of a vector. */
static void mesh_attributes(aw_h5 *h5, hid_t object, const aw_snapshot *snapshot,
                            const aw_mesh *mesh)
{
    static const char *const axes[2] = {"x", "z"};
    const aw_grid_view *frame = &snapshot->frame;
    const aw_axes grid = {.z = frame->z, .x = frame->x, .theta = frame->theta};
    const double spacing[2] = {frame->hx, frame->hs};
    const double offset[2] = {-0.5 * (frame->nx - 1) * frame->hx,
                              -0.5 * (frame->ns - 1) * frame->hs};
    aw_h5_attr_text(h5, object, "geometry", "cartesian");
    aw_h5_attr_text(h5, object, "dataOrder", "C");
    aw_h5_attr_texts(h5, object, "axisLabels", 2, axes);
    aw_h5_attr_doubles(h5, object, "gridSpacing", 2, spacing);
    aw_h5_attr_doubles(h5, object, "gridGlobalOffset", 2, offset);
    aw_h5_attr_double(h5, object, "gridUnitSI", 1.0);
    aw_h5_attr_doubles(h5, object, "unitDimension", 7, mesh->unit_dimension);
    aw_h5_attr_double(h5, object, "timeOffset", 0.0);
    aw_h5_attr_text(h5, object, "fieldSmoothing", "none");
    if (mesh->ncomp == 2)
        aw_h5_attr_text(h5, object, "componentAxes",
                        "z: design tangent, x: design normal, at each node's own arc length");
    aw_attr_frame(h5, object, snapshot, &grid, frame->theta - frame->tilt);
}

/* One array of a mesh; `scratch` holds nx ns numbers. The caller closes the dataset. */
static hid_t mesh_component(aw_h5 *h5, hid_t parent, const aw_grid_view *frame, const aw_mesh *mesh,
                            int i, double *scratch)
{
    const char *name = mesh->ncomp == 1 ? mesh->name : mesh->component[i];
    const hsize_t dims[2] = {(hsize_t)frame->nx, (hsize_t)frame->ns};
    const double on_node[2] = {0.0, 0.0};
    size_t n = (size_t)frame->nx * (size_t)frame->ns;
    /* + 0: a negated 0 is written as 0 */
    for (size_t k = 0; k < n; ++k) scratch[k] = mesh->scale * mesh->data[i][k] + 0.0;
    hid_t set = aw_h5_doubles(h5, parent, name, 2, dims, scratch);
    aw_h5_attr_double(h5, set, "unitSI", mesh->unit_SI);
    aw_h5_attr_doubles(h5, set, "position", 2, on_node);
    if (isfinite(mesh->error[i]))
        aw_h5_attr_double(h5, set, "estimatedError", fabs(mesh->scale) * mesh->error[i]);
    return set;
}

static void mesh_write(aw_h5 *h5, hid_t parent, const aw_snapshot *snapshot, const aw_mesh *mesh,
                       double *scratch)
{
    if (mesh->ncomp == 1) {
        hid_t set = mesh_component(h5, parent, &snapshot->frame, mesh, 0, scratch);
        mesh_attributes(h5, set, snapshot, mesh);
        aw_h5_close(h5, set);
        return;
    }
    hid_t group = aw_h5_group(h5, parent, mesh->name);
    mesh_attributes(h5, group, snapshot, mesh);
    for (int i = 0; i < mesh->ncomp; ++i)
        aw_h5_close(h5, mesh_component(h5, group, &snapshot->frame, mesh, i, scratch));
    aw_h5_close(h5, group);
}

static void meshes_write(aw_h5 *h5, hid_t parent, const aw_snapshot *snapshot)
{
    static const char *const open[4] = {"open", "open", "open", "open"};
    static const char *const absorb[4] = {"absorbing", "absorbing", "absorbing", "absorbing"};
    double *scratch =
        aw_alloc((size_t)snapshot->frame.nx * (size_t)snapshot->frame.ns, sizeof *scratch);
    if (!scratch) {
        h5->status = aw_error(AW_ERR_NOMEM, "%s: no memory for a copy of a mesh", h5->path);
        return;
    }
    hid_t group = aw_h5_group(h5, parent, "meshes");
    aw_h5_attr_text(h5, group, "fieldSolver", "other");
    aw_h5_attr_text(h5, group, "fieldSolverParameters",
                    "retarded potentials of a sheet in the plane y = 0, integrated over its past");
    aw_h5_attr_texts(h5, group, "fieldBoundary", 4, open);
    aw_h5_attr_texts(h5, group, "particleBoundary", 4, absorb);
    aw_h5_attr_text(h5, group, "currentSmoothing", "none");
    aw_h5_attr_text(h5, group, "chargeCorrection", "none");
    for (size_t i = 0; i < snapshot->meshes; ++i)
        mesh_write(h5, group, snapshot, &snapshot->mesh[i], scratch);
    aw_h5_close(h5, group);
    aw_free(scratch);
}

static void root_attributes(aw_h5 *h5, const aw_snapshot *snapshot)
{
    hid_t root = h5->file;
    aw_h5_attr_text(h5, root, "openPMD", "1.1.0");
    aw_h5_attr_uint32(h5, root, "openPMDextension", 1); /* ED-PIC */
    aw_h5_attr_text(h5, root, "basePath", "/data/%T/");
    /* a path that is named must exist */
    if (snapshot->meshes) aw_h5_attr_text(h5, root, "meshesPath", "meshes/");
    if (snapshot->species) aw_h5_attr_text(h5, root, "particlesPath", "particles/");
    aw_h5_attr_text(h5, root, "iterationEncoding", "fileBased");
    aw_h5_attr_text(h5, root, "iterationFormat", "arcwake_%08T.h5");
    aw_h5_attr_text(h5, root, "author", snapshot->author ? snapshot->author : "unknown");
    aw_h5_attr_text(h5, root, "software", snapshot->software);
    aw_h5_attr_text(h5, root, "softwareVersion", snapshot->version);
    aw_h5_attr_text(h5, root, "date",
                    snapshot->date ? snapshot->date : "1970-01-01 00:00:00 +0000");
    aw_h5_attr_text(h5, root, "fileType", "openPMD");
    if (snapshot->lattice) aw_h5_attr_text(h5, root, "latticeName", snapshot->lattice);
    if (!snapshot->input) return;
    int fits = strlen(snapshot->input) <= INPUT_MAX;
    aw_h5_attr_text(h5, root, "input",
                    fits ? snapshot->input : "# too long for an attribute: see resolved.yaml");
}

static void iteration_write(aw_h5 *h5, const aw_snapshot *snapshot)
{
    char name[32]; /* without zeros in front: readers look for the plain number */
    snprintf(name, sizeof name, "%ld", snapshot->step);
    hid_t data = aw_h5_group(h5, h5->file, "data");
    hid_t iteration = aw_h5_group(h5, data, name);
    aw_h5_attr_double(h5, iteration, "time", snapshot->time);
    aw_h5_attr_double(h5, iteration, "dt", snapshot->dt);
    aw_h5_attr_double(h5, iteration, "timeUnitSI", 1.0);
    if (snapshot->meshes) meshes_write(h5, iteration, snapshot);
    if (snapshot->species) {
        hid_t particles = aw_h5_group(h5, iteration, "particles");
        aw_species_write(h5, particles, snapshot);
        aw_h5_close(h5, particles);
    }
    aw_h5_close(h5, iteration);
    aw_h5_close(h5, data);
}

static int mesh_is_whole(const aw_mesh *mesh)
{
    if (!mesh->name || !mesh->data[0] || !isfinite(mesh->unit_SI)) return 0;
    if (mesh->ncomp == 1) return 1;
    return mesh->ncomp == 2 && mesh->data[1] && mesh->component[0] && mesh->component[1];
}

static int species_is_whole(const aw_species *p)
{
    return p->n > 0 && p->x && p->z && p->px && p->pz && p->id;
}

static aw_status snapshot_check(const char *path, const aw_snapshot *s)
{
    const aw_grid_view *f = &s->frame;
    const aw_species none = {.n = 0}, *p = s->species ? s->species : &none;
    if (!path || !*path) return aw_error(AW_ERR_ARG, "an openPMD file wants a path");
    if (s->step < 0 || !s->software || !s->version)
        return aw_error(AW_ERR_ARG, "%s: step, software or version is missing", path);
    if (s->meshes && (f->nx < 1 || f->ns < 1 || !s->mesh))
        return aw_error(AW_ERR_ARG, "%s: a grid of %d x %d nodes", path, f->nx, f->ns);
    for (size_t i = 0; i < s->meshes; ++i)
        if (!mesh_is_whole(&s->mesh[i]))
            return aw_error(AW_ERR_ARG, "%s: mesh %zu is incomplete", path, i);
    if (s->species && !species_is_whole(s->species))
        return aw_error(AW_ERR_ARG, "%s: the particles are incomplete", path);
    const double number[] = {
        s->time,  s->dt,   s->s_ref, s->t_ref, s->gamma_ref, s->kappa_ref, f->z,          f->x,
        f->theta, f->tilt, f->hs,    f->hx,    p->axes.z,    p->axes.x,    p->axes.theta, p->time};
    for (size_t i = 0; i < sizeof number / sizeof *number; ++i)
        if (!isfinite(number[i]))
            return aw_error(AW_ERR_NONFINITE,
                            "%s: time, reference or frame of step %ld is not a "
                            "finite number",
                            path, s->step);
    return AW_OK;
}

/* Bytes of data, a little more than they take: the file is then allocated once. */
static size_t size_expected(const aw_snapshot *s)
{
    const size_t nodes = (size_t)s->frame.nx * (size_t)s->frame.ns;
    size_t bytes = s->species ? 5 * aw_h5_array_bytes(s->species->n) : 0;
    for (size_t i = 0; i < s->meshes; ++i)
        bytes += (size_t)s->mesh[i].ncomp * aw_h5_array_bytes(nodes);
    return bytes + bytes / 64;
}

aw_status aw_openpmd_write(const char *path, const aw_snapshot *snapshot)
{
    aw_status status = AW_OK;
    void *image = NULL;
    size_t size = 0;
    aw_h5 h5;
    AW_TRY(snapshot_check(path, snapshot));
    aw_h5_begin(&h5, path, size_expected(snapshot));
    root_attributes(&h5, snapshot);
    iteration_write(&h5, snapshot);
    AW_TRY(aw_h5_finish(&h5, &image, &size));
    AW_TRY(aw_file_replace(path, image, size));
done:
    free(image);
    return status;
}
