/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/python_fixture.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIP = 77 };

extern char **environ;

/* The interpreter, from the first place that names one which is there. */
static const char *find_python(void)
{
    const char *candidate[] = {getenv("AW_PYTHON"), AW_PYTHON, AW_BINARY_DIR "/venv/bin/python",
                               AW_SOURCE_DIR "/build/venv/bin/python"};
    for (size_t i = 0; i < sizeof candidate / sizeof *candidate; ++i)
        if (candidate[i] && *candidate[i] && access(candidate[i], X_OK) == 0) return candidate[i];
    return "python3";
}

int python_run(const char *script, const char *directory)
{
    const char *python = find_python();
    char path[1024];
    int state = 0;
    pid_t pid = 0;
    snprintf(path, sizeof path, "%s/%s", AW_SOURCE_DIR, script);
    fflush(stdout);
    char *const arguments[] = {(char *)python, path, (char *)directory, NULL};
    int code = posix_spawnp(&pid, python, NULL, NULL, arguments, environ);
    if (code == ENOENT) {
        printf("skipped: no %s (tools/setup.sh --tests makes one in build/venv)\n", python);
        return SKIP;
    }
    if (code != 0 || waitpid(pid, &state, 0) != pid) return 1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}
