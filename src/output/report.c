/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Find tools/report.py or another Python script, run it, and report its failure in one line. */
#include "src/output/report.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/log.h"

#define PATH_SIZE 4096
#define REASON_SIZE (PATH_SIZE + 512) /* a reason may name a path */

extern char **environ;

/* Where the program's data are, seen from its directory: when it is installed, and in a build tree
 * (cmake/install.cmake) for the program and for tests two folders further down. */
static const char *const places[] = {AW_DATA_FROM_PROGRAM, "share/arcwake", "../../share/arcwake"};

/* Path of a file among the program's data. @return 1, or 0: there is no such file */
static int find_data(const char *name, char path[PATH_SIZE])
{
    char program[PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0 || length >= (ssize_t)sizeof program - 1) return 0;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash) return 0;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
        const int n = snprintf(path, PATH_SIZE, "%s/%s/%s", program, places[i], name);
        if (n > 0 && n < PATH_SIZE && access(path, R_OK) == 0) return 1;
    }
    return 0;
}

static const char *find_python(char path[PATH_SIZE])
{
    const char *wanted = getenv("AW_PYTHON");
    if (wanted && *wanted) return wanted;
    return find_data("venv/bin/python", path) && access(path, X_OK) == 0 ? path : "python3";
}

/* Start Python with its stderr connected to a pipe; *output is the end to read.
 * @return 0 or an errno */
static int start(const char *python, char *const arguments[], pid_t *pid, int *output)
{
    int ends[2];
    if (pipe(ends) != 0) return errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        code = posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
        if (code == 0) code = posix_spawnp(pid, python, &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    *output = ends[0];
    if (code != 0) close(ends[0]);
    return code;
}

/* Read to the end and return the last line that is not empty: the message of a traceback. */
static void last_line(int output, char *line, size_t size)
{
    char text[4096], current[REASON_SIZE];
    size_t n = 0;
    line[0] = '\0';
    for (;;) {
        ssize_t got = read(output, text, sizeof text);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        for (ssize_t i = 0; i < got; ++i) {
            if (text[i] != '\n') {
                if (n + 1 < sizeof current) current[n++] = text[i];
                continue;
            }
            current[n] = '\0';
            if (n) snprintf(line, size, "%s", current);
            n = 0;
        }
    }
    current[n] = '\0';
    if (n) snprintf(line, size, "%s", current);
}

/* Run a script with an option, which may be NULL, and an argument.
 * @return AW_OK, or AW_ERR_IO with an explanation in `reason`. */
static aw_status run_script(const char *name, const char *option, const char *argument,
                            char reason[REASON_SIZE])
{
    char script[PATH_SIZE], own[PATH_SIZE];
    const char *python = find_python(own);
    pid_t pid = 0;
    int output = -1, state = 0;
    if (!find_data(name, script)) {
        snprintf(reason, REASON_SIZE,
                 "%s is not among the program's data (expected in " AW_DATA_FROM_PROGRAM
                 " beside the program: cmake --install puts it there)",
                 name);
        return AW_ERR_IO;
    }
    /* posix_spawn does not modify its arguments, although its prototype would allow it */
    char *const arguments[] = {(char *)python,
                               script,
                               (char *)(option ? option : "--"),
                               (char *)(option ? "--" : argument),
                               (char *)(option ? argument : NULL),
                               NULL};
    int code = start(python, arguments, &pid, &output);
    if (code != 0) {
        snprintf(reason, REASON_SIZE,
                 "%s cannot be started: %s (set AW_PYTHON to a Python 3 with the "
                 "packages of tools/requirements.txt)",
                 python, strerror(code));
        return AW_ERR_IO;
    }
    last_line(output, reason, REASON_SIZE);
    close(output);
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR) {
            snprintf(reason, REASON_SIZE, "%s was lost: %s", python, strerror(errno));
            return AW_ERR_IO;
        }
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return AW_OK;
    if (WIFSIGNALED(state))
        snprintf(reason, REASON_SIZE, "%s was ended by signal %d", python, WTERMSIG(state));
    else if (!reason[0])
        snprintf(reason, REASON_SIZE, "%s ended with status %d", python, WEXITSTATUS(state));
    return AW_ERR_IO;
}

aw_status aw_report_run(const char *directory, const char *line)
{
    char reason[REASON_SIZE], option[PATH_SIZE];
    const int n = snprintf(option, sizeof option, "--line=%s", line ? line : "");
    if (n < 0 || n >= (int)sizeof option)
        return aw_error(AW_ERR_IO, "no report: --line: the path is too long");
    aw_status status = run_script("tools/report.py", line ? option : NULL, directory, reason);
    if (status != AW_OK) return aw_error(status, "no report: %s", reason);
    return AW_OK;
}

int aw_report_try(const char *directory)
{
    char reason[REASON_SIZE];
    if (run_script("tools/report.py", NULL, directory, reason) == AW_OK) return 1;
    aw_warn("no report: %s", reason);
    return 0;
}

int aw_report_script_try(const char *script, const char *argument)
{
    char reason[REASON_SIZE];
    if (run_script(script, NULL, argument, reason) == AW_OK) return 1;
    aw_warn("no picture: %s", reason);
    return 0;
}
