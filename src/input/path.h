/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths that a run file names. */
#ifndef AW_INPUT_PATH_H
#define AW_INPUT_PATH_H
#include "src/base/port.h"

AW_BEGIN_DECLS

/** The absolute path of a file, which a run file names relative to itself; of one that is not there
 *  the two joined. A malloc'd string; NULL: out of memory. */
char *aw_input_path(const char *run_file, const char *text);

AW_END_DECLS
#endif
