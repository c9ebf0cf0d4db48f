/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.html, made by tools/report.py. The program itself does not need Python. */
#ifndef AW_OUTPUT_REPORT_H
#define AW_OUTPUT_REPORT_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Runs of the same case that differ in one thing; NULL: none. */
typedef struct aw_report_beside {
    const char *line;  /* forces: line */
    const char *sheet; /* a bunch without height */
    const char *free;  /* without plates */
} aw_report_beside;

/** Make `directory`/report.html from the output of a run, and wait until it is done.
 *  The script and Python are found as by aw_python_script.
 *  @param[in] beside  output directories of other runs of the same case, which are compared with it
 *  @return AW_OK, AW_ERR_IO (one line: the script, Python or a package is missing, or what is wrong
 *          with the directory). */
aw_status aw_report_run(const char *directory, const aw_report_beside *beside);

/** Like aw_report_run, for the end of a run, whose results do not depend on it: a failure is only a
 *  warning. @return 1: report.html was made; 0: it was not. */
int aw_report_try(const char *directory);

/** Run another Python script of the program's data ("validation/plot.py") in the same way, as
 *  `script -- argument`; a failure is a warning that no picture was made.
 *  @return 1: the script succeeded; 0: it failed. */
int aw_report_script_try(const char *script, const char *argument);

AW_END_DECLS
#endif
