/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Problems of the input files: collected while reading, printed together at the end. */
#ifndef AW_INPUT_ERRORS_H
#define AW_INPUT_ERRORS_H
#include <stddef.h>

#include "src/base/log.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** The name under which values of the command line are reported instead of a file. */
#define AW_INPUT_SET "--set"

typedef struct aw_input_problem {
    char *text; /* the whole line, owned */
    int rank;   /* files in the order in which they were first blamed */
    int line, column;
} aw_input_problem;

/** Start from `= {0}`; owned by whoever reads the files. */
typedef struct aw_input_errors {
    aw_input_problem *item;
    size_t n, capacity;
    size_t more;   /* problems beyond the first AW_INPUT_PROBLEMS_MAX */
    char *file[8]; /* owned names, index = rank */
    int nomem;     /* a problem could not be stored */
} aw_input_errors;

#define AW_INPUT_PROBLEMS_MAX 100

/** Note a problem at `file:line:column` (1-based; line 0: the file as a whole). The same text is
 *  kept once; control characters are replaced, so it stays one line.
 *  @param[in] file  borrowed for the call */
void aw_input_add(aw_input_errors *errors, const char *file, int line, int column,
                  const char *format, ...) AW_PRINTF(5, 6);

/** Problems noted so far. */
size_t aw_input_count(const aw_input_errors *errors);

/** 1 when further problems will only be counted. */
int aw_input_full(const aw_input_errors *errors);

/** Print every problem in order of file, line and column, each once through aw_error.
 *  @return AW_OK without problems, AW_ERR_INPUT, or AW_ERR_NOMEM when memory ran out. */
aw_status aw_input_report(aw_input_errors *errors);

/** Append the problems of `from` and leave it empty. */
void aw_input_move(aw_input_errors *errors, aw_input_errors *from);

void aw_input_errors_free(aw_input_errors *errors);

AW_END_DECLS
#endif
