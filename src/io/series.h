/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monitor.csv of a run that is over, as a table. */
#ifndef AW_IO_SERIES_H
#define AW_IO_SERIES_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** A table of numbers with named columns. Free with aw_series_free. */
typedef struct aw_series {
    size_t rows, columns;
    char *text;        /* owned: the file; the names are in it */
    const char **name; /* [columns] */
    double *value;     /* [rows][columns]; NaN: an empty cell */
} aw_series;

/** Read monitor.csv. A last line without its end is left out.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (message: it cannot be read, or is not such a table) */
aw_status aw_series_read(const char *path, aw_series *out);
void aw_series_free(aw_series *series);

/** Number of the column `name`; -1: there is none. */
int aw_series_column(const aw_series *series, const char *name);

AW_END_DECLS
#endif
