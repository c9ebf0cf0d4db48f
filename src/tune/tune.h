/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake tune`: what suits this machine, searched once. */
#ifndef AW_TUNE_TUNE_H
#define AW_TUNE_TUNE_H
#include "src/base/command.h"

AW_BEGIN_DECLS

extern const aw_command aw_tune_command;

AW_END_DECLS
#endif
