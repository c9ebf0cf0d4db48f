/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/species_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/units.h"
#include "src/beam/beam_file.h"

enum { BASE = 2 * AW_HDF5_NAME };

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

static int by_number(const void *a, const void *b)
{
    const long p = number_of(a), q = number_of(b);
    return (p > q) - (p < q);
}

/* Keep the names of the wanted iterations in a folder, by their numbers. */
static aw_status choose_iterations(aw_columns *c, const char *folder, long wanted,
                                   aw_hdf5_names *names)
{
    size_t n = 0;
    for (size_t i = 0; i < names->n; ++i) {
        const long number = number_of(names->name[i]);
        if (number < 0 || (wanted >= 0 && number != wanted)) continue;
        if (n != i) strcpy(names->name[n], names->name[i]);
        ++n;
    }
    names->n = n;
    qsort(names->name, n, sizeof names->name[0], by_number);
    if (n > 1 && wanted != AW_ITERATION_ALL) {
        memmove(names->name[0], names->name[n - 1], sizeof names->name[0]);
        names->n = 1;
    }
    if (n > 0) return AW_OK;
    if (wanted < 0)
        return aw_columns_refuse(c, "has no iterations in /%s (expected openPMD)", folder);
    return aw_columns_refuse(c, "has no iteration %ld (expected one of those in /%s)", wanted,
                             folder);
}

/* The names of the members of a group that are groups. @return AW_OK, AW_ERR_INPUT */
static aw_status groups_in(aw_columns *c, hid_t group, const char *path, aw_hdf5_names *names)
{
    names->n = 0;
    if (group >= 0) aw_hdf5_groups(group, names);
    if (names->n < AW_HDF5_LIST) return AW_OK;
    return aw_columns_refuse(c, "has too many groups in %s (expected fewer than %d)", path,
                             AW_HDF5_LIST);
}

/* Groups of the wanted iterations: basePath, in which %T stands for a number. `base` is what is
 * before the names. */
static aw_status base_groups(aw_columns *c, hid_t file, long wanted, char base[AW_HDF5_NAME],
                             aw_hdf5_names *names)
{
    aw_status status = AW_OK;
    base[0] = '\0';
    aw_hdf5_text(file, "basePath", base);
    trim(base);
    char *number = strstr(base, "%T");
    if (!number && wanted >= 0)
        return aw_columns_refuse(c, "has no iterations, but beam.iteration is %ld (expected last)",
                                 wanted);
    if (!number) {
        names->n = 1;
        names->name[0][0] = '\0';
        return AW_OK;
    }
    *number = '\0';
    trim(base);
    const hid_t group = aw_hdf5_object(file, base[0] ? base : "/");
    status = groups_in(c, group, base, names);
    if (group >= 0) H5Oclose(group);
    AW_TRY(status);
    AW_TRY(choose_iterations(c, base, wanted, names));
done:
    return status;
}

/* Refuse a constant record of one particle that is not that of an electron. */
static aw_status check_constant(aw_columns *c, hid_t species, const char *path, const char *record,
                                double electron)
{
    double value = 0.0, unit = 1.0;
    aw_status status = AW_OK;
    const hid_t one = aw_hdf5_object(species, record);
    const int there = one >= 0 && aw_hdf5_number(one, "value", &value);
    if (there) aw_hdf5_number(one, "unitSI", &unit);
    if (there && !(fabs(value * unit - electron) <= 1e-3 * fabs(electron)))
        status = aw_columns_refuse(c,
                                   "%s has particles with the %s %g, not %g as electrons have "
                                   "(expected electrons only)",
                                   path, record, value * unit, electron);
    if (one >= 0) H5Oclose(one);
    return status;
}

/* Add a group, if it holds electrons. */
static aw_status add(aw_columns *c, hid_t species, const char *path, aw_species_list *list)
{
    char type[AW_HDF5_NAME];
    aw_status status = AW_OK;
    if (aw_hdf5_text(species, "speciesType", type) && strcmp(type, "electron") != 0)
        return aw_columns_refuse(c, "%s holds particles of the type '%s' (expected electrons only)",
                                 path, type);
    AW_TRY(check_constant(c, species, path, "charge", -AW_E));
    AW_TRY(check_constant(c, species, path, "mass", AW_ME));
    if (list->n == AW_SPECIES_MAX)
        return aw_columns_refuse(c, "has more than %d bunches (expected at most as many)",
                                 AW_SPECIES_MAX);
    snprintf(list->path[list->n++], AW_SPECIES_PATH, "%s", path);
done:
    return status;
}

/* Add the species in an iteration's group of particles. */
static aw_status add_species(aw_columns *c, hid_t file, const char *path, aw_species_list *list)
{
    aw_hdf5_names *names = malloc(sizeof *names);
    char full[AW_SPECIES_PATH];
    const size_t before = list->n;
    aw_status status = AW_OK;
    hid_t group = H5I_INVALID_HID;
    AW_TRY(names ? AW_OK : AW_ERR_NOMEM);
    group = strcmp(path, "/") == 0 ? H5Gopen2(file, "/", H5P_DEFAULT) : aw_hdf5_object(file, path);
    if (group < 0)
        AW_TRY(aw_columns_refuse(c,
                                 "has no particles: there is no group %s (expected openPMD "
                                 "BeamPhysics)",
                                 path));
    if (aw_hdf5_has(group, "position")) {
        AW_TRY(add(c, group, path, list));
        goto done;
    }
    AW_TRY(groups_in(c, group, path, names));
    for (size_t i = 0; i < names->n; ++i) {
        const hid_t one = aw_hdf5_object(group, names->name[i]);
        snprintf(full, sizeof full, "%s%s%s", path, path[1] ? "/" : "", names->name[i]);
        if (one >= 0 && aw_hdf5_has(one, "position")) status = add(c, one, full, list);
        if (one >= 0) H5Oclose(one);
        AW_TRY(status);
    }
    if (list->n == before)
        status = aw_columns_refuse(
            c, "has no particles in %s (expected a species with position and momentum)", path);
done:
    if (group >= 0) H5Oclose(group);
    free(names);
    return status;
}

aw_status aw_species_list_read(aw_columns *c, hid_t file, long iteration, aw_species_list *list)
{
    char base[AW_HDF5_NAME], folder[AW_HDF5_NAME] = "", path[BASE];
    aw_hdf5_names *names = malloc(sizeof *names);
    aw_status status = AW_OK;
    list->n = 0;
    AW_TRY(names ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(base_groups(c, file, iteration, base, names));
    aw_hdf5_text(file, "particlesPath", folder);
    trim(folder);
    for (size_t i = 0; i < names->n; ++i) {
        const char *part[] = {base, names->name[i], folder};
        size_t at = 0;
        path[0] = '\0';
        for (size_t k = 0; k < 3; ++k)
            if (part[k][0] && at < sizeof path)
                at += (size_t)snprintf(path + at, sizeof path - at, "/%s", part[k]);
        if (at >= sizeof path)
            AW_TRY(aw_columns_refuse(c, "has paths that are too long (expected openPMD)"));
        AW_TRY(add_species(c, file, path[0] ? path : "/", list));
    }
done:
    free(names);
    return status;
}
