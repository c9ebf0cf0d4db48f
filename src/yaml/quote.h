/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as a scalar of YAML. */
#ifndef AW_YAML_QUOTE_H
#define AW_YAML_QUOTE_H
#include <stdio.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Write a text (UTF-8) in double quotes such that YAML reads back the same bytes: quotes,
 *  backslashes, control characters and all that YAML takes for a line end are escaped. Errors of
 *  the stream are left to its caller. */
void aw_yaml_quote(FILE *out, const char *text);

AW_END_DECLS
#endif
