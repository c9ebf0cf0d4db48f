/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particles of a file as columns of numbers, and how they become the particles of a run. */
#ifndef AW_BEAM_COLUMNS_H
#define AW_BEAM_COLUMNS_H
#include <stddef.h>
#include <stdint.h>

#include "pic/particles.h"

AW_BEGIN_DECLS

enum { AW_WHY_MAX = 400 };

/** Columns of a file. */
typedef enum aw_column {
    AW_COLUMN_X, /* [m] */
    AW_COLUMN_Y,
    AW_COLUMN_Z,
    AW_COLUMN_PX, /* momentum of one electron, gamma beta */
    AW_COLUMN_PY,
    AW_COLUMN_PZ,
    AW_COLUMN_T,      /* [s] */
    AW_COLUMN_CHARGE, /* of the macro-particle [C], a magnitude */
    AW_COLUMNS
} aw_column;

/** n particles, all alive. Members are owned; free with aw_columns_free. */
typedef struct aw_columns {
    size_t n, dead;             /* particles that are read, and that were left out */
    size_t bunches;             /* species or iterations of the file that were joined; 0: text */
    double *column[AW_COLUMNS]; /* [n] each */
    uint64_t *id;               /* [n], or NULL */
    int from_reference;         /* 1: z is counted from a reference point, which becomes S = 0;
                                 * 0: from anywhere: the mean becomes S = 0 */
    int without_charge;         /* 1: the file has no charges; the column is of equal ones */
    void *shared;               /* memory of aw_guard_alloc in which the columns lie, or NULL */
    size_t shared_bytes;
    char why[AW_WHY_MAX]; /* after an error: what is wrong with the file, and the remedy */
} aw_columns;

/** Allocate the columns for n particles, zero; or columns and ids in memory that is shared with a
 *  child process. @return AW_OK, AW_ERR_NOMEM, AW_ERR_INPUT (columns->why: it is more than there
 *  is) */
aw_status aw_columns_new(size_t n, aw_columns *columns);
aw_status aw_columns_new_shared(size_t n, aw_columns *columns);
void aw_columns_free(aw_columns *columns);

/** Note what is wrong. @return AW_ERR_INPUT */
aw_status aw_columns_refuse(aw_columns *columns, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Put the numbers of particle `from` in the place of particle `to`. */
void aw_columns_move(aw_columns *columns, size_t from, size_t to);

/** Keep so many of the particles, at most c->n, drawn by chance and in their order, and scale their
 *  charges to the sum of all. Source: D. E. Knuth, The Art of Computer Programming 2, algorithm
 *  3.4.2 S. The same for the same seed. */
void aw_columns_thin(aw_columns *columns, size_t keep, uint64_t seed);

/** Check all numbers, and put the particles at one time, on a straight line: those that are all at
 *  one place (z spreads over less than 1e-6 of the way that the spread of the times stands for) are
 *  drifted to their mean time. Exact in a straight.
 *  @return AW_OK, AW_ERR_INPUT (columns->why) */
aw_status aw_columns_at_one_time(aw_columns *columns);

/** The particles of columns that are at one time. z counts from their mean, or from the reference.
 *  @param[in] charge  total [C] to which the charges are scaled; 0: as they are
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_INPUT (columns->why) */
aw_status aw_columns_particles(aw_columns *columns, double charge, aw_particles **out);

AW_END_DECLS
#endif
