/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One function per sub-command; argv[0] is the command's name. */
#ifndef AW_APP_COMMANDS_H
#define AW_APP_COMMANDS_H
#include "src/base/status.h"

AW_BEGIN_DECLS

aw_status aw_run_command(int argc, char **argv);
aw_status aw_inspect_command(int argc, char **argv);
aw_status aw_bench_command(int argc, char **argv);

/** `bench --cuhre`: `instances` of each family and dimension, two tables, and in the file `json`
 *  (may be NULL) a list of objects, one for each family and dimension. `unit` does the work if it
 *  can, else the host's threads: 0 is 1, as each of the integrals is short. A tolerance missed is
 *  counted, and is no error.
 *  @return AW_OK, AW_ERR_NONFINITE, AW_ERR_NOMEM, AW_ERR_IO, AW_ERR_BACKEND. */
aw_status aw_bench_cuhre(long instances, const char *unit, int threads, const char *json);

aw_status aw_tune_command(int argc, char **argv);
aw_status aw_devices_command(int argc, char **argv);
aw_status aw_report_command(int argc, char **argv);
aw_status aw_help_command(int argc, char **argv);

AW_END_DECLS
#endif
