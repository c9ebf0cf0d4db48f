/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake report`: the page and picture of a run, made again. */
#include "src/output/report.h"

#include <string.h>

#include "src/base/command.h"
#include "src/base/log.h"

static aw_status run_command(int argc, char **argv)
{
    const char *directory = NULL, *line = NULL;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--line") == 0) {
            if (line || i + 1 == argc)
                return aw_error(AW_ERR_ARG,
                                "--line: expected one directory (report DIR --line DIR)");
            line = argv[++i];
        } else if (directory || argv[i][0] == '-') {
            return aw_error(AW_ERR_ARG,
                            "report: '%s' is not expected (arcwake report DIR [--line DIR])",
                            argv[i]);
        } else {
            directory = argv[i];
        }
    }
    if (!directory)
        return aw_error(AW_ERR_ARG, "report: expected one directory (arcwake report DIR)");
    aw_status status = aw_report_run(directory, line);
    if (status == AW_OK) aw_info("%s/report.html", directory);
    return status;
}

static const char help[] =
    "arcwake report DIR [--line LINE]\n"
    "Makes DIR/report.html and DIR/forces.png from what a run left in DIR; with the curves of\n"
    "LINE, the output of the same input with forces: line, dashed beside them.\n";

const aw_command aw_report_command = {
    .name = "report",
    .usage = "report DIR [--line LINE]",
    .summary = "make DIR/report.html (needs Python with matplotlib)",
    .help = help,
    .run = run_command,
};
