/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Problems in the input files: collected while reading, printed together at the end. */
#ifndef AW_YAML_ERRORS_H
#define AW_YAML_ERRORS_H
#include <stddef.h>

#include "src/base/log.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Stands for the file name in problems of values from the command line. */
#define AW_INPUT_SET "--set"

typedef struct aw_input_problem {
    char *text; /* the whole line, owned */
    int rank;   /* index of its file in aw_input_errors */
    int line, column;
} aw_input_problem;

/** List of problems; initialise with {0}, free with aw_input_errors_free. */
typedef struct aw_input_errors {
    aw_input_problem *item;
    size_t n, capacity;
    size_t more;   /* problems beyond the first AW_INPUT_PROBLEMS_MAX */
    char *file[8]; /* owned names, in the order of their first problems */
    int nomem;     /* a problem could not be stored */
} aw_input_errors;

#define AW_INPUT_PROBLEMS_MAX 100

/** Note a problem at `file:line:column` (1-based; line 0: the file as a whole). A text is stored
 *  once; control characters are replaced, so that it stays on one line.
 *  @param[in] file  borrowed for the call */
void aw_input_add(aw_input_errors *errors, const char *file, int line, int column,
                  const char *format, ...) AW_PRINTF(5, 6);

/** Number of problems noted so far. */
size_t aw_input_count(const aw_input_errors *errors);

/** 1 if further problems will only be counted. */
int aw_input_full(const aw_input_errors *errors);

/** Print all problems with aw_error, sorted by file, line and column.
 *  @return AW_OK if there are none, AW_ERR_INPUT, or AW_ERR_NOMEM if memory ran out. */
aw_status aw_input_report(aw_input_errors *errors);

/** Move the problems of `from` to `errors`; `from` is empty afterwards. */
void aw_input_move(aw_input_errors *errors, aw_input_errors *from);

void aw_input_errors_free(aw_input_errors *errors);

AW_END_DECLS
#endif
