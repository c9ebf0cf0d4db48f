/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One function per sub-command; argv[0] is the command's name. */
#ifndef AW_APP_COMMANDS_H
#define AW_APP_COMMANDS_H
#include "src/base/status.h"

AW_BEGIN_DECLS

aw_status aw_run_command(int argc, char **argv);
aw_status aw_inspect_command(int argc, char **argv);
aw_status aw_bench_command(int argc, char **argv);
aw_status aw_devices_command(int argc, char **argv);
aw_status aw_report_command(int argc, char **argv);
aw_status aw_help_command(int argc, char **argv);

AW_END_DECLS
#endif
