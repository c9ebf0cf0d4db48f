/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libhdf5 with every return value checked. */
#include "src/io/h5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"

/* libhdf5 opens a file of the name that it is given if there is one, and reads it, although it will
 * write none. There can be no file of this name. */
#define NO_FILE "/dev/null/arcwake.h5"

#define CHUNK_ITEMS 131072 /* 1 MiB: libhdf5's chunk cache holds one */

/* The innermost entry of libhdf5's error stack says what went wrong. */
static herr_t keep_reason(unsigned n, const H5E_error2_t *entry, void *reason)
{
    if (n == 0) snprintf(reason, 160, "%s", entry->desc ? entry->desc : "no reason given");
    return 0;
}

static void fail(aw_h5 *h5, const char *what, const char *name)
{
    if (h5->status != AW_OK) return;
    char reason[160] = "no reason given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_reason, reason);
    h5->status = aw_error(AW_ERR_IO, "%s: HDF5 cannot %s '%s': %s", h5->path, what, name, reason);
}

static void check(aw_h5 *h5, herr_t code, const char *what, const char *name)
{
    if (code < 0) fail(h5, what, name);
}

size_t aw_h5_array_bytes(size_t items)
{
    /* the last chunk of an array of several is stored whole */
    return 8 * (items > CHUNK_ITEMS ? items + CHUNK_ITEMS : items);
}

void aw_h5_begin(aw_h5 *h5, const char *path, size_t expected)
{
    memset(h5, 0, sizeof *h5);
    h5->path = path;
    h5->file = H5I_INVALID_HID;
    /* For good: libhdf5 would also print at the end of the program. fail() says what is wrong. */
    check(h5, H5Eset_auto2(H5E_DEFAULT, NULL, NULL), "start on", path);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    if (access < 0 || creation < 0) fail(h5, "start on", path);
    if (h5->status == AW_OK)
        check(h5, H5Pset_fapl_core(access, expected + (1u << 20), 0), "start on", path);
    if (h5->status == AW_OK) check(h5, H5Pset_obj_track_times(creation, 0), "start on", path);
    if (h5->status == AW_OK) {
        h5->file = H5Fcreate(NO_FILE, H5F_ACC_TRUNC, creation, access);
        if (h5->file < 0) fail(h5, "begin", path);
    }
    if (access >= 0) check(h5, H5Pclose(access), "start on", path);
    if (creation >= 0) check(h5, H5Pclose(creation), "start on", path);
}

/* Copy the file out of libhdf5's memory; NULL on error. */
static void *file_image(aw_h5 *h5, size_t *size)
{
    check(h5, H5Fflush(h5->file, H5F_SCOPE_GLOBAL), "complete", h5->path);
    if (h5->status != AW_OK) return NULL;
    ssize_t need = H5Fget_file_image(h5->file, NULL, 0);
    if (need <= 0) {
        fail(h5, "give the image of", h5->path);
        return NULL;
    }
    void *image = malloc((size_t)need);
    if (!image) {
        h5->status =
            aw_error(AW_ERR_NOMEM, "%s: no memory for the %zd bytes of the file", h5->path, need);
    } else if (H5Fget_file_image(h5->file, image, (size_t)need) != need) {
        fail(h5, "give the image of", h5->path);
        free(image);
        image = NULL;
    }
    *size = (size_t)need;
    return image;
}

aw_status aw_h5_finish(aw_h5 *h5, void **image, size_t *size)
{
    *image = NULL;
    *size = 0;
    if (h5->file >= 0) {
        if (h5->status == AW_OK) *image = file_image(h5, size);
        check(h5, H5Fclose(h5->file), "close", h5->path);
    }
    h5->file = H5I_INVALID_HID;
    if (h5->status != AW_OK) {
        free(*image);
        *image = NULL;
        *size = 0;
    }
    return h5->status;
}

hid_t aw_h5_group(aw_h5 *h5, hid_t parent, const char *name)
{
    if (h5->status != AW_OK) return H5I_INVALID_HID;
    hid_t group = H5I_INVALID_HID, creation = H5Pcreate(H5P_GROUP_CREATE);
    if (creation < 0) {
        fail(h5, "make the group", name);
        return H5I_INVALID_HID;
    }
    check(h5, H5Pset_obj_track_times(creation, 0), "make the group", name);
    if (h5->status == AW_OK) {
        group = H5Gcreate2(parent, name, H5P_DEFAULT, creation, H5P_DEFAULT);
        if (group < 0) fail(h5, "make the group", name);
    }
    check(h5, H5Pclose(creation), "make the group", name);
    return group;
}

void aw_h5_close(aw_h5 *h5, hid_t object)
{
    if (object < 0) return;
    herr_t code = H5Iget_type(object) == H5I_GROUP ? H5Gclose(object) : H5Dclose(object);
    check(h5, code, "close an object of", h5->path);
}

/* Property list of a dataset: chunked, with a checksum, without a time stamp. */
static hid_t dataset_list(aw_h5 *h5, const char *name, int rank, const hsize_t *dims)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (list < 0) {
        fail(h5, "describe the dataset", name);
        return list;
    }
    hsize_t chunk[3], rows = CHUNK_ITEMS;
    for (int i = rank - 1; i >= 0; --i) {
        chunk[i] = dims[i] < rows ? dims[i] : rows;
        rows = rows / chunk[i] > 0 ? rows / chunk[i] : 1;
    }
    check(h5, H5Pset_chunk(list, rank, chunk), "chunk the dataset", name);
    check(h5, H5Pset_fletcher32(list), "checksum the dataset", name);
    check(h5, H5Pset_obj_track_times(list, 0), "describe the dataset", name);
    return list;
}

/* A kind of number, as it is in files and in memory. */
typedef enum number_kind { DOUBLE, UINT64, UINT32, INT64 } number_kind;

static hid_t file_type(number_kind kind)
{
    switch (kind) {
    case DOUBLE: return H5T_IEEE_F64LE;
    case UINT64: return H5T_STD_U64LE;
    case UINT32: return H5T_STD_U32LE;
    default: return H5T_STD_I64LE;
    }
}

static hid_t memory_type(number_kind kind)
{
    switch (kind) {
    case DOUBLE: return H5T_NATIVE_DOUBLE;
    case UINT64: return H5T_NATIVE_UINT64;
    case UINT32: return H5T_NATIVE_UINT32;
    default: return H5T_NATIVE_INT64;
    }
}

/* An array of numbers. */
typedef struct numbers {
    number_kind kind;
    int rank;
    const hsize_t *dims; /* [rank] */
    const void *data;
} numbers;

static hid_t dataset(aw_h5 *h5, hid_t parent, const char *name, const numbers *n)
{
    if (h5->status != AW_OK) return H5I_INVALID_HID;
    hid_t set = H5I_INVALID_HID, space = H5Screate_simple(n->rank, n->dims, NULL);
    if (space < 0) {
        fail(h5, "size the dataset", name);
        return H5I_INVALID_HID;
    }
    hid_t list = dataset_list(h5, name, n->rank, n->dims);
    if (h5->status == AW_OK) {
        set = H5Dcreate2(parent, name, file_type(n->kind), space, H5P_DEFAULT, list, H5P_DEFAULT);
        if (set < 0) fail(h5, "make the dataset", name);
    }
    if (h5->status == AW_OK)
        check(h5, H5Dwrite(set, memory_type(n->kind), H5S_ALL, H5S_ALL, H5P_DEFAULT, n->data),
              "write the dataset", name);
    if (list >= 0) check(h5, H5Pclose(list), "describe the dataset", name);
    check(h5, H5Sclose(space), "size the dataset", name);
    return set;
}

hid_t aw_h5_doubles(aw_h5 *h5, hid_t parent, const char *name, int rank, const hsize_t *dims,
                    const double *data)
{
    const numbers n = {DOUBLE, rank, dims, data};
    return dataset(h5, parent, name, &n);
}

hid_t aw_h5_integers(aw_h5 *h5, hid_t parent, const char *name, int rank, const hsize_t *dims,
                     const uint64_t *data)
{
    const numbers n = {UINT64, rank, dims, data};
    return dataset(h5, parent, name, &n);
}

/* Types in the file and in memory. */
typedef struct types {
    hid_t file, memory;
} types;

static types types_of(number_kind kind) { return (types){file_type(kind), memory_type(kind)}; }

/* n = 0 means scalar. */
static void attribute(aw_h5 *h5, hid_t object, const char *name, types type, size_t n,
                      const void *value)
{
    if (h5->status != AW_OK) return;
    hsize_t size = n;
    hid_t space = n ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
    if (space < 0) {
        fail(h5, "size the attribute", name);
        return;
    }
    hid_t it = H5Acreate2(object, name, type.file, space, H5P_DEFAULT, H5P_DEFAULT);
    if (it < 0) {
        fail(h5, "make the attribute", name);
    } else {
        check(h5, H5Awrite(it, type.memory, value), "write the attribute", name);
        check(h5, H5Aclose(it), "close the attribute", name);
    }
    check(h5, H5Sclose(space), "size the attribute", name);
}

void aw_h5_attr_double(aw_h5 *h5, hid_t object, const char *name, double value)
{
    attribute(h5, object, name, types_of(DOUBLE), 0, &value);
}

void aw_h5_attr_uint32(aw_h5 *h5, hid_t object, const char *name, uint32_t value)
{
    attribute(h5, object, name, types_of(UINT32), 0, &value);
}

void aw_h5_attr_int64(aw_h5 *h5, hid_t object, const char *name, int64_t value)
{
    attribute(h5, object, name, types_of(INT64), 0, &value);
}

void aw_h5_attr_doubles(aw_h5 *h5, hid_t object, const char *name, size_t n, const double *value)
{
    attribute(h5, object, name, types_of(DOUBLE), n, value);
}

void aw_h5_attr_integers(aw_h5 *h5, hid_t object, const char *name, size_t n, const uint64_t *value)
{
    attribute(h5, object, name, types_of(UINT64), n, value);
}

/* Attribute of n (0: scalar) texts of `width` bytes each, one after the other. */
static void text_attribute(aw_h5 *h5, hid_t object, const char *name, size_t width, size_t n,
                           const char *bytes)
{
    if (h5->status != AW_OK) return;
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) {
        fail(h5, "describe the attribute", name);
        return;
    }
    check(h5, H5Tset_size(type, width), "size the attribute", name);
    check(h5, H5Tset_strpad(type, H5T_STR_NULLPAD), "describe the attribute", name);
    attribute(h5, object, name, (types){type, type}, n, bytes);
    check(h5, H5Tclose(type), "describe the attribute", name);
}

void aw_h5_attr_text(aw_h5 *h5, hid_t object, const char *name, const char *value)
{
    size_t width = strlen(value);
    /* HDF5 has no text of length 0: one null byte reads back as "" */
    text_attribute(h5, object, name, width ? width : 1, 0, value);
}

void aw_h5_attr_texts(aw_h5 *h5, hid_t object, const char *name, size_t n, const char *const *value)
{
    size_t width = 1;
    for (size_t i = 0; i < n; ++i)
        if (strlen(value[i]) > width) width = strlen(value[i]);
    char *bytes = calloc(n, width);
    if (!bytes) {
        if (h5->status == AW_OK)
            h5->status = aw_error(AW_ERR_NOMEM, "%s: no memory for '%s'", h5->path, name);
        return;
    }
    for (size_t i = 0; i < n; ++i) memcpy(bytes + i * width, value[i], strlen(value[i]));
    text_attribute(h5, object, name, width, n, bytes);
    free(bytes);
}
