/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run tools/report.py or another Python script, and report its failure in one line. */
#include "src/output/report.h"

#include <stdio.h>

#include "src/base/log.h"
#include "src/output/python.h"

/* Run a script with an option, which may be NULL, and an argument.
 * @return AW_OK, or AW_ERR_IO with an explanation in `reason`. */
static aw_status run_script(const char *name, const char *option, const char *argument,
                            char reason[AW_PYTHON_REASON])
{
    const char *const arguments[] = {option ? option : "--", option ? "--" : argument,
                                     option ? argument : NULL, NULL};
    return aw_python_script(name, arguments, reason);
}

aw_status aw_report_run(const char *directory, const char *line)
{
    char reason[AW_PYTHON_REASON], option[AW_PYTHON_PATH];
    const int n = snprintf(option, sizeof option, "--line=%s", line ? line : "");
    if (n < 0 || n >= (int)sizeof option)
        return aw_error(AW_ERR_IO, "no report: --line: the path is too long");
    aw_status status = run_script("tools/report.py", line ? option : NULL, directory, reason);
    if (status != AW_OK) return aw_error(status, "no report: %s", reason);
    return AW_OK;
}

int aw_report_try(const char *directory)
{
    char reason[AW_PYTHON_REASON];
    if (run_script("tools/report.py", NULL, directory, reason) == AW_OK) return 1;
    aw_warn("no report: %s", reason);
    return 0;
}

int aw_report_script_try(const char *script, const char *argument)
{
    char reason[AW_PYTHON_REASON];
    if (run_script(script, NULL, argument, reason) == AW_OK) return 1;
    aw_warn("no picture: %s", reason);
    return 0;
}
