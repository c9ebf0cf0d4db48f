/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake report`: the page and picture of a run, made again. */
#include "src/output/report.h"

#include <string.h>

#include "src/base/command.h"
#include "src/base/log.h"

static const char usage[] = "report DIR [--line LINE] [--sheet SHEET] [--free FREE]";

/* Where the directory goes that follows an option; NULL: that is none. */
static const char **other_run(aw_report_beside *beside, const char *option)
{
    if (strcmp(option, "--line") == 0) return &beside->line;
    if (strcmp(option, "--sheet") == 0) return &beside->sheet;
    if (strcmp(option, "--free") == 0) return &beside->free;
    return NULL;
}

static aw_status run_command(int argc, char **argv)
{
    const char *directory = NULL;
    aw_report_beside beside = {NULL};
    for (int i = 1; i < argc; ++i) {
        const char **to = other_run(&beside, argv[i]);
        if (to && (*to || i + 1 == argc))
            return aw_error(AW_ERR_ARG, "%s: expected one directory (report DIR %s DIR)", argv[i],
                            argv[i]);
        if (to)
            *to = argv[++i];
        else if (directory || argv[i][0] == '-')
            return aw_error(AW_ERR_ARG, "report: '%s' is not expected (arcwake %s)", argv[i],
                            usage);
        else
            directory = argv[i];
    }
    if (!directory)
        return aw_error(AW_ERR_ARG, "report: expected one directory (arcwake report DIR)");
    aw_status status = aw_report_run(directory, &beside);
    if (status == AW_OK) aw_info("%s/report.html", directory);
    return status;
}

static const char help[] =
    "arcwake report DIR [--line LINE] [--sheet SHEET] [--free FREE]\n"
    "Makes DIR/report.html and DIR/forces.png from what a run left in DIR; with the curves of\n"
    "LINE, the output of the same input with forces: line, dashed beside them. SHEET and FREE,\n"
    "outputs of the same input without height and without plates, show what these did to the\n"
    "energy of the bunch.\n";

const aw_command aw_report_command = {
    .name = "report",
    .usage = usage,
    .summary = "make DIR/report.html (needs Python with matplotlib)",
    .help = help,
    .run = run_command,
};
