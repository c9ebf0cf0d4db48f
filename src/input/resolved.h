/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of resolved.yaml: the input of a run and what made it. */
#ifndef AW_INPUT_RESOLVED_H
#define AW_INPUT_RESOLVED_H
#include "src/input/config.h"

AW_BEGIN_DECLS

/** aw_config_text, and behind it in comments the program and the options that stand for no key and
 *  change the result: two runs with equal texts have equal numbers, on the same machine.
 *  @param[in] program  one line: name, version, commit
 *  @return a malloc'd string, to be freed with free(); NULL if out of memory */
char *aw_resolved_text(const aw_config *config, const char *program);

/** 1: the file holds this text, but for output.directory, which changes no number; 0: it does not,
 *  or cannot be read. */
int aw_resolved_matches(const char *path, const char *text);

/** Whether two such texts differ in more than output.directory and device: a run that was stopped
 *  goes on with the rest.
 *  @param[out] line_a, line_b  if so, the first lines that differ, without leading spaces and cut
 *                              to fit */
enum { AW_DIFFERENCE_SIZE = 96 };
int aw_resolved_difference(const char *a, const char *b, char line_a[AW_DIFFERENCE_SIZE],
                           char line_b[AW_DIFFERENCE_SIZE]);

AW_END_DECLS
#endif
