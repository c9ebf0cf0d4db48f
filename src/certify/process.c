/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/certify/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/log.h"
#include "src/base/timer.h"

extern char **environ;

/* A process that runs. */
typedef struct process {
    aw_neighbour *run; /* NULL: the slot is free */
    pid_t pid;
    FILE *messages; /* its standard error; NULL: that of this program */
    double begin;
} process;

enum { WORDS_MAX = 2 * (64 + AW_NEIGHBOUR_SETS) + 16, NUMBER = 24 };

/* The arguments of a run. The numbers are stored in `number`. */
static void arguments_of(const aw_process_params *p, const aw_neighbour *run,
                         const char *word[WORDS_MAX], char number[3][NUMBER])
{
    const aw_case_input *input = p->input;
    const int is_case = !run->name[0];
    size_t n = 0;
    word[n++] = "arcwake";
    word[n++] = "run";
    for (size_t i = 0; i < input->n_set; ++i) {
        word[n++] = "--set";
        word[n++] = input->set[i];
    }
    for (size_t i = 0; i < run->n_set; ++i) {
        word[n++] = "--set";
        word[n++] = run->set[i];
    }
    word[n++] = "-o";
    word[n++] = run->directory;
    const long value[3] = {p->threads, run->steps, run->solve_every};
    static const char *const name[3] = {"--threads", "--steps", "--solve-every"};
    for (int i = 0; i < 3; ++i) {
        if (value[i] <= 0) continue;
        snprintf(number[i], NUMBER, "%ld", value[i]);
        word[n++] = name[i];
        word[n++] = number[i];
    }
    if (!is_case || p->quiet) word[n++] = "--quiet";
    if (!is_case || p->force) word[n++] = "--force";
    word[n++] = "--";
    word[n++] = input->path;
    word[n] = NULL;
}

/* @return 0 or an errno */
static int spawn(process *to, const char *const *word)
{
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    if (to->messages) {
        code = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        if (code == 0)
            code = posix_spawn_file_actions_adddup2(&actions, fileno(to->messages), STDERR_FILENO);
    }
    if (code == 0)
        code =
            posix_spawn(&to->pid, "/proc/self/exe", &actions, NULL, (char *const *)word, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static aw_status start(const aw_process_params *p, aw_neighbour *run, process *to)
{
    const char *word[WORDS_MAX];
    char number[3][NUMBER];
    arguments_of(p, run, word, number);
    *to = (process){.begin = aw_now()};
    if (run->name[0] && !(to->messages = tmpfile()))
        return aw_error(AW_ERR_IO, "%s: no temporary file: %s", run->name, strerror(errno));
    if (to->messages) fcntl(fileno(to->messages), F_SETFD, FD_CLOEXEC);
    fflush(stdout); /* what was printed so far comes before what the run prints */
    const int code = spawn(to, word);
    if (code == 0) {
        to->run = run;
        return AW_OK;
    }
    if (to->messages) fclose(to->messages);
    return aw_error(AW_ERR_IO, "the run in %s cannot be started: %s", run->directory,
                    strerror(code));
}

/* Print the first error of a neighbour's messages. @return 0: there is none */
static int print_error(process *of, aw_status status)
{
    static const char head[] = "arcwake: error: ";
    char line[2048];
    rewind(of->messages);
    while (fgets(line, sizeof line, of->messages)) {
        if (strncmp(line, head, sizeof head - 1) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        aw_error(status, "%s: %s", of->run->name, line + sizeof head - 1);
        return 1;
    }
    return 0;
}

/* Look at how a process ended. @return 1: by a signal to stop, as the whole program was asked to */
static int end(const aw_process_params *p, process *of, int state)
{
    aw_neighbour *run = of->run;
    const int code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    const int stopped = code == aw_status_exit(AW_ERR_INTERRUPTED);
    run->done = code == 0;
    if (!run->done && !stopped) run->failed = code > 0 ? code : aw_status_exit(AW_ERR_IO);
    if (run->failed && of->messages && !print_error(of, AW_ERR_IO))
        aw_error(AW_ERR_IO, "%s: ended %s %d", run->name,
                 WIFSIGNALED(state) ? "by signal" : "with status",
                 WIFSIGNALED(state) ? WTERMSIG(state) : code);
    else if (run->failed && WIFSIGNALED(state))
        aw_error(AW_ERR_IO, "the run in %s was ended by signal %d", run->directory,
                 WTERMSIG(state));
    if (run->done && p->ended) p->ended(run, aw_now() - of->begin);
    if (of->messages) fclose(of->messages);
    *of = (process){.run = NULL};
    return stopped;
}

/* Look at all processes once. @return how many are still running */
static int look(const aw_process_params *p, process *slot, int *stopped)
{
    int running = 0;
    for (int i = 0; i < p->jobs; ++i) {
        int state = 0;
        if (!slot[i].run) continue;
        const pid_t ended = waitpid(slot[i].pid, &state, WNOHANG);
        if (ended == slot[i].pid)
            *stopped |= end(p, &slot[i], state);
        else
            running++;
    }
    return running;
}

static void stop_all(const process *slot, int jobs)
{
    for (int i = 0; i < jobs; ++i)
        if (slot[i].run) kill(slot[i].pid, SIGTERM);
}

/* The next run of the list that is to be made; `last` if there is none. */
static size_t next_of(const aw_neighbours *list, size_t i, size_t last)
{
    while (i < last && list->run[i].done) ++i;
    return i;
}

/* Start what there is room for. *next: the first that is not started. */
static aw_status fill(const aw_process_params *p, aw_neighbours *list, process *slot,
                      size_t range[2])
{
    aw_status status = AW_OK;
    for (int i = 0; i < p->jobs; ++i) {
        if (slot[i].run || (range[0] = next_of(list, range[0], range[1])) == range[1]) continue;
        AW_TRY(start(p, &list->run[range[0]++], &slot[i]));
    }
done:
    return status;
}

aw_status aw_process_runs(const aw_process_params *p, aw_neighbours *list, size_t first,
                          size_t last)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    size_t range[2] = {first, last};
    int stopped = 0, told = 0, running = 1;
    aw_status status = AW_OK;
    process *slot = calloc((size_t)p->jobs, sizeof *slot);
    if (!slot) return aw_error(AW_ERR_NOMEM, "out of memory");
    while (running > 0) {
        if (status == AW_OK && !stopped && !p->stopped()) status = fill(p, list, slot, range);
        running = look(p, slot, &stopped);
        stopped |= p->stopped();
        if ((stopped || status != AW_OK) && !told) {
            stop_all(slot, p->jobs); /* of a ^C they know already */
            told = 1;
        }
        if (running > 0)
            nanosleep(&pause, NULL);
        else if (status == AW_OK && !stopped)
            running = next_of(list, range[0], last) < last;
    }
    free(slot);
    if (status == AW_OK && stopped)
        status = aw_error(AW_ERR_INTERRUPTED,
                          "stopped by a signal; the same command goes on with what is missing");
    return status;
}
