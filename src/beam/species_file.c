/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/species_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/beam/beam_file.h"
#include "src/beam/guard.h"
#include "src/beam/hdf5_file.h"
#include "src/beam/species_list.h"

/* A species of the file that is being read, and scratch for one component. */
typedef struct reader {
    aw_columns *c;
    hid_t species;
    int by_place;   /* 1: at one place, relative to a reference particle, as ImpactX writes them */
    size_t at, n;   /* its first particle in the columns; particles in the file, the dead too */
    double *column; /* [n] */
} reader;

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
    return r->n ? AW_OK
                : aw_columns_refuse(r->c, "has no particles: position is empty (expected some)");
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
    double *to = r->c->column[column] + r->at;
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

/* Charges of all particles of the species, the dead ones too.
 * @param[out] known  0: it has none, and equal ones are stored */
static aw_status read_charges(reader *r, int *known)
{
    double *charge = r->c->column[AW_COLUMN_CHARGE] + r->at, total = 0.0, unit = 1.0;
    int weighted, counted = 0;
    aw_status status = AW_OK;
    AW_TRY(read_one(r, "weight", charge, &weighted));
    if (!weighted) AW_TRY(read_one(r, "weighting", charge, &counted));
    aw_hdf5_number(r->species, "chargeUnitSI", &unit);
    const int shared = aw_hdf5_number(r->species, "totalCharge", &total) && total != 0.0;
    *known = 1;
    if (counted)
        for (size_t i = 0; i < r->n; ++i) charge[i] *= AW_E;
    if (counted || (weighted && !(is_dimensionless(r->species) && shared))) goto done;
    if (!weighted)
        for (size_t i = 0; i < r->n; ++i) charge[i] = 1.0;
    if (shared) share_out(charge, r->n, fabs(total * unit));
    *known = shared;
done:
    return status;
}

/* Ids; as far as they can be those of an earlier bunch, they count on behind its largest.
 * @param[out] there  0: it has none, or they would be too large */
static aw_status read_ids(const reader *r, int *there)
{
    const hid_t one = aw_hdf5_object(r->species, "id");
    uint64_t *id = r->c->id, most = 0, least = UINT64_MAX, mine = 0;
    int constant = 1;
    aw_status status = AW_OK;
    *there = one >= 0 && aw_hdf5_items(one, &constant) == r->n && !constant;
    if (*there && H5Dread(one, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, id + r->at) < 0)
        status = aw_columns_refuse(r->c, "id cannot be read (expected a whole file)");
    if (one >= 0) H5Oclose(one);
    if (!*there || status != AW_OK) return status;
    for (size_t i = 0; i < r->at; ++i) most = id[i] > most ? id[i] : most;
    for (size_t i = r->at; i < r->at + r->n; ++i) {
        least = id[i] < least ? id[i] : least;
        mine = id[i] > mine ? id[i] : mine;
    }
    if (r->at == 0 || least > most) return AW_OK;
    *there = mine < UINT64_MAX - most;
    for (size_t i = r->at; *there && i < r->at + r->n; ++i) id[i] += most + 1;
    return AW_OK;
}

/* Leave out particles whose status is not 1. @param[out] left  how many there are then */
static aw_status leave_out_dead(reader *r, size_t *left)
{
    aw_columns *c = r->c;
    int there;
    size_t n = 0;
    aw_status status = AW_OK;
    AW_TRY(read_one(r, "particleStatus", r->column, &there));
    for (size_t i = 0; there && i < r->n; ++i)
        if (r->column[i] == 1.0) aw_columns_move(c, r->at + i, r->at + n++);
    *left = there ? n : r->n;
    c->dead += r->n - *left;
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
    for (size_t i = r->at; i < r->at + r->n; ++i) {
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
        for (size_t i = r->at; i < r->at + r->n; ++i) v[AW_COLUMN_PX + k][i] /= AW_ME * AW_C;
    }
    AW_TRY(read_sum(r, "time", "", AW_COLUMN_T));
done:
    return status;
}

/* What all bunches of a file must have in common. */
typedef struct bunch_kind {
    int charged, with_id, from_reference;
    double reference;
} bunch_kind;

static aw_status read_records(reader *r, bunch_kind *kind, size_t *left)
{
    aw_status status = AW_OK;
    *kind = (bunch_kind){.charged = 1};
    AW_TRY(r->by_place ? read_by_place(r) : read_coordinates(r));
    AW_TRY(read_charges(r, &kind->charged));
    AW_TRY(read_ids(r, &kind->with_id));
    AW_TRY(leave_out_dead(r, left));
    kind->from_reference = !r->by_place && aw_hdf5_number(r->species, "s_ref", &kind->reference);
done:
    return status;
}

static aw_status check_kinds(aw_columns *c, const bunch_kind *first, const bunch_kind *other,
                             const char *path)
{
    if (first->charged != other->charged)
        return aw_columns_refuse(c,
                                 "%s has %s charges, unlike the bunch before it (expected "
                                 "charges in each or in none)",
                                 path, other->charged ? "" : "no");
    if (first->from_reference != other->from_reference ||
        (first->from_reference && first->reference != other->reference))
        return aw_columns_refuse(c,
                                 "%s counts z from another s_ref than the bunch before it "
                                 "(expected the same)",
                                 path);
    return AW_OK;
}

/* Open a species and count its particles. Close r->species, where it is open. */
static aw_status open_species(hid_t file, const char *path, reader *r)
{
    r->species =
        strcmp(path, "/") == 0 ? H5Gopen2(file, "/", H5P_DEFAULT) : aw_hdf5_object(file, path);
    if (r->species < 0)
        return aw_columns_refuse(r->c, "%s cannot be opened (expected a whole file)", path);
    r->by_place = aw_hdf5_has(r->species, "position/t") && !aw_hdf5_has(r->species, "position/z");
    return count_particles(r);
}

/* Read all species, one behind the other, into columns that have room for them. */
static aw_status read_all(hid_t file, const aw_species_list *list, aw_columns *c)
{
    const size_t room = c->n;
    bunch_kind first = {0}, kind;
    int with_id = 1;
    aw_status status = AW_OK;
    reader r = {.c = c, .species = H5I_INVALID_HID};
    c->n = c->dead = 0;
    for (size_t k = 0; k < list->n; ++k) {
        size_t left = 0;
        r.at = c->n;
        AW_TRY(open_species(file, list->path[k], &r));
        r.column = r.n <= room - r.at ? aw_alloc(r.n, sizeof *r.column) : NULL;
        AW_TRY(r.column ? AW_OK : AW_ERR_NOMEM);
        AW_TRY(read_records(&r, &kind, &left));
        if (k == 0) first = kind;
        AW_TRY(check_kinds(c, &first, &kind, list->path[k]));
        c->n += left;
        with_id = with_id && kind.with_id;
        aw_free(r.column);
        r.column = NULL;
        H5Oclose(r.species);
        r.species = H5I_INVALID_HID;
    }
    if (!with_id) c->id = NULL; /* in memory that is shared */
    c->without_charge = !first.charged;
    c->from_reference = first.from_reference;
done:
    aw_free(r.column);
    if (r.species >= 0) H5Oclose(r.species);
    return status;
}

/* Number of particles of all species, the dead ones too. */
static aw_status count_all(hid_t file, const aw_species_list *list, aw_columns *c)
{
    aw_status status = AW_OK;
    reader r = {.c = c, .species = H5I_INVALID_HID};
    c->n = 0;
    for (size_t k = 0; k < list->n; ++k) {
        status = open_species(file, list->path[k], &r);
        if (r.species >= 0) H5Oclose(r.species);
        AW_TRY(status);
        c->n += r.n;
    }
    c->bunches = list->n;
done:
    return status;
}

/* Processor time of the child: many times what a slow machine needs. */
#define SECONDS 10.0
#define PER_SECOND 2e5 /* particles */

/* What the child process does, in memory that it shares with its parent. */
typedef struct job {
    char path[AW_SPECIES_PATH];
    long iteration;
    int count; /* 1: only count the particles */
    aw_columns columns;
} job;

static aw_status do_job(void *context)
{
    job *j = context;
    aw_columns *c = &j->columns;
    aw_species_list *list = aw_alloc(1, sizeof *list);
    aw_status status = AW_OK;
    const hid_t file = aw_hdf5_open(j->path);
    AW_TRY(list ? AW_OK : AW_ERR_NOMEM);
    if (file < 0)
        AW_TRY(aw_columns_refuse(c, "cannot be opened as HDF5, or is not there (expected openPMD "
                                    "BeamPhysics, or text: x y z px py pz)"));
    AW_TRY(aw_species_list_read(c, file, j->iteration, list));
    AW_TRY(j->count ? count_all(file, list, c) : read_all(file, list, c));
done:
    if (file >= 0) H5Fclose(file);
    aw_free(list);
    return status;
}

static aw_status run_job(job *j)
{
    const double seconds = SECONDS + (j->count ? 0.0 : (double)j->columns.n / PER_SECOND);
    int ended;
    const aw_status status = aw_guard_run(do_job, j, seconds, &ended);
    if (!ended)
        return aw_columns_refuse(&j->columns, "is damaged: libhdf5 fails on it (expected a whole "
                                              "file)");
    return status;
}

aw_status aw_species_file_read(const char *path, long iteration, aw_columns *c)
{
    job *j = aw_guard_alloc(sizeof *j);
    aw_status status = AW_OK;
    if (!j) return AW_ERR_NOMEM;
    *j = (job){.iteration = iteration, .count = 1};
    if (snprintf(j->path, sizeof j->path, "%s", path) >= (int)sizeof j->path)
        AW_TRY(
            aw_columns_refuse(&j->columns, "has a path that is too long (expected a shorter one)"));
    AW_TRY(run_job(j));
    AW_TRY(aw_columns_new_shared(j->columns.n, &j->columns));
    j->count = 0;
    AW_TRY(run_job(j));
done:
    *c = j->columns;
    aw_guard_free(j, sizeof *j);
    return status;
}
