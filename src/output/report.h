/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.html, made by tools/report.py: the program itself works without Python. */
#ifndef AW_OUTPUT_REPORT_H
#define AW_OUTPUT_REPORT_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Make `directory`/report.html from what a run left there, and wait for it.
 *  Python is $AW_PYTHON, else the virtual environment of the build folder if it is there, else
 *  python3 from the PATH; no shell is involved.
 *  @return AW_OK, AW_ERR_IO (one line: Python or its packages missing, or what is wrong with the
 *          directory). */
aw_status aw_report_run(const char *directory);

/** The same at the end of a run, whose results do not depend on it: failure is a warning.
 *  @return 1 when report.html was made. */
int aw_report_try(const char *directory);

/** Run another Python script in the same way, `script -- argument`, and wait for it; failure is a
 *  warning that no picture was made. @return 1 when the script succeeded. */
int aw_report_script_try(const char *script, const char *argument);

AW_END_DECLS
#endif
