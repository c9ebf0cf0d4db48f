/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Python scripts among the program's data: finding Python and script, and running them. */
#ifndef AW_OUTPUT_PYTHON_H
#define AW_OUTPUT_PYTHON_H
#include "src/base/status.h"

AW_BEGIN_DECLS

#define AW_PYTHON_PATH 4096                     /* longest path, with its end */
#define AW_PYTHON_REASON (AW_PYTHON_PATH + 512) /* a reason may name a path */

/** Run a Python script of the program's data ("tools/report.py") and wait until it has ended.
 *  The data are in share/arcwake beside the program's bin (installed) or beside the program (in a
 *  build tree: links to the sources). Python is $AW_PYTHON, else venv/bin/python among the data,
 *  else python3 from the PATH; no shell is involved. What the script writes to stderr is not shown.
 *  @param[in]  arguments  of the script, ended by NULL
 *  @param[out] reason     [AW_PYTHON_REASON] for an error: the last line of the script's stderr,
 *                         or what is missing; it is not printed
 *  @return AW_OK, AW_ERR_IO, AW_ERR_NOMEM. */
aw_status aw_python_script(const char *name, const char *const *arguments,
                           char reason[AW_PYTHON_REASON]);

/** Run a Python script in the same way with the program's own stdout and stderr: it prints its
 *  messages itself, each of them in a line.
 *  @return AW_OK; AW_ERR_INPUT or AW_ERR_IO for the script's exit status 2 or another one but 0;
 *          AW_ERR_IO or AW_ERR_NOMEM (message) where it cannot be run or was ended by a
 *          signal. */
aw_status aw_python_command(const char *name, const char *const *arguments);

AW_END_DECLS
#endif
