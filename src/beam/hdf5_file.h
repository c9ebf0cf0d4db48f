/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading HDF5: attributes, names in groups, and components of openPMD records. */
#ifndef AW_BEAM_HDF5_FILE_H
#define AW_BEAM_HDF5_FILE_H
#include <hdf5.h>
#include <stddef.h>

#include "src/beam/columns.h"

AW_BEGIN_DECLS

enum { AW_HDF5_NAME = 256, AW_HDF5_LIST = 4096 };

/** Names of the members of a group, [n]; those beyond the list's room are counted only. */
typedef struct aw_hdf5_names {
    size_t n;
    char name[AW_HDF5_LIST][AW_HDF5_NAME];
} aw_hdf5_names;

/** Open a file for reading; libhdf5's own messages are switched off. @return < 0: it is none */
hid_t aw_hdf5_open(const char *path);

/** Whether every step of a path such as "a/b/c" is there. */
int aw_hdf5_has(hid_t from, const char *path);

/** Open a group or dataset; < 0: it is not there. Close it with H5Oclose. */
hid_t aw_hdf5_object(hid_t from, const char *path);

int aw_hdf5_is_group(hid_t object);

/** Attributes, scalar or of one element, texts of any kind. @return 1; 0: there is none, or it is
 *  of another type */
int aw_hdf5_text(hid_t object, const char *name, char out[AW_HDF5_NAME]);
int aw_hdf5_number(hid_t object, const char *name, double *out);

/** Exactly n numbers of an attribute. @return 1; 0: there is none, or it is of another size or
 *  type */
int aw_hdf5_numbers(hid_t object, const char *name, size_t n, double *out);

/** Names of the groups in a group, in alphabetical order. */
void aw_hdf5_groups(hid_t group, aw_hdf5_names *out);

/** Number of items of a component: of its dataset, or by the attribute `shape` of a constant one.
 *  @param[out] constant  1: it is a group with the attribute `value`
 *  @return 0: it is neither */
size_t aw_hdf5_items(hid_t component, int *constant);

/** n numbers of a component, times its unitSI (1 without one). `name` is for messages.
 *  @return AW_OK, AW_ERR_INPUT (columns->why) */
aw_status aw_hdf5_component(aw_columns *columns, hid_t component, const char *name, size_t n,
                            double *out);

AW_END_DECLS
#endif
