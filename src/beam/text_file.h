/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles in a text file: one line each, x y z [m] px py pz [eV/c], perhaps charge [C]. */
#ifndef AW_BEAM_TEXT_FILE_H
#define AW_BEAM_TEXT_FILE_H
#include "src/beam/columns.h"

AW_BEGIN_DECLS

/** Whether a file is there and is not HDF5. */
int aw_text_file_is_one(const char *path);

/** The numbers of a line, at most `room` of which are stored.
 *  @param[out] bad  what is no number
 *  @return how many there are; -1: something else is there, at *bad */
int aw_text_numbers(const char *line, double *value, int room, const char **bad);

/** Read it; all particles are at one time. Lines that are empty or begin with # are passed over;
 *  spaces, tabs and commas separate. @return AW_OK, AW_ERR_INPUT (columns->why), AW_ERR_NOMEM */
aw_status aw_text_file_read(const char *path, long iteration, aw_columns *columns);

AW_END_DECLS
#endif
