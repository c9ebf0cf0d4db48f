/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slices of a run that has been, from its mesh files. */
#ifndef AW_APP_SPECTRUM_FILES_H
#define AW_APP_SPECTRUM_FILES_H
#include "kernels/math/view.h"
#include "src/input/config.h"

AW_BEGIN_DECLS

/** Mesh files of a directory, in the order of their steps; opaque. */
typedef struct aw_slice_files aw_slice_files;

/** Find the files of a run. Free with aw_slice_files_free.
 *  @param[in] config  the input of the run, borrowed
 *  @return AW_OK, AW_ERR_NOMEM; AW_ERR_INPUT, AW_ERR_IO (there are none, or monitor.csv is not
 *          theirs: one line) */
aw_status aw_slice_files_open(const char *directory, const aw_config *config, aw_slice_files **out);
void aw_slice_files_free(aw_slice_files *files);
size_t aw_slice_files_count(const aw_slice_files *files);

/** Of file i, by monitor.csv: arc length of the reference [m], and the mean energy change of the
 *  particles since the start [eV] (NaN: an empty cell). */
double aw_slice_files_place(const aw_slice_files *files, size_t i);
double aw_slice_files_change(const aw_slice_files *files, size_t i);

/** Read the slice of file i.
 *  @param[out] slice  borrowed until the next call
 *  @return AW_OK, AW_ERR_NOMEM; AW_ERR_INPUT (not a mesh file of this run: one line) */
aw_status aw_slice_files_read(aw_slice_files *files, size_t i, aw_slice *slice);

AW_END_DECLS
#endif
