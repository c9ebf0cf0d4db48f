/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program: picks the sub-command and turns its status into an exit status. */
#include <aw_version.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>

#include "src/app/commands.h"
#include "src/app/validate.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/output/report.h"

aw_status aw_report_command(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return aw_help_command(2, (char *[]){"help", "report"});
    if (argc != 2)
        return aw_error(AW_ERR_ARG, "report: expected one directory (arcwake report DIR)");
    aw_status status = aw_report_run(argv[1]);
    if (status == AW_OK) aw_info("%s/report.html", argv[1]);
    return status;
}

static const struct {
    const char *name;
    aw_status (*run)(int argc, char **argv);
    int shared; /* 1: ranks share its work */
} commands[] = {{"run", aw_run_command, 1},           {"inspect", aw_inspect_command, 0},
                {"validate", aw_validate_command, 0}, {"bench", aw_bench_command, 1},
                {"devices", aw_devices_command, 0},   {"report", aw_report_command, 0},
                {"tune", aw_tune_command, 0},         {"help", aw_help_command, 0},
                {"--help", aw_help_command, 0},       {"-h", aw_help_command, 0}};

/* Under mpirun: most commands are rank 0's alone; what is said, is said by it. */
static aw_status on_ranks(size_t command, int argc, char **argv)
{
    const int shared = commands[command].shared;
    aw_status status = AW_OK;
    AW_TRY(aw_comm_begin());
    aw_log_mute(aw_comm_rank() > 0);
    const int mine = shared || aw_comm_rank() == 0;
    if (!shared) aw_comm_alone();
    if (mine) status = commands[command].run(argc, argv);
    aw_comm_end();
done:
    return status;
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off(); /* GSL aborts by default; its codes are checked instead */
    if (argc < 2) {
        aw_help_command(1, argv);
        return aw_status_exit(AW_ERR_ARG);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("arcwake %s\n", AW_VERSION);
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i)
        if (strcmp(argv[1], commands[i].name) == 0)
            return aw_status_exit(on_ranks(i, argc - 1, argv + 1));
    aw_error(AW_ERR_ARG, "'%s' is not a command (see: arcwake help)", argv[1]);
    return aw_status_exit(AW_ERR_ARG);
}
