/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run tools/report.py or another Python script, and report its failure in one line. */
#include "src/output/report.h"

#include <stdio.h>

#include "src/base/log.h"
#include "src/output/python.h"

/* Run a script with an argument.
 * @return AW_OK, or AW_ERR_IO with an explanation in `reason`. */
static aw_status run_script(const char *name, const char *argument, char reason[AW_PYTHON_REASON])
{
    const char *const arguments[] = {"--", argument, NULL};
    return aw_python_script(name, arguments, reason);
}

aw_status aw_report_run(const char *directory, const aw_report_beside *beside)
{
    const char *const given[][2] = {
        {"--line", beside->line}, {"--sheet", beside->sheet}, {"--free", beside->free}};
    enum { OPTIONS = sizeof given / sizeof given[0] };
    char reason[AW_PYTHON_REASON];
    const char *arguments[2 * OPTIONS + 3];
    size_t n = 0;
    for (size_t i = 0; i < OPTIONS; ++i) {
        if (!given[i][1]) continue;
        arguments[n++] = given[i][0];
        arguments[n++] = given[i][1];
    }
    arguments[n++] = "--";
    arguments[n++] = directory;
    arguments[n] = NULL;
    const aw_status status = aw_python_script("tools/report.py", arguments, reason);
    return status == AW_OK ? AW_OK : aw_error(status, "no report: %s", reason);
}

int aw_report_try(const char *directory)
{
    char reason[AW_PYTHON_REASON];
    if (run_script("tools/report.py", directory, reason) == AW_OK) return 1;
    aw_warn("no report: %s", reason);
    return 0;
}

int aw_report_script_try(const char *script, const char *argument)
{
    char reason[AW_PYTHON_REASON];
    if (run_script(script, argument, reason) == AW_OK) return 1;
    aw_warn("no picture: %s", reason);
    return 0;
}
