/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 files built in memory: attributes, groups and datasets with one sticky error. */
#ifndef AW_IO_H5_H
#define AW_IO_H5_H
#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** A file being built. Every call below checks every return value of libhdf5; the first failure is
 *  printed (with `path`, the object and libhdf5's own reason) and kept in `status`, and every later
 *  call does nothing: the caller tests `status` once, at aw_h5_finish. Objects that could not be
 *  made are H5I_INVALID_HID, which all calls accept. */
typedef struct aw_h5 {
    aw_status status;
    const char *path; /* borrowed; for messages */
    hid_t file;
} aw_h5;

/** Begin an empty file in memory. @param[in] expected  rough size in bytes, to allocate once. */
void aw_h5_begin(aw_h5 *h5, const char *path, size_t expected);

/** Bytes that an array of `items` numbers takes in a file, at most. */
size_t aw_h5_array_bytes(size_t items);

/** Close the file and give its bytes: *image is malloc'd for the caller to free, NULL on error.
 *  Must be called after aw_h5_begin, whatever happened. The bytes depend on what was written alone
 *  (no time stamps). @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (printed). */
aw_status aw_h5_finish(aw_h5 *h5, void **image, size_t *size);

hid_t aw_h5_group(aw_h5 *h5, hid_t parent, const char *name);

/** Little-endian float64 or uint64 dataset of `rank` 1 to 3, in chunks with a Fletcher32 checksum.
 *  @param[in] dims  all > 0   @param[in] data  in C order */
hid_t aw_h5_doubles(aw_h5 *h5, hid_t parent, const char *name, int rank, const hsize_t *dims,
                    const double *data);
hid_t aw_h5_integers(aw_h5 *h5, hid_t parent, const char *name, int rank, const hsize_t *dims,
                     const uint64_t *data);

/** Close a group or dataset; H5I_INVALID_HID is fine. */
void aw_h5_close(aw_h5 *h5, hid_t object);

/* Attributes: scalar, or one-dimensional (the n forms, also for n = 1). Texts are fixed-length,
 * null-padded ASCII, the one form that every openPMD reader takes. */
void aw_h5_attr_double(aw_h5 *h5, hid_t object, const char *name, double value);
void aw_h5_attr_uint32(aw_h5 *h5, hid_t object, const char *name, uint32_t value);
void aw_h5_attr_int64(aw_h5 *h5, hid_t object, const char *name, int64_t value);
void aw_h5_attr_text(aw_h5 *h5, hid_t object, const char *name, const char *value);
void aw_h5_attr_doubles(aw_h5 *h5, hid_t object, const char *name, size_t n, const double *value);
void aw_h5_attr_integers(aw_h5 *h5, hid_t object, const char *name, size_t n,
                         const uint64_t *value);
void aw_h5_attr_texts(aw_h5 *h5, hid_t object, const char *name, size_t n,
                      const char *const *value);

AW_END_DECLS
#endif
