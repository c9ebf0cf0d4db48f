/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/output/python.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/log.h"

#define PATH_SIZE AW_PYTHON_PATH
#define REASON_SIZE AW_PYTHON_REASON

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

/* Start Python; with `output` its stderr is connected to a pipe, whose end to read that is.
 * @return 0 or an errno */
static int start(const char *python, char *const arguments[], pid_t *pid, int *output)
{
    int ends[2] = {-1, -1};
    posix_spawn_file_actions_t actions;
    if (output && pipe(ends) != 0) return errno;
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        if (output) {
            fcntl(ends[0], F_SETFD, FD_CLOEXEC);
            fcntl(ends[1], F_SETFD, FD_CLOEXEC);
            code = posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
        }
        if (code == 0) code = posix_spawnp(pid, python, &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (!output) return code;
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

/* Find Python and script, and start them. @return AW_OK, AW_ERR_IO (reason), AW_ERR_NOMEM */
static aw_status start_script(const char *name, const char *const *arguments, pid_t *pid,
                              int *output, char reason[REASON_SIZE])
{
    char script[PATH_SIZE], own[PATH_SIZE];
    const char *python = find_python(own);
    size_t n = 0;
    if (!find_data(name, script)) {
        snprintf(reason, REASON_SIZE,
                 "%s is not among the program's data (expected in " AW_DATA_FROM_PROGRAM
                 " beside the program: cmake --install puts it there)",
                 name);
        return AW_ERR_IO;
    }
    while (arguments[n]) ++n;
    /* posix_spawn does not modify its arguments, although its prototype would allow it */
    char **words = calloc(n + 3, sizeof *words);
    if (!words) {
        snprintf(reason, REASON_SIZE, "out of memory");
        return AW_ERR_NOMEM;
    }
    words[0] = (char *)python;
    words[1] = script;
    for (size_t i = 0; i < n; ++i) words[i + 2] = (char *)arguments[i];
    const int code = start(python, words, pid, output);
    free(words);
    if (code == 0) return AW_OK;
    snprintf(reason, REASON_SIZE,
             "%s cannot be started: %s (set AW_PYTHON to a Python 3 with the packages of "
             "tools/requirements.txt)",
             python, strerror(code));
    return AW_ERR_IO;
}

/* Wait for its end. @return its exit status, or -1 (reason: it was ended by a signal, or lost) */
static int wait_for(pid_t pid, char reason[REASON_SIZE])
{
    int state = 0;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR) {
            snprintf(reason, REASON_SIZE, "Python was lost: %s", strerror(errno));
            return -1;
        }
    if (WIFEXITED(state)) return WEXITSTATUS(state);
    snprintf(reason, REASON_SIZE, "Python was ended by signal %d", WTERMSIG(state));
    return -1;
}

aw_status aw_python_script(const char *name, const char *const *arguments,
                           char reason[AW_PYTHON_REASON])
{
    pid_t pid = 0;
    int output = -1;
    aw_status status = start_script(name, arguments, &pid, &output, reason);
    if (status != AW_OK) return status;
    last_line(output, reason, REASON_SIZE);
    close(output);
    const int code = wait_for(pid, reason);
    if (code > 0 && !reason[0]) snprintf(reason, REASON_SIZE, "Python ended with status %d", code);
    return code == 0 ? AW_OK : AW_ERR_IO;
}

aw_status aw_python_command(const char *name, const char *const *arguments)
{
    char reason[REASON_SIZE];
    pid_t pid = 0;
    fflush(stdout);
    aw_status status = start_script(name, arguments, &pid, NULL, reason);
    if (status != AW_OK) return aw_error(status, "%s", reason);
    const int code = wait_for(pid, reason);
    if (code < 0) return aw_error(AW_ERR_IO, "%s", reason);
    return code == 0 ? AW_OK : code == 2 ? AW_ERR_INPUT : AW_ERR_IO;
}
