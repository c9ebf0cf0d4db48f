/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 files built in memory: groups, datasets and attributes, with one error status per file. */
#ifndef AW_IO_H5_H
#define AW_IO_H5_H
#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** A file under construction. All functions below check every return value of libhdf5. The first
 *  failure is printed (with `path`, the object's name and libhdf5's reason) and stored in `status`;
 *  later calls then do nothing, so that callers test the status once, at aw_h5_finish. An object
 *  that could not be created is H5I_INVALID_HID, which all functions accept. */
typedef struct aw_h5 {
    aw_status status;
    const char *path; /* borrowed; for messages */
    hid_t file;
    H5E_auto2_t print; /* libhdf5's error printer and its data, restored by aw_h5_finish */
    void *print_data;
} aw_h5;

/** Begin an empty file in memory; aw_h5_finish must follow.
 *  @param[in] path      borrowed until then
 *  @param[in] expected  approximate size [bytes], allocated at once */
void aw_h5_begin(aw_h5 *h5, const char *path, size_t expected);

/** Close the file and return its bytes; must be called after aw_h5_begin even after an error. The
 *  bytes depend only on what was written (no time stamps).
 *  @param[out] image  [*size], allocated with malloc and freed by the caller; NULL on error
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (printed). */
aw_status aw_h5_finish(aw_h5 *h5, void **image, size_t *size);

/** Create a group; close it with aw_h5_close. */
hid_t aw_h5_group(aw_h5 *h5, hid_t parent, const char *name);

/** Write a little-endian float64 or uint64 dataset, chunked and with Fletcher32 checksums; close it
 *  with aw_h5_close.
 *  @param[in] rank  1 or 2   @param[in] dims  [rank], all > 0   @param[in] data  in C order */
hid_t aw_h5_doubles(aw_h5 *h5, hid_t parent, const char *name, int rank, const hsize_t *dims,
                    const double *data);
hid_t aw_h5_integers(aw_h5 *h5, hid_t parent, const char *name, int rank, const hsize_t *dims,
                     const uint64_t *data);

/** Close a group or dataset; H5I_INVALID_HID is ignored. */
void aw_h5_close(aw_h5 *h5, hid_t object);

/* Attributes: scalars, or with `n` one-dimensional arrays (for n = 1, too). Texts are null-padded
 * ASCII of fixed length, the only form that every openPMD reader accepts. */
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
