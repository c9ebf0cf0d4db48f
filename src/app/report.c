/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake report`: the page and picture of a run, made again. */
#include "src/output/report.h"

#include "src/base/command.h"
#include "src/base/log.h"

static aw_status run_command(int argc, char **argv)
{
    if (argc != 2)
        return aw_error(AW_ERR_ARG, "report: expected one directory (arcwake report DIR)");
    aw_status status = aw_report_run(argv[1]);
    if (status == AW_OK) aw_info("%s/report.html", argv[1]);
    return status;
}

static const char help[] =
    "arcwake report DIR\nMakes DIR/report.html and DIR/forces.png from what a run left in DIR.\n";

const aw_command aw_report_command = {
    .name = "report",
    .usage = "report DIR",
    .summary = "make DIR/report.html (needs Python with matplotlib)",
    .help = help,
    .run = run_command,
};
