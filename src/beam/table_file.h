/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A current profile in a text file: a line for each point, s [m] and the current in any unit. */
#ifndef AW_BEAM_TABLE_FILE_H
#define AW_BEAM_TABLE_FILE_H
#include "src/beam/columns.h"

AW_BEGIN_DECLS

/** Read the points, which must rise in s, with currents of 0 or more that are not all 0; lines as
 *  in text_file.h.
 *  @param[out] s, current  [*n], n >= 2; free with aw_free
 *  @param[out] why         [AW_WHY_MAX] what is wrong, for AW_ERR_INPUT, which is not printed
 *  @return AW_OK, AW_ERR_INPUT, AW_ERR_NOMEM */
aw_status aw_table_file_read(const char *path, size_t *n, double **s, double **current,
                             char why[AW_WHY_MAX]);

AW_END_DECLS
#endif
