/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/species_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/beam/beam_file.h"
#include "src/beam/hdf5_file.h"

enum { PATH = 2 * AW_HDF5_NAME };

/* What is read, and scratch for one component. */
typedef struct reader {
    aw_columns *c;
    hid_t species;
    int by_place;   /* 1: at one place, relative to a reference particle, as ImpactX writes them */
    size_t n;       /* particles in the file, the dead ones too */
    double *column; /* [n] */
} reader;

/* "data/%T" or "" of "/data/%T/" or "/". */
static void trim(char path[AW_HDF5_NAME])
{
    char *from = path;
    while (*from == '/' || (from[0] == '.' && (from[1] == '/' || from[1] == '\0'))) ++from;
    memmove(path, from, strlen(from) + 1);
    for (size_t n = strlen(path); n > 0 && path[n - 1] == '/'; --n) path[n - 1] = '\0';
}

/* Number of an iteration group, zero-padded or not; -1: its name is no number. */
static long number_of(const char *name)
{
    if (!name[0] || strspn(name, "0123456789") != strlen(name) || strlen(name) > 18) return -1;
    return strtol(name, NULL, 10);
}

/* Name of the wanted iteration in a folder. */
static aw_status find_iteration(aw_columns *c, hid_t file, const char *folder, long wanted,
                                char found[AW_HDF5_NAME])
{
    aw_hdf5_names *names = malloc(sizeof *names);
    const hid_t group = aw_hdf5_object(file, folder[0] ? folder : "/");
    long best = -1;
    aw_status status = AW_OK;
    AW_TRY(names ? AW_OK : AW_ERR_NOMEM);
    names->n = 0;
    if (group >= 0) aw_hdf5_groups(group, names);
    for (size_t i = 0; i < names->n; ++i) {
        const long number = number_of(names->name[i]);
        if (number < 0 || (wanted != AW_ITERATION_LAST && number != wanted) || number < best)
            continue;
        best = number;
        strcpy(found, names->name[i]);
    }
    if (best >= 0) goto done;
    if (wanted == AW_ITERATION_LAST)
        status = aw_columns_refuse(c, "has no iterations in /%s (expected openPMD)", folder);
    else
        status = aw_columns_refuse(c, "has no iteration %ld (expected one of those in /%s)", wanted,
                                   folder);
done:
    if (group >= 0) H5Oclose(group);
    free(names);
    return status;
}

/* Group of the iteration: basePath, in which %T stands for its number. */
static aw_status base_group(aw_columns *c, hid_t file, long wanted, char out[PATH])
{
    char base[AW_HDF5_NAME] = "", name[AW_HDF5_NAME];
    aw_status status = AW_OK;
    aw_hdf5_text(file, "basePath", base);
    trim(base);
    char *number = strstr(base, "%T");
    if (!number && wanted != AW_ITERATION_LAST)
        return aw_columns_refuse(c, "has no iterations, but beam.iteration is %ld (expected last)",
                                 wanted);
    snprintf(out, PATH, "%s", base);
    if (!number) return AW_OK;
    *number = '\0';
    trim(base);
    AW_TRY(find_iteration(c, file, base, wanted, name));
    snprintf(out, PATH, "%s%s%s", base, base[0] ? "/" : "", name);
done:
    return status;
}

/* Names of the species in a group, for a message; the last of them in `found`. */
static size_t list_species(hid_t group, char list[200], char found[AW_HDF5_NAME])
{
    aw_hdf5_names *names = malloc(sizeof *names);
    size_t n = 0, used = 0;
    list[0] = '\0';
    if (!names) return 0;
    aw_hdf5_groups(group, names);
    for (size_t i = 0; i < names->n; ++i) {
        const hid_t one = aw_hdf5_object(group, names->name[i]);
        if (one >= 0 && aw_hdf5_has(one, "position") && used < 200) {
            used +=
                (size_t)snprintf(list + used, 200 - used, "%s%s", n ? ", " : "", names->name[i]);
            strcpy(found, names->name[i]);
            ++n;
        }
        if (one >= 0) H5Oclose(one);
    }
    free(names);
    return n;
}

/* The group of the species: in particlesPath, or that itself. */
static aw_status open_species(aw_columns *c, hid_t file, long wanted, hid_t *out)
{
    char path[PATH] = "", folder[AW_HDF5_NAME] = "", full[2 * PATH], list[200], name[AW_HDF5_NAME];
    aw_status status = AW_OK;
    *out = H5I_INVALID_HID;
    AW_TRY(base_group(c, file, wanted, path));
    aw_hdf5_text(file, "particlesPath", folder);
    trim(folder);
    snprintf(full, sizeof full, "/%s%s%s", path, path[0] && folder[0] ? "/" : "", folder);
    const hid_t group =
        strcmp(full, "/") == 0 ? H5Gopen2(file, "/", H5P_DEFAULT) : aw_hdf5_object(file, full);
    if (group < 0) return aw_columns_refuse(c, "has no particles: there is no group %s", full);
    if (aw_hdf5_has(group, "position")) {
        *out = group;
        return AW_OK;
    }
    const size_t n = list_species(group, list, name);
    if (n == 1)
        *out = aw_hdf5_object(group, name);
    else if (n == 0)
        status = aw_columns_refuse(c,
                                   "has no particles in %s (expected a species with position "
                                   "and momentum)",
                                   full);
    else
        status = aw_columns_refuse(c, "has several species in %s: %s (expected one)", full, list);
    H5Oclose(group);
done:
    return status;
}

static aw_status check_species(aw_columns *c, hid_t species)
{
    char type[AW_HDF5_NAME];
    if (!aw_hdf5_text(species, "speciesType", type) || strcmp(type, "electron") == 0) return AW_OK;
    return aw_columns_refuse(c, "holds particles of the type '%s' (expected electron)", type);
}

static aw_status count_particles(reader *r)
{
    const char *const axis[] = {r->by_place ? "position/t" : "position/z", "position/x",
                                "position/y"};
    int constant = 1;
    for (int k = 0; k < 3 && constant; ++k) {
        const hid_t one = aw_hdf5_object(r->species, axis[k]);
        if (one < 0)
            return aw_columns_refuse(r->c, "has no record %s (expected openPMD BeamPhysics)",
                                     axis[k]);
        r->n = aw_hdf5_items(one, &constant);
        H5Oclose(one);
    }
    return r->n ? AW_OK : aw_columns_refuse(r->c, "has no particles: position is empty");
}

/* Read a component into `to`. @return AW_OK; *there 0: there is none */
static aw_status read_one(const reader *r, const char *name, double *to, int *there)
{
    const hid_t one = aw_hdf5_object(r->species, name);
    *there = one >= 0;
    if (!*there) return AW_OK;
    const aw_status status = aw_hdf5_component(r->c, one, name, r->n, to);
    H5Oclose(one);
    return status;
}

/* A component and its offset. */
static aw_status read_sum(reader *r, const char *record, const char *axis, aw_column column)
{
    char name[64];
    double *to = r->c->column[column];
    int there;
    aw_status status = AW_OK;
    snprintf(name, sizeof name, "%s%s%s", record, axis[0] ? "/" : "", axis);
    AW_TRY(read_one(r, name, to, &there));
    if (!there && column != AW_COLUMN_T)
        return aw_columns_refuse(r->c, "has no record %s (expected openPMD BeamPhysics)", name);
    snprintf(name, sizeof name, "%sOffset%s%s", record, axis[0] ? "/" : "", axis);
    AW_TRY(read_one(r, name, r->column, &there));
    for (size_t i = 0; there && i < r->n; ++i) to[i] += r->column[i];
done:
    return status;
}

static int is_dimensionless(hid_t species)
{
    double power[7] = {0.0};
    const hid_t weight = aw_hdf5_object(species, "weight");
    int all = 0;
    if (weight >= 0 && H5Aexists(weight, "unitDimension") > 0) {
        const hid_t attribute = H5Aopen(weight, "unitDimension", H5P_DEFAULT);
        const hid_t space = H5Aget_space(attribute);
        all = H5Sget_simple_extent_npoints(space) == 7 &&
              H5Aread(attribute, H5T_NATIVE_DOUBLE, power) >= 0;
        for (int k = 0; k < 7; ++k) all = all && power[k] == 0.0;
        H5Sclose(space);
        H5Aclose(attribute);
    }
    if (weight >= 0) H5Oclose(weight);
    return all;
}

/* Scale the charges so that they add up to `total`. */
static void share_out(double *charge, size_t n, double total)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += charge[i];
    for (size_t i = 0; sum > 0.0 && i < n; ++i) charge[i] *= total / sum;
}

/* Charges of all particles, the dead ones too. */
static aw_status read_charges(reader *r)
{
    double *charge = r->c->column[AW_COLUMN_CHARGE], total = 0.0, unit = 1.0;
    int weighted, counted = 0;
    aw_status status = AW_OK;
    AW_TRY(read_one(r, "weight", charge, &weighted));
    if (!weighted) AW_TRY(read_one(r, "weighting", charge, &counted));
    aw_hdf5_number(r->species, "chargeUnitSI", &unit);
    const int known = aw_hdf5_number(r->species, "totalCharge", &total) && total != 0.0;
    if (counted)
        for (size_t i = 0; i < r->n; ++i) charge[i] *= AW_E;
    if (counted || (weighted && !(is_dimensionless(r->species) && known))) goto done;
    if (!weighted)
        for (size_t i = 0; i < r->n; ++i) charge[i] = 1.0;
    if (known) share_out(charge, r->n, fabs(total * unit));
    r->c->without_charge = !known;
done:
    return status;
}

static aw_status read_ids(reader *r)
{
    const hid_t one = aw_hdf5_object(r->species, "id");
    int constant = 1;
    aw_status status = AW_OK;
    if (one >= 0 && aw_hdf5_items(one, &constant) == r->n && !constant) {
        r->c->id = aw_alloc(r->n, sizeof *r->c->id);
        if (!r->c->id)
            status = AW_ERR_NOMEM;
        else if (H5Dread(one, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->c->id) < 0)
            status = aw_columns_refuse(r->c, "id cannot be read (the file is damaged?)");
    }
    if (one >= 0) H5Oclose(one);
    return status;
}

/* Leave out particles whose status is not 1. */
static aw_status leave_out_dead(reader *r)
{
    aw_columns *c = r->c;
    int there;
    size_t n = 0;
    aw_status status = AW_OK;
    AW_TRY(read_one(r, "particleStatus", r->column, &there));
    for (size_t i = 0; there && i < r->n; ++i)
        if (r->column[i] == 1.0) aw_columns_move(c, i, n++);
    if (!there) goto done;
    c->n = n;
    c->dead = r->n - n;
done:
    return status;
}

/* Gamma and gamma beta of the reference particle of ImpactX, which must be an electron. */
static aw_status read_reference(const reader *r, double *gamma, double *momentum)
{
    static const char *const name[] = {"px_ref", "py_ref",     "pz_ref",
                                       "pt_ref", "charge_ref", "mass_ref"};
    double v[sizeof name / sizeof name[0]];
    for (size_t i = 0; i < sizeof name / sizeof name[0]; ++i)
        if (!aw_hdf5_number(r->species, name[i], &v[i]))
            return aw_columns_refuse(r->c,
                                     "has position/t instead of position/z, but no attribute %s "
                                     "(expected a BeamMonitor of ImpactX)",
                                     name[i]);
    if (!(fabs(v[4] + AW_E) <= 1e-6 * AW_E && fabs(v[5] - AW_ME) <= 1e-6 * AW_ME))
        return aw_columns_refuse(r->c,
                                 "has a reference particle of %g C and %g kg (expected an "
                                 "electron)",
                                 v[4], v[5]);
    *momentum = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    *gamma = -v[3];
    return AW_OK;
}

/* Coordinates of ImpactX: x, y and c t [m] of particles at one place, and p_x, p_y and -gamma less
 * those of the reference particle, over its gamma beta. */
static aw_status read_by_place(reader *r)
{
    double *const *v = r->c->column, gamma = 0.0, momentum = 0.0;
    aw_status status = AW_OK;
    AW_TRY(read_reference(r, &gamma, &momentum));
    AW_TRY(read_sum(r, "position", "x", AW_COLUMN_X));
    AW_TRY(read_sum(r, "position", "y", AW_COLUMN_Y));
    AW_TRY(read_sum(r, "position", "t", AW_COLUMN_T));
    AW_TRY(read_sum(r, "momentum", "x", AW_COLUMN_PX));
    AW_TRY(read_sum(r, "momentum", "y", AW_COLUMN_PY));
    AW_TRY(read_sum(r, "momentum", "t", AW_COLUMN_PZ));
    for (size_t i = 0; i < r->n; ++i) {
        const double px = v[AW_COLUMN_PX][i] *= momentum, py = v[AW_COLUMN_PY][i] *= momentum;
        const double own = gamma - momentum * v[AW_COLUMN_PZ][i];
        v[AW_COLUMN_PZ][i] = sqrt((own - 1.0) * (own + 1.0) - px * px - py * py);
        v[AW_COLUMN_T][i] /= AW_C;
        v[AW_COLUMN_Z][i] = 0.0;
    }
done:
    return status;
}

static aw_status read_coordinates(reader *r)
{
    static const char *const axis[] = {"x", "y", "z"};
    double *const *v = r->c->column;
    aw_status status = AW_OK;
    for (int k = 0; k < 3; ++k) {
        AW_TRY(read_sum(r, "position", axis[k], AW_COLUMN_X + k));
        AW_TRY(read_sum(r, "momentum", axis[k], AW_COLUMN_PX + k));
        for (size_t i = 0; i < r->n; ++i) v[AW_COLUMN_PX + k][i] /= AW_ME * AW_C;
    }
    AW_TRY(read_sum(r, "time", "", AW_COLUMN_T));
done:
    return status;
}

static aw_status read_records(reader *r)
{
    double number;
    aw_status status = AW_OK;
    AW_TRY(r->by_place ? read_by_place(r) : read_coordinates(r));
    AW_TRY(read_charges(r));
    AW_TRY(read_ids(r));
    AW_TRY(leave_out_dead(r));
    r->c->from_reference = !r->by_place && aw_hdf5_number(r->species, "s_ref", &number);
done:
    return status;
}

aw_status aw_species_file_read(const char *path, long iteration, aw_columns *c)
{
    reader r = {.c = c, .species = H5I_INVALID_HID};
    aw_status status = AW_OK;
    const hid_t file = aw_hdf5_open(path);
    if (file < 0)
        return aw_columns_refuse(c, "cannot be opened as HDF5, or is not there (expected openPMD "
                                    "BeamPhysics, or text: x y z px py pz)");
    AW_TRY(open_species(c, file, iteration, &r.species));
    AW_TRY(check_species(c, r.species));
    r.by_place = aw_hdf5_has(r.species, "position/t") && !aw_hdf5_has(r.species, "position/z");
    AW_TRY(count_particles(&r));
    AW_TRY(aw_columns_new(r.n, c));
    r.column = aw_alloc(r.n, sizeof *r.column);
    AW_TRY(r.column ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(read_records(&r));
done:
    aw_free(r.column);
    if (r.species >= 0) H5Oclose(r.species);
    H5Fclose(file);
    return status;
}
