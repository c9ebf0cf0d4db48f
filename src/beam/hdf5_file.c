/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/hdf5_file.h"

#include <stdio.h>
#include <string.h>

hid_t aw_hdf5_open(const char *path)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
}

int aw_hdf5_has(hid_t from, const char *path)
{
    char part[4 * AW_HDF5_NAME];
    const size_t length = strlen(path);
    if (length >= sizeof part) return 0;
    for (size_t i = 1; i <= length; ++i) {
        if (path[i] != '/' && path[i] != '\0') continue;
        if (path[i - 1] == '/') continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (strcmp(part, ".") == 0) continue;
        if (H5Lexists(from, part, H5P_DEFAULT) <= 0) return 0;
    }
    return 1;
}

hid_t aw_hdf5_object(hid_t from, const char *path)
{
    return aw_hdf5_has(from, path) ? H5Oopen(from, path, H5P_DEFAULT) : H5I_INVALID_HID;
}

int aw_hdf5_is_group(hid_t object) { return H5Iget_type(object) == H5I_GROUP; }

/* The attribute, if it has so many elements. */
static hid_t attribute_of(hid_t object, const char *name, size_t elements)
{
    if (H5Aexists(object, name) <= 0) return H5I_INVALID_HID;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t space = H5Aget_space(attribute);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    if (space >= 0) H5Sclose(space);
    if (n >= 0 && (size_t)n == elements) return attribute;
    if (attribute >= 0) H5Aclose(attribute);
    return H5I_INVALID_HID;
}

static int read_fixed(hid_t attribute, size_t size, char out[AW_HDF5_NAME])
{
    if (size >= AW_HDF5_NAME) return 0;
    const hid_t type = H5Tcopy(H5T_C_S1);
    int good = H5Tset_size(type, size + 1) >= 0;
    memset(out, 0, AW_HDF5_NAME);
    good = good && H5Aread(attribute, type, out) >= 0;
    H5Tclose(type);
    return good;
}

static int read_variable(hid_t attribute, hid_t type, char out[AW_HDF5_NAME])
{
    char *text = NULL;
    if (H5Aread(attribute, type, &text) < 0 || !text) return 0;
    snprintf(out, AW_HDF5_NAME, "%s", text);
    H5free_memory(text);
    return 1;
}

int aw_hdf5_text(hid_t object, const char *name, char out[AW_HDF5_NAME])
{
    const hid_t attribute = attribute_of(object, name, 1);
    int good = 0;
    if (attribute < 0) return 0;
    const hid_t type = H5Aget_type(attribute);
    if (H5Tget_class(type) == H5T_STRING)
        good = H5Tis_variable_str(type) > 0 ? read_variable(attribute, type, out)
                                            : read_fixed(attribute, H5Tget_size(type), out);
    H5Tclose(type);
    H5Aclose(attribute);
    return good;
}

static int is_numeric(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    return class == H5T_FLOAT || class == H5T_INTEGER;
}

int aw_hdf5_number(hid_t object, const char *name, double *out)
{
    return aw_hdf5_numbers(object, name, 1, out);
}

int aw_hdf5_numbers(hid_t object, const char *name, size_t n, double *out)
{
    const hid_t attribute = attribute_of(object, name, n);
    if (attribute < 0) return 0;
    const hid_t type = H5Aget_type(attribute);
    const int good = is_numeric(type) && H5Aread(attribute, H5T_NATIVE_DOUBLE, out) >= 0;
    H5Tclose(type);
    H5Aclose(attribute);
    return good;
}

static herr_t note_group(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    aw_hdf5_names *names = data;
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    (void)info;
    if (object < 0) return 0;
    if (aw_hdf5_is_group(object) && strlen(name) < AW_HDF5_NAME) {
        if (names->n < AW_HDF5_LIST) strcpy(names->name[names->n], name);
        ++names->n;
    }
    H5Oclose(object);
    return 0;
}

void aw_hdf5_groups(hid_t group, aw_hdf5_names *out)
{
    out->n = 0;
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, note_group, out);
    if (out->n > AW_HDF5_LIST) out->n = AW_HDF5_LIST;
}

/* Items of a dataset of numbers; 0: it is no such dataset. */
static size_t dataset_items(hid_t set)
{
    const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    const hssize_t n = space >= 0 && is_numeric(type) ? H5Sget_simple_extent_npoints(space) : 0;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return n > 0 ? (size_t)n : 0;
}

size_t aw_hdf5_items(hid_t component, int *constant)
{
    double value, shape = 0.0;
    *constant = 0;
    if (H5Iget_type(component) == H5I_DATASET) return dataset_items(component);
    if (!aw_hdf5_number(component, "value", &value)) return 0;
    *constant = 1;
    return aw_hdf5_number(component, "shape", &shape) && shape >= 1.0 && shape < 1e15
               ? (size_t)shape
               : 0;
}

aw_status aw_hdf5_component(aw_columns *c, hid_t component, const char *name, size_t n, double *out)
{
    double value = 0.0, unit = 1.0;
    int constant;
    const size_t items = aw_hdf5_items(component, &constant);
    if (items != n && !constant)
        return aw_columns_refuse(c, "%s has %zu numbers (expected %zu, as many as positions)", name,
                                 items, n);
    aw_hdf5_number(component, "unitSI", &unit);
    if (constant) {
        aw_hdf5_number(component, "value", &value);
        for (size_t i = 0; i < n; ++i) out[i] = value * unit;
        return AW_OK;
    }
    if (H5Dread(component, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
        return aw_columns_refuse(c, "%s cannot be read (expected a whole file)", name);
    for (size_t i = 0; unit != 1.0 && i < n; ++i) out[i] *= unit;
    return AW_OK;
}
